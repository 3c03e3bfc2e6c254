"""What a collective is for that moves the result of an operation XLA computed in other pieces than it must have.

The program is the top three of 64 columns over `model` as a compiler without a top-k has it: complete rows are sorted,
put back, and sliced. Both operations are of one line and have one name.
"""

from __future__ import annotations

from dataclasses import replace

from pjit_inspect.analyze.causes.need_finder import NeedFinder
from pjit_inspect.model.sharding.sharded_program import (
    EntryValue,
    PartitionedCollective,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    ShardingRule,
    Taker,
)

SPLIT = (("data",), ("model",))
SORT = ShardingRule(
    operands=((("i",), ("j",)),), results=((("i",), ("j",)),), sizes={"i": 16, "j": 64}, need_replication=("j",)
)
SLICE = ShardingRule(
    operands=((("i",), ("j",)),), results=((("i",), ("j",)),), sizes={"i": 16, "j": 64}, permutation=("j",)
)
PROGRAM = ShardedProgram(
    ops=(
        ShardedOp(opcode="hlo.sort", op_name="jit(f)/top_k", operands=(0,), results=(1,), rule=SORT),
        ShardedOp(opcode="hlo.slice", op_name="jit(f)/top_k", operands=(1,), results=(2,), rule=SLICE),
    ),
    values=(
        ShardedValue(dtype="f32", shape=(16, 64), spec=SPLIT, argument=0),
        ShardedValue(dtype="f32", shape=(16, 64), spec=SPLIT, op=0),
        ShardedValue(dtype="f32", shape=(16, 3), spec=SPLIT, op=1),
    ),
    inputs=(EntryValue(name="x", value=0, spec=SPLIT),),
    outputs=(EntryValue(name="result", value=2),),
    meshes=({"data": 2, "model": 4},),
)
BACK = PartitionedCollective(
    kind="all-to-all",
    groups=((0, 1, 2, 3), (4, 5, 6, 7)),
    dtype="f32",
    elements=128,
    makers=(1,),
    made_shape=(2, 64),
    made_of=((2, 64),),
    outputs=(0,),
    visited=(0, 1),
)


def kind_of(edge: PartitionedCollective) -> tuple[str, int | None]:
    need = NeedFinder(replace(PROGRAM, collectives=(edge,))).find(edge, ("model",)).need
    assert need is not None
    return need.kind, need.op


def test_what_puts_sorted_rows_back_is_for_the_sort_and_not_for_the_slice_behind_it() -> None:
    assert kind_of(BACK) == ("indexing", 0)


def test_so_it_is_where_the_slice_takes_the_pieces_that_the_sharding_says() -> None:
    assert kind_of(replace(BACK, outputs=(), takers=(Taker(op=1, operand=0, shape=(8, 16)),))) == ("indexing", 0)


def test_where_the_slice_takes_other_pieces_they_are_for_the_slice() -> None:
    assert kind_of(replace(BACK, outputs=(), takers=(Taker(op=1, operand=0, shape=(2, 64)),))) == ("halo", 1)


def test_what_moves_columns_between_neighbours_afterwards_is_for_the_slice() -> None:
    permute = replace(BACK, kind="collective-permute", groups=((0, 1), (4, 5)), elements=8)
    assert kind_of(permute) == ("halo", 1)
