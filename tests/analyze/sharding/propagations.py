"""Small propagated programs made by hand: one op on arguments of the tests' choice."""

from __future__ import annotations

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import (
    AxisOrigin,
    EntryValue,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    ShardingRule,
    Span,
)

__all__ = ["argument", "dot", "one_op", "rule"]

SIZES = {"data": 2, "model": 4}


def argument(number: int, shape: tuple[int, ...], *spec: str | tuple[str, ...] | None) -> ShardedValue:
    """Argument `number`, split as its spec says."""
    dimensions = tuple(() if s is None else (s,) if isinstance(s, str) else s for s in spec)
    origins = tuple(AxisOrigin(axis=a, kind="input", index=number) for dimension in dimensions for a in dimension)
    return ShardedValue(dtype="f32", shape=shape, spec=dimensions, origins=origins, argument=number)


def rule(operands: str, result: str, *, reduction: str = "", whole: str = "", permutation: str = "") -> ShardingRule:
    """A rule in letters: operands "ik kj", result "ij"; each letter is a factor."""
    letters = sorted({letter for letter in operands + result if letter != " "})
    return ShardingRule(
        operands=tuple(tuple((letter,) for letter in array) for array in operands.split()),
        results=(tuple((letter,) for letter in result),),
        sizes=dict.fromkeys(letters, 16),
        reduction=tuple(reduction),
        need_replication=tuple(whole),
        permutation=tuple(permutation),
    )


def one_op(
    opcode: str,
    arguments: tuple[ShardedValue, ...],
    result: ShardedValue,
    how: ShardingRule | None,
    *,
    op_name: str = "jit(f)/op",
    wanted: tuple[tuple[str, ...], ...] | None = None,
) -> ShardedProgram:
    """A program of one op, written as `x @ w` on line 3; `wanted` is the sharding its result must have."""
    op = ShardedOp(
        opcode=f"stablehlo.{opcode}",
        op_name=op_name,
        frames=(Frame(file="train.py", line=3, function="f"),),
        spans=(Span(line=3, column=11, end_line=3, end_column=16),),
        operands=tuple(range(len(arguments))),
        results=(len(arguments),),
        rule=how,
    )
    names = ("x", "w", "y")
    return ShardedProgram(
        ops=(op,),
        values=(*arguments, result),
        inputs=tuple(EntryValue(name=names[n], value=n, spec=a.spec) for n, a in enumerate(arguments)),
        outputs=(EntryValue(name="result", value=len(arguments), spec=wanted),),
        meshes=(SIZES,),
    )


def dot(x: ShardedValue, w: ShardedValue, *spec: str | None, op_name: str = "jit(f)/dot_general") -> ShardedProgram:
    """`x @ w` of two matrices, its result split as the spec says."""
    shape = (x.shape[0], w.shape[1])
    dimensions = tuple(() if s is None else (s,) for s in spec)
    result = ShardedValue(dtype="f32", shape=shape, spec=dimensions, op=0)
    return one_op("dot_general", (x, w), result, rule("ik kj", "ij", reduction="k"), op_name=op_name)
