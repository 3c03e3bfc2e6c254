"""The bytes alive at every position of the schedule: arguments, results, and the rest.

Values may use the same memory one after the other, such as a result and its operand. Shared bytes count once. Not its
job: live ranges (`analyze.memory.live_ranges`), or the places of values in memory (`analyze.memory.places`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.memory.arrays import Arrays
from pjit_inspect.analyze.memory.live_ranges import BufferKind, LiveRanges, find_live_ranges
from pjit_inspect.analyze.memory.places import counted_places, modelled_places
from pjit_inspect.analyze.program.loops import find_running
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.memory.memory_use import MemorySource
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.shape import Shape


@dataclass(slots=True, kw_only=True)
class Buffer:
    """One piece of memory.

    Attributes:
      values: the rows of its values.
      bytes: its size on one device, padding of tiles included.
      kind: "argument", "result" (also in the buffer of an argument), "constant", "temporary".
      space: XLA's number of the memory.
      spans: disjoint live ranges, ends included, ascending.
      lies_in: "argument" or "result" for a temporary that XLA put into its memory; "" for none or unknown.
    """

    values: list[int]
    bytes: int
    kind: BufferKind
    space: int
    spans: list[tuple[int, int]]
    lies_in: str = ""

    @property
    def is_apart(self) -> bool:
        """Whether it is a temporary outside the memory of an argument or result."""
        return self.kind == "temporary" and not self.lies_in

    def is_alive(self, place: int) -> bool:
        """Whether it is alive at a place of the schedule."""
        return any(begins <= place <= ends for begins, ends in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Occupancy:
    """The buffers of a program and their live ranges.

    Attributes:
      ranges: the values.
      buffers: the buffers. Two buffers alive at one position share no memory.
      unknown: number of values of unknown size.
      source: "counted" if XLA gives the place and size of each.
    """

    ranges: LiveRanges
    buffers: list[Buffer]
    unknown: int
    source: MemorySource

    def curve(self, wanted: Callable[[Buffer], bool]) -> np.ndarray:
        """Bytes alive at each place of the schedule, of the buffers that are wanted."""
        spans = [(span, buffer.bytes) for buffer in self.buffers if wanted(buffer) for span in buffer.spans]
        # A damaged program may claim more bytes than fit into a machine integer.
        kind = np.int64 if sum(size for _, size in spans) < 2**63 else object
        change = np.zeros(self.ranges.end + 2, kind)
        if spans:
            places, sizes = np.array([span for span, _ in spans]), np.array([size for _, size in spans], kind)
            np.add.at(change, places[:, 0], sizes)
            np.add.at(change, places[:, 1] + 1, -sizes)
        return np.cumsum(change)[:-1]


def occupancy_of(module: HloModule, assignment: BufferAssignment | None = None) -> Occupancy:
    """The buffers of a program with a schedule, and from where to where each is alive.

    Counted if XLA's buffer assignment is available and fits this program; if not, modelled.
    """
    ranges = find_live_ranges(Arrays(module, find_running(module)))
    counted = None if assignment is None else counted_places(ranges, assignment)
    places, unknown = modelled_places(ranges) if counted is None else (counted, 0)
    spaces, buffers = _spaces_of_caller(ranges), list[Buffer]()
    inside: dict[int, list[tuple[Buffer, int]]] = {}
    for rows in ranges.buffers:
        # One buffer in our reading of the program may be several in XLA's.
        parts: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            parts.setdefault(places[row][:2], []).append(row)
        for (piece, offset), own in parts.items():
            kind, largest = ranges.kind(own), max((places[row] for row in own), key=lambda one: one.bytes)
            layout = ranges.arrays.shape(ranges.values[own[-1]].node).layout
            space = layout.memory_space if layout else 0
            buffer = Buffer(
                values=own,
                bytes=largest.bytes,
                kind=kind,
                space=next((spaces[row] for row in reversed(own) if row in spaces), space),
                spans=_merged_spans(ranges, own, kind),
                lies_in=largest.lies_in if kind == "temporary" else "",
            )
            inside.setdefault(piece, []).append((buffer, offset))
            buffers.append(buffer)
    for placed in inside.values():
        if len(placed) > 1:
            _end_where_others_begin(placed)
    return Occupancy(
        ranges=ranges, buffers=buffers, unknown=unknown, source="modelled" if counted is None else "counted"
    )


def _spaces_of_caller(ranges: LiveRanges) -> dict[int, int]:
    """The memory of arguments and results that the caller has elsewhere: CPU instructions do not show host memory."""
    arrays = ranges.arrays
    entry = arrays.module.entry
    arguments, result = arrays.module.reader.entry_shapes() or ((), Shape(dtype="tuple"))
    ends = [*zip(arrays.parameters(entry), arguments, strict=False), (arrays.root(entry), result)]
    return {
        ranges.value_of[node]: leaf.layout.memory_space
        for index, shape in ends
        for node, leaf in zip(arrays.nodes(index), shape.leaves, strict=False)
        if leaf.layout is not None and leaf.layout.memory_space
    }


def _merged_spans(ranges: LiveRanges, rows: list[int], kind: str) -> list[tuple[int, int]]:
    """From where to where any of these values is alive: arguments and constants from the beginning to the end.

    But an argument that was given up for a result is dead from its last use until the result is written.
    """
    values = [ranges.values[row] for row in rows]
    if kind == "constant" or (kind == "argument" and not any(value.is_returned for value in values)):
        return [(0, ranges.end)]
    spans = sorted((value.begins, value.ends) for value in values)
    if kind == "argument":
        spans[0] = 0, spans[0][1]
    merged: list[tuple[int, int]] = []
    for begins, ends in spans:
        if merged and begins <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        elif begins <= ends:
            merged.append((begins, ends))
    return merged


# ------------------------------------------------------------ memory that one value takes over from another


class _Stay(NamedTuple):
    """A span of a buffer in its piece of memory; `low` first, as they are sorted in memory."""

    low: int
    high: int
    begins: int
    ends: int
    buffer: int


def _end_where_others_begin(placed: Sequence[tuple[Buffer, int]]) -> None:
    """Ends every value where another begins in its memory: all values alive at one place are then disjoint.

    XLA overwrites no value that is still needed, except an operand by the result computed from it.

    Args:
      placed: the buffers in one piece of memory, each with its offset.
    """
    stays = [
        _Stay(offset, offset + buffer.bytes, begins, ends, number)
        for number, (buffer, offset) in enumerate(placed)
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
