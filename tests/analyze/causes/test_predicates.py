"""What decides whether a loop goes on, and what decides which branch runs, are not told as each other."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from causes.meshes import array

import pjit_inspect as pi
from pjit_inspect.model.report.cause import Cause

X = array((16, 32), "data", "model")


def causes(function: Callable) -> list[Cause]:
    return [cause for row in pi.inspect(function, X).collectives for cause in row.causes]


def test_a_sum_that_decides_whether_a_loop_goes_on_is_a_loop_predicate() -> None:
    found = causes(lambda x: jax.lax.while_loop(lambda x: jnp.sum(x * x) > 1.0, lambda x: x * 0.5, x))
    assert {cause.kind for cause in found} == {"loop_predicate"}
    assert all("decides whether the loop goes on" in cause.sentence for cause in found)


def test_a_sum_that_decides_which_branch_runs_is_a_reduction() -> None:
    found = causes(lambda x: jax.lax.cond(jnp.sum(x) > 0, lambda x: x * 2.0, jnp.sin, x))
    assert {cause.kind for cause in found} == {"reduction"}
    assert all("decides which branch runs" in cause.sentence for cause in found)


def test_so_it_is_in_the_body_of_a_loop() -> None:
    def step(_: int, x: jax.Array) -> jax.Array:
        return jax.lax.cond(jnp.max(x) > 0, lambda x: x * 2.0, jnp.sin, x)

    found = causes(lambda x: jax.lax.fori_loop(0, 3, step, x))
    assert {cause.kind for cause in found} == {"reduction"}
    assert all("decides which branch runs" in cause.sentence for cause in found)


def test_a_sum_that_is_used_for_more_than_a_branch_is_told_as_the_sum_it_is() -> None:
    def model(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        total = jnp.sum(x)
        return jax.lax.cond(total > 0, lambda x: x * 2.0, jnp.sin, x), total

    found = causes(model)
    assert {cause.kind for cause in found} == {"reduction"}
    assert not any("branch" in cause.sentence for cause in found)
