"""Advice about constraints is followed in the source by hand, as the sentence says: that saves what it says.

Not its job: what is offered for which program (`test_every_kind`).
"""

from __future__ import annotations

import ast
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
def layer(h, w):
    return jnp.tanh(ask(h @ w, None, None)) * 2
small = sharded((16, 16), "data", None), sharded((16, 16), None, "model"), sharded((16, 16), "model", None)
large = sharded((512, 256), "data", None), sharded((256, 256), None, "model")
"""

_PROGRAMS = {
    "a helper that is called on three lines": (
        """\
def step(x, w, v):
    h = ask(x @ w, "model", None)
    h = ask(jnp.tanh(h), None, "data")
    y = ask(h * 2, "data", "model")
    return y @ v
arguments = small
""",
        ["the constraint `jax.lax.with_sharding_constraint(a, ...)` (step.py:7, called at line 14)"],
    ),
    "two calls on one line": (
        """\
def step(x, w, v):
    return ask(ask(ask(x @ w, "model", None) * 2, None, "data"), "data", "model")
arguments = small
""",
        [
            "the constraint `jax.lax.with_sharding_constraint(a, ...)` (step.py:7, called at line "
            '13, column 16, as `ask(ask(x @ w, "model", None) * 2, None, "data")`)'
        ],
    ),
    "a loop of layers": (
        """\
def step(x, w):
    for _ in range(3):
        x = layer(x, w)
    return x
arguments = large
""",
        ["all 3 constraints that `jax.lax.with_sharding_constraint(a, ...)` (step.py:7, called at line 9) makes"],
    ),
    "the same layers on three lines": (
        """\
def step(x, w):
    x = layer(x, w)
    x = layer(x, w)
    return layer(x, w)
arguments = large
""",
        ["all 3 constraints that `jax.lax.with_sharding_constraint(a, ...)` (step.py:7) makes"],
    ),
    "layers that are computed again for the gradient": (
        """\
again = jax.checkpoint(layer)
def loss(w, x):
    x = again(x, w)
    return again(x, w).sum()
def step(x, w):
    return jax.grad(loss)(w, x)
arguments = large
""",
        ["all 2 constraints that `jax.lax.with_sharding_constraint(a, ...)` (step.py:7, called at line 9) makes"],
    ),
}

_PLACE = re.compile(
    r"\(step\.py:(?P<line>\d+)(?:, called at line (?P<call>\d+)(?:, column \d+, as `(?P<text>.*)`)?)?\)"
)


def _record(text: str, folder: Path) -> Any:
    path = folder / "step.py"
    path.write_text(text)
    made: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), made)
    return pi.inspect(jax.jit(made["step"]), *made["arguments"])


def _left_out(text: str, title: str) -> str:
    """The source without the call that a title names: its first argument in its place."""
    place = _PLACE.search(title)
    assert place is not None, title
    line = int(place["call"] or place["line"])
    calls = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and node.lineno == line
        and ast.unparse(node.func) in ("ask", "jax.lax.with_sharding_constraint")
        and place["text"] in (None, ast.get_source_segment(text, node))
    ]
    (call,) = calls
    whole, inner = (ast.get_source_segment(text, node) for node in (call, call.args[0]))
    assert whole is not None
    assert inner is not None
    lines = text.splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(whole, inner, 1)
    return "".join(lines)


def _put_on(text: str, title: str) -> str:
    """The source with a constraint on the operation that a title names, where it is written once."""
    found = re.fullmatch(r"constrain `(?P<what>.*)` \(step\.py:(?P<line>\d+)\) to (?P<spec>P\(.*\))", title)
    assert found is not None, title
    lines = text.splitlines(keepends=True)
    line = lines[int(found["line"]) - 1]
    assert line.count(found["what"]) == 1
    new = f"jax.lax.with_sharding_constraint({found['what']}, NamedSharding(mesh, {found['spec']}))"
    lines[int(found["line"]) - 1] = line.replace(found["what"], new)
    return "".join(lines)


def _sent(record: Any) -> int:
    return sum((row.wire_bytes or 0) * (row.count or 1) for row in record.collectives)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_constraint_left_out_of_the_source_saves_what_the_sentence_says(name: str, tmp_path: Path) -> None:
    if jax.__version_info__ < (0, 10) and "layers" in name:
        pytest.skip(
            "of what a loop or a gradient makes, JAX 0.8 and 0.9 lose lines, or have those of another operation"
        )
    body, expected = _PROGRAMS[name]
    text = _HEAD + body
    record = _record(text, tmp_path)
    found = [one for one in record.suggestions if one.title.startswith("leave out ")]
    assert [one.title.removeprefix("leave out ") for one in found] == expected
    for one in found:
        checked = one.check().checked
        assert checked is not None
        by_hand = _record(_left_out(text, one.title), tmp_path)
        assert checked.after_bytes == _sent(by_hand) < _sent(record) == checked.before_bytes


def test_a_constraint_put_into_the_source_saves_what_the_sentence_says(tmp_path: Path) -> None:
    text = _HEAD + _PROGRAMS["a helper that is called on three lines"][0]
    record = _record(text, tmp_path)
    found = [one for one in record.suggestions if one.title.startswith("constrain ")]
    assert [one.title for one in found] == ["constrain `jnp.tanh(h)` (step.py:14) to P('model', 'data')"]
    checked = found[0].check().checked
    assert checked is not None
    assert checked.after_bytes == _sent(_record(_put_on(text, found[0].title), tmp_path)) < _sent(record)


def test_nothing_is_suggested_in_a_helper_that_is_called_with_arrays_of_other_shapes():
    """Whoever wrote it there would bind both: a covariance of points with themselves, and with others."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def given(shape: tuple[int, ...], *spec: str) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh, jax.P(*spec)))

    def covariance(a, b):
        return jax.numpy.exp(-0.5 * jax.numpy.sum((a[:, None] - b[None]) ** 2, -1))

    def both(x, y, others):
        own = covariance(x, x) + 0.1 * jax.numpy.eye(x.shape[0])
        return covariance(others, x) @ jax.numpy.linalg.solve(own, y)

    points = given((32, 4), "data"), given((32,), "data")
    offered = [str(one) for one in pi.inspect(both, *points, given((16, 4), "model")).suggestions]
    assert offered
    assert not any("a[:, None] - b[None]" in text for text in offered)
    alike = [str(one) for one in pi.inspect(both, *points, given((32, 4), "model")).suggestions]
    assert any("a[:, None] - b[None]" in text for text in alike)
