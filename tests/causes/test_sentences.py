"""The sentence of a cause names the very operation and array: layers, columns and views are told apart.

The expected sentences follow from the programs: which array each product sums over is plain from the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import Mesh

import pjit_inspect as pi
from causes.meshes import LINE, MESH, array, named
from causes.told import another_before_jax_0_10, sentences
from pjit_inspect.analyze.report.report import report
from pjit_inspect.parse.hlo_proto.hlo import parse_program


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


def of_rows(w, x):
    return jnp.tanh(x @ w).sum(0)


@pytest.mark.parametrize(
    "tangent",
    [
        lambda w, x: jax.jvp(lambda w: of_rows(w, x), (w,), (w,))[1],
        lambda w, x: jax.linearize(lambda w: of_rows(w, x), w)[1](w),
        lambda w, x: jax.vmap(lambda x: jax.jvp(lambda w: of_rows(w, x[None]), (w,), (w,))[1])(x).sum(0),
    ],
)
def test_a_tangent_is_not_told_as_the_value_of_its_text(tangent: Callable[..., Any]):
    """XLA's only sum is that of (x @ w) * (1 - tanh(x @ w) ** 2): that of `tanh` itself is not in the program."""
    for text in sentences(tangent, array((16, 32), None, "model"), array((8, 16), "data", None)):
        assert not re.search(r"(?<!hat differentiation makes of )`jnp.tanh\(x @ w\)", text)


@pytest.mark.parametrize(
    "gradient",
    [
        lambda w, x: jax.value_and_grad(lambda w: of_rows(w, x).sum())(w),
        lambda w, x: jax.value_and_grad(lambda w: jax.vmap(lambda x: of_rows(w, x[None]).sum())(x).sum())(w),
        lambda w, x: jax.jit(jax.vmap(jax.value_and_grad(lambda w, x: of_rows(w, x[None]).sum()), (None, 0)))(w, x),
    ],
)
def test_what_a_gradient_leaves_forward_is_the_functions_own(gradient: Callable[..., Any]):
    found = sentences(gradient, array((16, 32), None, "model"), array((8, 16), "data", None))
    assert any("`jnp.tanh(x @ w)" in text for text in found)
    assert not any("what differentiation makes of" in text for text in found)


def test_a_bias_that_changes_its_axis_is_told_as_the_sum_it_is_for():
    (found,) = sentences(lambda x, b: x + b, array((16, 64), "data", "model"), array((64,), "data"))
    assert found.startswith("`x + b`")
    assert found.endswith("needs `b` as `P('model')`, but it is `P('data')`.")


@pytest.mark.parametrize(
    ("function", "shape", "what"),
    [
        (lambda v: jnp.outer(v, v).sum(0), (64,), "`v` broadcast"),
        (lambda v: jnp.abs(v[:, None] - v[None, :]).min(1), (64,), "`v[None, :]` broadcast"),
        (lambda v: jnp.tile(v, (2, 1)).sum(1), (16, 16), "`v` broadcast"),
    ],
)
def test_an_array_that_was_broadcast_is_not_told_as_the_smaller_one(
    function: Callable[..., Any], shape: tuple[int, ...], what: str
):
    """In the first, each device gives 2,048 B, 64 x 8 elements, where all of `v` has 256 B."""
    record = pi.inspect(function, array(shape, "x", mesh=LINE))
    causes = [cause for row in record.collectives if row.kind != "all-reduce" for cause in row.causes]
    assert causes
    for cause in causes:
        assert f"needs {what} as" in cause.sentence
        assert f"{what}: shape" in cause.facts[0]
        assert cause.value == ""


def test_inside_a_librarys_function_an_argument_keeps_its_name():
    """`jnp.argmax` is a function of its own in the program: it reduces its parameter and the positions."""
    found = sentences(lambda x: jnp.argmax(x, axis=1), array((16, 64), "data", "model"))
    assert found
    assert all("reduces dimension 1 of `x` and dimension 1 of the positions in it" in text for text in found)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x.argmax(-1) == y).sum(),
        lambda x, y: (x.argmax(-1) - y).sum(),
        lambda x, y: jax.vmap(lambda x, y: x.argmin(-1) == y)(x, y).sum(),
    ],
)
def test_what_is_made_of_an_argmax_is_not_told_as_the_argmax(function: Callable[..., Any]):
    """JAX lowers it to a call that is named as all around it, and its comparison of two elements is an `==`, too."""
    (found,) = sentences(function, array((16, 8), "data", None), array((16,), "data", dtype=jnp.int32))
    assert re.search(r"reduces dimension 0 of `x\.arg(max|min)\(-1\) (==|-) y`", found)


@pytest.mark.parametrize("rows", [7, 8, 15, 16])
def test_an_argmax_with_one_row_on_a_device_gathers_each_devices_own(rows: int):
    """XLA reduces on each device, gathers [1, 5] of each, and reduces those eight: also where a piece is [1, 5]."""

    def model(x):
        y = jax.lax.with_sharding_constraint(jnp.tanh(x), named("x", None, mesh=LINE))
        return y.argmax(0)

    record = pi.inspect(model, array((rows, 5), mesh=LINE))
    causes = [cause for row in record.collectives for cause in row.causes]
    assert {row.kind for row in record.collectives} == {"all-gather"}
    assert {cause.kind for cause in causes} == {"reduction"}
    assert all("`y.argmax(0)`" in cause.sentence for cause in causes)
    assert all("reduces dimension 0 of `jnp.tanh(x)` (line" in cause.sentence for cause in causes)


def test_a_result_that_is_moved_is_not_told_as_its_operand():
    """Sequence-parallel attention by heads: the product is made with heads split, then its result goes back."""

    def attention(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return jax.lax.with_sharding_constraint(out, named("data", "model", None, None))

    heads = array((4, 32, 8, 16), "data", None, "model", None)
    (found,) = sentences(attention, heads, heads, heads)
    assert "asks for `P('data', 'model', None, None)`" in found
    assert '`jnp.einsum("bhqk,bkhd->bqhd", weights, v)`' in found
    assert "is computed as `P('data', None, 'model', None)`, so its result moves." in found


def test_an_operand_that_is_moved_before_the_operation_is_told_as_such():
    """The places the partitioner computes for its slices have the operation's name; they are not its work."""

    def model(x):
        return jax.lax.with_sharding_constraint(x * 2, named("model", None))

    found = sentences(model, array((8, 8), "data", None))
    assert found
    assert all("needs `x` as `P('model', None)`, but it is `P('data', None)`" in text for text in found)


def test_a_result_that_is_asked_for_otherwise_than_it_is_computed_names_both_shardings():
    """ZeRO-1: optimizer state over `data`, parameters replicated. XLA's tuple of results says how each must be."""

    def update(weight, moment):
        return weight - 0.1 * moment, moment * 0.9

    weight, moment = array((16, 32), None, None), array((16, 32), "data", None)
    step = jax.jit(update, out_shardings=(named(None, None), named("data", None)))
    (found,) = sentences(step, weight, moment)
    assert found == "`result[0]` must be `P(None, None)`, but is computed as `P('data', None)`."


def test_a_single_result_that_is_asked_for_replicated_says_so():
    found = sentences(jax.jit(lambda x: x * 2, out_shardings=named(None, None)), array((16, 16), "data", None))
    assert found == ["`result` must be `P(None, None)`, but is computed as `P('data', None)`."]


def test_the_largest_of_what_is_scattered_is_no_sum():
    def largest(values, segments):
        return jax.ops.segment_max(values, segments, num_segments=16)

    segments = jax.device_put(jnp.arange(64) % 16, named("data"))
    found = sentences(largest, array((64, 4), "data", None), segments)
    assert any("takes the largest of what lies along dimension 0 of `values`" in text for text in found)
    assert not any("sum" in text.replace("segment_sum", "") for text in found)


def test_a_host_callback_gets_everything_on_one_device_and_sends_its_result_from_there():
    def model(x):
        told = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(lambda value: value, told, jnp.sin(x)) + x

    found = sentences(model, array((16, 8), "data", None))
    assert any("One device alone runs" in text and "gets all of `jnp.sin(x)`" in text for text in found)
    assert any("One device alone runs" in text and "sends its result to all others" in text for text in found)


def test_one_row_of_a_split_array_comes_from_the_devices_that_hold_it():
    (found,) = sentences(lambda x: x[3] * 2, array((16, 8), "data", None))
    assert "takes one element along dimension 0 of `x`, which is split over `data`." in found


def test_edges_for_a_slice_are_not_told_as_the_sharding_of_the_result():
    """63 of 64 rows: each device needs a row of the next one; the result, not divisible by 2, is gathered after it."""
    record = pi.inspect(lambda x: x[1:], array((64, 4), "data", None))
    kinds = {row.kind: cause.kind for row in record.collectives for cause in row.causes}
    assert kinds["collective-permute"] == "halo"
    assert kinds["all-gather"] == "output"


def test_the_gradient_of_a_mean_of_squares_is_told_by_its_text():
    """XLA makes one product of the gradients of the mean and of the square, and forgets where they stand."""

    def loss(w, x):
        return ((x @ w) ** 2).mean()

    (found,) = sentences(jax.grad(loss), array((8, 16), None, None), array((32, 8), "data", None))
    assert "dimension 0 of the gradient of `x @ w` and" in found
    assert "broadcast_in_dim" not in found


def test_the_backward_pass_of_a_pipeline_inside_a_shard_map_is_a_gradient():
    """Within `shard_map` over some axes XLA's names begin inside it; the phase is that of the region."""
    mesh = named(None).mesh

    def stages(w, x):
        def tick(carry, _):
            return jnp.tanh(carry @ w), None

        return jax.lax.scan(tick, x, None, length=3)[0]

    specs = jax.sharding.PartitionSpec("data")
    manual = jax.shard_map(
        stages, mesh=mesh, in_specs=(jax.sharding.PartitionSpec(), specs), out_specs=specs, axis_names={"data"}
    )
    w, x = array((16, 16), None, "model"), array((8, 16), "data", None)
    record = pi.inspect(jax.grad(lambda w, x: manual(w, x).sum()), w, x)
    told = [(row.phase, cause.sentence) for row in record.collectives for cause in row.causes]
    backward = [text for phase, text in told if phase == "backward" and "`carry @ w`" in text]
    assert backward
    assert all("he gradient of `" in text for text in backward)


def test_a_result_that_is_split_otherwise_where_it_is_used_is_not_its_own_operand():
    def power(m, v):
        def turn(_, v):
            v = m @ v
            return v / jnp.linalg.norm(v)

        return jax.lax.fori_loop(0, 3, turn, v)

    found = sentences(power, array((32, 32), "data", "model"), array((32,), "model"))
    texts = [re.sub(r" \(test_sentences.py:\d+\)", "", text) for text in found]
    assert "`m @ v` is computed as `P('data')`, and its result is needed as `P('model')`." in texts


def test_sums_that_xla_has_made_alike_are_told_apart_by_the_place_xla_kept():
    def normalized(x):
        return (x - x.mean()) / (x.std() + 1e-6)

    found = sentences(normalized, array((64,), "data"))
    assert not any("alike" in text for text in found)


def test_each_gather_of_one_array_says_what_has_its_own_axis():
    def product(x, w):
        return jnp.einsum("tij,ijk->tk", x, w)

    found = sentences(product, array((8, 8, 16), ("data", "model"), None, None), array((8, 16, 32), "data", "model"))
    steps = {
        text.partition(" of bringing `w` from `P('data', 'model', None)` to `P(None, None, None)`.")[0]
        for text in found
    }
    assert steps == {"Step 1 of 2", "Step 2 of 2"}


def test_the_call_of_the_function_that_is_compiled_is_no_place_of_a_constraint():
    def model(x):
        return jax.lax.with_sharding_constraint(jnp.sin(x), named(None, "data"))

    found = sentences(model, array((16, 16), "data", None))
    assert found
    assert not any("called at" in text for text in found)


def test_a_branch_that_must_return_what_the_others_do_says_so():
    def model(w, x):
        h = x @ w
        return jax.lax.cond(h.sum() > 0, lambda h: h @ w.T, lambda h: jnp.sort(h, 0), h)

    record = pi.inspect(model, array((16, 16), "data", "model"), array((8, 16), "data", None))
    causes = [cause for row in record.collectives for cause in row.causes]
    assert not any(cause.kind == "unknown" for cause in causes)
    assert any("as the other branches return it" in cause.sentence for cause in causes)


def test_a_gradient_that_is_moved_at_the_end_is_not_told_as_a_smaller_operand():
    """The table's gradient, 64 rows of 16 on each device, is permuted; what was looked up has another size."""
    from causes.meshes import CUBE

    def loss(table, w, ids):
        x = table[ids]
        return ((x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True))) @ w).sum()

    table, w = array((64, 32), "tp", "fsdp", mesh=CUBE), array((32, 32), "fsdp", "tp", mesh=CUBE)
    ids = array((8, 16), ("data", "fsdp"), mesh=CUBE, dtype=jnp.int32)
    record = pi.inspect(jax.grad(loss), table, w, ids)
    rows = [row for row in record.collectives if row.kind == "collective-permute" and row.local_shape == (64, 16)]
    assert rows
    assert all("needs `table[ids]`" not in cause.sentence for row in rows for cause in row.causes)


def test_every_step_of_one_move_has_the_same_cause():
    """A table over `tp` and `fsdp` is permuted, and then gathered over another axis, for one lookup."""
    from causes.meshes import CUBE

    table = array((64, 32), "tp", "fsdp", mesh=CUBE)
    ids = array((8, 16), ("data", "fsdp"), mesh=CUBE, dtype=jnp.int32)
    record = pi.inspect(lambda table, ids: (table[ids] ** 2).mean(-1), table, ids)
    moves = [(row.kind, cause) for row in record.collectives for cause in row.causes if cause.value == "table"]
    assert {kind for kind, _ in moves} == {"collective-permute", "all-gather"}
    assert len({(cause.kind, cause.sentence.partition(": ")[2]) for _, cause in moves}) == 1


def test_what_a_square_multiplies_its_gradient_with_is_not_the_square():
    def loss(w, x, y):
        return ((x @ w - y) ** 2).sum()

    # The gradient of the sum is one, so that 2 * (x @ w - y) is left of the product with it.
    found = sentences(
        jax.grad(loss),
        array((32, 8)),
        array((64, 32), ("data", "model"), None),
        array((64, 8), ("data", "model"), None),
    )
    assert any("dimension 0 of the gradient of `x @ w` and" in text for text in found)
    assert not any("dimension 0 of `(x @ w - y) ** 2`" in text for text in found)


def test_both_sides_are_split_only_where_they_are_split_over_the_same_axes():
    def loss(w, x):
        return (conv(x, w) ** 3).mean()

    def conv(x, w):
        return jax.lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))

    # Both batches are summed over, and the places of the gradient: it slides along those of `x`.
    found = sentences(jax.grad(loss), array((3, 4, 8)), array((8, 32, 4), "data", "model", None))
    sums = [text for text in found if "partial sum" in text]
    assert sums
    for text in sums:
        assert ("`data` and `model`" in text) <= ("on both sides" not in text)


def test_a_part_of_a_librarys_function_is_told_by_its_call_though_a_product_begins_at_the_same_place():
    def loss(x, w):
        return (jax.checkpoint(lambda x: jax.nn.standardize(x) * w)(x) ** 3).sum()

    found = sentences(jax.grad(loss), array((8, 64), None, "model"), array((64,), "model"))
    reduced = [text for text in found if " reduces " in text or " has 2 that fit" in text]
    assert reduced
    assert not any("`jax.nn.standardize(x) * w` (" in text for text in reduced)


def test_slices_of_an_unrolled_loop_are_told_apart_by_what_they_take():
    def model(x):
        for _ in range(2):
            n = x.shape[0] // 2
            x = x[:n] + x[n:]
        return x

    # Of 16 rows, then of the 8 that are their sums: XLA makes collectives for both, all of one name and place.
    halos = [text for text in sentences(model, array((16, 32), "model", None)) if " takes a part of " in text]
    arrays = {"`x`": 0, "`x[:n] + x[n:]`": 0}
    for text in halos:
        arrays[text.partition(" dimension 0 of ")[2].partition(", split")[0]] += 1
    assert all(arrays.values())


def test_slices_of_slices_are_told_apart_by_what_they_take():
    def model(x):
        for _ in range(2):
            x = x[2:]
        return x * 2

    halos = [text for text in sentences(model, array((32, 8), "x", None, mesh=LINE)) if " takes a part of " in text]
    # 30 rows of 32, then 28 of these 30: 4 on each device all the time, so each slice moves 2 rows between neighbours.
    assert sorted("dimension 0 of `x`" in text for text in halos) == [False, True]


@another_before_jax_0_10
def test_an_argument_that_is_resharded_is_needed_so_by_what_takes_it():
    def model(a, b):
        return jnp.concatenate([a, b], 1)

    found = sentences(model, array((8, 16), "data", "model"), array((8, 16), "data", None))
    # Along the dimension that it joins, no operand may be split; Shardy splits the other one by both axes instead.
    assert not any(text.startswith("`a` needs") or "goes to `a`" in text for text in found)
    needs = "needs `a` as `P(('data', 'model'), None)`, but it is `P('data', 'model')`"
    assert any(text.startswith("`jnp.concatenate([a, b], 1)`") and needs in text for text in found)


@another_before_jax_0_10
def test_an_argument_that_is_resharded_for_several_is_needed_by_none_of_them_alone():
    def model(a, b):
        return jnp.concatenate([a, b], 1), jnp.concatenate([b, a], 1)

    found = sentences(model, array((8, 16), "data", "model"), array((8, 16), "data", None))
    moved = "`a` is `P('data', 'model')`, and is needed as `P(('data', 'model'), None)`"
    assert any(text.startswith(moved) for text in found)


@another_before_jax_0_10
def test_a_slice_that_is_resharded_is_needed_so_by_what_takes_it():
    def sliced(a, b):
        return a[:, :8] * 2, b

    def joined(a, b):
        return jnp.concatenate([a[:, :8], b], 1)

    arguments = array((8, 16), "data", "model"), array((8, 16), "data", None)
    # The slice alone needs permutes, and no all-to-all.
    assert {row.kind for row in pi.inspect(sliced, *arguments).collectives} == {"collective-permute"}
    rows = pi.inspect(joined, *arguments).collectives
    exchanged = [row.cause for row in rows if row.kind == "all-to-all"]
    assert exchanged
    assert all(cause.kind == "reshard_needed" for cause in exchanged)
    assert any(" needs `a[:, :8]` as " in cause.sentence for cause in exchanged)
    assert {row.cause.kind for row in rows if row.kind == "collective-permute"} == {"halo"}


@another_before_jax_0_10
def test_what_puts_a_result_back_in_its_pieces_does_not_replicate_it():
    def model(x):
        return jnp.concatenate([x, x[:2]], 0)

    rows = pi.inspect(model, array((16, 8), "x", None, mesh=LINE)).collectives
    # 18 rows are joined as 18 of one column each, and then exchanged for 3 whole rows on each of 8 devices.
    assert {row.cause.kind for row in rows if row.kind == "all-to-all"} == {"halo"}
    assert [row.kind for row in rows if row.cause.kind == "output"] == ["all-gather"]


def _added_up(x):
    def block(x):
        first = jax.lax.psum(x, "model")
        second = jax.lax.pmean(jnp.sin(x) * 2, "model")
        return first, second

    return jax.shard_map(block, mesh=MESH, in_specs=jax.P("data", "model"), out_specs=jax.P("data", None))(x)


def _lines_told(texts: Iterable[str]) -> list[set[int]]:
    """The lines of `_added_up`'s body that each sentence names, counted from the first sum."""
    first = _added_up.__code__.co_firstlineno + 2
    return [{int(line) - first for line in re.findall(r"test_sentences\.py:(\d+)", text)} for text in texts]


def test_sums_that_somebody_wrote_and_xla_combined_have_each_their_own_line():
    found = sentences(jax.jit(_added_up), array((8, 16), "data", "model"))
    assert sorted(_lines_told(found), key=min) == [{0}, {1}]


def test_of_combined_sums_that_dataflow_does_not_tell_apart_none_is_picked():
    def loss(x):
        first, second = _added_up(x)
        return (first**2).sum() + (second**3).sum()

    # Both are made of `x`, and go to its gradient.
    record = pi.inspect(jax.grad(loss), array((8, 16), "data", "model"))
    causes = [cause for row in record.collectives if row.is_combined for cause in row.causes]
    assert all(lines == {0, 1} for lines in _lines_told(str(cause.sentence) for cause in causes))
    assert {(cause.kind, cause.candidates, cause.source) for cause in causes} <= {("written", 2, ())}


def test_where_nothing_tells_which_of_the_combined_sums_it_is_no_line_is_named():
    record = pi.inspect(jax.jit(_added_up), array((8, 16), "data", "model"))
    assert record.propagation is not None
    assert record.data.hlo is not None
    # As a file has it that was saved before the sums were kept.
    old = replace(record.propagation, written=())
    found = report(record.data, parse_program(record.data.hlo.read()), old).collectives
    causes = [cause for row in found or () if row.is_combined for cause in row.causes]
    assert all("Which of them it is, is not known" in cause.sentence and not cause.source for cause in causes)


def test_products_that_take_one_gathered_array_are_all_told():
    def model(x, wq, wk, wv):
        q = x @ wq
        k = x @ wk
        v = x @ wv
        return q, k, v

    w = array((32, 32), None, "model")
    record = pi.inspect(model, array((16, 32), "data", "model"), w, w, w)
    (row,) = record.collectives
    (cause,) = row.causes
    assert [name.split("`")[1] for name in cause.needed_by] == ["x @ wq", "x @ wk", "x @ wv"]
    assert "what moves goes to `x @ wk` (line " in cause.facts[-1]


def test_a_constraint_is_not_all_that_a_gather_is_for():
    def plain(x, w):
        return jnp.sin(x), x @ w

    def constrained(x, w):
        y = jax.lax.with_sharding_constraint(x, named("data", None))
        return jnp.sin(y), x @ w

    arguments = array((16, 16), "data", "model"), array((16, 16), None, "model")
    # Without the constraint the same gather stays: so it is not there for the constraint alone.
    (without,), (row,) = (pi.inspect(function, *arguments).collectives for function in (plain, constrained))
    assert (without.kind, without.axes, without.wire_bytes) == (row.kind, row.axes, row.wire_bytes)
    assert len(without.causes[0].needed_by) == 1
    assert row.causes[0].kind == "reshard_requested"
    assert "what moves goes to `x @ w` (" in row.causes[0].facts[-1]


@another_before_jax_0_10
def test_a_result_left_free_is_returned_as_its_own_layout_says():
    other = Mesh(MESH.devices.reshape(4, 2), ("a", "b"))

    def model(x, w):
        h = jax.lax.with_sharding_constraint(x @ w, named("a", "b", mesh=other))
        return jnp.tanh(h) @ w.T

    record = pi.inspect(model, array((16, 16), "data", None), array((16, 16), None, "model"))
    (output,) = record.outputs
    # JAX says what is returned: half of the rows. What is computed has a quarter of them.
    assert output.local_shape == (8, 16)
    (found,) = (cause for row in record.collectives for cause in row.causes if cause.kind == "output")
    assert found.sentence == "`result` is computed as `P('a', None)`, but returned as `P('data', None)`."


def test_what_is_made_of_a_moved_array_is_not_said_to_take_it():
    def model(table, ids):
        rows = table[ids]
        return jnp.sin(rows).sum(-1), (rows * rows).sum(-1)

    # The positions move; what is looked up there is another array.
    record = pi.inspect(model, array((64, 16), "model", "data"), array((8, 16), "data", dtype=jnp.int32))
    moved = [cause for row in record.collectives for cause in row.causes if "bringing the positions" in cause.sentence]
    assert moved
    assert not [cause.sentence for cause in moved if len(cause.needed_by) > 1]


def test_the_scale_of_a_norm_is_named_in_the_gradient_too():
    def norm(x, scale):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True)) * scale

    def loss(layers, x):
        for scale, w in layers:
            x = x + jnp.tanh(norm(x, scale) @ w)
        return jnp.sum(x**2)

    layer = array((32,), "x", mesh=LINE), array((32, 32), "x", None, mesh=LINE)
    record = pi.inspect(jax.value_and_grad(loss), [layer] * 2, array((8, 16, 32), "x", None, None, mesh=LINE))
    # Both scales on the way there; on the way back the last one again, of which XLA reads the forward pass's view.
    scales = [row.cause for row in record.collectives if row.kind == "all-gather" and row.local_shape == (4,)]
    assert sorted(cause.value for cause in scales) == ["layers[0][0]", "layers[1][0]", "layers[1][0]"]
    assert all("as `P(None)`, but it is `P('x')`" in cause.sentence for cause in scales)


def test_channels_that_a_convolution_needs_whole_are_no_edges():
    """Both the channels it sums over and those it makes are split over one axis; no window slides along channels."""

    def model(x, k):
        return jax.lax.conv_general_dilated(jnp.sin(x), k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    found = sentences(
        model, array((4, 16, 16, 16), "data", None, None, "model"), array((3, 3, 16, 32), None, None, None, "model")
    )
    assert found
    assert not any("window" in text for text in found)
    assert all("needs `jnp.sin(x)` as `P('data', None, None, None)`" in text for text in found)


@pytest.mark.parametrize("spec", [(None, "data"), ("model", "data")])
def test_pieces_are_told_by_as_many_lengths_as_the_array_has_dimensions(spec: tuple[str | None, ...]):
    """The partitioner exchanges parts of a reshaped array with more dimensions, which are nobody's."""
    function = jax.jit(lambda x: x.reshape(128, 8), out_shardings=named(*spec))
    found = sentences(function, array((32, 32), "data", "model"))
    assert found
    assert not any(re.search(r"\[\d+, \d+, \d+", text) for text in found)
