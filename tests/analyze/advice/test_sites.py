"""Places that change together: weights in a row, and the line of a helper for all of its calls."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.lines import Lines
from pjit_inspect.analyze.advice.sites import Sites
from pjit_inspect.handles.advice import edited_program_of
from pjit_inspect.handles.trials import Trials

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(MESH, PartitionSpec(*spec)))


def program_of(record: Any) -> EditedProgram:
    analyses = record.state.analyses
    return edited_program_of(Trials(record.data, (), None), analyses.sources, analyses.files)


def lines_of(record: Any) -> Lines:
    return Lines(program_of(record))


def test_two_weights_in_a_row_are_cut_together_where_one_alone_helps_nothing() -> None:
    def layer(x: jax.Array, w1: jax.Array, w2: jax.Array) -> jax.Array:
        return jax.nn.relu(x @ w1) @ w2

    record = pi.inspect(
        layer, array((64, 64), "data", None), array((64, 256), "model", None), array((256, 64), None, "model")
    )
    (one,) = record.advice
    assert one.change == "pass w1 as P(None, 'model'), w2 as P('model', None)"
    assert str(one.sentence) == "`w1` arrives as `P('model', None)`, `w2` as `P(None, 'model')`"
    # One sum of 32 x 64 over 4 devices, for sums of 32 x 256 before.
    assert one.sent is not None
    assert one.sent[1] == 2 * 32 * 64 * 4 * 3 // 4 < one.sent[0]


def helped(a: jax.Array) -> jax.Array:
    b = jnp.tanh(a)
    return b * 2 + b.sum()


def test_a_line_of_a_helper_is_one_place_for_all_calls_and_shapes() -> None:
    def both(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        return helped(x), helped(y)

    sites = list(lines_of(pi.inspect(both, array((64, 64), "data"), array((32, 32), "data"))).find())
    (tanh,) = (site for site in sites if "jnp.tanh(a)" in str(site.words))
    assert (len(tanh.ops), tanh.count) == (2, 2)


def test_a_line_of_a_helper_that_makes_arrays_of_other_ranks_is_no_place() -> None:
    def both(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        return helped(x), helped(y)

    sites = lines_of(pi.inspect(both, array((64, 64), "data"), array((4, 32, 32), None, "data"))).find()
    assert not any("jnp.tanh(a)" in str(site.words) for site in sites)


def asks(x: jax.Array, *spec: Any) -> jax.Array:
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, PartitionSpec(*spec)))


def asks_and_computes(x: jax.Array) -> jax.Array:
    return jax.lax.with_sharding_constraint(jnp.tanh(x), NamedSharding(MESH, PartitionSpec("data")))


def told_and_computes(x: jax.Array, *spec: Any) -> jax.Array:
    return jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(MESH, PartitionSpec(*spec)))


def test_a_constraint_is_changed_where_what_it_asks_for_is_written() -> None:
    """A helper is told at its call; a function that computes, too, has it itself, and for all of its calls."""

    def several(x: jax.Array) -> jax.Array:
        x = asks(x, "model") + 1
        x = asks_and_computes(x)
        x = asks_and_computes(x @ x)
        x = told_and_computes(x, "data", "model")
        return told_and_computes(x @ x, "model", "data") + 1

    sites = Sites(program_of(pi.inspect(several, array((64, 64), "data")))).find()
    found = [(site.source[0].function.rpartition(".")[2], len(site.ops)) for site in sites if site.kind == "request"]
    assert found == [("several", 1), ("asks_and_computes", 2), ("several", 1), ("several", 1)]
