"""The arrays a collective moves, and the name and place XLA kept of each.

A combined collective moves several arrays for several operations; XLA keeps their names in one string or drops them.
Not its job: which operation of the user's program they stand for (`analyze.causes.causes`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pjit_inspect.analyze.program.dataflow import entering, operand
from pjit_inspect.analyze.program.phases import split_op_names
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.program.source import Frame

_TUPLED = frozenset(("all-to-all", "ragged-all-to-all"))
_HOPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedArray:
    """One array of a collective.

    Attributes:
      elements: how many elements one device gives.
      bytes: and how many bytes.
      dtype: XLA's name of the element type.
      op_name: JAX's name of the operation or argument it belongs to, as far as XLA kept it; "".
      frames: the source frames of that name, innermost first; ().
    """

    elements: int
    bytes: int
    dtype: str
    op_name: str = ""
    frames: tuple[Frame, ...] = ()


def find_moved_arrays(op: Instruction, kind: str) -> tuple[MovedArray, ...]:
    """Every array `op` moves for a reason of its own: one for each operand of a combined collective.

    XLA gives an all-to-all that cuts one array into pieces one operand for each piece: these are one array.
    """
    names = split_op_names(op.op_name)
    operands = [(given, leaf) for given in op.operands for leaf in given.shape.leaves if leaf.is_array]
    if kind in _TUPLED or len(operands) < 2:
        return (_array([shape for _, shape in operands], names[0] if names else "", op.frames),)
    own = names if len(names) == len(operands) else (names * len(operands) if len(names) == 1 else ())
    arrays = []
    for position, (given, shape) in enumerate(operands):
        producer = _named_producer(given)
        # Where XLA kept one name for several, what makes an operand tells more.
        name = own[position] if own and len(names) > 1 else producer.op_name or (own[0] if own else "")
        is_made_there = producer.op_name == name
        frames = producer.frames if is_made_there else (op.frames if position == 0 or not own else ())
        arrays.append(_array([shape], name, frames))
    return tuple(arrays)


def _array(shapes: list[Shape], name: str, frames: tuple[Frame, ...]) -> MovedArray:
    return MovedArray(
        elements=sum(math.prod(shape.dimensions) for shape in shapes),
        bytes=sum(shape.bytes or 0 for shape in shapes),
        dtype=shapes[0].dtype if shapes else "",
        op_name=name,
        frames=frames,
    )


def _named_producer(op: Instruction) -> Instruction:
    """The nearest instruction with a name on the way back: out of fusions, through those without one."""
    for _ in range(_HOPS):
        if op.opcode == "parameter" and not op.computation.is_entry:
            before = entering(op, ("fusion", "call"))
        elif op.op_name:
            break
        else:
            before = op.called[0].root if op.opcode == "fusion" else operand(op, 0)
        if before == op:
            break
        op = before
    return op
