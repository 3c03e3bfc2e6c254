"""A program before and after partitioning, small enough to be read: two equal layers whose hidden dimension is split.

    y = tanh(x @ a0) @ b0        a0, a1: columns over `model`; b0, b1: rows over `model`
    z = tanh(y @ a1) @ b1

So each second product is a partial sum: one all-reduce for each layer, on one line of the source. Each operation has a
name of its own, as in a numbered copy.
"""

from __future__ import annotations

from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.partition.edges import Aligned, align, with_collectives
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.sharding.propagated_hlo import PropagatedHlo, read_propagated_hlo

__all__ = ["AFTER", "BEFORE", "MESH", "OPTIMIZED", "aligned", "partitioned", "program", "side_by_side"]

MESH = Mesh(axis_names=("model",), shape=(4,), device_ids=tuple(range(4)))

_DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_TABLES = """FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

"""


def _at(name: str) -> str:
    return f'metadata={{op_name="jit(f)/{name}" stack_frame_id=1}}'


def _parameters(columns: int, sharded: bool) -> str:
    def of(spec: str) -> str:
        return f", sharding={spec}" if sharded else ""

    return "".join(
        f'  %{name} = f32[{rows},{cols}] parameter({k}){of(spec)}, metadata={{op_name="{name}"}}\n'
        for k, (name, rows, cols, spec) in enumerate(
            (
                ("x", 8, 16, "{replicated}"),
                ("a0", 16, columns, "{devices=[1,4]<=[4]}"),
                ("b0", columns, 16, "{devices=[4,1]<=[4]}"),
                ("a1", 16, columns, "{devices=[1,4]<=[4]}"),
                ("b1", columns, 16, "{devices=[4,1]<=[4]}"),
            )
        )
    )


def _layer(k: int, given: str, columns: int, spec: bool) -> str:
    split = ", sharding={devices=[1,4]<=[4]}" if spec else ""
    return (
        f"  %d{k} = f32[8,{columns}] dot(%{given}, %a{k}), {_DOT}{split}, {_at(f'up{k}/dot_general')}\n"
        f"  %t{k} = f32[8,{columns}] tanh(%d{k}){split}, {_at(f'layer{k}/tanh')}\n"
        f"  %e{k} = f32[8,16] dot(%t{k}, %b{k}), {_DOT}, {_at(f'down{k}/dot_general')}\n"
    )


_ARGUMENTS = "x: f32[8,16], a0: f32[16,{0}], b0: f32[{0},16], a1: f32[16,{0}], b1: f32[{0},16]"
_SUM = """%sum (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %s = f32[] add(%l, %r)
}

"""

BEFORE = (
    f"HloModule m, num_partitions=4\n\n{_TABLES}ENTRY %main ({_ARGUMENTS.format(64)}) -> f32[8,16] {{\n"
    f"{_parameters(64, True)}{_layer(0, 'x', 64, True)}{_layer(1, 'e0', 64, True)}"
    f"  ROOT %out = f32[8,16] sine(%e1), {_at('sin')}\n}}\n"
)


def _reduced(k: int) -> str:
    return (
        f"  %ar{k} = f32[8,16] all-reduce(%e{k}), channel_id={k + 1}, replica_groups={{{{0,1,2,3}}}}, "
        f"use_global_device_ids=true, to_apply=%sum, {_at(f'down{k}/dot_general')}\n"
    )


AFTER = (
    f"HloModule m, num_partitions=4\n\n{_TABLES}{_SUM}ENTRY %main ({_ARGUMENTS.format(16)}) -> f32[8,16] {{\n"
    f"{_parameters(16, False)}{_layer(0, 'x', 16, False)}{_reduced(0)}{_layer(1, 'ar0', 16, False)}{_reduced(1)}"
    f"  ROOT %out = f32[8,16] sine(%ar1), {_at('sin')}\n}}\n"
)

OPTIMIZED = AFTER


def aligned() -> Aligned:
    return side_by_side(BEFORE, AFTER)[0]


def side_by_side(before: str, after: str) -> tuple[Aligned, PropagatedHlo]:
    """Two programs side by side, and what was read of the first."""
    module = parse_hlo_text(before)
    read = read_propagated_hlo(module, [MESH], partitions=4)

    def pieces(index: int) -> tuple[tuple[int, ...], ...]:
        return tuple(map(read.program.local_shape, read.values_of.get(index, ())))

    return align(module, parse_hlo_text(after), pieces), read


def partitioned(before: str, after: str) -> ShardedProgram:
    """A program as XLA's partitioner got it, with what it inserted."""
    pair, read = side_by_side(before, after)
    return with_collectives(pair, read.program, read.op_of, read.values_of)


def program() -> ShardedProgram:
    """The program above."""
    return partitioned(BEFORE, AFTER)
