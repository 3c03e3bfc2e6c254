"""Where a value comes from, looked for through instructions that only pass it on, into and out of fusions.

Not its job: what is done with it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from pjit_inspect.model.program.hlo import Instruction

__all__ = ["MOVES", "SAME", "Value", "joins"]

SAME = frozenset(("copy", "bitcast", "reshape"))
"""Opcodes whose result is their operand, element for element."""

MOVES = SAME | {"transpose", "slice", "dynamic-slice", "pad", "concatenate"}
"""Opcodes that move elements (of their first operand) without computing with them."""

_DEEPEST = 20
"""Tuples within tuples that are looked through."""

_MOST_STEPS = 2000
"""Values looked at for one; what is passed on further than that is not followed to its end."""


class Value(NamedTuple):
    """An instruction, and what the parameters of its computation stand for.

    `arguments` is None outside of fusions: parameters then stand for themselves. All arguments of a fusion have the
    same arguments themselves, those of the fusion around it.
    """

    instruction: Instruction
    arguments: tuple[Value, ...] | None = None

    def _key(self) -> tuple[object, ...]:
        """What equal values share. Fusion by fusion: to compare the arguments of arguments takes exponential time."""
        levels, arguments = [], self.arguments
        while arguments:
            levels.append(tuple(argument.instruction.index for argument in arguments))
            arguments = arguments[0].arguments
        return self.instruction.index, *levels

    def __eq__(self, other: object) -> bool:
        """Whether both are the same value of the same program."""
        if not isinstance(other, Value):
            return NotImplemented
        return self.instruction.module is other.instruction.module and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        """Whether they are not."""
        return not self == other

    def __hash__(self) -> int:
        """As `__eq__` compares."""
        return hash(self._key())

    def operand(self, k: int) -> Value:
        """Operand number `k`; the value itself, which then fits nothing, when a damaged program lacks it."""
        operands = self.instruction.module.instructions.operands[self.instruction.index]
        if not 0 <= k < len(operands):
            return self
        return Value(self.instruction.module.instruction(int(operands[k])), self.arguments)

    def settled(self, through: frozenset[str] = SAME) -> Value:
        """The value that is passed on to here through opcodes in `through`, tuples, and the bounds of fusions.

        In a program that passes it on absurdly often, or through many tuples within tuples, a value on the way there.
        """
        return _followed(self, through, _DEEPEST, [_MOST_STEPS])

    @property
    def constant(self) -> int | None:
        """The value, when it is an integer constant."""
        return self.instruction.details.literal if self.instruction.opcode == "constant" else None


def _followed(value: Value, through: frozenset[str], depth: int, left: list[int]) -> Value:
    """As `Value.settled`; `left` is how many steps may still be taken, and counts them."""
    while left[0] > 0:
        left[0] -= 1
        before = _before(value, through, depth, left)
        if before is value:
            break
        value = before
    return value


def _before(value: Value, through: frozenset[str], depth: int, left: list[int]) -> Value:
    instruction, arguments = value
    opcode = instruction.opcode
    if opcode in through:
        return value.operand(0)
    if opcode == "fusion":
        inner = tuple(Value(operand, arguments) for operand in instruction.operands)
        return Value(instruction.called[0].root, inner)
    if opcode == "parameter" and arguments:
        number = instruction.details.parameter_number or 0
        return arguments[number] if 0 <= number < len(arguments) else value
    if opcode == "get-tuple-element" and depth:
        whole = _followed(value.operand(0), through, depth - 1, left)
        element = instruction.details.tuple_index
        return whole.operand(element) if whole.instruction.opcode == "tuple" and element is not None else value
    return value


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
