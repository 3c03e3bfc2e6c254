"""Training steps and their parts: optimizers, clipping, a small transformer."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import AG, AR, SUM, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []

BOTH = "data model|data|model"


def adam(w, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return w - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


@case(CASES, "the update is element-wise, and everything is split alike")
def adam_update():
    a = array((32, 64), "data", "model")
    return jax.jit(adam), (a, a, a, a)


@case(
    CASES,
    "each gradient contracts the batch; the updates are then the same everywhere",
    Want(AR, "x", "contraction", at="mm0", phase="backward"),
    Want(AR, "x", "contraction", at="mm1", phase="backward"),
)
def adam_step_data_parallel():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm0
        y = h @ w[1]  # @mm1
        return jnp.sum(jnp.sin(y))

    def step(w, m, v, x):
        g = jax.grad(loss)(w, x)
        return [adam(*leaves) for leaves in zip(w, m, v, g, strict=True)]

    w = [array((32, 64), mesh=LINE), array((64, 32), mesh=LINE)]
    return jax.jit(step), (w, w, w, array((16, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "the gradient is summed over x; momentum is split, so the new weights are made in parts and returned whole",
    Want(SUM, "x", "contraction", at="mm", phase="backward"),
    Want(AG, "x", "output", at="update"),
)
def optimizer_state_split():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.sin(y))

    def step(w, m, x):
        m = 0.9 * m + jax.grad(loss)(w, x)
        return w - 0.1 * m, m  # @update

    whole, split = named(mesh=LINE), named("x", None, mesh=LINE)
    arguments = array((32, 64), mesh=LINE), array((32, 64), "x", None, mesh=LINE), array((16, 32), "x", None, mesh=LINE)
    return jax.jit(step, out_shardings=(whole, split)), arguments


@case(
    CASES,
    "the norm of all gradients: sums over the axes each of them is split by",
    Want(AR, BOTH, "reduction", at="norm"),
)
def clipping_by_global_norm():
    def f(grads):
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))  # @norm
        return jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)

    return jax.jit(f), ({"a": array((32, 64), "data", "model"), "b": array((64, 32), "model", "data")},)


@case(
    CASES,
    "weights are gathered where used, gradients are summed over the batch and stay split, their norm sums over x",
    Want(AG, "x", "reshard_needed", at="mm0"),
    Want(AG, "x", "reshard_needed", at="mm1"),
    Want(SUM, "x", "contraction", at="mm0", phase="backward"),
    Want(SUM, "x", "contraction", at="mm1", phase="backward"),
    Want(AR, "x", "reduction", at="norm"),
)
def fsdp_step_with_clipping():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm0
        y = h @ w[1]  # @mm1
        return jnp.sum(jnp.sin(y))

    def step(w, x):
        grads = jax.grad(loss)(w, x)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads))  # @norm
        return [a - 0.1 * g / norm for a, g in zip(w, grads, strict=True)]

    split = named("x", None, mesh=LINE)
    w = [array((32, 64), "x", None, mesh=LINE), array((64, 32), "x", None, mesh=LINE)]
    return jax.jit(step, out_shardings=[split, split]), (w, array((256, 32), "x", None, mesh=LINE))


@case(CASES, "random masks are drawn in place: dropout needs nobody else")
def dropout():
    def f(key, x):
        kept = jax.random.bernoulli(key, 0.9, x.shape)
        return jnp.where(kept, x / 0.9, 0.0)

    return jax.jit(f), (array((2,), dtype=jnp.uint32), array((16, 32), "data", "model"))


@case(
    CASES,
    "tensor parallel layer on whole tokens: look-up, two output projections and the loss's statistics cross model",
    Want(AR, "model", "indexing", at="embed"),
    Want(AR, "model", "contraction", at="out"),
    Want(AR, "model", "contraction", at="down"),
    Want(AR, "model", "reduction", at="lse"),
    Want(AR, "model", "indexing", at="pick"),
    Want(AR, "data", "reduction", at="mean"),
    Want(AR, "data", "indexing", at="embed", phase="backward"),
    Want(AR, "data", "contraction", at="qkv", phase="backward"),
    Want(AR, "data", "contraction", at="out", phase="backward"),
    Want(AR, "data", "contraction", at="up", phase="backward"),
    Want(AR, "data", "contraction", at="down", phase="backward"),
    Want(AR, "data", "contraction", at="head", phase="backward"),
    Want(AR, "model", "contraction", at="qkv", phase="backward"),
    Want(AR, "model", "contraction", at="up", phase="backward"),
    Want(AR, "model", "contraction", at="head", phase="backward"),
)
def transformer_layer_step():
    def loss(w, ids, labels):
        x = w["embed"][ids]  # @embed
        q, k, v = jnp.einsum("bsm,tmhd->tbshd", x, w["qkv"])  # @qkv
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        x = x + jnp.einsum("bshd,hdm->bsm", o, w["out"])  # @out
        h = jnp.tanh(x @ w["up"])  # @up
        x = x + h @ w["down"]  # @down
        logits = x @ w["head"]  # @head
        z = jax.nn.logsumexp(logits, axis=-1)  # @lse
        picked = jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]  # @pick
        return jnp.mean(z - picked)  # @mean

    weights = {
        "embed": array((64, 32), "model", None),
        "qkv": array((3, 32, 4, 8), None, None, "model", None),
        "out": array((4, 8, 32), "model", None, None),
        "up": array((32, 128), None, "model"),
        "down": array((128, 32), "model", None),
        "head": array((32, 64), None, "model"),
    }
    split = {name: value.sharding for name, value in weights.items()}
    ids = array((4, 16), "data", None, dtype=jnp.int32)
    return jax.jit(jax.value_and_grad(loss), out_shardings=(None, split)), (weights, ids, ids)
