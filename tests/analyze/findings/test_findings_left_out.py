"""What looks like a fault and is none, so that nothing is said of it: real programs, small ones."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi


def named(*spec: Any) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model")), PartitionSpec(*spec))


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=named(*spec))


def kinds(function: Any, *arguments: Any, **options: Any) -> list[str]:
    return [one.kind for one in pi.inspect(jax.jit(function, **options), *arguments).findings]


BATCH = {"x": array((64, 64), "data"), "y": array((64, 64), "data")}


def test_a_batch_that_is_normalised_may_be_used_again() -> None:
    assert kinds(lambda batch: jax.tree.map(lambda a: a / 2, batch), BATCH) == []


def test_a_result_split_otherwise_cannot_take_the_memory() -> None:
    def write(cache: Any, new: Any) -> Any:
        return jax.lax.dynamic_update_slice(cache, new, (0, 0))

    cache, new = array((64, 64), "data"), array((64, 1), "data")
    assert kinds(write, cache, new) == ["not_donated"]
    assert "not_donated" not in kinds(write, cache, new, out_shardings=named(None, "model"))


def test_parameters_that_only_forward_passes_use_are_kept() -> None:
    assert kinds(lambda w, x: (x @ w).sum(), array((64, 64)), array((64, 64), "data")) == []


def test_a_small_argument_may_be_on_every_device() -> None:
    def step(params: Any, state: Any, x: Any) -> Any:
        return x @ params["w"] + state["b"]

    assert kinds(step, {"w": array((64, 4096), None, "model")}, {"b": array((4096,))}, array((8, 64), "data")) == []


@pytest.mark.parametrize("spec", [(None, None), ("data", None)])
def test_a_constraint_on_an_argument_or_a_result_is_on_purpose(spec: Any) -> None:
    def gathered(w: Any, x: Any) -> Any:
        return x @ jax.lax.with_sharding_constraint(w, named(*spec))

    assert "axis_lost" not in kinds(gathered, array((64, 64), "data", "model"), array((64, 64), "data"))


def test_weights_that_are_gathered_for_a_batch_over_their_axis_are_fsdp() -> None:
    def layer(w1: Any, w2: Any, x: Any) -> Any:
        h = jax.lax.with_sharding_constraint(jnp.tanh(x @ w1), named("data", None))
        return jax.lax.with_sharding_constraint(h @ w2, named("data", None))

    weights = array((64, 64), None, "data"), array((64, 64), None, "data")
    assert "axis_lost" not in kinds(layer, *weights, array((512, 64), "data"))


def test_one_device_has_nothing_to_send_or_to_split() -> None:
    assert kinds(lambda x: x @ x, jax.ShapeDtypeStruct((64, 64), jnp.float32)) == []
