"""Products, convolutions and windows whose operands are sharded along what is summed, or along the same axis.

Not its job: other sums (`reducing`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_BOTH = ("contraction", "reshard_needed")


@operation(
    OPERATIONS,
    "both operands have model on what is summed",
    array((16, 32), "data", "model"),
    array((32, 64), "model", None),
    causes=("contraction",),
    backward=_BOTH,
    never=_NOWHERE,
)
def product_over_a_sharded_dimension(x, w):
    return x @ w


@operation(
    OPERATIONS,
    "rows of x and columns of w have the same axis",
    array((16, 32), "data", None),
    array((32, 64), None, "data"),
    causes=("reshard_needed",),
    backward=_BOTH,
    never=_NOWHERE,
)
def product_of_one_axis_twice(x, w):
    return x @ w


@operation(
    OPERATIONS,
    "only x is sharded over what is summed: w is sliced, or x gathered",
    array((16, 32), None, "model"),
    array((32, 64)),
    causes=_BOTH,
    never=_NOWHERE,
)
def product_with_one_sharded_operand(x, w):
    return x @ w


@operation(
    OPERATIONS,
    "what is summed is sharded over model here and over data there",
    array((16, 32), None, "model"),
    array((32, 64), "data", None),
    causes=_BOTH,
    never=_NOWHERE,
)
def product_over_two_axes(x, w):
    return x @ w


@operation(
    OPERATIONS,
    "the batch is on data and on model",
    array((8, 16, 32), "data", None, None),
    array((8, 32, 16), "model", None, None),
    causes=("reshard_needed",),
    backward=_BOTH,
    never=_NOWHERE,
)
def batched_product(a, b):
    return jnp.einsum("bij,bjk->bik", a, b)


@operation(
    OPERATIONS,
    "queries and keys are both sharded along the sequence",
    array((8, 16, 4, 8), "data", "model", None, None),
    array((8, 16, 4, 8), "data", "model", None, None),
    causes=("reshard_needed",),
    backward=_BOTH,
    never=_NOWHERE,
)
def attention_scores(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k)


@operation(
    OPERATIONS,
    "scores, softmax along keys, sums over keys; the sequence is sharded",
    array((8, 16, 4, 8), "data", "model", None, None),
    array((8, 16, 4, 8), "data", "model", None, None),
    array((8, 16, 4, 8), "data", "model", None, None),
    causes=("reshard_needed", "contraction", "reduction"),
    never=_NOWHERE,
)
def dot_product_attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v)


@operation(
    OPERATIONS,
    "a chain of three, whose inner dimensions have the axes in turn",
    array((16, 32), "data", "model"),
    array((32, 64), "data", "model"),
    array((64, 16), "data", "model"),
    causes=_BOTH,
    never=_NOWHERE,
)
def chain_of_three(a, b, c):
    return jnp.einsum("ij,jk,kl->il", a, b, c)


@operation(
    OPERATIONS,
    "batch and contraction are sharded alike",
    array((8, 16, 32), "data", None, "model"),
    array((8, 32, 16), "data", "model", None),
    causes=("contraction",),
    backward=_BOTH,
    never=_NOWHERE,
)
def dot_general_of_a_batch(a, b):
    return jax.lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))))


@operation(
    OPERATIONS,
    "vectors sharded over other axes are multiplied and summed",
    array((64,), "model"),
    array((64,), "data"),
    causes=_BOTH,
    never=_NOWHERE,
)
def dot_of_two_vectors(a, b):
    return jnp.vdot(a, b)


@operation(
    OPERATIONS,
    "the trace sums over rows and columns at once",
    array((16, 16), "data", "model"),
    causes=("reduction", "reshard_needed", "contraction"),
    never=_NOWHERE,
)
def trace(x):
    return jnp.trace(x)


@operation(
    OPERATIONS,
    "a window reads across the edges of the pieces of the sequence",
    array((8, 32, 4), "data", "model", None),
    array((3, 4, 8)),
    causes=("halo",),
    backward=("contraction",),
    never=LOOKS_UP,
)
def convolution_1d(x, k):
    return jax.lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@operation(
    OPERATIONS,
    "height is sharded",
    array((4, 16, 16, 4), "data", "model", None, None),
    array((3, 3, 4, 8)),
    causes=("halo",),
    backward=("contraction",),
    never=LOOKS_UP,
)
def convolution_2d(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@operation(
    OPERATIONS,
    "height is sharded, every other position is kept",
    array((4, 16, 16, 4), "data", "model", None, None),
    array((3, 3, 4, 8)),
    causes=("halo",),
    backward=("contraction", "reshard_needed"),
    never=LOOKS_UP,
)
def convolution_with_stride(x, k):
    return jax.lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@operation(
    OPERATIONS,
    "the channels that are summed are sharded",
    array((4, 16, 16, 8), "data", None, None, "model"),
    array((3, 3, 8, 8), None, None, "model", None),
    causes=("contraction",),
    backward=_BOTH,
    never=_NOWHERE,
)
def convolution_over_sharded_channels(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@operation(
    OPERATIONS,
    "batch and output channels have the same axis",
    array((4, 16, 16, 4), "data", None, None, None),
    array((3, 3, 4, 8), None, None, None, "data"),
    causes=("reshard_needed",),
    backward=_BOTH,
    never=_NOWHERE,
)
def convolution_of_one_axis_twice(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@operation(
    OPERATIONS,
    "one filter for each of the sharded channels: nothing is summed, XLA may still gather",
    array((4, 16, 16, 8), "data", None, None, "model"),
    array((3, 3, 1, 8), None, None, None, "model"),
    causes=("reshard_needed",),
    backward=_BOTH,
    never=_NOWHERE,
)
def convolution_by_channel(x, k):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=8)


@operation(
    OPERATIONS,
    "height is sharded and doubled",
    array((4, 16, 16, 4), "data", "model", None, None),
    array((3, 3, 4, 8)),
    causes=("halo",),
    backward=("contraction", "reshard_needed"),
    never=LOOKS_UP,
)
def transposed_convolution(x, k):
    return jax.lax.conv_transpose(x, k, (2, 2), "SAME")


@operation(
    OPERATIONS,
    "a window over sharded samples",
    array((64,), "model"),
    array((5,)),
    causes=("halo",),
    backward=("contraction",),
    never=LOOKS_UP,
)
def convolve_samples(x, k):
    return jnp.convolve(x, k, mode="same")


@operation(
    OPERATIONS,
    "windows of three, two apart, read across the edges",
    array((4, 16, 16, 4), "data", "model", None, None),
    causes=("halo",),
    backward=("indexing",),
    never=LOOKS_UP,
)
def largest_in_windows(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@operation(
    OPERATIONS,
    "windows of three read across the edges",
    array((4, 16, 16, 4), "data", "model", None, None),
    causes=("halo",),
    never=LOOKS_UP,
)
def mean_in_windows(x):
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9.0


@operation(
    OPERATIONS,
    "tokens sorted by expert; the features that are summed are sharded; rows of a group lie anywhere",
    array((16, 32), "data", "model"),
    array((4, 32, 8), None, "model", None),
    integers((4,)),
    causes=("contraction", "reshard_needed", "no_sharding_rule"),
    never=_NOWHERE,
)
def ragged_product(x, w, sizes):
    return jax.lax.ragged_dot(x, w, sizes)


@operation(
    OPERATIONS,
    "resizing multiplies sharded height by weights",
    array((4, 16, 16, 4), "data", "model", None, None),
    causes=("contraction", "reshard_needed"),
    never=LOOKS_UP,
)
def resize_an_image(x):
    return jax.image.resize(x, (4, 32, 32, 4), "bilinear")


@operation(
    OPERATIONS,
    "distances between all pairs: rows of both have the same axis",
    array((16, 8), "data", None),
    array((32, 8), "data", None),
    causes=("reshard_needed",),
    backward=("reduction", "contraction"),
    never=_NOWHERE,
)
def distances_of_all_pairs(x, y):
    return jnp.sum((x[:, None] - y[None]) ** 2, axis=-1)
