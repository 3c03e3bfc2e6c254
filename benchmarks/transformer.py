"""The program of the benchmarks: a training step of a transformer with its layers unrolled.

FSDP over `data` and tensor parallelism over `model`, gradient clipping by global norm, Adam, cross entropy over a
vocabulary that is sharded: what a training step of a real model has, at sizes that compile on a laptop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

__all__ = ["lowered_step", "train_step"]

HEADS, LENGTH, VOCABULARY, BATCH = 8, 64, 512, 8


def train_step(mesh: Mesh, layers: int, width: int = 128) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The step, and shapes of its arguments on a mesh with the axes `data` and `model`."""
    over = _Shapes(mesh)
    layer = {
        "norm1": over((width,), None),
        "norm2": over((width,), None),
        "qkv": over((width, 3, HEADS, width // HEADS), "data", None, "model", None),
        "out": over((HEADS, width // HEADS, width), "model", None, "data"),
        "up": over((width, 4 * width), "data", "model"),
        "gate": over((width, 4 * width), "data", "model"),
        "down": over((4 * width, width), "model", "data"),
    }
    params = {
        "embed": over((VOCABULARY, width), "model", "data"),
        "head": over((width, VOCABULARY), "data", "model"),
        "norm": over((width,), None),
        "layers": [layer] * layers,
    }
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32, sharding=NamedSharding(mesh, P("data")))
    count = jax.ShapeDtypeStruct((), jnp.int32, sharding=NamedSharding(mesh, P()))
    state = {"params": params, "first": params, "second": params, "count": count}
    return _step(mesh), (state, {"tokens": tokens, "targets": tokens})


def lowered_step(layers: int = 16) -> jax.stages.Lowered:
    """The step of 16 layers on 2 x 4 devices, for `python -m pjit_inspect upgrade transformer:lowered_step`."""
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    step, arguments = train_step(mesh, layers)
    return jax.jit(step).lower(*arguments)


class _Shapes:
    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh

    def __call__(self, shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(self.mesh, P(*spec)))


def _norm(x: Any, scale: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * scale


def _step(mesh: Mesh) -> Callable[..., Any]:
    def by_batch(x: Any) -> Any:
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None, None)))

    def attention(x: Any, p: dict[str, Any]) -> Any:
        q, k, v = jnp.unstack(jnp.einsum("bld,dnhk->nblhk", x, p["qkv"]))
        scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / q.shape[-1] ** 0.5
        mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
        return jnp.einsum("bqhk,hkd->bqd", jnp.einsum("bhqt,bthk->bqhk", weights, v), p["out"])

    def mlp(x: Any, p: dict[str, Any]) -> Any:
        return (jax.nn.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]

    def loss(params: dict[str, Any], batch: dict[str, Any]) -> Any:
        x = by_batch(params["embed"][batch["tokens"]])
        for number, p in enumerate(params["layers"]):
            with jax.named_scope(f"layer{number}"):
                x = by_batch(x + attention(_norm(x, p["norm1"]), p))
                x = by_batch(x + mlp(_norm(x, p["norm2"]), p))
        logits = _norm(x, params["norm"]) @ params["head"]
        picked = jnp.take_along_axis(logits, batch["targets"][..., None], axis=-1)[..., 0]
        return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()

    def step(state: dict[str, Any], batch: dict[str, Any]) -> Any:
        value, gradients = jax.value_and_grad(loss)(state["params"], batch)
        with jax.named_scope("optimizer"):
            norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradients)))
            gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), gradients)
            count = state["count"] + 1
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
            second = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, state["second"], gradients)

            def updated(p: Any, m: Any, s: Any) -> Any:
                return p - 1e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.99**count)) + 1e-8)

            params = jax.tree.map(updated, state["params"], first, second)
        return {"params": params, "first": first, "second": second, "count": count}, value

    return step
