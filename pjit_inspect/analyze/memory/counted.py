"""XLA's own buffer assignment put in the place of the model's: which value lies where, and how large it is.

Not its job: reading it (`parse.buffers`), or live ranges, which the schedule gives (`analyze.memory.live_ranges`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy
from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment
from pjit_inspect.model.program.shape import Shape

__all__ = ["Agreement", "agreement", "as_assigned"]

Agreement = tuple[int, int]
"""How many values have the live range that XLA says, and how many it says one of."""

_Key = tuple[str, tuple[int, ...]]


def as_assigned(occupancy: Occupancy, assignment: BufferAssignment) -> bool:
    """Give every buffer the size and the place that XLA gave it; whether XLA's account has all of them.

    Nothing is changed where it has not: then it is of another program.
    """
    places = {
        (value.instruction, value.index): (allocation, value)
        for allocation in assignment.allocations
        for value in allocation.values
    }
    found = [_place(occupancy.ranges, buffer, places) for buffer in occupancy.buffers]
    if any(place is None and buffer.bytes for place, buffer in zip(found, occupancy.buffers, strict=True)):
        return False
    for buffer, place in zip(occupancy.buffers, found, strict=True):
        if place is not None:
            allocation, value = place
            buffer.bytes = value.bytes
            if buffer.kind == "temporary":
                buffer.place = allocation.number if allocation.is_live_out or allocation.parameter is not None else -1
    return True


def _our_places(ranges: LiveRanges, instructions: Sequence[str]) -> list[int]:
    """Where we have each instruction of XLA's list. It also has those of asynchronous bodies, which run as their start.

    The start follows them.
    """
    nodes = ranges.nodes
    known = {name: place for place, name in enumerate(nodes.module.reader.names(nodes.running.order))}
    found, place = [], ranges.end
    for name in reversed(instructions):
        place = known.get(name, place)
        found.append(place)
    return found[::-1]


def _place(
    ranges: LiveRanges, buffer: Buffer, places: dict[_Key, tuple[Allocation, AssignedValue]]
) -> tuple[Allocation, AssignedValue] | None:
    keys = (_key(ranges, row) for row in buffer.values)
    return next((places[key] for key in keys if key in places), None)


def _key(ranges: LiveRanges, row: int) -> _Key:
    nodes, node = ranges.nodes, ranges.values[row].node
    maker = nodes.owner[node]
    place = node - nodes.of(maker).start
    paths = _paths(nodes.module.instruction(maker).shape)
    return nodes.module.reader.name(maker), next(path for number, path in enumerate(paths) if number == place)


def _paths(shape: Shape, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The paths to the leaves of a shape, in order."""
    if not shape.is_tuple:
        yield before
    for number, element in enumerate(shape.elements):
        yield from _paths(element, (*before, number))


def agreement(occupancy: Occupancy, assignment: BufferAssignment) -> Agreement | None:
    """How many values have the live range that XLA's list says, arguments left out; None where there is no list."""
    if assignment.live is None:
        return None
    ranges, end = occupancy.ranges, len(assignment.live.instructions)
    places = _our_places(ranges, assignment.live.instructions)
    pairs = []
    for row, value in enumerate(ranges.values):
        own = assignment.live.ranges.get(_key(ranges, row))
        if own is not None and occupancy.buffers[value.buffer].kind != "argument":
            # What is returned ends one behind the last instruction.
            begin, last = own[0], min(own[1], end - 1)
            pairs.append(0 <= begin < end and last >= 0 and (value.begins, value.ends) == (places[begin], places[last]))
    return sum(pairs), len(pairs)
