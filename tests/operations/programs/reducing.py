"""Operations along a sharded dimension: sums, softmax, cumulative sums, sorts, searches, segments.

Not its job: products (`products`).
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
_ROWS = array((16, 32), "model", None)

_ONE_WINDOW = "a halo, too, for the slices JAX makes a cumulative sum of elsewhere; on CPU it is one windowed reduction"


@operation(OPERATIONS, "each device sums its columns", _X, causes=("reduction",), never=_NOWHERE)
def sum_of_columns(x):
    return jnp.sum(x, axis=1)


@operation(OPERATIONS, "the sum over all", _X, causes=("reduction",), never=_NOWHERE)
def mean_of_all(x):
    return jnp.mean(x)


@operation(OPERATIONS, "mean, then squares of differences", _X, causes=("reduction",), never=_NOWHERE)
def variance_of_columns(x):
    return jnp.var(x, axis=1)


@operation(OPERATIONS, "each device has its largest", _X, causes=("reduction",), never=_NOWHERE)
def largest_of_columns(x):
    return jnp.max(x, axis=1)


@operation(OPERATIONS, "each device has its smallest", _X, causes=("reduction",), never=_NOWHERE, has_gradient=False)
def any_negative(x):
    return jnp.any(x < 0, axis=0)


@operation(
    OPERATIONS,
    "a product over the sharded rows",
    _ROWS,
    causes=("reduction",),
    backward=("halo", "indexing"),
    never=_NOWHERE,
)
def product_of_rows(x):
    return jnp.prod(x, axis=0)


@operation(
    OPERATIONS,
    "each device has a candidate and its place",
    _X,
    causes=("reduction",),
    never=_NOWHERE,
    has_gradient=False,
)
def place_of_the_largest(x):
    return jnp.argmax(x, axis=1)


@operation(
    OPERATIONS,
    "over both dimensions merged",
    _X,
    causes=("reduction", "reshard_needed"),
    never=_NOWHERE,
    has_gradient=False,
)
def place_of_the_smallest_of_all(x):
    return jnp.argmin(x)


@operation(OPERATIONS, "squares are summed", _X, causes=("reduction", "contraction"), never=_NOWHERE)
def norm_of_rows(x):
    return jnp.linalg.norm(x, axis=1)


@operation(OPERATIONS, "the largest and the sum along model", _X, causes=("reduction",), never=_NOWHERE)
def softmax_of_rows(x):
    return jax.nn.softmax(x, axis=-1)


@operation(OPERATIONS, "the largest and the sum along data", _X, causes=("reduction",), never=_NOWHERE)
def logsumexp_of_columns(x):
    return jax.nn.logsumexp(x, axis=0)


@operation(
    OPERATIONS,
    "mean and variance along the sharded features; scale and shift are sharded over another axis",
    _X,
    array((32,), "data"),
    array((32,), "model"),
    causes=("reduction", "reshard_needed"),
    never=_NOWHERE,
)
def layer_norm(x, scale, shift):
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


@operation(
    OPERATIONS,
    "mean and variance over the sharded batch and height",
    array((8, 16, 16, 4), "data", "model", None, None),
    array((4,), "model"),
    causes=("reduction", "reshard_needed"),
    never=_NOWHERE,
)
def batch_norm(x, scale):
    mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale


@operation(
    OPERATIONS,
    "the mean of squares along sharded features",
    _X,
    array((32,), "model"),
    causes=("reduction",),
    never=_NOWHERE,
)
def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


@operation(
    OPERATIONS,
    "every prefix needs what earlier devices hold",
    _ROWS,
    causes=("indexing",),
    never=_NOWHERE,
    revised=_ONE_WINDOW,
)
def cumulative_sum(x):
    return jnp.cumsum(x, axis=0)


@operation(
    OPERATIONS,
    "the same with products",
    _ROWS,
    causes=("indexing",),
    backward=("reduction", "halo"),
    never=_NOWHERE,
    revised=_ONE_WINDOW,
)
def cumulative_product(x):
    return jnp.cumprod(x, axis=0)


@operation(
    OPERATIONS,
    "the same with maxima",
    _ROWS,
    causes=("indexing",),
    backward=("reduction", "halo"),
    never=_NOWHERE,
    revised=_ONE_WINDOW,
)
def cumulative_maximum(x):
    return jax.lax.cummax(x, axis=0)


@operation(
    OPERATIONS,
    "the same with logarithms of sums",
    _ROWS,
    causes=("indexing",),
    backward=("reduction", "halo"),
    never=_NOWHERE,
    revised=_ONE_WINDOW,
)
def cumulative_logsumexp(x):
    return jax.lax.cumlogsumexp(x, axis=0)


@operation(OPERATIONS, "suffixes: the other way", _X, causes=("indexing",), never=_NOWHERE, revised=_ONE_WINDOW)
def reversed_cumulative_sum(x):
    return jax.lax.cumsum(x, axis=1, reverse=True)


@operation(
    OPERATIONS,
    "JAX's own steps: every other element, neighbours combined",
    _ROWS,
    causes=("indexing", "halo"),
    never=LOOKS_UP,
)
def associative_scan(x):
    return jax.lax.associative_scan(lambda a, b: a * 0.5 + b, x, axis=0)


@operation(OPERATIONS, "a device needs all rows of some columns", _ROWS, causes=("indexing",), never=_NOWHERE)
def sort_rows(x):
    return jnp.sort(x, axis=0)


@operation(
    OPERATIONS,
    "places instead of values",
    array((64,), "model"),
    causes=("indexing",),
    never=_NOWHERE,
    has_gradient=False,
)
def argsort_of_a_vector(x):
    return jnp.argsort(x)


@operation(
    OPERATIONS,
    "keys along model, values along data",
    integers((64,), "model"),
    array((64,), "data"),
    causes=("indexing", "reshard_needed"),
    never=_NOWHERE,
)
def sort_values_by_keys(keys, values):
    return jax.lax.sort_key_val(keys, values)[1]


@operation(
    OPERATIONS,
    "each device has three candidates",
    _X,
    causes=("indexing", "no_sharding_rule"),
    never=_NOWHERE,
    revised="indexing alone; XLA cannot split its top-k at all, and gathers the rows that it need not",
)
def three_largest(x):
    return jax.lax.top_k(x, 3)[0]


@operation(
    OPERATIONS,
    "places and values",
    _X,
    causes=("indexing", "no_sharding_rule"),
    never=_NOWHERE,
    revised="indexing alone; XLA cannot split its top-k at all, and gathers the rows that it need not",
)
def eight_largest_and_places(x):
    values, places = jax.lax.top_k(x, 8)
    return values * places


@operation(
    OPERATIONS,
    "each step of the search reads one place of a sharded array",
    array((64,), "model"),
    array((16,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
    has_gradient=False,
)
def search_in_a_sorted_array(x, v):
    return jnp.searchsorted(x, v)


@operation(
    OPERATIONS,
    "bins are sharded: first and last tell whether they grow, and they are reversed in case they do not",
    array((16, 8), "data", None),
    array((16,), "model"),
    causes=("indexing", "reshard_needed", "halo"),
    never=NEIGHBOURS,
    has_gradient=False,
    revised="no halo: that JAX looks at the ends of the bins and reverses them had been forgotten",
)
def digitize_into_bins(x, bins):
    return jnp.digitize(x, bins)


@operation(
    OPERATIONS,
    "sorted, compared with the neighbour, counted, scattered",
    integers((64,), "model"),
    causes=("indexing", "halo", "reduction"),
    has_gradient=False,
)
def unique_numbers(x):
    return jnp.unique(x, size=8)


@operation(
    OPERATIONS,
    "each device counts its own",
    integers((64,), "model"),
    causes=("indexing",),
    never=_NOWHERE,
    has_gradient=False,
)
def count_numbers(x):
    return jnp.bincount(x, length=16)


@operation(
    OPERATIONS,
    "each device sums its own rows by segment",
    array((64, 8), "model", None),
    integers((64,), "model"),
    causes=("indexing",),
    never=_NOWHERE,
)
def sum_of_segments(x, segments):
    return jax.ops.segment_sum(x, segments, num_segments=8)


@operation(
    OPERATIONS,
    "rows over model, their segments over data",
    array((64, 8), "model", None),
    integers((64,), "data"),
    causes=("indexing", "reshard_needed"),
    backward=("reduction",),
)
def largest_of_segments(x, segments):
    return jax.ops.segment_max(x, segments, num_segments=8)


@operation(
    OPERATIONS,
    "a sort, and whether any is NaN",
    array((64,), "model"),
    causes=("indexing", "reduction"),
    never=NEIGHBOURS,
)
def median(x):
    return jnp.median(x)


@operation(
    OPERATIONS,
    "a sort, whether any is NaN, two places",
    _ROWS,
    causes=("indexing", "reduction", "halo"),
    never=NEIGHBOURS,
)
def percentile_of_rows(x):
    return jnp.percentile(x, 90.0, axis=0)


@operation(
    OPERATIONS,
    "smallest and largest, a search in replicated edges, counts, of which all but the first are kept",
    array((64,), "model"),
    causes=("indexing", "reduction", "halo"),
    has_gradient=False,
    revised="no halo: that JAX drops the first count by a slice had been forgotten",
)
def histogram(x):
    return jnp.histogram(x, bins=8)[0]


@operation(
    OPERATIONS,
    "a search in sharded points, and their values",
    array((16,), "data"),
    array((64,), "model"),
    array((64,), "model"),
    causes=("indexing", "halo"),
    backward=("reduction",),
)
def interpolate(x, points, values):
    return jnp.interp(x, points, values)


@operation(
    OPERATIONS,
    "products of differences with the mean are summed",
    _X,
    causes=("reduction", "contraction", "reshard_needed"),
    never=_NOWHERE,
)
def covariance(x):
    return jnp.cov(x)


@operation(
    OPERATIONS,
    "areas between neighbours, then their sum",
    array((64,), "model"),
    causes=("halo", "reduction"),
    never=LOOKS_UP,
)
def integral_by_trapezoids(x):
    return jnp.trapezoid(x)


@operation(OPERATIONS, "differences to both sides", array((64,), "model"), causes=("halo",), never=LOOKS_UP)
def numeric_gradient(x):
    return jnp.gradient(x)
