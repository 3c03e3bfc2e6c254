"""Live ranges with XLA's buffer assignment: the place and size of each value.

Many values use the same memory one after the other, such as a result and its operand. Shared bytes count once. Not its
job: reading the assignment (`parse.buffers`), or live ranges (`analyze.memory.live_ranges`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy, kind_of_values, merged_spans
from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment, ValueKey
from pjit_inspect.model.program.shape import Shape

_Place = tuple[Allocation, AssignedValue]
_Path = tuple[int, ...]


def find_counted(ranges: LiveRanges, assignment: BufferAssignment) -> Occupancy | None:
    """All buffers as XLA placed them; None where its account lacks a value of the program: then it is of another."""
    places: dict[ValueKey, _Place] = {
        (value.instruction, value.index): (allocation, value)
        for allocation in assignment.allocations
        for value in allocation.values
    }
    keys, buffers = value_keys(ranges), list[Buffer]()
    inside: dict[int, list[tuple[Buffer, AssignedValue]]] = {}
    for rows in ranges.buffers:
        found = {row: places[keys[row]] for row in rows if keys[row] in places}
        if not found:
            if any(ranges.nodes.shapes[ranges.values[row].node].bytes for row in rows):
                return None
            continue
        known = next(iter(found.values()))
        # One buffer in our reading of the program may be several in XLA's.
        parts: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            allocation, value = found.get(row, known)
            parts.setdefault((allocation.number, value.offset), []).append(row)
        for own in parts.values():
            allocation, value = max((found.get(row, known) for row in own), key=lambda place: place[1].bytes)
            buffer = _buffer(ranges, own, allocation, value)
            inside.setdefault(allocation.number, []).append((buffer, value))
            for row in own:
                ranges.values[row].buffer = len(buffers)
            buffers.append(buffer)
    for placed in inside.values():
        if len(placed) > 1:
            _end_where_others_begin(placed)
    return Occupancy(ranges=ranges, buffers=buffers, unknown=0, source="counted")


def _buffer(ranges: LiveRanges, rows: list[int], allocation: Allocation, value: AssignedValue) -> Buffer:
    kind, layout = kind_of_values(ranges, rows), ranges.nodes.shapes[ranges.values[rows[-1]].node].layout
    lies_in = "argument" if allocation.parameter is not None else "result" if allocation.is_live_out else ""
    return Buffer(
        values=rows,
        bytes=value.bytes,
        kind=kind,
        space=layout.memory_space if layout else 0,
        spans=merged_spans(ranges, rows, kind),
        lies_in=lies_in if kind == "temporary" else "",
    )


# ------------------------------------------------------------ what shares memory


class _Stay(NamedTuple):
    """A span of a buffer in its allocation; `low` first, as they are sorted in memory."""

    low: int
    high: int
    begins: int
    ends: int
    buffer: int


def _end_where_others_begin(placed: Sequence[tuple[Buffer, AssignedValue]]) -> None:
    """Ends every value where another begins in its memory: all values alive at one place are then disjoint.

    XLA overwrites no value that is still needed, except an operand by the result computed from it.
    """
    stays = [
        _Stay(value.offset, value.offset + buffer.bytes, begins, ends, number)
        for number, (buffer, value) in enumerate(placed)
        for begins, ends in buffer.spans
        if buffer.bytes
    ]
    left: list[list[tuple[int, int]]] = [[] for _ in placed]
    # The last value written to each piece of memory, disjoint and ascending in memory.
    written: list[_Stay] = []
    for stay in sorted(stays, key=lambda one: (one.begins, one.ends)):
        first = bisect_left(written, stay)
        first -= first > 0 and written[first - 1].high > stay.low
        after = first
        while after < len(written) and written[after].low < stay.high:
            _leave(left, written[after], min(written[after].ends, stay.begins - 1))
            after += 1
        written[first:after] = [stay]
    for stay in written:
        _leave(left, stay, stay.ends)
    for (buffer, _), spans in zip(placed, left, strict=True):
        buffer.spans = sorted(spans)


def _leave(left: list[list[tuple[int, int]]], stay: _Stay, ends: int) -> None:
    if stay.begins <= ends:
        left[stay.buffer].append((stay.begins, ends))


# ------------------------------------------------------------ values by XLA's names


def value_keys(ranges: LiveRanges) -> list[ValueKey]:
    """XLA's key of each value: the instruction that makes it, and the path in its result."""
    nodes, paths = ranges.nodes, dict[Shape, list[_Path]]()
    found = []
    makers = [nodes.owner[value.node] for value in ranges.values]
    for value, maker, name in zip(ranges.values, makers, nodes.module.reader.names(makers), strict=True):
        shape = nodes.module.instruction(maker).shape
        if shape not in paths:
            paths[shape] = list(_paths(shape))
        found.append((name, paths[shape][value.node - nodes.of(maker).start]))
    return found


def _paths(shape: Shape, before: _Path = ()) -> Iterator[_Path]:
    """The paths to the leaves of a shape, in order."""
    if not shape.is_tuple:
        yield before
    for number, element in enumerate(shape.elements):
        yield from _paths(element, (*before, number))
