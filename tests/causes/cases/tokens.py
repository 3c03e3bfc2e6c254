"""From tokens to loss: embeddings with a sharded vocabulary, cross-entropy over sharded logits."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import AG, AR, Case, Want, case
from causes.meshes import EXPLICIT, array, named

CASES: list[Case] = []

BOTH = "data model|data|model"
TABLE = (64, 32)
IDS = (16, 8)


@case(
    CASES,
    "a row lies on one device: the others contribute zeros, and the sum over model is everybody's row",
    Want(AR, "model", "indexing", at="look"),
)
def embedding_with_split_vocabulary():
    def f(table, ids):
        return table[ids]  # @look

    return jax.jit(f), (array(TABLE, "model", None), array(IDS, "data", None, dtype=jnp.int32))


@case(CASES, "every device has its slice of all rows")
def embedding_with_split_features():
    def f(table, ids):
        return table[ids]

    return jax.jit(f), (array(TABLE, None, "model"), array(IDS, "data", None, dtype=jnp.int32))


@case(
    CASES,
    "the look-up sums over model; the gradient scatters rows into local vocabulary and sums the batch over data",
    Want(AR, "model", "indexing", at="look"),
    Want(AR, "data", "indexing", at="look", phase="backward"),
)
def gradient_of_embedding_with_split_vocabulary():
    def loss(table, ids):
        y = table[ids]  # @look
        return jnp.sum(jnp.sin(y))

    arguments = array(TABLE, "model", None), array(IDS, "data", None, dtype=jnp.int32)
    return jax.jit(jax.grad(loss), out_shardings=named("model", None)), arguments


@case(
    CASES,
    "nobody's table is split, but the rows to add are split by batch: their sums are added over data",
    Want(AR, "data", "indexing", at="look", phase="backward"),
)
def gradient_of_replicated_embedding():
    def loss(table, ids):
        y = table[ids]  # @look
        return jnp.sum(jnp.sin(y))

    arguments = array(TABLE, None, None), array(IDS, "data", None, dtype=jnp.int32)
    return jax.jit(jax.grad(loss)), arguments


@case(
    CASES,
    "as a product: the vocabulary is the contracted dimension",
    Want(AR, "model", "contraction", at="look"),
)
def one_hot_embedding():
    def f(table, ids):
        hot = jax.nn.one_hot(ids, TABLE[0], dtype=table.dtype)
        return hot @ table  # @look

    return jax.jit(f), (array(TABLE, "model", None), array(IDS, "data", None, dtype=jnp.int32))


@case(
    CASES,
    "maximum and sum over the vocabulary; the label's logit is a look-up in it; the mean is over the batch",
    Want(AR, "model", "reduction", at="lse"),
    Want(AR, "model", "indexing", at="pick"),
    Want(AR, "data", "reduction", at="mean"),
)
def cross_entropy_forward():
    def f(logits, labels):
        z = jax.nn.logsumexp(logits, axis=-1)  # @lse
        picked = jnp.take_along_axis(logits, labels[:, None], axis=-1)  # @pick
        return jnp.mean(z - picked[:, 0])  # @mean

    return jax.jit(f), (array((16, 64), "data", "model"), array((16,), "data", dtype=jnp.int32))


@case(
    CASES,
    "as forward; dw contracts the batch (data), dx the vocabulary (model); the gradient of the pick is written locally",
    Want(AR, "model", "reduction", at="lse"),
    Want(AR, "model", "indexing", at="pick"),
    Want(AR, "data", "reduction", at="mean"),
    Want(AR, "data", "contraction", at="head", phase="backward"),
    Want(AR, "model", "contraction", at="head", phase="backward"),
)
def cross_entropy_gradients():
    def loss(w, x, labels):
        logits = x @ w  # @head
        z = jax.nn.logsumexp(logits, axis=-1)  # @lse
        picked = jnp.take_along_axis(logits, labels[:, None], axis=-1)  # @pick
        return jnp.mean(z - picked[:, 0])  # @mean

    arguments = array((32, 64), None, "model"), array((16, 32), "data", None), array((16,), "data", dtype=jnp.int32)
    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1))), arguments


@case(
    CASES,
    "picking by a one-hot product sums over the split vocabulary instead of looking up",
    Want(AR, "model", "reduction", at="lse"),
    Want(AR, "model", "reduction", at="pick"),
    Want(AR, "data", "reduction", at="mean"),
    Want(AR, "data", "contraction", at="head", phase="backward"),
)
def cross_entropy_one_hot_gradient():
    def loss(w, x, labels):
        logits = x @ w  # @head
        z = jax.nn.logsumexp(logits, axis=-1)  # @lse
        hot = jax.nn.one_hot(labels, 64)
        picked = jnp.sum(hot * logits, axis=-1)  # @pick
        return jnp.mean(z - picked)  # @mean

    arguments = array((32, 64), None, "model"), array((16, 32), "data", None), array((16,), "data", dtype=jnp.int32)
    return jax.jit(jax.value_and_grad(loss)), arguments


@case(
    CASES,
    "the best logit over model, then how many were right over data",
    Want(f"{AG}|{AR}", "model", "reduction", at="best"),
    Want(AR, "data", "reduction", at="right"),
)
def accuracy_over_split_vocabulary():
    def f(logits, labels):
        best = jnp.argmax(logits, axis=-1)  # @best
        return jnp.sum(best == labels)  # @right

    return jax.jit(f), (array((16, 64), "data", "model"), array((16,), "data", dtype=jnp.int32))


@case(
    CASES,
    "in an Explicit mesh too, rows of a split vocabulary are summed over model",
    Want(AR, "model", "indexing", at="look"),
)
def explicit_embedding_with_split_vocabulary():
    def f(table, ids):
        return table.at[ids].get(out_sharding=named("data", None, None, mesh=EXPLICIT))  # @look

    arguments = (
        array(TABLE, "model", None, mesh=EXPLICIT),
        array(IDS, "data", None, mesh=EXPLICIT, dtype=jnp.int32),
    )
    return jax.jit(f), arguments
