"""Stencils, convolutions, pads, slices and concatenations along a sharded dimension: neighbours exchange edges."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, AR, CP, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []


@case(CASES, "the last row of each device becomes the first of the next", Want(CP, "model", "halo", at="roll"))
def roll_by_one():
    def f(x):
        return jnp.roll(x, 1, axis=0) * 2  # @roll

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "the rolled dimension is whole on every device")
def roll_of_whole_columns():
    def f(x):
        return jnp.roll(x, 1, axis=1) * 2

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "a five-point stencil on a torus: edges go both ways along both axes",
    Want(CP, "data", "halo", at="rows"),
    Want(CP, "model", "halo", at="columns"),
)
def five_point_stencil():
    def f(x):
        rows = jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0)  # @rows
        columns = jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1)  # @columns
        return rows + columns - 4 * x

    return jax.jit(f), (array((16, 32), "data", "model"),)


@case(
    CASES,
    "x[1:] is shifted by one row against x[:-1], so rows cross devices; 15 rows do not divide: returned replicated",
    Want(CP, "model", "halo", at="diff"),
    Want(AG, "model", "output", at="diff"),
)
def difference_of_neighbours():
    def f(x):
        return x[1:] - x[:-1]  # @diff

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "eight of sixteen rows, two on each device instead of four: rows must move",
    Want(f"{CP}|{AG}|{A2A}", "model", "halo", at="slice"),
)
def slice_of_split_rows():
    def f(x):
        return x[4:12] * 2  # @slice

    return jax.jit(f, out_shardings=named("model", None)), (array((16, 8), "model", None),)


@case(
    CASES,
    "20 rows are five per device instead of four, and all are shifted by four: rows move between neighbours",
    Want(f"{CP}|{AG}|{A2A}", "model", "halo", at="pad"),
)
def pad_in_front_of_split_rows():
    def f(x):
        return jnp.pad(x, ((4, 0), (0, 0))) * 2  # @pad

    return jax.jit(f, out_shardings=named("model", None)), (array((16, 8), "model", None),)


@case(
    CASES,
    "the first half of the result is all of x: every device gives its rows to others",
    Want(f"{CP}|{AG}|{A2A}|{AR}", "model", "halo", at="join"),
)
def concatenate_along_split_rows():
    def f(x, y):
        return jnp.concatenate([x, y], axis=0) * 2  # @join

    arguments = array((16, 8), "model", None), array((16, 8), "model", None)
    return jax.jit(f, out_shardings=named("model", None)), arguments


@case(CASES, "side by side: each device joins its own rows")
def concatenate_along_whole_columns():
    def f(x, y):
        return jnp.concatenate([x, y], axis=1) * 2

    return jax.jit(f), (array((16, 8), "model", None), array((16, 8), "model", None))


@case(CASES, "the first device gets the rows of the last, reversed", Want(CP, "model", "halo", at="flip"))
def flip_of_split_rows():
    def f(x):
        return jnp.flip(x, 0) * 2  # @flip

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "a window of three by three on split rows needs one row of each neighbour",
    Want(CP, "model", "halo", at="pool"),
)
def max_pool():
    def f(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3, 3), (1, 1), "SAME")  # @pool

    return jax.jit(f), (array((16, 16), "model", None),)


@case(CASES, "windows of two that do not overlap and do not cross devices")
def pool_without_overlap():
    def f(x):
        return jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (2, 2), "VALID")

    return jax.jit(f), (array((16, 16), "model", None),)


@case(
    CASES,
    "a 3 x 3 kernel on a split height needs one row of each neighbour",
    Want(CP, "model", "halo", at="conv"),
)
def convolution_with_split_height():
    def f(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")  # @conv

    return jax.jit(f), (array((2, 3, 16, 16), None, None, "model", None), array((4, 3, 3, 3)))


@case(
    CASES,
    "input channels are the contracted dimension of a convolution",
    Want(AR, "model", "contraction", at="conv"),
)
def convolution_with_split_input_channels():
    def f(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")  # @conv

    return jax.jit(f), (
        array((2, 8, 16, 16), "data", "model", None, None),
        array((4, 8, 3, 3), None, "model", None, None),
    )


@case(CASES, "batch and output channels are free dimensions")
def convolution_with_split_output_channels():
    def f(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")

    return jax.jit(f), (array((2, 3, 16, 16), "data", None, None, None), array((8, 3, 3, 3), "model", None, None, None))


@case(
    CASES,
    "the kernel's gradient contracts the batch, which is on data",
    Want(AR, "data", "contraction", at="conv", phase="backward"),
)
def kernel_gradient_of_a_split_batch():
    def loss(k, x):
        y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")  # @conv
        return jnp.sum(jnp.sin(y))

    return jax.jit(jax.grad(loss)), (array((4, 3, 3, 3)), array((4, 3, 16, 16), "data", None, None, None))


@case(
    CASES,
    "forward exchanges edges; the kernel's gradient contracts the split height (sum) and needs edges of x or dy",
    Want(CP, "x", "halo", at="conv"),
    Want(AR, "x", "contraction", at="conv", phase="backward"),
)
def kernel_gradient_of_a_split_height():
    def loss(k, x):
        y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")  # @conv
        return jnp.sum(jnp.sin(y))

    arguments = array((4, 3, 3, 3), mesh=LINE), array((2, 3, 16, 16), None, None, "x", None, mesh=LINE)
    return jax.jit(jax.grad(loss)), arguments


@case(
    CASES,
    "the same with another axis, over which everything is replicated",
    Want(CP, "model", "halo", at="conv"),
    Want(AR, "model|data model", "contraction", at="conv", phase="backward"),
    revised="a sum over model only; JAX 0.10.2's XLA sums over data too, so the gradient is twice too large: its bug",
)
def kernel_gradient_of_a_split_height_on_two_axes():
    def loss(k, x):
        y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")  # @conv
        return jnp.sum(jnp.sin(y))

    return jax.jit(jax.grad(loss)), (array((4, 3, 3, 3)), array((2, 3, 16, 16), None, None, "model", None))


@case(
    CASES,
    "the gradient of a roll is the roll back: one edge forward, one backward",
    Want(CP, "model", "halo", at="roll"),
    Want(f"{CP}|{AR}", "model", "halo", at="roll", phase="backward"),
    revised="only a permute; the transpose pads two slices with zeros, and XLA hands out a padded single row by a sum",
)
def gradient_of_roll():
    def loss(x, y):
        shifted = jnp.roll(x, 1, axis=0)  # @roll
        return jnp.sum(jnp.sin(shifted) * y)

    return jax.jit(jax.grad(loss)), (array((16, 8), "model", None), array((16, 8), "model", None))


@case(
    CASES,
    "a causal convolution over split time needs the last two steps of the previous device",
    Want(CP, "x", "halo", at="conv"),
)
def causal_convolution_over_time():
    def f(x, k):
        numbers = ("NWC", "WIO", "NWC")
        return jax.lax.conv_general_dilated(  # @conv
            x, k, (1,), [(2, 0)], dimension_numbers=numbers, feature_group_count=8
        )

    return jax.jit(f), (array((2, 64, 8), None, "x", None, mesh=LINE), array((3, 1, 8), mesh=LINE))
