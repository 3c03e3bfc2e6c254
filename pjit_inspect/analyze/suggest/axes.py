"""Finds ops that lose an axis: an operand is split over it along a dimension, and the result is not.

Later ops pay for it: activations that lose the batch's axis at the token lookup are exchanged in every layer. Not its
job: suggesting a change (`analyze.suggest.constraints`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, axis_name


def find_lost_axes(program: ShardedProgram) -> Iterator[tuple[int, Dimensions]]:
    """Ops whose result has not the axes of an operand, and the sharding with these put back; in program order."""
    for index, op in enumerate(program.ops):
        if op.rule is None or len(op.results) != 1 or op.manual or op.kind in REQUESTS:
            continue
        if find_phase(op.op_name) in LATER:
            continue
        # If an op loses several axes, its last operand comes first: in a lookup, the table precedes the indices.
        for number in range(len(op.operands) - 1, -1, -1):
            for dimension, axes in enumerate(program.values[op.operands[number]].spec):
                spec = _put_back(program, op, number, dimension, axes) if axes else None
                if spec is not None:
                    yield index, spec


def _put_back(
    program: ShardedProgram, op: ShardedOp, number: int, dimension: int, axes: tuple[str, ...]
) -> Dimensions | None:
    """The result's sharding with an operand's axes on the dimension that is the same; None where they are not lost."""
    rule, result = op.rule, program.values[op.results[0]]
    if rule is None or number >= len(rule.operands) or dimension >= len(rule.operands[number]):
        return None
    own = rule.operands[number][dimension]
    place = next((d for d, factors in enumerate(rule.results[0]) if own and factors[:1] == own[:1]), None)
    if place is None or place >= len(result.shape):
        return None
    have = {axis_name(axis) for axis in result.spec[place]}
    if {axis_name(axis) for axis in axes} <= have or result.shape[place] % program.pieces(axes):
        return None
    names = {axis_name(axis) for axis in axes}
    bare = tuple(tuple(a for a in own_axes if axis_name(a) not in names) for own_axes in result.spec)
    return (*bare[:place], axes, *bare[place + 1 :])
