"""A line that the advice writes is put into the source: that saves what it says.

Not its job: what is advised for which program (`tests/analyze/advice`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import pytest

import pjit_inspect as pi

_HEAD = """\
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
def sharded(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))
def ask(a, *spec):
    return jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P(*spec)))
small = sharded((16, 16), "data", None), sharded((16, 16), None, "model"), sharded((16, 16), "model", None)
"""

_PROGRAMS = {
    "a helper that is called on three lines": """\
def step(x, w, v):
    h = ask(x @ w, "model", None)
    h = ask(jnp.tanh(h), None, "data")
    y = ask(h * 2, "data", "model")
    return y @ v
""",
    "two calls on one line": """\
def step(x, w, v):
    return ask(ask(ask(x @ w, "model", None) * 2, None, "data"), "data", "model")
""",
}


def _record(text: str, folder: Path) -> Any:
    path = folder / "step.py"
    path.write_text(text)
    made: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), made)
    return pi.inspect(jax.jit(made["step"]), *made["small"])


def _sent(record: Any) -> int:
    return sum((row.wire_bytes or 0) * (row.count or 1) for row in record.collectives)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_line_that_is_written_saves_what_the_advice_says(name: str, tmp_path: Path) -> None:
    text = _HEAD + _PROGRAMS[name]
    record = _record(text, tmp_path)
    first = record.advice[0]
    lines = text.splitlines()
    place = first.source[0].line - 1
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    lines[place] = indent + re.sub(r"(P\('[^)]*\))", r"NamedSharding(mesh, \1)", first.change)
    by_hand = _record("\n".join(lines), tmp_path)
    checked = first.check()
    assert checked.after_bytes == _sent(by_hand) < _sent(record) == checked.before_bytes
