"""Small training steps with layouts made by hand, on meshes that need no devices: what a search has to be as good as.

Not its job: searching (`scripts/search`), or ordinary steps of other tests (`what_if.steps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

__all__ = ["Built", "experts", "mlp", "transformer"]

Built = tuple[Callable[..., Any], tuple[Any, ...]]


class _Arrays:
    """Shapes on a mesh, split as made by hand, or not at all."""

    def __init__(self, sizes: tuple[int, int], is_by_hand: bool) -> None:
        self.mesh = AbstractMesh(sizes, ("data", "model"), axis_types=(AxisType.Auto,) * 2)
        self.is_by_hand = is_by_hand

    def __call__(self, shape: tuple[int, ...], *spec: str | None, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
        own = P(*spec) if self.is_by_hand else P()
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(self.mesh, own))


def _descent(loss: Callable[..., Any]) -> Callable[..., Any]:
    def step(params, x):
        slope = jax.grad(loss)(params, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, slope)

    return jax.jit(step)


def mlp(sizes: tuple[int, int], *, is_by_hand: bool) -> Built:
    """Two matrices as Megatron splits them."""
    array = _Arrays(sizes, is_by_hand)
    params = {"w1": array((1024, 4096), None, "model"), "w2": array((4096, 1024), "model", None)}
    return _descent(lambda p, x: ((jax.nn.gelu(x @ p["w1"]) @ p["w2"]) ** 2).mean()), (
        params,
        array((1024, 1024), "data", None),
    )


def experts(sizes: tuple[int, int], *, is_by_hand: bool) -> Built:
    """Experts that choose their tokens, over `model`; the tokens over `data`."""
    array = _Arrays(sizes, is_by_hand)
    batch, width, hidden, count = 1024, 256, 1024, 8
    params = {
        "router": array((width, count)),
        "up": array((count, width, hidden), "model", None, None),
        "down": array((count, hidden, width), "model", None, None),
    }

    def loss(p, x):
        gate = jax.nn.softmax(x @ p["router"])
        top, index = jax.lax.top_k(gate.T, 2 * batch // count)
        chosen = jax.nn.one_hot(index, batch, dtype=x.dtype)
        inner = jax.nn.gelu(jnp.einsum("ecd,edh->ech", jnp.einsum("ecb,bd->ecd", chosen, x), p["up"]))
        out = jnp.einsum("ech,ehd->ecd", inner, p["down"]) * top[..., None]
        return (jnp.einsum("ecb,ecd->bd", chosen, out) ** 2).mean()

    return _descent(loss), (params, array((batch, width), "data", None))


def transformer(sizes: tuple[int, int], *, is_by_hand: bool, is_constrained: bool = True) -> Built:
    """Four scanned and rematerialized layers: FSDP over `data`, tensor parallelism over `model`, momentum."""
    array = _Arrays(sizes, is_by_hand)
    layers, batch, length, width, heads, hidden, vocabulary = 4, 128, 64, 256, 16, 1024, 1024
    head = width // heads
    weights = {
        "norm": array((layers, width)),
        **{name: array((layers, width, heads, head), None, "data", "model") for name in "qkv"},
        "out": array((layers, heads, head, width), None, "model", None, "data"),
        "up": array((layers, width, hidden), None, "data", "model"),
        "down": array((layers, hidden, width), None, "model", "data"),
    }
    params = {
        "table": array((vocabulary, width), "model", "data"),
        "head": array((width, vocabulary), "data", "model"),
        "layers": weights,
    }
    batched = NamedSharding(array.mesh, P("data", None, None))

    def by_batch(x):
        return jax.lax.with_sharding_constraint(x, batched) if is_constrained and is_by_hand else x

    def layer(x, w):
        h = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w["norm"]
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[name]) for name in "qkv")
        scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / head**0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), v)
        x = by_batch(x + jnp.einsum("bqhk,hkd->bqd", o, w["out"]))
        return by_batch(x + jax.nn.gelu(x @ w["up"]) @ w["down"]), None

    def loss(params, tokens):
        x, _ = jax.lax.scan(jax.checkpoint(layer), by_batch(params["table"][tokens]), params["layers"])
        scores = jax.nn.log_softmax(x @ params["head"])
        return -jnp.take_along_axis(scores, tokens[..., None], -1).mean()

    def step(params, momentum, tokens):
        slope = jax.grad(loss)(params, tokens)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
        return jax.tree.map(lambda w, m: w - 1e-3 * m, params, momentum), momentum

    return jax.jit(step), (params, params, array((batch, length), "data", None, dtype=jnp.int32))
