"""Rows for the values of small propagated programs that are written out by hand."""

from __future__ import annotations

import dataclasses

from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.sharding.value_shardings import find_value_shardings
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.sharding.sharded_program import (
    AxisOrigin,
    EntryValue,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    Span,
)

SOURCE = SourceText(file="/me/train.py", lines=("def f(x, w):", "    y = x @ w", "    return jnp.tanh(y)"))
FROM_X = AxisOrigin(axis="data", kind="input", index=0)
FROM_W = AxisOrigin(axis="model", kind="input", index=1)


def value(shape: tuple[int, ...], spec: Dimensions, *origins: AxisOrigin, **more) -> ShardedValue:
    return ShardedValue(dtype=more.pop("dtype", "f32"), shape=shape, spec=spec, origins=origins, **more)


def op(name: str, line: int, operands: tuple[int, ...], results: tuple[int, ...], **more) -> ShardedOp:
    opcode = more.pop("opcode", f"stablehlo.{name}")
    frames = (Frame(file=SOURCE.file, line=line),)
    return ShardedOp(opcode=opcode, op_name=f"jit(f)/{name}", frames=frames, operands=operands, results=results, **more)


def table_of(program: ShardedProgram) -> ShardingTable:
    return find_value_shardings(ValueNames(program, (SOURCE,)))


def matmul() -> ShardedProgram:
    """tanh(x @ w) on data=2 x model=4; x: [16, 64] by P(data, None), w: [64, 128] by P(None, model)."""
    split: Dimensions = (("data",), ("model",))
    return ShardedProgram(
        ops=(
            op("dot_general", 2, (0, 1), (2,), spans=(Span(line=2, column=8, end_line=2, end_column=13),)),
            op("tanh", 3, (2,), (3,)),
        ),
        values=(
            value((16, 64), (("data",), ()), FROM_X, argument=0),
            value((64, 128), ((), ("model",)), FROM_W, argument=1),
            value((16, 128), split, FROM_X, FROM_W, op=0),
            value((16, 128), split, FROM_X, FROM_W, op=1),
        ),
        inputs=(EntryValue(name="x", value=0), EntryValue(name="params['w']", value=1)),
        outputs=(EntryValue(name="result", value=3),),
        meshes=({"data": 2, "model": 4},),
    )


def test_a_value_is_called_as_it_is_written_and_an_argument_by_its_path():
    table = table_of(matmul())
    assert {row.name for row in table} == {"x", "params['w']", "x @ w", "return jnp.tanh(y)"}
    dot = table.of("x @ w")[0]
    assert (dot.op, dot.op_name, dot.line, dot.spec) == ("dot_general", "jit(f)/dot_general", 2, ("data", "model"))


def test_waste_is_what_lies_on_a_device_beyond_an_even_split():
    # x is 16 x 64 x 4 = 4096 bytes; each of 2 halves lies on 4 devices: 2048 where an eighth is 512.
    # w is 64 x 128 x 4 = 32768 bytes; each of 4 quarters lies on 2 devices: 8192 where an eighth is 4096.
    table = table_of(matmul())
    x, w, dot = table.of("x")[0], table.of("params['w']")[0], table.of("x @ w")[0]
    assert (x.bytes_per_device, x.replication, x.wasted_bytes, x.local_shape) == (2048, 4, 1536, (8, 64))
    assert (w.bytes_per_device, w.replication, w.wasted_bytes, w.local_shape) == (8192, 2, 4096, (64, 32))
    assert (dot.bytes_per_device, dot.replication, dot.wasted_bytes) == (8 * 32 * 4, 1, 0)
    assert [row.name for row in table][:2] == ["params['w']", "x"]
    assert table.devices == 8


def test_an_axis_came_from_an_argument_through_the_op_that_makes_the_value():
    table = table_of(matmul())
    assert table.of("x")[0].origins == {"data": "argument `x`"}
    assert table.of("x @ w")[0].origins == {
        "data": "argument `x`, through `dot_general` at train.py:2",
        "model": "argument `params['w']`, through `dot_general` at train.py:2",
    }


def constrained() -> ShardedProgram:
    """tanh(x) with a constraint behind it that `x` has from there; then a constraint that changes nothing."""
    split: Dimensions = (("data",),)
    by_constraint = AxisOrigin(axis="data", kind="constraint", index=1)
    return ShardedProgram(
        ops=(
            op("tanh", 2, (0,), (1,)),
            op("sharding_constraint", 3, (1,), (2,), opcode="sdy.sharding_constraint"),
            op("sharding_constraint", 3, (2,), (3,), opcode="sdy.sharding_constraint"),
        ),
        values=(
            value((8,), ((),), argument=0),
            value((8,), split, by_constraint, op=0),
            value((8,), split, by_constraint, op=1),
            value((8,), split, by_constraint, op=2),
        ),
        inputs=(EntryValue(name="x", value=0),),
        outputs=(EntryValue(name="", value=3),),
        meshes=({"data": 2},),
    )


def test_an_axis_came_back_from_a_constraint_that_comes_next():
    table = table_of(constrained())
    assert table.at_line(2)[0].origins == {"data": "constraint at train.py:3, which comes next"}


def test_a_constraint_that_changes_nothing_gets_no_row():
    table = table_of(constrained())
    assert dict(table.left_out) == {"that a constraint leaves as they were": 2}
    assert [row.name for row in table] == ["x", "y = x @ w"]


def test_a_constraint_that_changes_the_sharding_has_a_row_of_its_own():
    base = constrained()
    whole = dataclasses.replace(base.values[1], spec=((),), origins=())
    program = dataclasses.replace(base, values=(base.values[0], whole, *base.values[2:]))
    row = table_of(program).at_line(3)[0]
    assert (row.op, row.spec, row.origins) == ("sharding_constraint", ("data",), {"data": "constraint at train.py:3"})


def test_in_explicit_mode_the_type_of_an_op_is_the_origin():
    base = constrained()
    typed = dataclasses.replace(base.ops[1], op_name="jit(f)/dot_general")
    program = dataclasses.replace(base, ops=(base.ops[0], typed, base.ops[2]))
    assert table_of(program).at_line(2)[0].origins == {
        "data": "the type of `dot_general` at train.py:3, which comes next"
    }


def loop() -> ShardedProgram:
    """A loop over x: the argument, the value in the loop, what the body makes of it, the loop's result."""
    return ShardedProgram(
        ops=(op("while", 2, (0,), (3,)), op("tanh", 3, (1,), (2,), parent=0)),
        values=(
            value((8,), (("data",),), argument=0),
            value((8,), (("data",),), op=0),
            value((8,), (("data",),), op=1),
            value((8,), (("data",),), op=0),
        ),
        inputs=(EntryValue(name="x", value=0),),
        outputs=(EntryValue(name="", value=3),),
        meshes=({"data": 2},),
        links=((0, 1), (2, 3)),
    )


def test_values_that_only_carry_another_over_a_loops_border_get_no_row():
    table = table_of(loop())
    assert sorted((row.name, row.op) for row in table) == [("return jnp.tanh(y)", "tanh"), ("x", "")]
    assert dict(table.left_out) == {"that only carry another into a loop, branch, call or shard_map": 2}


def test_a_value_that_a_border_shards_otherwise_keeps_its_row():
    base = loop()
    whole = dataclasses.replace(base.values[1], spec=((),))
    table = table_of(dataclasses.replace(base, values=(base.values[0], whole, *base.values[2:])))
    assert len(table) == 3


def test_single_numbers_constants_and_what_is_spread_from_them_get_no_row():
    program = ShardedProgram(
        ops=(
            op("constant", 2, (), (0,)),
            op("broadcast_in_dim", 2, (0,), (1,)),
            op("iota", 2, (), (2,)),
            op("convert", 2, (2,), (3,)),
            op("add", 2, (1, 3), (4,)),
        ),
        values=(
            value((), (), op=0),
            value((8,), ((),), op=1),
            value((8,), ((),), op=2),
            value((8,), ((),), op=3),
            value((8,), ((),), op=4),
        ),
        meshes=({"data": 2},),
    )
    table = table_of(program)
    assert [row.op for row in table] == ["add"]
    assert dict(table.left_out) == {"constants": 3, "single numbers": 1}


def test_inside_a_shard_map_copies_and_waste_are_unknown():
    program = ShardedProgram(
        ops=(
            op("shard_map", 2, (0,), (3,), opcode="sdy.manual_computation"),
            op("tanh", 3, (1,), (2,), parent=0, manual=("data",)),
        ),
        values=(
            value((16,), (("data",),), FROM_X, argument=0),
            value((8,), ((),), op=0),
            value((8,), ((),), op=1),
            value((16,), (("data",),), op=0),
        ),
        inputs=(EntryValue(name="x", value=0),),
        outputs=(EntryValue(name="", value=3),),
        meshes=({"data": 2},),
        links=((0, 1), (2, 3)),
    )
    table = table_of(program)
    inner = table.at_line(3)[0]
    assert (inner.is_per_shard, inner.global_shape, inner.bytes_per_device) == (True, (8,), 32)
    assert (inner.replication, inner.wasted_bytes) == (None, None)
    # The argument inside and the result outside are the same arrays as those they are linked to.
    assert [row.name for row in table] == ["x", "return jnp.tanh(y)"]


def test_a_name_that_nothing_has_names_the_nearest():
    table = table_of(matmul())
    assert len(table.of("params['v']")) == 0
    assert "the nearest are params['w']" in table.of("params['v']").missing
    assert table.at_line(99).missing == "no value at line 99; there are some at 2, 3"
    assert len(table.of(2)) == len(table.at_line(2)) == 1


def test_a_program_without_a_mesh_wastes_nothing():
    base = matmul()
    values = tuple(dataclasses.replace(v, spec=tuple(() for _ in v.shape), origins=()) for v in base.values)
    table = table_of(dataclasses.replace(base, values=values, meshes=()))
    assert {(row.replication, row.wasted_bytes) for row in table} == {(1, 0)}
