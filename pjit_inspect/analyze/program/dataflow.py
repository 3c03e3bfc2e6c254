"""Finds the source of one value through instructions that only pass it on, into and out of fusions.

Looked up step by step when it is asked for: no table of the program is made. Not its job: what is done with it, or what
all arrays of a program are made of (`analyze.program.array_flow`).
"""

from __future__ import annotations

from collections.abc import Collection

from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.opcodes import operations

SAME = operations("same order")
"""Opcodes whose result is their operand, element for element."""

MOVES = operations("view", "move")
"""Opcodes that move elements (of their first operand) without computing with them."""

_MOST_STEPS = 2000
"""Values looked at for one; what is passed on further than that is not followed to its end."""


def operand(op: Instruction, k: int) -> Instruction:
    """Operand number `k`; the instruction itself, which then fits nothing, when a damaged program lacks it."""
    operands = op.module.instructions.operands[op.index]
    return op.module.instruction(int(operands[k])) if 0 <= k < len(operands) else op


def constant(op: Instruction) -> int | None:
    """The value, when it is an integer constant."""
    return op.details.literal if op.opcode == "constant" else None


def entering(parameter: Instruction, callers: Collection[str] = ("fusion",)) -> Instruction:
    """The operand that enters a parameter from the only caller of its computation, if its opcode is one of these.

    Else the parameter itself. XLA gives every fusion a computation of its own; where a program does not, the parameter
    stands for several values.
    """
    calling = parameter.computation.callers
    if len(calling) != 1 or calling[0].opcode not in callers:
        return parameter
    operands, number = calling[0].operands, parameter.number
    return operands[number] if 0 <= number < len(operands) else parameter


def settled(op: Instruction, through: frozenset[str] = SAME) -> Instruction:
    """The value that is passed on to here through opcodes in `through`, tuples, and the bounds of fusions.

    In a program that passes it on absurdly often, a value on the way there.
    """
    # `op` may be a tuple that the value is in, at these places, the last one outermost; `origin` is no such tuple.
    origin, places = op, list[int]()
    for _ in range(_MOST_STEPS):
        if op.opcode == "get-tuple-element":
            places.append(op.number)
            before = operand(op, 0)
        elif op.opcode == "tuple" and places:
            before = operand(op, places.pop())
        else:
            before = _before(op, through)
        if before == op:
            break
        op = before
        # Inside a tuple nothing is settled yet: only a value that is no part of one may be the answer.
        origin = origin if places else op
    return origin


def _before(op: Instruction, through: frozenset[str]) -> Instruction:
    if op.opcode in through:
        return operand(op, 0)
    if op.opcode == "fusion" and len(op.called[0].callers) == 1:
        return op.called[0].root
    return entering(op) if op.opcode == "parameter" else op


def joins(user: Instruction, opcode: str, results: Collection[int]) -> bool:
    """True if an instruction, or one within a fusion, has this opcode and joins the results of these two instructions.

    Joined are the last two operands: of a select, those it chooses from.
    """
    for inner in user.called[0] if user.opcode == "fusion" else (user,):
        if inner.opcode == opcode:
            sides = {settled(side, SAME | {"convert"}).index for side in inner.operands[-2:]}
            if sides == set(results):
                return True
    return False
