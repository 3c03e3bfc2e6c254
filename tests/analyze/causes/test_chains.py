"""Several collectives between two operations: which are for the one that makes the array, and which for its taker."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import CUBE, array, named
from causes.told import another_before_jax_0_10, sentences

import pjit_inspect as pi


@another_before_jax_0_10
def test_a_lookup_in_a_split_table_is_brought_to_its_sharding_in_steps_around_the_sum():
    def model(table, tokens):
        return jax.lax.with_sharding_constraint(jnp.take(table, tokens, axis=0), named("data", None, "model"))

    found = sentences(model, array((256, 64), "model"), array((8, 32), "data", dtype=jnp.int32))
    steps = [text for text in found if "of bringing its result to `P('data', None, 'model')`." in text]
    assert len(steps) == 2
    assert all("is computed as `P('data', None, None)`, as its operands are split." in text for text in steps)
    assert {text.partition("This is ")[2][:11] for text in steps} == {"step 1 of 2", "step 2 of 2"}


@another_before_jax_0_10
def test_a_mask_that_xla_makes_is_not_told_as_the_value_it_masks():
    def model(table, tokens):
        return jax.lax.with_sharding_constraint(jnp.take(table, tokens, axis=0), named("data", None, "model"))

    record = pi.inspect(model, array((256, 64), "model"), array((8, 32), "data", dtype=jnp.int32))
    masks = [row.cause for row in record.collectives if row.dtype == "pred"]
    assert masks
    assert all(cause.sentence.startswith("XLA has made a mask to split `jnp.take(") for cause in masks)
    assert {(str(cause.moved), cause.had, cause.wanted) for cause in masks} == {("", None, None)}


def test_one_sum_in_two_collectives_says_which_step_each_is():
    found = sentences(lambda x: jnp.sum(x), array((16, 32), "data", "model"))
    assert {text[-14:] for text in found} in ({"(step 1 of 2).", "(step 2 of 2)."}, {"combines the 8."})


@another_before_jax_0_10
def test_a_concatenate_computed_along_other_dimensions_is_brought_back_before_its_taker_gets_it():
    found = sentences(
        lambda a, b, w: jnp.concatenate([a, b], axis=1) @ w,
        array((64, 32), "data", "model"),
        array((64, 32), "data", "model"),
        array((64, 32), None, "model"),
    )
    joins = [text for text in found if text.startswith("`jnp.concatenate([a, b], axis=1)`")]
    (needs,) = (text for text in found if " @ w`" in text.partition(" (")[0])
    assert len(found) == len(joins) + 1
    assert "as `P('data', None)`, but it is `P('data', 'model')`." in needs


@another_before_jax_0_10
def test_a_scatter_that_gets_its_updates_in_two_steps_says_which_each_is():
    found = sentences(
        lambda keys, n, new: keys.at[jnp.arange(4), n].set(new),
        array((4, 16, 8), "data", None, "tp", mesh=CUBE),
        array((4,), "data", dtype=jnp.int32, mesh=CUBE),
        array((4, 8), "data", "tp", mesh=CUBE),
    )
    assert [text[:11] for text in found] == ["Step 1 of 2"] * 2 + ["Step 2 of 2"] * 2
    assert sum("of bringing `new` from `P('data', 'tp')` to `P(None, 'tp')`." in text for text in found) == 2
