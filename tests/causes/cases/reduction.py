"""Sums, maxima, norms and normalisations over sharded dimensions."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import AG, AR, Case, Want, case
from causes.meshes import LINE, array

CASES: list[Case] = []

BOTH = "data model|data|model"


@case(CASES, "each device sums its rows; the rows are on data", Want(AR, "data", "reduction", at="sum"))
def sum_over_split_rows():
    def f(x):
        return x.sum(0)  # @sum

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(CASES, "the summed dimension is whole on every device")
def sum_over_a_whole_dimension():
    def f(x):
        return x.sum(1)

    return jax.jit(f), (array((16, 64), ("data", "model"), None),)


@case(
    CASES,
    "both dimensions are split: over all eight devices, at once or per axis",
    Want(AR, BOTH, "reduction", at="mean"),
)
def mean_of_everything():
    def f(x):
        return x.mean()  # @mean

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(CASES, "a maximum of eight maxima", Want(AR, "x", "reduction", at="max"))
def max_on_a_line():
    def f(x):
        return x.max(0)  # @max

    return jax.jit(f), (array((16, 64), "x", None, mesh=LINE),)


@case(CASES, "and of eight truth values", Want(AR, "x", "reduction", at="all"))
def all_finite():
    def f(x):
        return jnp.isfinite(x).all()  # @all

    return jax.jit(f), (array((16, 64), "x", None, mesh=LINE),)


@case(
    CASES,
    "softmax needs the maximum and the sum over the split dimension",
    Want(AR, "model", "reduction", at="softmax"),
)
def softmax_over_split_dimension():
    def f(x):
        return jax.nn.softmax(x, axis=-1)  # @softmax

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(CASES, "softmax over a whole dimension is local")
def softmax_over_a_whole_dimension():
    def f(x):
        return jax.nn.softmax(x, axis=-1)

    return jax.jit(f), (array((16, 64), ("data", "model"), None),)


@case(
    CASES,
    "maximum and sum over model forward; the gradient of softmax sums over model once more",
    Want(AR, "model", "reduction", at="softmax"),
    Want(AR, "model", "reduction", at="softmax", phase="backward"),
)
def gradient_of_softmax():
    def loss(x, y):
        p = jax.nn.softmax(x, axis=-1)  # @softmax
        return jnp.sum(p * y)

    return jax.jit(jax.grad(loss)), (array((16, 64), "data", "model"), array((16, 64), "data", "model"))


@case(
    CASES,
    "maximum and sum over model; the mean over the batch is on data",
    Want(AR, "model", "reduction", at="lse"),
    Want(AR, "data", "reduction", at="mean"),
)
def logsumexp_over_split_dimension():
    def f(x):
        z = jax.nn.logsumexp(x, axis=-1)  # @lse
        return z.mean()  # @mean

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(
    CASES,
    "argmax reduces pairs of value and index: each device's winner is gathered (or reduced) over model",
    Want(f"{AG}|{AR}", "model", "reduction", at="argmax"),
)
def argmax_over_split_dimension():
    def f(x):
        return jnp.argmax(x, axis=1)  # @argmax

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(
    CASES,
    "the winner on each of eight devices, then the winner of those",
    Want(f"{AG}|{AR}", "x", "reduction", at="argmin"),
    Want(AR, "x", "reduction", at="min", platform="not tpu"),
    elsewhere="TPU: the smallest element is what argmin has found already, and is not looked for again",
)
def argmin_and_min_of_a_vector():
    def f(x):
        where = jnp.argmin(x)  # @argmin
        return where, x.min()  # @min

    return jax.jit(f), (array((64,), "x", mesh=LINE),)


@case(
    CASES,
    "the mean and the variance over features split by model",
    Want(AR, "model", "reduction", at="mean"),
    Want(AR, "model", "reduction", at="var"),
)
def layernorm_over_split_features():
    def f(x, scale):
        mean = x.mean(-1, keepdims=True)  # @mean
        var = ((x - mean) ** 2).mean(-1, keepdims=True)  # @var
        return (x - mean) * jax.lax.rsqrt(var + 1e-6) * scale

    return jax.jit(f), (array((16, 64), "data", "model"), array((64,), "model"))


@case(
    CASES,
    "forward one sum of squares over model; backward another over model for dx; dscale sums the batch over data",
    Want(AR, "model", "reduction", at="square"),
    Want(AR, "model", "reduction", at="norm", phase="backward"),
    Want(AR, "data", "reduction", at="scale", phase="backward"),
    Want(AR, BOTH, "reduction", at="loss"),
)
def rmsnorm_gradients():
    def loss(scale, x):
        square = (x * x).mean(-1, keepdims=True)  # @square
        y = x * jax.lax.rsqrt(square + 1e-6)  # @norm
        y = y * scale  # @scale
        return jnp.sum(jnp.sin(y))  # @loss

    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1))), (array((64,), "model"), array((16, 64), "data", "model"))


@case(
    CASES,
    "features are whole: the norm is local forward and for dx; only the gradient of the scale sums the batch",
    Want(AR, "data", "reduction", at="scale", phase="backward"),
)
def layernorm_scale_gradient():
    def loss(scale, x):
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        y = (x - mean) * jax.lax.rsqrt(var + 1e-6)
        y = y * scale  # @scale
        return jnp.sum(jnp.sin(y))

    return jax.jit(jax.grad(loss)), (array((64,), None), array((16, 64), "data", None))


@case(
    CASES,
    "statistics over the batch, which is on data",
    Want(AR, "data", "reduction", at="mean"),
    Want(AR, "data", "reduction", at="var"),
)
def batchnorm_statistics():
    def f(x):
        mean = x.mean(0)  # @mean
        var = x.var(0)  # @var
        return (x - mean) * jax.lax.rsqrt(var + 1e-6)

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(CASES, "the norm of all elements is a sum over both axes", Want(AR, BOTH, "reduction", at="norm"))
def frobenius_norm():
    def f(x):
        return x / jnp.linalg.norm(x)  # @norm

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(
    CASES,
    "a product over a split dimension is a reduction like a sum",
    Want(AR, "model", "reduction", at="prod"),
)
def product_of_elements():
    def f(x):
        return jnp.prod(x, axis=1)  # @prod

    return jax.jit(f), (array((16, 8), None, "model"),)
