"""Transforms, factorizations, special functions and random numbers.

Not its job: calls into other languages (`foreign`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_X = array((16, 32), "data", "model")
_Y = array((16, 32), "model", "data")
_MATRICES = array((4, 16, 16), "data", "model", None)
_UNSPLIT = ("no_sharding_rule",)
_MANY = ("no_sharding_rule", "reshard_needed", "contraction", "reduction", "indexing", "halo")
"""Factorizations have gradients, and solvers have insides, of several operations."""


@operation(OPERATIONS, "a transform needs all of its dimension", _X, causes=_UNSPLIT, never=_NOWHERE)
def fft_along_columns(x):
    return jnp.fft.fft(x, axis=1)


@operation(
    OPERATIONS,
    "both dimensions are transformed; half of the last is kept",
    array((8, 16, 32), "data", "model", None),
    causes=_UNSPLIT,
    backward=("halo",),
    never=_NOWHERE,
)
def rfft2_of_images(x):
    return jnp.fft.rfft2(x)


@operation(
    OPERATIONS,
    "the transformed dimension is whole, the batch is sharded; XLA may gather it all the same",
    array((16, 32), "data", None),
    causes=_UNSPLIT,
    never=_NOWHERE,
)
def fft_of_whole_rows(x):
    return jnp.fft.fft(x, axis=1)


@operation(
    OPERATIONS,
    "a transform, a product with a filter, and back",
    _X,
    _Y,
    causes=("no_sharding_rule", "reshard_needed"),
    never=_NOWHERE,
)
def filter_by_fft(x, f):
    return jnp.fft.irfft(jnp.fft.rfft(x, axis=1) * jnp.fft.rfft(f, axis=1), axis=1)


@operation(OPERATIONS, "halves change places", array((64,), "model"), causes=("halo",), never=LOOKS_UP)
def fftshift(x):
    return jnp.fft.fftshift(x)


@operation(
    OPERATIONS,
    "rows depend on all rows before",
    _MATRICES,
    causes=("no_sharding_rule", "reshard_needed"),
    backward=_MANY,
    never=_NOWHERE,
)
def cholesky(x):
    return jnp.linalg.cholesky(x)


@operation(
    OPERATIONS,
    "columns are made orthogonal one after the other",
    _MATRICES,
    causes=("no_sharding_rule", "reshard_needed"),
    backward=_MANY,
    never=_NOWHERE,
)
def qr(x):
    return jnp.linalg.qr(x)[0]


@operation(
    OPERATIONS,
    "LAPACK takes whole matrices",
    _MATRICES,
    causes=("no_sharding_rule", "reshard_needed"),
    backward=_MANY,
    never=_NOWHERE,
)
def singular_values(x):
    return jnp.linalg.svd(x, full_matrices=False)[1]


@operation(
    OPERATIONS,
    "LAPACK takes whole matrices",
    _MATRICES,
    causes=("no_sharding_rule", "reshard_needed"),
    backward=_MANY,
    never=_NOWHERE,
)
def eigenvalues(x):
    return jnp.linalg.eigh(x)[0]


@operation(
    OPERATIONS,
    "an LU factorization, a permutation, two triangular solves",
    _MATRICES,
    array((4, 16, 8), "data", "model", None),
    causes=_MANY,
)
def solve(a, b):
    return jnp.linalg.solve(a, b)


@operation(
    OPERATIONS,
    "a row of the solution depends on all rows before",
    _MATRICES,
    array((4, 16, 8), "data", "model", None),
    causes=("no_sharding_rule", "reshard_needed"),
    backward=_MANY,
    never=_NOWHERE,
)
def triangular_solve(a, b):
    return jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)


@operation(OPERATIONS, "an LU factorization and its diagonal", array((4, 16, 16), "data", None, "model"), causes=_MANY)
def determinant(x):
    return jnp.linalg.det(x)


# ---------------------------------------------------------------- special functions


@operation(OPERATIONS, "rows meet columns in a sum", _X, _Y, causes=("reshard_needed",), never=_NOWHERE)
def sum_of_two(x, y):
    return x + y


@operation(
    OPERATIONS,
    "erf is one call for XLA, which it may not be able to split; rows meet columns",
    _X,
    _Y,
    causes=("no_sharding_rule", "reshard_needed"),
    never=_NOWHERE,
)
def erf_of_a_sum(x, y):
    return jax.lax.erf(x + y)


@operation(
    OPERATIONS, "erf of sharded values: element by element, but one call for XLA", _X, causes=_UNSPLIT, never=_NOWHERE
)
def gelu_exact(x):
    return jax.nn.gelu(x, approximate=False)


@operation(OPERATIONS, "element by element", _X, never=_NOWHERE)
def gelu_approximate(x):
    return jax.nn.gelu(x)


@operation(OPERATIONS, "a polynomial, element by element", _X, causes=_UNSPLIT, never=_NOWHERE)
def inverse_erf(x):
    return jax.lax.erf_inv(jnp.tanh(x))


@operation(
    OPERATIONS,
    "a loop over elements until all are exact: a predicate over all devices",
    _X,
    causes=("loop_predicate",),
    never=_NOWHERE,
    has_gradient=False,
)
def gamma_function_ratio(x):
    return jax.scipy.special.gammainc(2.0, jnp.abs(x))


@operation(OPERATIONS, "series element by element", _X, causes=_UNSPLIT, never=_NOWHERE)
def log_gamma(x):
    return jax.lax.lgamma(x)


# ---------------------------------------------------------------- random numbers


@operation(OPERATIONS, "each device draws its own", _X, never=_NOWHERE)
def add_noise(x):
    return x + jax.random.normal(jax.random.PRNGKey(0), x.shape)


@operation(OPERATIONS, "bits by counter, each device its own", _X, never=_NOWHERE, has_gradient=False)
def random_bits(x):
    return x.astype(jnp.uint32) ^ jax.random.bits(jax.random.PRNGKey(0), x.shape)


@operation(OPERATIONS, "each device draws its own mask", _X, never=_NOWHERE)
def dropout(x):
    return jnp.where(jax.random.bernoulli(jax.random.PRNGKey(0), 0.9, x.shape), x / 0.9, 0.0)


@operation(
    OPERATIONS, "the largest of noisy scores along model", _X, causes=("reduction",), never=_NOWHERE, has_gradient=False
)
def draw_categories(x):
    return jax.random.categorical(jax.random.PRNGKey(0), x, axis=-1)


@operation(
    OPERATIONS,
    "rows are looked up in random order; the order is a sort",
    array((64, 8), "model", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def shuffle_rows(x):
    return jax.random.permutation(jax.random.PRNGKey(0), x)


@operation(
    OPERATIONS, "random rows are looked up", array((64, 8), "model", None), causes=("indexing",), never=NEIGHBOURS
)
def draw_rows(x):
    return jax.random.choice(jax.random.PRNGKey(0), x, (16,))


@operation(
    OPERATIONS,
    "a key for each row; each device draws its own rows",
    array((16, 32), "data", None),
    integers((16,), "data"),
    never=_NOWHERE,
)
def noise_by_seed(x, seeds):
    def one(row, seed):
        return row + jax.random.normal(jax.random.PRNGKey(seed), row.shape)

    return jax.vmap(one)(x, seeds)
