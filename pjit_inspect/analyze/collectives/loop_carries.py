"""Values that travel from device to device while a loop turns: a lane for each.

A lane is an element of a loop's state whose next value is its present one, sent on by collective-permutes, and perhaps
added to on the way. Everything here follows the values through the program; nothing is taken from names. Not its job:
interpreting the lanes of a loop (`analyze.collectives.rings`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import operand, settled
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.opcodes import operations

Permutes = Mapping[int, CollectiveOp]
"""The instruction that yields a permute's received value -> the permute."""

KEPT = operations("same order", "copy")
"""Opcodes that keep a value as it is."""

_ROUNDED = KEPT | {"convert"}
_UNFILLED = frozenset(("AllocateBuffer", "CreateBuffer"))
_MOST_STEPS = 200
"""Values looked at for one element; a lane in a real program takes a few dozen."""
_ANY = -1


class Moved(NamedTuple):
    """A lane's value is sent on by a permute."""

    site: CollectiveOp


class Added(NamedTuple):
    """Something is added to a lane's value."""

    value: Instruction


class Cleared(NamedTuple):
    """A lane's value is replaced by a constant when `condition` is `when`."""

    condition: Instruction
    when: bool


Event = Moved | Added | Cleared


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCarry:
    """One travelling value.

    Attributes:
      element: its element of the loop's state.
      events: the events of one turn, in order.
    """

    element: int
    events: tuple[Event, ...]

    @property
    def moves(self) -> tuple[CollectiveOp, ...]:
        """The permutes it takes in one turn."""
        return tuple(event.site for event in self.events if isinstance(event, Moved))

    @property
    def is_kept(self) -> bool:
        """True if it is only moved."""
        return all(isinstance(event, Moved) for event in self.events)


def find_lanes(root: Instruction, permutes: Permutes) -> list[LoopCarry]:
    """The lanes of a loop with body root `root`; [] if its state is not written out as a tuple."""
    state = settled(root, KEPT)
    if state.opcode != "tuple":
        return []
    lanes = []
    for element in range(len(state.operands)):
        events = _Search(permutes, element).follow(operand(state, element))
        if events is not None and any(isinstance(event, Moved) for event in events):
            lanes.append(LoopCarry(element=element, events=events))
    return [lane for lane in lanes if not _feeds_itself(lane)]


class _Search:
    """Follows one element of a loop's state back to its value at the start of the turn."""

    def __init__(self, permutes: Permutes, element: int) -> None:
        self._permutes, self._element, self._left = permutes, element, _MOST_STEPS

    def follow(self, value: Instruction) -> tuple[Event, ...] | None:
        """The events of the element on its way to `value`; None if it does not get there, or in two ways."""
        self._left -= 1
        if self._left < 0:
            return None
        value = settled(value, _ROUNDED)
        sent = _sent(value, self._permutes)
        if sent is not None:
            return self._then(sent[1], Moved(sent[0]))
        if value.opcode == "add":
            return self._through_sum(value)
        if value.opcode == "select":
            return self._through_choice(value)
        return () if state_element(value) == self._element else None

    def _then(self, value: Instruction, last: Event) -> tuple[Event, ...] | None:
        before = self.follow(value)
        return None if before is None else (*before, last)

    def _through_sum(self, value: Instruction) -> tuple[Event, ...] | None:
        sides = operand(value, 0), operand(value, 1)
        ways = [way for side, other in (sides, sides[::-1]) if (way := self._then(side, Added(other))) is not None]
        return ways[0] if len(ways) == 1 else None

    def _through_choice(self, value: Instruction) -> tuple[Event, ...] | None:
        condition, first, second = (operand(value, k) for k in range(3))
        condition = settled(condition, KEPT | {"broadcast"})
        chosen = (True, first, second), (False, second, first)
        ways = [self._then(kept, Cleared(condition, when)) for when, empty, kept in chosen if is_empty(empty)]
        return ways[0] if len(ways) == 1 else None


def trace_back(
    value: Instruction, permutes: Permutes, along: Callable[[CollectiveOp], int | None]
) -> tuple[Instruction, tuple[CollectiveOp, ...]]:
    """The value before permutes moved it, and these permutes in the order they were applied.

    Tracing stops at a permute for which `along` is None.
    """
    moves: list[CollectiveOp] = []
    value = settled(value, KEPT)
    while (sent := _sent(value, permutes)) is not None and along(sent[0]) is not None:
        moves.append(sent[0])
        value = settled(sent[1], KEPT)
    return value, tuple(reversed(moves))


def _sent(value: Instruction, permutes: Permutes) -> tuple[CollectiveOp, Instruction] | None:
    """The permute a value was received from, and the sent value; None for any other value."""
    element = 0
    if value.opcode == "get-tuple-element":
        element = value.number
        value = settled(operand(value, 0), KEPT)
    site = permutes.get(value.index)
    if site is None or not 0 <= element < len(site.op.operands):
        return None
    return site, site.op.operands[element]


def state_element(value: Instruction) -> int | None:
    """The element of a loop's state that a value is, as at the start of the turn; None for any other value."""
    if value.opcode != "get-tuple-element" or settled(operand(value, 0), KEPT).opcode != "parameter":
        return None
    return value.number


def is_empty(value: Instruction) -> bool:
    """True if a value has no content: one constant everywhere, or memory that is still to be filled."""
    value = settled(value, _ROUNDED | {"broadcast"})
    if value.opcode == "custom-call":
        return value.custom_call_target in _UNFILLED
    return value.opcode == "constant" and not value.shape.dimensions


def _feeds_itself(lane: LoopCarry) -> bool:
    """True if a value added to a lane is itself made from the lane, or may be."""
    added = (event.value for event in lane.events if isinstance(event, Added))
    return any(_elements_behind(value) & {lane.element, _ANY} for value in added)


def _elements_behind(value: Instruction) -> set[int]:
    """The elements of a loop's state that a value is made from; with `_ANY` when there is too much to look at."""
    elements, seen, border = set[int](), set[Instruction](), [value]
    while border:
        value = settled(border.pop(), KEPT)
        if value in seen:
            continue
        seen.add(value)
        element = state_element(value)
        if len(seen) > _MOST_STEPS or (element is None and value.opcode == "parameter"):
            return {_ANY}
        if element is not None:
            elements.add(element)
        else:
            border.extend(value.operands)
    return elements
