"""`record.suggestions` are the rows of `record.advice` that change shardings.

Not its job: what is advised for which program (`tests/analyze/advice`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles import trials

KIB = 1024


def array(mesh: jax.sharding.Mesh, shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def product() -> Any:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x, w = array(mesh, (4096, 256), "data"), array(mesh, (256, 128), "data", "model")
    return pi.inspect(lambda x, w: jnp.tanh(x) @ w, x, w)


def test_they_are_the_rows_that_change_shardings() -> None:
    record = product()
    rows = [row for row in record.advice if row.edits]
    assert rows
    assert list(record.suggestions) == rows
    one = record.suggestions[0]
    # The shard of w, 128 x 32 floats, goes to the one other device along `data`.
    assert one.sent == (16 * KIB, 0)
    assert one.removes == ("all-gather",)
    assert one.state == "counted"
    assert one.check().change_bytes == -16 * KIB
    assert record.suggestions[0].state == "compiled"


def test_a_record_from_a_file_has_none(tmp_path: Path) -> None:
    product().save(tmp_path / "f.pjit")
    loaded = pi.load(tmp_path / "f.pjit").suggestions
    assert list(loaded) == []
    assert loaded.missing


def test_where_xla_gives_no_answer_there_are_none_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(*_: Any) -> Any:
        raise CaptureError("no answer")

    monkeypatch.setattr(trials.Trials, "answer", no_answer)
    record = product()
    assert (len(record.suggestions), record.suggestions.missing) == (0, "no answer")


def test_what_loops_of_unknown_length_send_is_told_per_turn() -> None:
    """Rows of `w` are summed over, 2 * 32 KiB * 7/8 for each product, one in each turn."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))

    def turned(w: jax.Array, x: jax.Array, h: jax.Array, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda _, c: jnp.tanh(c @ w), h), jnp.tanh(x) @ w

    given = array(mesh, (512, 512), "data"), array(mesh, (16, 512)), array(mesh, (16, 512), None, "data")
    record = pi.inspect(turned, *given, jax.ShapeDtypeStruct((), jnp.int32))
    for one in record.suggestions:
        checked = one.check()
        assert checked.is_one_turn
        assert checked.verdict == "helps"
        assert "in each of its turns" in str(checked)
    assert len(record.suggestions) > 0
