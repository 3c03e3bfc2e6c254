"""Where a value comes from, looked for through instructions that only pass it on, into and out of fusions.

Not its job: what is done with it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from pjit_inspect.model.hlo import Instruction

__all__ = ["MOVES", "SAME", "Value", "joins"]

SAME = frozenset(("copy", "bitcast", "reshape"))
"""Opcodes whose result is their operand, element for element."""

MOVES = SAME | {"transpose", "slice", "dynamic-slice", "pad", "concatenate"}
"""Opcodes that move elements (of their first operand) without computing with them."""

_DEEPEST = 20
"""Tuples within tuples that are looked through."""


class Value(NamedTuple):
    """An instruction, and what the parameters of its computation stand for.

    `arguments` is None outside of fusions: parameters then stand for themselves.
    """

    instruction: Instruction
    arguments: tuple[Value, ...] | None = None

    def operand(self, k: int) -> Value:
        """Operand number `k`; the value itself, which then fits nothing, when a damaged program lacks it."""
        operands = self.instruction.module.instructions.operands[self.instruction.index]
        if not 0 <= k < len(operands):
            return self
        return Value(self.instruction.module.instruction(int(operands[k])), self.arguments)

    def settled(self, through: frozenset[str] = SAME, *, depth: int = _DEEPEST) -> Value:
        """The value that is passed on to here through opcodes in `through`, tuples, and the bounds of fusions.

        Tuples within tuples are looked through `depth` deep.
        """
        value = self
        while True:
            before = value._before(through, depth)
            if before is value:
                return value
            value = before

    def _before(self, through: frozenset[str], depth: int) -> Value:
        instruction, arguments = self
        opcode = instruction.opcode
        if opcode in through:
            return self.operand(0)
        if opcode == "fusion":
            inner = tuple(Value(operand, arguments) for operand in instruction.operands)
            return Value(instruction.called[0].root, inner)
        if opcode == "parameter" and arguments:
            number = instruction.details.parameter_number or 0
            return arguments[number] if 0 <= number < len(arguments) else self
        if opcode == "get-tuple-element" and depth:
            whole = self.operand(0).settled(through, depth=depth - 1)
            element = instruction.details.tuple_index
            return whole.operand(element) if whole.instruction.opcode == "tuple" and element is not None else self
        return self

    @property
    def constant(self) -> int | None:
        """The value, when it is an integer constant."""
        return self.instruction.details.literal if self.instruction.opcode == "constant" else None


def joins(user: Instruction, opcode: str, results: Collection[int]) -> bool:
    """Whether an instruction, or one within a fusion, has this opcode and joins the results of these two instructions.

    Joined are the last two operands: of a select, those it chooses from.
    """
    if user.opcode != "fusion":
        candidates = [Value(user)] if user.opcode == opcode else []
    else:
        arguments = tuple(Value(operand) for operand in user.operands)
        candidates = [Value(inner, arguments) for inner in user.called[0] if inner.opcode == opcode]
    for value in candidates:
        count = len(value.instruction.operands)
        sides = (value.operand(k).settled(SAME | {"convert"}) for k in (count - 2, count - 1))
        if {side.instruction.index for side in sides} == set(results):
            return True
    return False
