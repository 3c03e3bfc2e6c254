"""A sum in a loop that is only added up is told so, with what one sum after the loop would send; no other is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

TURNS, D = 6, 32


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()), ("data",))


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh(), P(*spec)))


def gradient(w: jax.Array, x: jax.Array) -> jax.Array:
    return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(w)


def accumulated(w: jax.Array, xs: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda total, x: (total + gradient(w, x), None), jnp.zeros_like(w), xs)[0]


def updated_every_turn(w: jax.Array, xs: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda w, x: (w - 0.1 * gradient(w, x), None), w, xs)[0]


def looked_at_every_turn(w: jax.Array, xs: jax.Array) -> Any:
    def turn(total: jax.Array, x: jax.Array) -> Any:
        return total + gradient(w, x), jnp.abs(total).max()

    return jax.lax.scan(turn, jnp.zeros_like(w), xs)


def kept_every_turn(w: jax.Array, xs: jax.Array) -> Any:
    def turn(total: jax.Array, x: jax.Array) -> Any:
        g = gradient(w, x)
        return total + g, g

    return jax.lax.scan(turn, jnp.zeros_like(w), xs)


def summed_afterwards(w: jax.Array, xs: jax.Array) -> jax.Array:
    """The advice, taken: each device adds up its own, and one `psum` follows."""

    @partial(jax.shard_map, mesh=mesh(), in_specs=(P(), P(None, "data")), out_specs=P(), check_vma=False)
    def local(w: jax.Array, xs: jax.Array) -> jax.Array:
        return jax.lax.psum(accumulated(w, xs), "data")

    return local(w, xs)


def inspected(function: Callable[..., Any]) -> pi.CompileRecord:
    return pi.inspect(jax.jit(function), array((D, D)), array((TURNS, 16, D), None, "data"))


def facts(record: pi.CompileRecord) -> list[str]:
    return [fact for row in record.collectives for cause in row.causes for fact in cause.facts if "added up" in fact]


def test_a_gradient_that_is_only_added_up_could_be_reduced_once() -> None:
    record = inspected(accumulated)
    (fact,) = facts(record)
    assert fact.startswith("it runs 6 times, and what it yields is only added up")
    assert "it would send 1/6" in fact


def test_reduced_once_after_the_loop_it_sends_that_part() -> None:
    before, after = (
        sum(row.sent_bytes or 0 for row in inspected(f).collectives) for f in (accumulated, summed_afterwards)
    )
    # A sum of D x D floats over 8 devices, each turn or once.
    assert after == 2 * D * D * 4 * 7 // 8
    assert before == TURNS * after


def test_both_compute_the_same() -> None:
    key = jax.random.key(0)
    w, xs = jax.random.normal(key, (D, D)), jax.random.normal(key, (TURNS, 16, D))
    args = jax.device_put(w, NamedSharding(mesh(), P())), jax.device_put(xs, NamedSharding(mesh(), P(None, "data")))
    np.testing.assert_allclose(jax.jit(accumulated)(*args), jax.jit(summed_afterwards)(*args), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("function", [updated_every_turn, looked_at_every_turn, kept_every_turn])
def test_what_a_turn_needs_is_not_said_to_wait(function: Callable[..., Any]) -> None:
    record = inspected(function)
    assert record.collectives
    assert not facts(record)


def test_a_loop_in_a_loop_is_not_told() -> None:
    def outer(w: jax.Array, xs: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda _, w: w - accumulated(w, xs), w)

    assert not facts(inspected(outer))


def test_a_sum_that_is_also_a_result_of_the_turn_through_a_view_is_not_told() -> None:
    def function(w: jax.Array, xs: jax.Array) -> Any:
        def turn(total: jax.Array, x: jax.Array) -> Any:
            g = gradient(w, x)
            return total + g, g.T

        return jax.lax.scan(turn, jnp.zeros_like(w), xs)

    assert not facts(inspected(function))


def test_the_largest_of_each_turn_does_not_add_up() -> None:
    def function(w: jax.Array, xs: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda total, x: (total + jnp.max(x @ w, axis=0), None), jnp.zeros(D), xs)[0]

    record = inspected(function)
    assert record.collectives
    assert not facts(record)


def test_sums_that_are_only_added_up_are_told_too() -> None:
    def function(w: jax.Array, xs: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda total, x: (total + jnp.tanh(x @ w).sum(axis=0), None), jnp.zeros(D), xs)[0]

    assert facts(inspected(function))
