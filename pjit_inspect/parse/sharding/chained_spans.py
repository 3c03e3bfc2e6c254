"""Which piece of text each op of a chain was written as: `a + b` begins where `a + b + c` does, and makes an `add` too.

Told by what takes what: the shorter piece makes what the longer one takes. Where that is no plain chain, or not as long
as there are pieces, nothing is said. Not its job: pieces that begin at places of their own (`propagated_hlo`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pjit_inspect.model.program.opcodes import VIEWS
from pjit_inspect.model.sharding.sharded_program import Pieces, ShardedOp, ShardedValue, Span

_BETWEEN = VIEWS | {"broadcast_in_dim", "convert"}
_MOST_BETWEEN = 64
_BACKWARD, _RECOMPUTED = "transpose(", "rematted_computation"


def chained_spans(
    ops: Sequence[ShardedOp], values: Sequence[ShardedValue], unclear: Mapping[int, Pieces]
) -> dict[int, Span]:
    """The piece of each op of which it can be told.

    Args:
      ops: the program's ops.
      values: its values.
      unclear: for an op, the pieces that it may have been written as.
    """
    groups: dict[object, list[int]] = {}
    for index, pieces in unclear.items():
        op = ops[index]
        # Gradients flow the other way, and one of a product is made by several products.
        is_backward = _BACKWARD in op.op_name.rpartition(_RECOMPUTED)[2]
        if not is_backward and op.kind not in _BETWEEN:
            groups.setdefault((op.opcode, op.op_name, op.frames, op.parent, pieces), []).append(index)
    found: dict[int, Span] = {}
    for group in groups.values():
        spans, each = unclear[group[0]]
        # XLA may have taken some away, as a sum with zeros.
        for chain in _chains(group, ops, values) if len(group) % (len(spans) * each) == 0 else ():
            # Layers in a Python loop have one text: the first piece of one takes what the last of another made.
            if len(chain) % len(spans) == 0:
                found |= {index: spans[place % len(spans)] for place, index in enumerate(chain)}
    return found


def _chains(group: Sequence[int], ops: Sequence[ShardedOp], values: Sequence[ShardedValue]) -> Iterator[list[int]]:
    """Those of a group of which each takes what the one before it made, and no other takes that."""
    members = set(group)
    before = {index: _makers(ops[index], members, ops, values) for index in group}
    after: dict[int, list[int]] = {}
    for index, own in before.items():
        for one in own:
            after.setdefault(one, []).append(index)
    for index in group:
        if before[index]:
            continue
        chain = [index]
        while len(following := after.get(chain[-1], ())) == 1 and len(before[following[0]]) == 1:
            chain.append(following[0])
        if not following:
            yield chain


def _makers(
    op: ShardedOp, members: set[int], ops: Sequence[ShardedOp], values: Sequence[ShardedValue]
) -> frozenset[int]:
    """The members that make what an op takes, seen through views, and through others of its place: `a + b - c + d`."""
    found, operands = set[int](), list(op.operands)
    for operand in operands:
        maker = values[operand].op
        if maker in members:
            found.add(maker)
        elif maker is not None and len(operands) < _MOST_BETWEEN:
            other = ops[maker]
            operands += other.operands if other.kind in _BETWEEN or _begins(other) == _begins(op) else ()
    return frozenset(found)


def _begins(op: ShardedOp) -> tuple[str, int, tuple[int, ...]] | None:
    """Where the piece of an op begins; None where that is not known."""
    frame = op.frames[0] if op.frames else None
    return None if frame is None else (frame.file, frame.line, frame.columns[:1])
