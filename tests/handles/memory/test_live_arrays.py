"""What the process holds: sizes by hand, names by identity, and nothing kept alive."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.memory.live_arrays import LiveArray
from pjit_inspect.observe.key import live_arrays, past_programs

KIB = 1024


@pytest.fixture
def mesh() -> Any:
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Other tests' arrays are left out of what a test counts."""
    gc.collect()
    before = {id(array) for array in jax.live_arrays()}
    listed = jax.live_arrays
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "live_arrays", lambda *args: [one for one in listed(*args) if id(one) not in before])
        yield


def put(mesh: Any, *shape: int, spec: P) -> Any:
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, spec))


def rows(name: str) -> list[LiveArray]:
    return [row for row in pi.live_arrays() if row.name == name]


def test_bytes_and_copies(mesh: Any):
    """256 x 512 numbers of 4 bytes are 512 KiB. Over `model` (4) each device has 128 KiB, and 8 of them 1 MiB: half of
    that is copies. A replicated 512 x 4 bytes is on 8 devices: 7 of 8 are copies. Over both axes there are none."""
    split = put(mesh, 256, 512, spec=P(None, "model"))
    whole = put(mesh, 512, spec=P())
    both = put(mesh, 64, 256, spec=P("data", "model"))
    table = pi.live_arrays()
    assert [(row.global_shape, row.spec, row.bytes, row.held_bytes, row.copied_bytes) for row in table] == [
        ((256, 512), (None, "model"), 128 * KIB, 1024 * KIB, 512 * KIB),
        ((64, 256), ("data", "model"), 8 * KIB, 64 * KIB, 0),
        ((512,), (None,), 2 * KIB, 16 * KIB, 14 * KIB),
    ]
    assert [row.global_bytes for row in table] == [512 * KIB, 64 * KIB, 2 * KIB]
    assert table.held_bytes == sum(device.bytes for device in table.devices) == 1104 * KIB
    assert {(device.arrays, device.bytes) for device in table.devices} == {(3, 138 * KIB)}
    assert table.copied_bytes == 526 * KIB
    assert all(row.is_committed for row in table)
    assert all(row.source[0].file == __file__ for row in table)
    del split, whole, both


def test_an_array_that_jax_may_move_is_not_committed():
    x = jnp.ones((8, 8))
    (row,) = pi.live_arrays()
    assert (row.is_committed, row.spec, len(row.device_ids)) == (False, None, 1)
    del x


def test_an_argument_of_a_captured_call_has_its_path(mesh: Any):
    params = {"w": put(mesh, 256, 512, spec=P(None, "model"))}
    other = put(mesh, 256, 512, spec=P(None, "model"))
    # While JAX holds the program: of one that is gone nothing tells what it returned.
    total = jax.jit(lambda params: params["w"].sum())
    with pi.capture():
        result = total(params)
    table = pi.live_arrays()
    assert [(row.name, row.program, row.role) for row in table] == [
        ("", "", ""),
        ("params['w']", "<lambda>", "argument"),
        ("result", "<lambda>", "result"),
    ]
    del other, result


def test_a_result_that_others_are_alike_has_its_function_alone(mesh: Any):
    x = put(mesh, 64, 256, spec=P("data"))

    def step(x: Any) -> Any:
        return x + 1, x * 2, x.sum()

    with pi.capture():
        results = jax.jit(step)(x)
    found = sorted((row.name, row.program) for row in pi.live_arrays() if row.role == "result")
    assert found == [("", "step"), ("", "step"), ("result[2]", "step")]
    del results


def test_an_argument_that_died_names_nothing_new(mesh: Any):
    first = put(mesh, 64, 256, spec=P("data"))
    with pi.capture():
        jax.jit(lambda given: given.sum())(first).block_until_ready()
    assert len(rows("given")) == 1
    key = id(first)
    del first
    gc.collect()
    assert key not in past_programs._given
    assert rows("given") == []


def test_nothing_is_kept_alive(mesh: Any):
    x = put(mesh, 64, 256, spec=P("data"))
    with pi.capture():
        y = jax.jit(lambda x: x * 2)(x)
    known = [weakref.ref(x), weakref.ref(y)]
    table = pi.live_arrays()
    assert str(table)
    assert table.show()._repr_mimebundle_()["text/html"]
    del x, y
    gc.collect()
    assert [one() for one in known] == [None, None]
    assert len(table) == 2
    assert len(pi.live_arrays()) == 0


def test_what_was_deleted_is_counted_and_left_out(mesh: Any):
    x = put(mesh, 64, 256, spec=P("data"))
    x.delete()
    table = pi.live_arrays()
    assert len(table) == 0
    # JAX itself may leave it out.
    assert table.deleted in (0, 1)


def test_what_is_deleted_meanwhile_costs_itself_alone(mesh: Any, monkeypatch: pytest.MonkeyPatch):
    x, y = put(mesh, 64, 256, spec=P("data")), put(mesh, 64, 512, spec=P("data"))
    read = live_arrays._row

    def late(array: Any, result: Any) -> Any:
        if array.shape == (64, 256):
            raise RuntimeError("Array has been deleted")
        return read(array, result)

    monkeypatch.setattr(live_arrays, "_row", late)
    table = pi.live_arrays()
    assert ([row.global_shape for row in table], table.unread) == ([(64, 512)], 1)
    assert "1 array could not be read" in str(table)
    del x, y


def test_no_element_is_read(mesh: Any, monkeypatch: pytest.MonkeyPatch):
    x = put(mesh, 64, 256, spec=P("data"))

    def refuse(*_: Any) -> Any:
        raise AssertionError("an element was asked for")

    for name in ("_value", "block_until_ready", "addressable_shards"):
        monkeypatch.setattr(type(x), name, property(refuse), raising=False)
    assert [row.bytes for row in pi.live_arrays()] == [32 * KIB]


def test_it_is_shown_with_equal_layers_as_one_row(mesh: Any):
    params = [put(mesh, 256, 512, spec=P(None, "model")) for _ in range(3)]
    with pi.capture():
        jax.jit(lambda params: sum(p.sum() for p in params))(params).block_until_ready()
    text = str(pi.live_arrays())
    assert text.startswith("3 arrays: 3 MiB on 8 devices together, 1.50 MiB of it copies\ncpu 0-7: 384 KiB in 3 arrays")
    assert "3  params[*]" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    del params


def test_hostile_names_are_escaped(mesh: Any):
    params = {"<script>": put(mesh, 64, 256, spec=P("data"))}
    with pi.capture():
        jax.jit(lambda params: params["<script>"].sum())(params).block_until_ready()
    assert "<script>" not in pi.live_arrays().show()._repr_mimebundle_()["text/html"]
