"""A constraint over an axis that does not divide its dimension: what was asked, and what XLA made of it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(MESH, P()))


def constrained(x: jax.Array, *spec: str | None) -> jax.Array:
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def notes(function, *arguments: jax.ShapeDtypeStruct) -> list[str]:
    return [note for note in pi.inspect(function, *arguments).report.notes if "ask" in note and "constraint" in note]


@pytest.mark.skipif(jax.__version_info__ >= (0, 12), reason="JAX 0.12 gives such a result in uneven pieces")
@pytest.mark.skipif(jax.__version_info__ < (0, 8, 2), reason="JAX 0.8.1 splits such a result over a part of the axis")
def test_a_result_that_cannot_be_cut_as_asked_comes_back_whole_and_the_record_says_so():
    function = jax.jit(lambda x: constrained(jnp.sin(x), "model"))
    # JAX itself: 10 rows on 4 devices cannot be an array, so it gives them whole.
    assert function.lower(array(10, 4)).compile().output_shardings.is_fully_replicated
    (note,) = notes(function, array(10, 4))
    assert note.startswith("the constraint at test_indivisible.py:")
    assert note.endswith(
        "asks for `P('model', None)` of f32[10,4], but `model` (4 devices) does not divide dimension 0: "
        "`result` comes back as `P(None, None)`"
    )


def test_a_value_in_between_is_padded_and_the_record_says_so():
    (note,) = notes(lambda x: (constrained(jnp.sin(x), "model") * 2).sum(0), array(10, 4))
    # 10 on 4 devices: pieces of 3.
    assert note.endswith(
        "asks for `P('model', None)` of f32[10,4], but `model` (4 devices) does not divide dimension 0: "
        "XLA pads the pieces to f32[3,4]"
    )


def test_equal_constraints_of_a_line_are_one_note():
    def layers(x: jax.Array) -> jax.Array:
        for _ in range(5):
            x = constrained(jnp.sin(x), "model")
        return x.sum(0)

    (note,) = notes(layers, array(10, 4))
    assert "5 constraints at test_indivisible.py:" in note
    assert "ask for" in note


def test_a_constraint_that_divides_says_nothing():
    assert notes(lambda x: constrained(jnp.sin(x), "model", "data").sum(), array(8, 4)) == []


def test_of_several_axes_those_are_named_that_do_not_divide_together():
    (note,) = notes(lambda x: (constrained(jnp.sin(x), ("data", "model"), None) * 2).sum(0), array(12, 4))
    assert "but `data` and `model` (8 devices) do not divide dimension 0" in note


def test_what_a_constraint_leaves_open_it_does_not_ask_for():
    free = P.UNCONSTRAINED
    (note,) = notes(lambda x: (constrained(jnp.sin(x), "model", free) * 2).sum(0), array(10, 4))
    assert "asks for `P('model', None)` of f32[10,4]" in note
