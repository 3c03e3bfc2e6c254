"""Reshapes, slices, selections and repetitions of sharded arrays; moves between axes of one dimension."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import A2A, AG, AR, CP, Case, Want, case
from causes.meshes import CUBE, array, named

CASES: list[Case] = []

MOVE = f"{AG}|{A2A}|{CP}"


@case(
    CASES,
    "data, the major part, stays; the columns on model are no contiguous pieces of the flat array",
    Want(f"{AG}|{A2A}", "model", "reshard_needed", at="flat"),
)
def flatten_two_split_dimensions():
    def f(x):
        return x.reshape(128) * 2  # @flat

    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "two copies one after the other: each device's rows lie in two places, so all are gathered",
    Want(f"{AG}|{A2A}", "model", "reshard_needed", at="tile"),
)
def tile_split_rows():
    def f(x):
        return jnp.tile(x, (2, 1)) * 3  # @tile

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "the same with the result wanted split: it is the reshape inside tile whose two sides do not fit, for that wish",
    Want(MOVE, "data|model|data model", "reshard_needed|output", at="tile"),
    revised="moves over model only, and halo; tile is a broadcast and a reshape, and XLA uses data as a hop",
)
def tile_into_split_rows():
    def f(x):
        return jnp.tile(x, (2, 1)) * 3  # @tile

    return jax.jit(f, out_shardings=named("model", None)), (array((16, 8), "model", None),)


@case(CASES, "every row twice, next to each other: they stay on their device")
def repeat_split_rows():
    def f(x):
        return jnp.broadcast_to(x[:, None, :], (16, 2, 8)).reshape(32, 8) * 3

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "every second row: two of each device's four, which it keeps")
def strided_slice_of_split_rows():
    def f(x):
        return jax.lax.slice(x, (0, 0), (16, 8), (2, 1)) * 2

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "the first half lies on two devices and is wanted on four",
    Want(f"{CP}|{AG}|{A2A}", "model", "halo", at="half"),
)
def first_half_of_split_rows():
    def f(x):
        return x[:8] * 2  # @half

    return jax.jit(f, out_shardings=named("model", None)), (array((16, 8), "model", None),)


@case(
    CASES,
    "x has model on its rows, y on its columns, and the choice is made element by element",
    Want(f"{A2A}|{AG}", "model", "reshard_needed", at="where"),
)
def selection_between_rows_and_columns():
    def f(x, y):
        return jnp.where(x > 0, x, y)  # @where

    return jax.jit(f), (array((16, 32), "model", None), array((16, 32), None, "model"))


@case(CASES, "fsdp moves from the second to the third dimension", Want(A2A, "fsdp", "reshard_requested", at="ask"))
def constraint_on_three_axes():
    def f(x):
        return with_sharding_constraint(x * 2, named("data", None, "fsdp", mesh=CUBE))  # @ask

    return jax.jit(f), (array((8, 8, 8), "data", "fsdp", None, mesh=CUBE),)


@case(
    CASES, "model, the minor part of the rows, moves to the columns", Want(A2A, "model", "reshard_requested", at="ask")
)
def one_dimension_onto_two():
    def f(x):
        return with_sharding_constraint(x * 2, named("data", "model"))  # @ask

    return jax.jit(f), (array((16, 8), ("data", "model"), None),)


@case(
    CASES,
    "the rows are split two ways and shall be split four ways by the other axis: some route between",
    Want(MOVE, "data|model|data model", "reshard_requested", at="ask"),
)
def rows_change_axis():
    def f(x):
        return with_sharding_constraint(x * 2, named("model", None))  # @ask

    return jax.jit(f), (array((16, 8), "data", None),)


@case(
    CASES,
    "one element of each row is kept, by comparing numbers: then a sum over both",
    Want(AR, "data model|data|model", "reduction", at="trace"),
)
def trace_of_a_split_matrix():
    def f(x):
        rows = jax.lax.broadcasted_iota(jnp.int32, (16, 16), 0)
        columns = jax.lax.broadcasted_iota(jnp.int32, (16, 16), 1)
        return jnp.sum(jnp.where(rows == columns, x, 0.0))  # @trace

    return jax.jit(f), (array((16, 16), "data", "model"),)


@case(
    CASES,
    "both are split by rows, stacked in front: a new whole dimension",
)
def stack_in_front():
    def f(x, y):
        return jnp.stack([x, y]) * 2

    return jax.jit(f), (array((16, 8), "model", None), array((16, 8), "model", None))


@case(
    CASES,
    "x is split by rows, y by columns; to lie in one array one of them must move",
    Want(f"{A2A}|{AG}", "model", "reshard_needed", at="stack"),
)
def stack_of_rows_and_columns():
    def f(x, y):
        return jnp.stack([x, y]) * 2  # @stack

    return jax.jit(f), (array((16, 8), "model", None), array((16, 8), None, "model"))


@case(
    CASES,
    "a Fourier transform works on rows at once, and the partitioner cannot split it along them",
    Want(f"{AG}|{A2A}", "model", "no_sharding_rule", at="fft", platform="not tpu"),
    Want(AR, "model", "contraction", at="fft", platform="tpu"),
    revised="the same collective, as reshard_needed: none of the kinds was made for it then",
    elsewhere="TPU: the transform of a short row is three products with matrices of sines and cosines",
)
def fourier_transform_of_split_rows():
    def f(x):
        return jnp.fft.fft(x, axis=1)  # @fft

    return jax.jit(f), (array((4, 16), None, "model", dtype=jnp.complex64),)


@case(CASES, "a copy with another type and sign moves nothing")
def casts_and_signs():
    def f(x):
        return -x.astype(jnp.bfloat16), jnp.abs(x) > 0

    return jax.jit(f), (array((16, 8), "data", "model"),)
