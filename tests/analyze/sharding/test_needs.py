"""What an op needs to communicate, worked out by hand for each way its arrays can be split."""

from __future__ import annotations

import pytest
from analyze.sharding.propagations import argument, dot, one_op, rule

from pjit_inspect.analyze.sharding.needs import Need, find_needs
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, EntryValue, ShardedOp, ShardedProgram, ShardedValue


def told(program: ShardedProgram) -> set[tuple[str, bool, frozenset[str]]]:
    return {(need.kind, need.is_sum, need.axes) for need in find_needs(program)}


def only(program: ShardedProgram) -> Need:
    (need,) = find_needs(program)
    return need


MODEL, DATA = frozenset({"model"}), frozenset({"data"})


def test_a_product_of_whole_matrices_needs_nothing():
    program = dot(argument(0, (16, 32), None, None), argument(1, (32, 64), None, None), None, None)
    assert find_needs(program) == ()


def test_rows_and_columns_split_over_two_axes_need_nothing():
    program = dot(argument(0, (16, 32), "data", None), argument(1, (32, 64), None, "model"), "data", "model")
    assert find_needs(program) == ()


def test_a_contracting_dimension_split_on_both_sides_needs_a_sum():
    program = dot(argument(0, (16, 32), None, "model"), argument(1, (32, 64), "model", None), None, None)
    need = only(program)
    assert (need.kind, need.is_sum, need.axes) == ("contraction", True, MODEL)
    assert [(part.operand, part.dimension) for part in need.parts] == [(0, 1), (1, 0)]


def test_one_axis_on_both_free_dimensions_moves_the_operand_that_gives_it_up():
    # The result has model on its columns, so it is x that must be whole.
    program = dot(argument(0, (16, 32), "model", None), argument(1, (32, 64), None, "model"), None, "model")
    need = only(program)
    assert (need.kind, need.is_sum, need.axes, need.value) == ("reshard_needed", False, MODEL, 0)
    assert need.target == ((), ())
    assert need.taken == (("model", 1),)


def test_fsdp_gathers_the_weight_because_the_batch_has_its_axis():
    program = dot(argument(0, (16, 32), "data", None), argument(1, (32, 64), "data", None), "data", None)
    moves = [need for need in find_needs(program) if not need.is_sum]
    assert [(need.kind, need.axes, need.value, need.target) for need in moves] == [
        ("reshard_needed", DATA, 1, ((), ())),
    ]
    assert moves[0].taken == (("data", 0),)


def test_a_reduce_over_a_split_dimension_needs_a_sum():
    result = ShardedValue(dtype="f32", shape=(16,), spec=(("data",),), op=0)
    program = one_op("reduce", (argument(0, (16, 32), "data", "model"),), result, rule("ij", "i", reduction="j"))
    assert told(program) == {("reduction", True, MODEL)}


@pytest.mark.parametrize(
    ("opcode", "name", "kind"),
    [
        ("sort", "jit(f)/sort", "indexing"),
        ("dynamic_slice", "jit(f)/dynamic_slice", "indexing"),
        ("concatenate", "jit(f)/concatenate", "halo"),
        ("cholesky", "jit(f)/cholesky", "no_sharding_rule"),
    ],
)
def test_a_factor_that_must_be_whole_names_the_kind_by_the_op(opcode: str, name: str, kind: str):
    result = ShardedValue(dtype="f32", shape=(16, 8), spec=((), ()), op=0)
    program = one_op(opcode, (argument(0, (16, 8), "model", None),), result, rule("ij", "ij", whole="i"), op_name=name)
    assert (kind, False, MODEL) in told(program)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("jit(f)/reduce_window_max", "halo"),
        ("jit(f)/jit(cumsum)/reduce_window_sum", "indexing"),
        ("jit(f)/transpose(jvp(jit(cumsum)))/reduce_window_sum", "indexing"),
        ("jit(accumsum)/reduce_window_max", "halo"),
    ],
)
def test_a_window_is_an_edge_and_a_cumulative_sum_is_indexing(name: str, kind: str):
    result = ShardedValue(dtype="f32", shape=(16, 8), spec=(("model",), ()), op=0)
    how = rule("ij", "ij", permutation="i")
    program = one_op("reduce_window", (argument(0, (16, 8), "model", None),), result, how, op_name=name)
    assert told(program) == {(kind, False, MODEL)}


def test_a_gather_that_picks_along_a_split_dimension_needs_a_sum_of_what_devices_found():
    # Rows of a table, picked by number: every device looks among its own rows, the sum is the row.
    result = ShardedValue(dtype="f32", shape=(16, 16), spec=((), ()), op=0)
    table, numbers = argument(0, (16, 16), "model", None), argument(1, (16,), None)
    program = one_op("gather", (table, numbers), result, rule("lk i", "ik", reduction="l"))
    assert told(program) == {("indexing", True, MODEL)}


def test_operands_split_along_different_dimensions_move_the_one_unlike_the_result():
    result = ShardedValue(dtype="f32", shape=(16, 16), spec=(("model",), ()), op=0)
    x, y = argument(0, (16, 16), "model", None), argument(1, (16, 16), None, "model")
    need = only(one_op("add", (x, y), result, rule("ij ij", "ij")))
    assert (need.kind, need.axes, need.value, need.target) == ("reshard_needed", MODEL, 1, (("model",), ()))


def test_the_order_of_two_axes_counts():
    result = ShardedValue(dtype="f32", shape=(16,), spec=(("model", "data"),), op=0)
    need = only(one_op("tanh", (argument(0, (16,), ("data", "model")),), result, rule("i", "i")))
    assert need.axes == frozenset({"data", "model"})


def test_a_dimension_that_only_gains_an_axis_is_sliced_for_free():
    result = ShardedValue(dtype="f32", shape=(16, 16), spec=(("data",), ("model",)), op=0)
    program = one_op("tanh", (argument(0, (16, 16), "data", None),), result, rule("ij", "ij"))
    assert find_needs(program) == ()


def test_what_a_later_constraint_carried_back_is_requested():
    # y = tanh(x); with_sharding_constraint(y, P(None, "model")): propagation gave tanh's result the wish.
    x = argument(0, (16, 16), "model", None)
    origin = (AxisOrigin(axis="model", kind="constraint", index=1),)
    wished = ShardedValue(dtype="f32", shape=(16, 16), spec=((), ("model",)), closed=(True, True), origins=origin, op=0)
    final = ShardedValue(dtype="f32", shape=(16, 16), spec=((), ("model",)), closed=(True, True), origins=origin, op=1)
    tanh = ShardedOp(opcode="stablehlo.tanh", op_name="jit(f)/tanh", operands=(0,), results=(1,), rule=rule("ij", "ij"))
    constraint = ShardedOp(
        opcode="sdy.sharding_constraint",
        op_name="jit(f)/sharding_constraint",
        operands=(1,),
        results=(2,),
        rule=rule("ij", "ij"),
    )
    program = ShardedProgram(
        ops=(tanh, constraint),
        values=(x, wished, final),
        inputs=(EntryValue(name="x", value=0, spec=x.spec),),
        outputs=(EntryValue(name="result", value=2),),
        meshes=({"data": 2, "model": 4},),
    )
    need = only(program)
    assert (need.kind, need.op, need.axes) == ("reshard_requested", 0, MODEL)
    assert need.request is not None
    assert need.request.index == 1


def test_a_result_that_must_be_whole_is_the_output():
    value = argument(0, (16, 8), "model", None)
    program = ShardedProgram(
        values=(value,),
        inputs=(EntryValue(name="x", value=0, spec=value.spec),),
        outputs=(EntryValue(name="result", value=0, spec=((), ())),),
        meshes=({"model": 4},),
    )
    assert told(program) == {("output", False, MODEL)}


def test_a_result_whose_axes_do_not_divide_it_is_the_output_though_nobody_asked():
    value = argument(0, (15, 8), "model", None)
    program = ShardedProgram(
        values=(value,),
        inputs=(EntryValue(name="x", value=0, spec=value.spec),),
        outputs=(EntryValue(name="result", value=0),),
        meshes=({"model": 4},),
    )
    assert told(program) == {("output", False, MODEL)}


def test_a_dimension_a_reshape_cannot_keep_split_moves():
    # 24 rows over 4 devices, reshaped to 3 x 8: 6 rows each are no whole part of 3.
    result = ShardedValue(dtype="f32", shape=(3, 8), spec=((), ()), op=0)
    how = rule("i", "ij")
    how = type(how)(operands=((("i", "j"),),), results=how.results, sizes={"i": 3, "j": 8})
    need = only(one_op("reshape", (argument(0, (24,), "model"),), result, how))
    assert (need.kind, need.axes) == ("reshard_needed", MODEL)
