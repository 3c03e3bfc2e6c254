"""Every call back into Python is found, with its kind, its place, how often it runs and what it takes along."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

FLOAT = jax.ShapeDtypeStruct((), jnp.float32)


def ordered(x):
    io_callback(lambda a: None, None, x, ordered=True)  # @io
    jax.debug.print("x = {}", x, ordered=True)  # @print
    jax.debug.callback(lambda: None)  # @debug
    return x + jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # @pure


def line(tag: str) -> int:
    return next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith(f"# @{tag}"))


def test_callbacks_of_one_device_are_told_apart():
    record = pi.inspect(ordered, jnp.ones(3))
    found = {
        row.source[0].line: (row.kind, row.ordered, row.count, row.count_min, row.operand_bytes, row.result_bytes)
        for row in record.callbacks
    }
    assert found == {
        line("io"): ("io", True, 1, 1, 12, 0),
        line("print"): ("debug", True, 1, 1, 12, 0),
        line("debug"): ("debug", False, 1, 1, 0, 0),
        line("pure"): ("pure", False, 1, 1, 12, 12),
    }
    assert all("callback" in row.target for row in record.callbacks)
    assert {row.name for row in record.callbacks} <= {record.hlo.instruction(i).name for i in range(len(record.hlo))}


def test_callbacks_in_loops_and_branches_run_as_often_as_these():
    def looped(x):
        def body(carry, _):
            return carry + io_callback(lambda a: np.float32(1), FLOAT, carry.sum()), None

        x = jax.lax.scan(body, x, None, length=5)[0]
        return jax.lax.cond(x.sum() > 0, lambda v: jax.pure_callback(np.cos, v, v), lambda v: v, x)

    rows = pi.inspect(looped, jnp.ones((4, 8))).callbacks
    assert {(row.kind, row.count, row.count_min, row.operand_bytes) for row in rows} == {
        ("io", 5, 5, 4),
        ("pure", 1, 0, 128),
    }


def test_on_several_devices_a_callback_that_one_of_them_runs_runs_at_most_once():
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    x = jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, P("data")))
    (row,) = pi.inspect(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x), x).callbacks
    # All of it is gathered for that device: 16 * 4 numbers of 4 bytes.
    assert (row.count, row.count_min, row.operand_bytes) == (1, 0, 256)


def test_a_program_without_callbacks_has_none_and_says_nothing_of_them():
    record = pi.inspect(lambda x: x + 1, jnp.ones(3))
    assert len(record.callbacks) == 0
    assert str(record.callbacks) == "no host callbacks"
    assert "host callback" not in str(record)


def test_displays_name_them(tmp_path: Path):
    record = pi.inspect(ordered, jnp.ones(3))
    shown = " ".join(str(record).split())
    assert "4 host callbacks: " in shown
    assert f"io, ordered, once per call, 12 B to Python at test_callbacks.py:{line('io')}" in shown
    assert "1 more in record.callbacks" in shown
    table = str(record.callbacks)
    assert f"test_callbacks.py:{line('pure')}" in table
    assert "debug, ordered" in table
    record.save(tmp_path / "one.pjit")
    loaded = pi.load(tmp_path / "one.pjit")
    assert loaded.callbacks == record.callbacks
    assert repr(loaded.callbacks[:2]) == "CallbackTable(2 host callbacks)"
