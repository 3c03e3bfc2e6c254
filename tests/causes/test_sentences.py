"""The sentence of a cause names the very operation and array: layers, columns and views are told apart.

The expected sentences follow from the programs: which array each product sums over is plain from the source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import pjit_inspect as pi
from causes.meshes import array, named


def sentences(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The sentences of all causes, without what stands before the colon."""
    record = pi.inspect(function, *arguments)
    return sorted(cause.sentence.partition(": ")[2] for row in record.collectives for cause in row.causes)


def test_two_calls_of_one_layer_each_name_their_own_weight():
    def layer(x, w):
        return x @ w

    def model(x, first, second):
        y = layer(x, first)
        return layer(jnp.tanh(y), second)

    rows = array((16, 32), None, "model")
    # first sums over model; its result is whole, so that second's rows on model give partial sums again.
    found = sentences(model, rows, array((32, 64), "model", None), array((64, 32), "model", None))
    assert any("dimension 0 of `first`" in text for text in found)
    assert any("dimension 0 of `second`" in text for text in found)


def test_products_on_one_line_are_told_apart_by_their_columns():
    def model(x, a, b, c):
        return ((x @ a) @ b) @ c

    x, a = array((16, 64), None, "model"), array((64, 64), "model", None)
    first, last = sentences(model, x, a, array((64, 64), None, "model"), a)
    assert first.startswith("`((x @ a) @ b) @ c`")
    assert "dimension 0 of `c`" in first
    assert last.startswith("`x @ a`")


def test_a_transposed_array_is_not_told_under_the_name_of_the_plain_one():
    (found,) = sentences(lambda x: x.T.sum(0), array((16, 32), None, "model"))
    assert "reduces dimension 0 of `x.T`" in found


def test_a_constraint_on_a_result_says_that_the_operand_moves_for_it():
    def model(x, w):
        return jax.lax.with_sharding_constraint(x @ w, named(None, None))

    found = sentences(model, array((16, 32), None, None), array((32, 64), None, "model"))
    assert found
    assert all("asks for `P(None, None)`" in text for text in found)


def test_forward_over_reverse_is_a_gradient():
    def loss(w, x):
        return jnp.tanh(x @ w).sum()

    def product(w, x, v):
        return jax.jvp(lambda w: jax.grad(loss)(w, x), (w,), (v,))[1]

    w = array((32, 16), None, None)
    record = pi.inspect(product, w, array((16, 32), "data", None), w)
    assert {row.phase for row in record.collectives} == {"backward"}


def test_a_bias_that_changes_its_axis_is_told_as_the_sum_it_is_for():
    (found,) = sentences(lambda x, b: x + b, array((16, 64), "data", "model"), array((64,), "data"))
    assert found.startswith("`x + b`")
    # XLA sees the bias with the dimension of length 1 that the sum gives it.
    assert found.endswith("needs `b` reshaped as `P(None, 'model')`, but it is `P(None, 'data')`")


def test_inside_a_librarys_function_an_argument_keeps_its_name():
    """`jnp.argmax` is a function of its own in the program: it reduces its parameter and the positions."""
    found = sentences(lambda x: jnp.argmax(x, axis=1), array((16, 64), "data", "model"))
    assert found
    assert all("reduces dimension 1 of `x` and dimension 1 of the positions in it" in text for text in found)


def test_a_result_that_is_moved_is_not_told_as_its_operand():
    """Sequence-parallel attention by heads: the product is made with heads split, then its result goes back."""

    def attention(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return jax.lax.with_sharding_constraint(out, named("data", "model", None, None))

    heads = array((4, 32, 8, 16), "data", None, "model", None)
    (found,) = sentences(attention, heads, heads, heads)
    assert "asks for `P('data', 'model', None, None)`" in found
    # On a device: 4 / 2 of the batch, 8 / 4 of the heads, all 16 features and 32 positions.
    assert "is computed in pieces of [2, 2, 16, 32] on each device, as its operands are" in found


def test_an_operand_that_is_moved_before_the_operation_is_told_as_such():
    """The places the partitioner computes for its slices have the operation's name; they are not its work."""

    def model(x):
        return jax.lax.with_sharding_constraint(x * 2, named("model", None))

    found = sentences(model, array((8, 8), "data", None))
    assert found
    assert all("needs `x` as `P('model', None)`, but it is `P('data', None)`" in text for text in found)


def test_a_result_that_is_asked_for_otherwise_than_it_is_computed_names_both_shardings():
    """ZeRO-1: optimizer state over `data`, parameters returned replicated. XLA's tuple of results says how each must be."""

    def update(weight, moment):
        return weight - 0.1 * moment, moment * 0.9

    weight, moment = array((16, 32), None, None), array((16, 32), "data", None)
    step = jax.jit(update, out_shardings=(named(None, None), named("data", None)))
    (found,) = sentences(step, weight, moment)
    assert found == "`result[0]` must be `P(None, None)`, but is computed as `P('data', None)`"
