"""Which arguments a program returns with new values: thirty programs, with what was wanted of each before it ran.

Not its job: what is said of them (`tests/findings`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.advice.updates import _are_alike, _matched
from pjit_inspect.handles.facts import replaced_of
from pjit_inspect.model.program.layout import ArrayLayout, Sharding

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def array(shape: tuple[int, ...], *spec: str | None, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def place() -> jax.ShapeDtypeStruct:
    return array((), dtype=jnp.int32)


X = (64, 16)
W = (16, 16)
KEYS = {"w": W, "v": W}


def tree() -> dict[str, jax.ShapeDtypeStruct]:
    return {name: array(shape) for name, shape in KEYS.items()}


def loss(p: Any, x: Any) -> Any:
    return (jnp.tanh(x @ p["w"]) @ p["v"]).var()


def rows(function: Callable[..., Any], *others: Any) -> Program:
    """A function of an array that is split into rows, and of others."""
    return function, (array(X, "data"), *others)


def each(function: Callable[..., Any], *trees: Any) -> Any:
    return jax.tree.map(function, *trees)


# ---------------------------------------------------------------- updates


def descent() -> Program:
    return lambda p, x: each(lambda p, g: p - 0.1 * g, p, jax.grad(loss)(p, x)), (tree(), array(X, "data"))


def decay_in_the_parameter() -> Program:
    def step(p: Any, x: Any, rate: Any) -> Any:
        return each(lambda p, g: p * (1 - rate * 0.01) - rate * g, p, jax.grad(loss)(p, x))

    return step, (tree(), array(X, "data"), array(()))


def adam() -> Program:
    tx = optax.adamw(1e-3)

    def step(p: Any, state: Any, x: Any) -> Any:
        updates, state = tx.update(jax.grad(loss)(p, x), state, p)
        return optax.apply_updates(p, updates), state

    state = jax.tree.map(lambda one: array(one.shape, dtype=one.dtype), jax.eval_shape(tx.init, tree()))
    return step, (tree(), state, array(X, "data"))


def clipped_and_cast() -> Program:
    def step(p: Any, x: Any) -> Any:
        full = each(lambda a: a.astype(jnp.float32), p)
        new = each(lambda p, g: jnp.clip(p - 0.1 * g, -1, 1), full, jax.grad(loss)(full, x))
        return each(lambda a: a.astype(jnp.bfloat16), new)

    return step, ({name: array(shape, dtype=jnp.bfloat16) for name, shape in KEYS.items()}, array(X, "data"))


def norm_of_one() -> Program:
    def step(p: Any, x: Any) -> Any:
        return each(lambda p, g: (p - 0.1 * g) / jnp.linalg.norm(p - 0.1 * g), p, jax.grad(loss)(p, x))

    return step, (tree(), array(X, "data"))


def only_where_finite() -> Program:
    def step(p: Any, x: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(p, x)
        return each(lambda p, g: jnp.where(jnp.isfinite(value), p - 0.1 * g, p), p, grads)

    return step, (tree(), array(X, "data"))


def only_in_one_branch() -> Program:
    def step(p: Any, x: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(p, x)
        new = each(lambda p, g: p - 0.1 * g, p, grads)
        return jax.lax.cond(value < 10, lambda p, _: p, lambda _, new: new, p, new)

    return step, (tree(), array(X, "data"))


def average_of_parameters() -> Program:
    def step(p: Any, mean: Any, x: Any) -> Any:
        new = each(lambda p, g: p - 0.1 * g, p, jax.grad(loss)(p, x))
        return new, each(lambda m, p: 0.99 * m + 0.01 * p, mean, new)

    return step, (tree(), tree(), array(X, "data"))


def added_gradients() -> Program:
    return lambda total, p, x: each(jnp.add, total, jax.grad(loss)(p, x)), (tree(), tree(), array(X, "data"))


def steps_in_a_scan() -> Program:
    def steps(p: Any, xs: Any) -> Any:
        def turn(p: Any, x: Any) -> Any:
            return each(lambda p, g: p - 0.1 * g, p, jax.grad(loss)(p, x)), None

        return jax.lax.scan(turn, p, xs)[0]

    return steps, (tree(), array((4, *X), None, "data"))


def cache() -> Program:
    def write(cache: Any, row: Any, at: Any) -> Any:
        return jax.lax.dynamic_update_slice(cache, row, (0, at)), cache.sum()

    return rows(write, array((64, 1), "data"), place())


def replay_in_a_loop() -> Program:
    def write(buffer: Any, new: Any) -> Any:
        return jax.lax.fori_loop(0, 4, lambda k, b: b.at[:, k].set(new[:, k] * 2), buffer)

    return rows(write, array((64, 4), "data"))


def replaced_where_masked() -> Program:
    def write(state: Any, x: Any, w: Any, done: Any) -> Any:
        return jnp.where(done[:, None], jnp.tanh(x @ w), state)

    return rows(write, array(X, "data"), array(W), array((64,), "data", dtype=jnp.bool_))


UPDATES: dict[Callable[[], Program], set[str]] = {
    descent: {"p"},
    decay_in_the_parameter: {"p"},
    adam: {"p", "state"},
    clipped_and_cast: {"p"},
    norm_of_one: {"p"},
    only_where_finite: {"p"},
    only_in_one_branch: {"p"},
    average_of_parameters: {"p", "mean"},
    added_gradients: {"total"},
    steps_in_a_scan: {"p"},
    cache: {"cache"},
    replay_in_a_loop: {"buffer"},
    replaced_where_masked: {"state"},
}


# ---------------------------------------------------------------- no updates


def gradient_of_a_square() -> Program:
    """jax#21855: result[0] is a gradient of the shape of x."""
    return rows(jax.grad(lambda x, w: ((x * w) ** 2).sum(), (0, 1)), array((16,)))


def gradient_of_a_distance() -> Program:
    """It is 2 * (x - t): as dataflow a step of descent."""
    return rows(jax.grad(lambda x, t: ((x - t) ** 2).sum()), array(X, "data"))


def pulled_back() -> Program:
    return rows(lambda x, w: jax.vjp(lambda x: ((x * w) ** 2).sum(), x)[1](1.0)[0], array((16,)))


def gradients_of_parameters() -> Program:
    return lambda p, x: jax.grad(loss)(p, x), (tree(), array(X, "data"))


def gradient_with_decay() -> Program:
    return lambda p, x: each(lambda p, g: g + 1e-4 * p, p, jax.grad(loss)(p, x)), (tree(), array(X, "data"))


def scaled_gradient_with_decay() -> Program:
    def updates(p: Any, x: Any) -> Any:
        return each(lambda p, g: -0.1 * (g + 1e-4 * p), p, jax.grad(loss)(p, x))

    return updates, (tree(), array(X, "data"))


def clipped_gradients() -> Program:
    def clipped(p: Any, x: Any) -> Any:
        grads = jax.grad(loss)(p, x)
        norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(grads)))
        return each(lambda g: jnp.where(norm > 1, g / norm, g), grads)

    return clipped, (tree(), array(X, "data"))


def tangent() -> Program:
    return rows(lambda x, t: jax.jvp(lambda x: x**2 + x, (x,), (t,))[1], array(X, "data"))


def hessian_times_vector() -> Program:
    def product(p: Any, v: Any, x: Any) -> Any:
        return jax.jvp(lambda p: jax.grad(loss)(p, x), (p,), (v,))[1]

    return product, (tree(), tree(), array(X, "data"))


def activation() -> Program:
    return rows(lambda x: jnp.where(x > 0, x, 0.1 * x))


def layer_with_a_shortcut() -> Program:
    return rows(lambda x, w: x + jnp.tanh(x @ w), array(W))


def normalised() -> Program:
    return rows(lambda x: (x - x.mean(0)) / x.std())


def sum_of_two() -> Program:
    return rows(lambda a, b: a + b, array(X, "data"))


def masked() -> Program:
    return rows(lambda x, mask: jnp.where(mask, x, -1e9), array(X, "data", dtype=jnp.bool_))


def one_of_two() -> Program:
    return rows(lambda x, y, mask: jnp.where(mask, x, y), array(X, "data"), array(X, "data", dtype=jnp.bool_))


def token_taken_out() -> Program:
    return rows(lambda x: x.at[:, 0].set(0.0))


def product_of_two() -> Program:
    return rows(lambda x, y: x * y, array(X, "data"))


def unchanged() -> Program:
    return rows(lambda x: (x, x.sum()))


def power_of_a_matrix() -> Program:
    def turned(x: Any, w: Any) -> Any:
        return jax.lax.fori_loop(0, 3, lambda _, x: jnp.tanh(x @ w), x)

    return rows(turned, array(W))


def layers_in_a_scan() -> Program:
    def forward(x: Any, ws: Any) -> Any:
        return jax.lax.scan(lambda x, w: (x + jnp.tanh(x @ w), None), x, ws)[0]

    return rows(forward, array((3, *W)))


def result_of_another_form() -> Program:
    def step(p: Any, x: Any) -> Any:
        return each(lambda p, g: (p - 0.1 * g).astype(jnp.bfloat16), p, jax.grad(loss)(p, x))

    return step, (tree(), array(X, "data"))


def half_of_a_tree() -> Program:
    """Of `p`, which one could give up only as a whole, the result lacks `v`."""
    return lambda p, x: {"w": p["w"] - jax.grad(loss)(p, x)["w"]}, (tree(), array(X, "data"))


NO_UPDATES = (
    gradient_of_a_square, gradient_of_a_distance, pulled_back, gradients_of_parameters, gradient_with_decay,
    scaled_gradient_with_decay, clipped_gradients, tangent, hessian_times_vector, activation, layer_with_a_shortcut,
    normalised, sum_of_two, masked, one_of_two, token_taken_out, product_of_two, unchanged, power_of_a_matrix,
    layers_in_a_scan, result_of_another_form, half_of_a_tree,
)  # fmt: skip

WANTED = {**UPDATES, **{build: set[str]() for build in NO_UPDATES}}


def replaced(record: pi.CompileRecord) -> dict[str, Any]:
    assert record.propagation is not None
    return replaced_of(record.report.data, record.propagation)


@pytest.mark.parametrize("build", WANTED, ids=lambda build: build.__name__)
def test_an_argument_comes_back_where_a_result_is_that_argument(build: Callable[[], Program]) -> None:
    function, arguments = build()
    assert set(replaced(pi.inspect(jax.jit(function), *arguments))) == WANTED[build]


def test_what_was_seen_to_come_back_does() -> None:
    """No dataflow proves it of `tanh(x @ w)`: the second call was seen to get what the first returned."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    step = jax.jit(lambda h, w: jnp.tanh(h @ w), out_shardings=NamedSharding(mesh, P("data")))
    h, w = jnp.ones(X), jax.device_put(np.ones(W, np.float32), NamedSharding(mesh, P()))
    with pi.capture() as log:
        for _ in range(3):
            h = step(h, w)
    first, second = (one for one in log if one.origin == "user")
    assert (set(replaced(first)), set(replaced(second))) == (set(), {"h"})


def test_an_unchanged_part_of_a_state_does_no_harm() -> None:
    def step(state: Any, x: Any) -> Any:
        grads = jax.grad(loss)(state["p"], x)
        return {"p": each(lambda p, g: p - 0.1 * g, state["p"], grads), "frozen": state["frozen"]}

    record = pi.inspect(jax.jit(step), {"p": tree(), "frozen": array(W)}, array(X, "data"))
    assert set(replaced(record)) == {"state"}


SHARDING = Sharding(spec=("x",), tiles=(2,), device_ids=(0, 1), tile_of=(0, 1))


@pytest.mark.parametrize(
    "changed",
    [
        {"dtype": "int32"},
        {"global_shape": (16,)},
        {"sharding": None},
        {"sharding": dataclasses.replace(SHARDING, tile_of=(1, 0))},
        {"sharding": dataclasses.replace(SHARDING, memory_kind="pinned_host")},
    ],
    ids=str,
)
def test_what_differs_cannot_take_its_memory(changed: dict[str, Any]) -> None:
    own = ArrayLayout(path="a", dtype="float32", global_shape=(8,), sharding=SHARDING)
    assert _are_alike(own, dataclasses.replace(own, path="result"))
    assert not _are_alike(own, dataclasses.replace(own, **changed))


def test_thousands_of_results_are_matched_one_by_one() -> None:
    """An average of parameters may be of either; the parameters are a result themselves."""
    count = 10_000
    left = {f"mean{k}": {f"p{k}": (1, True), f"m{k}": (1, True)} for k in range(count)}
    left |= {f"new{k}": {f"p{k}": (0, True)} for k in range(count)}
    assert dict(_matched(left)) == {f"{name}{k}": True for k in range(count) for name in "pm"}
    assert list(_matched({"sum": {"a": (0, True), "b": (0, True)}})) == []
