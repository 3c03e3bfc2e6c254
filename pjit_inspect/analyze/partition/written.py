"""The collectives that the user wrote, as the partitioned program has them, and which operation each of them is.

XLA combines those of several lines into one instruction, and keeps the name and the line of one of them. What each
array is made of and goes to still tells which it was (`analyze.partition.join`). Not its job: collectives that the
partitioner made (`analyze.partition.edges`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pjit_inspect.analyze.partition.align import COLLECTIVES, Aligned
from pjit_inspect.analyze.partition.edges import groups_of, near_signature, signature
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective


def find_written(aligned: Aligned, op_of: Mapping[int, int]) -> tuple[PartitionedCollective, ...]:
    """Every array that a collective of the user's moves, in the order of the partitioned program.

    Args:
      aligned: the programs before and after partitioning, side by side.
      op_of: instruction before -> its index in `ShardedProgram.ops`.
    """
    return tuple(_find(aligned, op_of))


def _find(aligned: Aligned, op_of: Mapping[int, int]) -> Iterator[PartitionedCollective]:
    flow = aligned.after
    for index in flow.reached:
        if flow.opcode_of(index) not in COLLECTIVES or aligned.original.get(index) not in op_of:
            continue
        op, own = flow.module.instruction(index), op_of[aligned.original[index]]
        given = [node for operand in flow.operands(index) for node in flow.nodes(operand)]
        for source, node in zip(given, flow.nodes(index), strict=False):
            shape = flow.shape(source)
            yield PartitionedCollective(
                kind=op.opcode,
                channel_id=op.channel_id,
                groups=groups_of(op),
                dtype=shape.dtype,
                elements=shape.count or 0,
                visited=(own,),
                signature=signature(flow, node),
                near=near_signature(flow, source),
            )
