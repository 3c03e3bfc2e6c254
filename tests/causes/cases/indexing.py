"""Gather, scatter, dynamic slices, sorting and scans along a sharded dimension."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, AR, CP, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []

MOVE = f"{AG}|{A2A}|{CP}|{AR}"


@case(CASES, "rows by number from split rows", Want(AR, "model", "indexing", at="take"))
def take_rows():
    def f(x, i):
        return jnp.take(x, i, axis=0, mode="clip")  # @take

    return jax.jit(f), (array((64, 8), "model", None), array((16,), dtype=jnp.int32))


@case(CASES, "the table is whole, the numbers are split: every device looks up its own")
def take_with_split_indices():
    def f(x, i):
        return jnp.take(x, i, axis=0, mode="clip")

    return jax.jit(f), (array((64, 8)), array((16,), ("data", "model"), dtype=jnp.int32))


@case(
    CASES,
    "where the slice starts is known only at run time: the split dimension is gathered, or the owner's part is summed",
    Want(f"{AG}|{AR}", "model", "indexing", at="slice"),
)
def dynamic_slice_of_split_rows():
    def f(x, i):
        return jax.lax.dynamic_slice_in_dim(x, i, 4, axis=0)  # @slice

    return jax.jit(f), (array((16, 8), "model", None), array((), dtype=jnp.int32))


@case(CASES, "the sliced dimension is whole on every device")
def dynamic_slice_of_whole_rows():
    def f(x, i):
        return jax.lax.dynamic_slice_in_dim(x, i, 4, axis=0)

    return jax.jit(f), (array((16, 8), None, "model"), array((), dtype=jnp.int32))


@case(
    CASES,
    "four rows may lie across two devices: the partitioner gathers, updates, and slices",
    Want(AG, "model", "indexing", at="update"),
)
def dynamic_update_of_split_rows():
    def f(x, u, i):
        return jax.lax.dynamic_update_slice_in_dim(x, u, i, axis=0)  # @update

    arguments = array((16, 8), "model", None), array((4, 8)), array((), dtype=jnp.int32)
    return jax.jit(f, out_shardings=named("model", None)), arguments


@case(CASES, "one row lies on one device, which knows that it is its own")
def dynamic_update_of_one_row():
    def f(x, u, i):
        return jax.lax.dynamic_update_slice_in_dim(x, u, i, axis=0)

    arguments = array((16, 8), "model", None), array((1, 8)), array((), dtype=jnp.int32)
    return jax.jit(f, out_shardings=named("model", None)), arguments


@case(
    CASES,
    "to sort split rows a device needs whole columns: model moves to the columns, or everything is gathered",
    Want(f"{AG}|{A2A}", "model", "indexing", at="sort"),
)
def sort_along_split_rows():
    def f(x):
        return jnp.sort(x, axis=0)  # @sort

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "a vector has no other dimension to move the split to", Want(AG, "x", "indexing", at="sort"))
def argsort_of_a_vector():
    def f(x):
        return jnp.argsort(x)  # @sort

    return jax.jit(f), (array((64,), "x", mesh=LINE),)


@case(CASES, "rows are split, columns are sorted")
def sort_along_whole_columns():
    def f(x):
        return jnp.sort(x, axis=1)

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "the median sorts the split dimension; that it is NaN when any element is needs a reduction",
    Want(f"{AG}|{A2A}", "x", "indexing", at="median"),
    Want(AR, "x", "reduction", at="median"),
    revised="only the sort: the check for NaN had been forgotten",
)
def median_of_a_vector():
    def f(x):
        return jnp.median(x)  # @median

    return jax.jit(f), (array((64,), "x", mesh=LINE),)


@case(
    CASES,
    "each device's best candidates (or all) are gathered over model; rows need no exchange but may be gathered too",
    Want(AG, "model", "indexing", at="top", platform="not tpu"),
    Want(AG, "data", "no_sharding_rule", at="top", optional=True, platform="not tpu"),
    Want(A2A, "model", "indexing", at="top", platform="tpu"),
    Want(CP, "model", "halo", at="top", platform="tpu"),
    Want(AG, "model", "output", at="top", platform="tpu"),
    revised="that the rows stay on data; XLA cannot split its top-k call at all, and gathers the rows as well",
    elsewhere="TPU: top_k is a sort and a slice, both split over columns; complete rows are sorted and put back, the "
    "best three go to three devices, and three columns that four devices do not divide are returned replicated",
)
def top_k_of_split_columns():
    def f(x):
        return jax.lax.top_k(x, 3)  # @top

    return jax.jit(f), (array((16, 64), "data", "model"),)


@case(
    CASES,
    "the k largest of whole rows need no exchange; XLA gathers the rows all the same",
    Want(AG, "data model", "no_sharding_rule", at="top", optional=True),
    revised="no collective; XLA cannot split its top-k call, so it gathers all rows and cuts the result up again",
)
def top_k_of_whole_columns():
    def f(x):
        return jax.lax.top_k(x, 3)  # @top

    return jax.jit(f), (array((16, 64), ("data", "model"), None),)


@case(
    CASES,
    "each device adds its own rows to a copy; the copies are added over model",
    Want(AR, "model", "indexing", at="add"),
)
def scatter_add_of_split_updates():
    def f(table, i, u):
        return table.at[i].add(u)  # @add

    arguments = array((64, 8)), array((16,), "model", dtype=jnp.int32), array((16, 8), "model", None)
    return jax.jit(f), arguments


@case(CASES, "every device sees all updates and keeps those for its own rows")
def scatter_into_split_rows():
    def f(table, i, u):
        return table.at[i].set(u)

    arguments = array((64, 8), "model", None), array((16,), dtype=jnp.int32), array((16, 8))
    return jax.jit(f), arguments


@case(
    CASES,
    "sums by segment of a split dimension: each device's partial table is added up",
    Want(AR, "x", "indexing", at="segments"),
)
def segment_sum():
    def f(x, i):
        return jax.ops.segment_sum(x, i, num_segments=5)  # @segments

    return jax.jit(f), (array((64, 8), "x", None, mesh=LINE), array((64,), "x", mesh=LINE, dtype=jnp.int32))


@case(
    CASES,
    "every prefix needs what earlier devices hold; how depends on JAX's algorithm for a scan",
    Want(MOVE, "model", "indexing", at="cumsum"),
)
def cumsum_along_split_rows():
    def f(x):
        return jnp.cumsum(x, axis=0)  # @cumsum

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "rows are split, prefixes run along the columns")
def cumsum_along_whole_columns():
    def f(x):
        return jnp.cumsum(x, axis=1)

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "each step of the search looks at one element of the split sorted array",
    Want(f"{AR}|{AG}", "x", "indexing", at="search"),
)
def searchsorted_in_a_split_array():
    def f(x, v):
        return jnp.searchsorted(x, v)  # @search

    return jax.jit(f), (array((64,), "x", mesh=LINE), array((16,), mesh=LINE))


@case(
    CASES,
    "forward sums the owner's rows over model; the gradient adds rows where they belong, each device its own",
    Want(AR, "model", "indexing", at="take"),
)
def gradient_of_take():
    def loss(x, i):
        y = x[i]  # @take
        return jnp.sum(jnp.sin(y))

    arguments = array((64, 8), "model", None), array((16,), dtype=jnp.int32)
    return jax.jit(jax.grad(loss), out_shardings=named("model", None)), arguments


@case(
    CASES,
    "one column by number, known only at run time, from split columns",
    Want(f"{AG}|{AR}", "model", "indexing", at="pick"),
)
def pick_one_column():
    def f(x, i):
        return x[:, i] * 2  # @pick

    return jax.jit(f), (array((16, 64), "data", "model"), array((), dtype=jnp.int32))
