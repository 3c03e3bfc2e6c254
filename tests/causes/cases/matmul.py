"""Products of two and more sharded operands."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, AR, SUM, Case, Want, case
from causes.meshes import CUBE, LINE, MESH, PERMUTED, array, named

CASES: list[Case] = []

SOME_MOVE = "all-gather|all-to-all|collective-permute"
SOME_AXES = "data|model|data model"


@case(
    CASES,
    "k is split over model on both sides, so every device has a partial sum of the result",
    Want(AR, "model", "contraction", at="mm"),
)
def contracting_split_on_both_sides():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), None, "model"), array((32, 64), "model", None))


@case(CASES, "rows by data and columns by model: every device owns one block of the result")
def rows_and_columns():
    def f(x, w):
        return x @ w

    return jax.jit(f), (array((16, 32), "data", None), array((32, 64), None, "model"))


@case(
    CASES,
    "w and the result are whole, so x is made whole too",
    Want(AG, "model", "reshard_needed", at="mm"),
    revised="partial sums with w sliced for free; the partitioner rather does what the result's sharding says: whole",
)
def contracting_split_on_the_left_only():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), None, "model"), array((32, 64), None, None))


@case(
    CASES,
    "x and the result are whole, so w is made whole too",
    Want(AG, "model", "reshard_needed", at="mm"),
    revised="partial sums with x sliced for free; the partitioner rather does what the result's sharding says: whole",
)
def contracting_split_on_the_right_only():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), None, None), array((32, 64), "model", None))


@case(
    CASES,
    "k is split four ways in x and two ways in w: one side must move, or both are gathered",
    Want(SOME_MOVE, SOME_AXES, "reshard_needed", at="mm"),
    Want(AR, SOME_AXES, "contraction", at="mm", optional=True),
    revised="that one side moves and partial sums follow; gathering both sides needs no sums, so they are optional",
)
def contracting_split_by_different_axes():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), None, "model"), array((32, 64), "data", None))


@case(
    CASES,
    "model splits the rows of x and the columns of w; the result can have it once, so one side is gathered",
    Want(AG, "model", "reshard_needed", at="mm"),
)
def one_axis_on_both_free_dimensions():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), "model", None), array((32, 64), None, "model"))


@case(
    CASES,
    "model splits k in x but the columns in w: the smaller x is gathered, so that the columns keep model",
    Want(AG, "model", "reshard_needed", at="mm"),
)
def one_axis_on_contracting_and_free_dimension():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 64), None, "model"))


@case(
    CASES,
    "partial sums over model; that the rows of the result shall be split makes it a reduce-scatter at best",
    Want(SUM, "model", "contraction", at="mm"),
)
def partial_sums_into_split_rows():
    def f(x, w):
        return x @ w  # @mm

    arguments = array((16, 32), None, "model"), array((32, 64), "model", None)
    return jax.jit(f, out_shardings=named("model", None)), arguments


@case(
    CASES,
    "the result is wanted split by data, over which both operands are whole: slicing is free; partial sums over model",
    Want(AR, "model", "contraction", at="mm"),
)
def partial_sums_with_rows_sliced_for_free():
    def f(x, w):
        return x @ w  # @mm

    arguments = array((16, 32), None, "model"), array((32, 64), "model", None)
    return jax.jit(f, out_shardings=named("data", None)), arguments


@case(
    CASES,
    "rows stay on data, k is split over model on both sides",
    Want(AR, "model", "contraction", at="mm"),
)
def rows_and_contracting():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 64), "model", None))


@case(
    CASES,
    "k over model gives partial sums; data splits rows and columns, so one operand is gathered over data first",
    Want(AR, "model", "contraction", at="mm"),
    Want(AG, "data", "reshard_needed", at="mm"),
)
def fully_split_on_both_sides():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 64), "model", "data"))


@case(
    CASES,
    "the batch b is split over data in both (no communication); j over model is summed",
    Want(AR, "model", "contraction", at="mm"),
)
def batched_product():
    def f(x, w):
        return jnp.einsum("bij,bjk->bik", x, w)  # @mm

    return jax.jit(f), (array((4, 8, 16), "data", None, "model"), array((4, 16, 8), "data", "model", None))


@case(CASES, "w is replicated: each device slices the batch it needs")
def batch_split_on_one_side():
    def f(x, w):
        return jnp.einsum("bij,bjk->bik", x, w)

    return jax.jit(f), (array((4, 8, 16), "data", None, None), array((4, 16, 8), None, None, None))


@case(
    CASES,
    "the batch is split two ways in x, four ways in w: blocks must move; which way is the partitioner's choice",
    Want(SOME_MOVE, SOME_AXES, "reshard_needed", at="mm"),
)
def batch_split_by_different_axes():
    def f(x, w):
        return jnp.einsum("bij,bjk->bik", x, w)  # @mm

    return jax.jit(f), (array((8, 8, 16), "data", None, None), array((8, 16, 8), "model", None, None))


@case(
    CASES,
    "i over data and j over model are both summed: over all eight devices, in one step or one per axis",
    Want(AR, "data model|data|model", "contraction", at="mm"),
)
def two_contracting_dimensions():
    def f(x, w):
        return jnp.einsum("bij,ijk->bk", x, w)  # @mm

    return jax.jit(f), (array((4, 8, 16), None, "data", "model"), array((8, 16, 4), "data", "model", None))


@case(
    CASES,
    "only j of the two contracted dimensions is split",
    Want(AR, "model", "contraction", at="mm"),
)
def one_of_two_contracting_dimensions():
    def f(x, w):
        return jnp.einsum("bij,ijk->bk", x, w)  # @mm

    return jax.jit(f), (array((4, 8, 16), "data", None, "model"), array((8, 16, 4), None, "model", None))


@case(
    CASES,
    "k is split over fsdp and tp together: one group of four devices holds all partial sums",
    Want(AR, "fsdp tp|fsdp|tp", "contraction", at="mm"),
)
def contracting_split_by_two_axes():
    def f(x, w):
        return x @ w  # @mm

    arguments = (
        array((16, 32), "data", ("fsdp", "tp"), mesh=CUBE),
        array((32, 64), ("fsdp", "tp"), None, mesh=CUBE),
    )
    return jax.jit(f), arguments


@case(
    CASES,
    "rows of x are contracted (data: partial sums); model would split both free dimensions: one is gathered",
    Want(AR, "data", "contraction", at="gram"),
    Want(AG, "model", "reshard_needed", at="gram"),
)
def gram_matrix():
    def f(x):
        return x.T @ x  # @gram

    return jax.jit(f), (array((32, 16), "data", "model"),)


@case(CASES, "a matrix split in rows times a replicated vector", Want(AR, "model", "contraction", at="mv"))
def matrix_times_vector():
    def f(w, v):
        return w @ v  # @mv

    return jax.jit(f), (array((16, 32), "data", "model"), array((32,), "model"))


@case(CASES, "the only dimension is contracted and split", Want(AR, "x", "contraction", at="dot"))
def dot_of_vectors():
    def f(x, y):
        return jnp.dot(x, y)  # @dot

    return jax.jit(f), (array((64,), "x", mesh=LINE), array((64,), "x", mesh=LINE))


@case(
    CASES,
    "both vectors are split by x, the outer product can have x on one side only: the other one must change",
    Want(f"{AG}|{A2A}", "x", "reshard_needed", at="outer"),
    revised="an all-gather of the vector; XLA may broadcast it first and then exchange rows for columns",
)
def outer_product():
    def f(x, y):
        return x[:, None] * y[None, :]  # @outer

    return jax.jit(f), (array((64,), "x", mesh=LINE), array((32,), "x", mesh=LINE))


@case(CASES, "as in float32: the type changes nothing", Want(AR, "model", "contraction", at="mm"))
def bfloat16_contraction():
    def f(x, w):
        return x @ w  # @mm

    arguments = (
        array((16, 32), "data", "model", dtype=jnp.bfloat16),
        array((32, 64), "model", None, dtype=jnp.bfloat16),
    )
    return jax.jit(f), arguments


@case(CASES, "groups follow the mesh, whatever order its devices have", Want(AR, "model", "contraction", at="mm"))
def contraction_on_permuted_devices():
    def f(x, w):
        return x @ w  # @mm

    arguments = array((16, 32), "data", "model", mesh=PERMUTED), array((32, 64), "model", None, mesh=PERMUTED)
    return jax.jit(f), arguments


@case(CASES, "only the batch is split: each device does its own rows")
def data_parallel_forward():
    def f(x, w0, w1):
        return jnp.tanh(x @ w0) @ w1

    return jax.jit(f), (array((16, 32), ("data", "model"), None), array((32, 64)), array((64, 32)))


@case(
    CASES,
    "model is taken by the rows of x, so w cannot keep it on the contracted dimension: w (smaller than x) is gathered",
    Want(AG, "model", "reshard_needed", at="mm"),
)
def batch_takes_the_axis_of_the_weight():
    def f(x, w):
        return x @ w  # @mm

    return jax.jit(f), (array((256, 32), ("data", "model"), None), array((32, 16), "model", None))


@case(CASES, "the vocabulary of the tied table is a free dimension: each device makes its own logits")
def tied_output_embedding():
    def f(x, table):
        return x @ table.T

    return jax.jit(f), (array((16, 32), "data", None), array((64, 32), "model", None))


@case(
    CASES,
    "both products contract a dimension split over model",
    Want(AR, "model", "contraction", at="both"),
)
def two_products_on_one_line():
    def f(x, v, w):
        return jnp.sin(x @ v), jnp.cos(x @ w)  # @both

    return jax.jit(f), (array((16, 32), None, "model"), array((32, 8), "model", None), array((32, 64), "model", None))


@case(
    CASES,
    "ab,bc contracts b (model); the result then meets cd, whose c is split over data: partial sums again",
    Want(AR, "model", "contraction", at="first"),
    Want(AR, "data", "contraction", at="second"),
)
def chain_of_three():
    def f(x, v, w):
        y = jnp.einsum("ab,bc->ac", x, v)  # @first
        return jnp.einsum("ac,cd->ad", y, w)  # @second

    arguments = array((8, 32), None, "model"), array((32, 16), "model", "data"), array((16, 8), "data", None)
    return jax.jit(f), arguments


@case(
    CASES,
    "x.T is a relabelling: after it, k is the first dimension of x, split over model as the rows of w",
    Want(AR, "model", "contraction", at="mm"),
)
def transposed_operand():
    def f(x, w):
        return x.T @ w  # @mm

    return jax.jit(f), (array((32, 16), "model", None), array((32, 64), "model", None))


@case(
    CASES,
    "vmap makes b a batch dimension, split over data on both sides; k is split over model on both sides",
    Want(AR, "model", "contraction", at="mm"),
)
def vmapped_product():
    def f(x, w):
        return x @ w  # @mm

    arguments = array((4, 8, 16), "data", None, "model"), array((4, 16, 8), "data", "model", None)
    return jax.jit(jax.vmap(f)), arguments


@case(CASES, "the unused argument may be split as it likes; x * 2 moves nothing")
def unused_argument():
    def f(x, unused):
        return x * 2

    return jax.jit(f), (array((16, 8), "data", "model", mesh=MESH), array((32, 64), "model", "data"))
