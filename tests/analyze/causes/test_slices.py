"""Of what a collective yields, or is given, only a slice may go on: layouts are followed through it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import CUBE, array, named
from causes.told import another_before_jax_0_10, sentences

from pjit_inspect.analyze.causes.layouts import HeldPieces


def told_of_a_lookup(length: int) -> list[str]:
    """The sentences of a lookup in a table that is split both ways, for rows of so many tokens."""

    def model(table, tokens):
        found = jnp.take(table, tokens, axis=0)
        return jax.lax.with_sharding_constraint(found, named(("data", "fsdp"), None, "tp", mesh=CUBE))

    tokens = array((8, length), ("data", "fsdp"), dtype=jnp.int32, mesh=CUBE)
    return sentences(model, array((128, 32), "tp", "fsdp", mesh=CUBE), tokens)


def test_a_slice_lies_in_the_layout_of_its_first_axes():
    fine = HeldPieces.of((("data", "model"), ("seq",)), (16, 8), {"data": 2, "model": 4, "seq": 2})
    assert fine is not None
    coarse = fine.coarser((8, 4))
    assert coarse is not None
    assert coarse.spec == (("data",), ("seq",))
    assert fine.coarser((5, 4)) is None


@another_before_jax_0_10
def test_a_lookup_of_which_a_slice_is_gathered_says_how_it_was_computed():
    found = told_of_a_lookup(length=1)
    told = [text for text in found if "its result" in text.lower()]
    assert told
    assert all("is computed as `P('data', None, 'fsdp')`" in text for text in told)
    # XLA of JAX 0.12 brings it there in one.
    way = "of 2 of bringing its result to `P(('data', 'fsdp'), None, 'tp')`."
    assert len([text for text in told if way in text]) == (2 if len(told) > 1 else 0)


@another_before_jax_0_10
def test_a_table_that_moves_over_axes_it_is_not_looked_up_along_says_its_steps():
    found = told_of_a_lookup(length=32)
    way = "of bringing `table` from `P('tp', 'fsdp')` to `P(None, 'tp')`."
    assert [text.partition(way)[0] for text in found if way in text] == ["Step 1 of 2 ", "Step 2 of 2 "]


@another_before_jax_0_10
def test_a_permuted_slice_is_wanted_in_the_sharding_that_it_gets():
    def model(x):
        a = x @ x.T
        return (3.0 * a @ a) @ x

    found = sentences(model, array((32, 64), "data", "model"))
    assert any(
        "needs `x @ x.T`" in text and "as `P('model', None)`, but it is `P('data', None)`." in text for text in found
    )


@another_before_jax_0_10
def test_what_brings_an_array_to_the_sharding_of_its_slice_is_not_told_as_edges_of_pieces():
    def model(g, x):
        g = jax.lax.with_sharding_constraint(jnp.sin(g), named("data", "fsdp", mesh=CUBE))
        return jax.lax.with_sharding_constraint(g[:, :32] + x, named(("data", "fsdp"), "tp", mesh=CUBE))

    g, x = array((8, 80), "data", "fsdp", mesh=CUBE), array((8, 32), ("data", "fsdp"), "tp", mesh=CUBE)
    found = sentences(model, g, x)
    brought = "as `P(('data', 'fsdp'), 'tp')`, but it is `P('data', 'fsdp')`."
    assert [text.endswith(brought) for text in found].count(True) == 1
    assert not any("takes a part of" in text for text in found)
