"""Programs on Explicit meshes: shardings are part of the types, and moves are written with `reshard`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.sharding import reshard

from causes.case import A2A, AG, AR, SUM, Case, Want, case
from causes.meshes import EXPLICIT, array, named

CASES: list[Case] = []


def split(*spec: object):
    return named(*spec, mesh=EXPLICIT)


def value(shape: tuple[int, ...], *spec: object):
    return array(shape, *spec, mesh=EXPLICIT)


@case(CASES, "types combine without conflict: rows by data, columns by model")
def explicit_rows_and_columns():
    def f(x, w):
        return jnp.tanh(x @ w)

    return jax.jit(f), (value((16, 32), "data", None), value((32, 64), None, "model"))


@case(
    CASES,
    "out_sharding says that the contracted model is summed and left out",
    Want(AR, "model", "contraction", at="mm"),
)
def explicit_contraction():
    def f(x, w):
        return jnp.einsum("bi,ij->bj", x, w, out_sharding=split("data", None))  # @mm

    return jax.jit(f), (value((16, 32), "data", "model"), value((32, 64), "model", None))


@case(
    CASES,
    "the summed result is wanted split by model: at best a reduce-scatter, but still the contraction's sum",
    Want(SUM, "model", "contraction", at="mm"),
)
def explicit_contraction_into_split_columns():
    def f(x, w):
        return jnp.einsum("bi,ij->bj", x, w, out_sharding=split("data", "model"))  # @mm

    return jax.jit(f), (value((16, 32), "data", "model"), value((32, 64), "model", None))


@case(CASES, "the user moves data from rows to columns", Want(A2A, "data", "reshard_requested", at="move"))
def explicit_reshard():
    def f(x):
        y = jnp.tanh(x)
        return reshard(y, split(None, "data"))  # @move

    return jax.jit(f), (value((16, 32), "data", None),)


@case(CASES, "the user gathers over model", Want(AG, "model", "reshard_requested", at="gather"))
def explicit_reshard_to_whole():
    def f(x):
        y = reshard(jnp.sin(x), split("data", None))  # @gather
        return y * 2

    return jax.jit(f), (value((16, 32), "data", "model"),)


@case(CASES, "a sum over a split dimension", Want(AR, "model", "reduction", at="sum"))
def explicit_sum():
    def f(x):
        return x.sum(1)  # @sum

    return jax.jit(f), (value((16, 32), "data", "model"),)


@case(
    CASES,
    "forward: h contracts model; backward: both weight gradients contract data, dx contracts model",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "model", "contraction", at="mm1", phase="backward"),
)
def explicit_megatron_gradients():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        y = jnp.einsum("bi,ij->bj", h, w[1], out_sharding=split("data", None))  # @mm2
        return jnp.sum(jnp.sin(y))

    weights = value((32, 64), None, "model"), value((64, 32), "model", None)
    return jax.jit(jax.grad(loss, argnums=(0, 1))), (weights, value((16, 32), "data", None))


@case(
    CASES,
    "the transpose of the user's reshard is the reshard back",
    Want(A2A, "data", "reshard_requested", at="move"),
    Want(A2A, "data", "reshard_requested", at="move", phase="backward"),
)
def explicit_gradient_of_reshard():
    def loss(x, y):
        moved = reshard(jnp.sin(x), split(None, "data"))  # @move
        return jnp.sum(jnp.tanh(moved) * y)

    return jax.jit(jax.grad(loss)), (value((16, 32), "data", None), value((16, 32), None, "data"))


@case(
    CASES,
    "the weight is gathered by the user; its gradient contracts the batch (data) and is then sliced or scattered",
    Want(AG, "data", "reshard_requested", at="gather"),
    Want(SUM, "data", "contraction", at="mm", phase="backward"),
)
def explicit_fsdp_gradients():
    def loss(w, x):
        whole = reshard(w, split(None, None))  # @gather
        y = x @ whole  # @mm
        return jnp.sum(jnp.sin(y))

    return jax.jit(jax.grad(loss)), (value((32, 16), "data", None), value((64, 32), "data", None))


@case(
    CASES,
    "the softmax's maximum and sum over model; nothing else",
    Want(AR, "model", "reduction", at="softmax"),
)
def explicit_softmax():
    def f(x):
        return jax.nn.softmax(x, axis=-1)  # @softmax

    return jax.jit(f), (value((16, 64), "data", "model"),)
