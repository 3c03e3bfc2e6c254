"""Lengths that devices do not divide, and results that go on to several: told by pieces that are counted."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from causes.meshes import array, named
from causes.told import another_before_jax_0_10

import pjit_inspect as pi
from pjit_inspect.model.report.cause import Cause


def causes(function: Callable[..., object], *arguments: object) -> list[tuple[str, Cause]]:
    """Every cause, with the kind of its collective."""
    record = pi.inspect(function, *arguments)
    return [(row.kind, cause) for row in record.collectives for cause in row.causes]


def adds_at(length: int) -> Callable[..., object]:
    """A scatter-add at `length` positions that are split over `model`."""

    def f(x, i, u):
        own = jax.lax.with_sharding_constraint(i[:length], named("model"))
        return x.at[own].add(jax.lax.with_sharding_constraint(u[:length], named("model", None)))

    return f


ARRAYS = array((32, 8)), array((16,), dtype=jnp.int32), array((16, 8))


@another_before_jax_0_10
def test_positions_that_xla_gathers_only_to_pad_them_are_not_said_to_be_needed_from_other_devices():
    ((_, cause),) = (own for own in causes(adds_at(15), *ARRAYS) if own[0] == "all-gather")
    assert cause.kind == "full_replication"
    assert str(cause.sentence).endswith(
        " takes its positions, with 15 elements along dimension 0, which 4 devices do not divide. "
        "Every device gathers the whole array, pads it, and keeps its piece."
    )
    assert cause.had == cause.wanted == ("model",)


def test_positions_of_a_length_that_devices_divide_are_not_gathered():
    assert [kind for kind, _ in causes(adds_at(16), *ARRAYS)] == ["all-reduce"]


@another_before_jax_0_10
def test_each_of_several_gathers_to_pad_one_array_is_told_so():
    """Next tokens: 15 of 16, split over `model`, and sequences over `data`; XLA gathers both to pad one."""

    def loss(table, tokens):
        return (table[tokens[:, :-1]] ** 2).sum()

    tokens = array((2, 16), "data", "model", dtype=jnp.int32)
    gathers = [cause for kind, cause in causes(jax.grad(loss), array((64, 8)), tokens) if kind == "all-gather"]
    assert sorted(cause.step or () for cause in gathers) == [(1, 2), (2, 2)]
    assert all(
        "with 15 elements along dimension 1, which 4 devices do not divide." in cause.sentence for cause in gathers
    )


@another_before_jax_0_10
@pytest.mark.parametrize("takers", [1, 2])
def test_what_puts_a_result_back_is_no_step_to_what_one_of_its_takers_needs(takers: int):
    """A network with skip connections: XLA joins channels in other pieces, and puts them back for both gathers."""

    def conv(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def f(x, skip, w, v):
        joined = jnp.concatenate([jnp.tanh(x), jnp.sin(skip)], -1)
        loss = lambda w: (conv(joined, w) ** 2).mean()  # noqa: E731
        return jax.grad(loss)(w) if takers == 2 else conv(joined, v)

    kernel = array((3, 3, 48, 16), None, None, None, "model")
    given = (array((8, 8, 8, width), "data", None, None, "model") for width in (32, 16))
    found = [str(cause.sentence) for kind, cause in causes(f, *given, kernel, kernel) if kind == "all-to-all"]
    assert len(found) == 3
    assert all("joins arrays along dimension 3 of `jnp.tanh(x)`" in text for text in found)


def test_a_sum_in_a_backward_rule_is_not_called_by_the_pass_it_is_in():
    """JAX keeps only the call's line for what a `custom_vjp` runs backward: it is no text of what is summed."""
    mesh = named("model").mesh

    @jax.custom_vjp
    def double(x):
        return 2 * x

    def backward(kept, g):
        return (g * jax.lax.psum(jnp.sum(g * kept), "model"),)

    double.defvjp(lambda x: (2 * x, x), backward)
    part = jax.sharding.PartitionSpec("model")
    over = jax.shard_map(double, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)
    found = [cause for _, cause in causes(jax.grad(lambda x: (over(x) ** 2).sum()), array((16,), "model"))]
    assert found
    assert not any("the backward pass of `reduce_sum`" in cause.sentence for cause in found)


def test_a_part_of_an_array_in_the_backward_pass_is_not_called_by_jaxs_name_for_it():
    """JAX splits the gradient of what was joined."""

    def loss(x):
        return (jax.lax.associative_scan(jnp.multiply, x, axis=1) ** 2).sum()

    found = [str(cause.sentence) for _, cause in causes(jax.grad(loss), array((4, 24, 8), "data", "model"))]
    assert any("a part of an array in " in text for text in found)
    assert not any("the `split` in " in text for text in found)
