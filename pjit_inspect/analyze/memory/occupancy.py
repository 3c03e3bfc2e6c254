"""The bytes alive at every position of the schedule: arguments, results, and the rest.

XLA's buffer assignment says where each value lies. Without one this is a model: every buffer has a piece of memory for
itself, but a result lies where an operand of its shape did that nothing needs afterwards. Values may use the same
memory one after the other; shared bytes count once. Not its job: reading XLA's assignment (`parse.buffers`), or live
ranges (`analyze.memory.live_ranges`).

*Source*: XLA's `HloDataflowAnalysis::CanShareOperandBufferWithUser`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.memory.live_ranges import BufferKind, LiveRanges
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment, ValueKey
from pjit_inspect.model.memory.memory_use import MemorySource
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.shape import Shape

_ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil", "clamp",
    "compare", "complex", "convert", "copy", "cosine", "cosh", "count-leading-zeros", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
    "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip
_MOST_BESIDE, _LEAST_BESIDE = 3, 100
_OVERWRITING = _ELEMENTWISE - {"copy"} | {"fusion", "sort"}
"""Opcodes that may write their result over an operand."""


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
        """True if it is a temporary outside the memory of an argument or result."""
        return self.kind == "temporary" and not self.lies_in

    def is_alive(self, place: int) -> bool:
        """True if it is alive at a place of the schedule."""
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


class _Location(NamedTuple):
    """The place of a value: a piece of memory, the first byte in it, the bytes; and `Buffer.lies_in` of a temporary."""

    piece: int
    offset: int
    bytes: int
    lies_in: str = ""


def occupancy_of(module: HloModule, assignment: BufferAssignment | None = None) -> Occupancy:
    """The buffers of a program with a schedule, and from where to where each is alive.

    Counted if XLA's buffer assignment is available and fits this program; if not, modelled.
    """
    ranges = LiveRanges(module)
    counted = None if assignment is None else _counted_places(ranges, assignment)
    places, unknown = _modelled_places(ranges) if counted is None else (counted, 0)
    spaces, buffers = _spaces_of_caller(ranges), list[Buffer]()
    inside: dict[int, list[tuple[int, Buffer]]] = {}
    for rows in ranges.buffers:
        # One buffer in our reading of the program may be several in XLA's.
        parts: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            parts.setdefault(places[row][:2], []).append(row)
        for (piece, offset), own in parts.items():
            kind, largest = ranges.kind(own), max((places[row] for row in own), key=lambda one: one.bytes)
            layout = ranges.shape_of(own[-1]).layout
            space = layout.memory_space if layout else 0
            buffer = Buffer(
                values=own,
                bytes=largest.bytes,
                kind=kind,
                space=next((spaces[row] for row in reversed(own) if row in spaces), space),
                spans=_merged_spans(ranges, own, kind),
                lies_in=largest.lies_in if kind == "temporary" else "",
            )
            inside.setdefault(piece, []).append((offset, buffer))
            buffers.append(buffer)
    for placed in inside.values():
        if len(placed) > 1:
            _end_where_others_begin(placed)
    source: MemorySource = "modelled" if counted is None else "counted"
    return Occupancy(ranges=ranges, buffers=buffers, unknown=unknown, source=source)


def _spaces_of_caller(ranges: LiveRanges) -> dict[int, int]:
    """The memory of arguments and results that the caller has elsewhere: CPU instructions do not show host memory."""
    entry = ranges.module.entry
    arguments, result = ranges.module.reader.entry_shapes() or ((), Shape(dtype="tuple"))
    ends = [*zip(ranges.parameters(entry), arguments, strict=False), (ranges.root(entry), result)]
    return {
        ranges.value_of[node]: leaf.layout.memory_space
        for index, shape in ends
        for node, leaf in zip(ranges.nodes(index), shape.leaves, strict=False)
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
    return joined_spans(spans)


def joined_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending spans, ends included, with neighbours joined that touch; empty ones are left out."""
    found: list[tuple[int, int]] = []
    for begins, ends in spans:
        if found and begins <= min(ends, found[-1][1] + 1):
            found[-1] = found[-1][0], max(found[-1][1], ends)
        elif begins <= ends:
            found.append((begins, ends))
    return found


class _Stay(NamedTuple):
    """A span of a buffer in its piece of memory."""

    low: int
    high: int
    begins: int
    ends: int
    buffer: Buffer

    def leave(self, ends: int) -> None:
        """Ends it at a place, or where it ends by itself."""
        if self.begins <= min(self.ends, ends):
            self.buffer.spans.append((self.begins, min(self.ends, ends)))


def _end_where_others_begin(placed: Sequence[tuple[int, Buffer]]) -> None:
    """Ends every value where another begins in its memory: all values alive at one place are then disjoint.

    XLA overwrites no value that is still needed, except an operand by the result computed from it. `placed` are the
    buffers in one piece of memory, each behind its offset.
    """
    stays = [
        _Stay(offset, offset + buffer.bytes, begins, ends, buffer)
        for offset, buffer in placed
        for begins, ends in buffer.spans
        if buffer.bytes
    ]
    for _, buffer in placed:
        buffer.spans = []
    # The last value written to each part of the piece, disjoint and ascending in memory.
    written: list[_Stay] = []
    for stay in sorted(stays, key=lambda one: (one.begins, one.ends)):
        first = bisect_right(written, stay.low, key=lambda one: one.high)
        after = bisect_left(written, stay.high, key=lambda one: one.low)
        for one in written[first:after]:
            one.leave(stay.begins - 1)
        written[first:after] = [stay]
    for stay in written:
        stay.leave(stay.ends)
    for _, buffer in placed:
        buffer.spans.sort()


# ------------------------------------------------------------ places that XLA says


def _counted_places(ranges: LiveRanges, assignment: BufferAssignment) -> list[_Location] | None:
    """The place of each value; None where XLA's account lacks a value: then it is of another program."""
    said: dict[ValueKey, _Location] = {}
    for one in assignment.allocations:
        lies_in = "argument" if one.parameter is not None else "result" if one.is_live_out else ""
        for value in one.values:
            said[value.instruction, value.index] = _Location(one.number, value.offset, value.bytes, lies_in)
    keys, places = value_keys(ranges), dict[int, _Location]()
    for number, rows in enumerate(ranges.buffers):
        # A value that XLA does not name lies with another one of its buffer; one without bytes lies nowhere.
        known = next((said[keys[row]] for row in rows if keys[row] in said), None)
        if known is None and any(ranges.shape_of(row).bytes for row in rows):
            return None
        for row in rows:
            places[row] = said.get(keys[row]) or known or _Location(-1 - number, 0, 0)
    return [places[row] for row in range(len(keys))]


def value_keys(ranges: LiveRanges) -> list[ValueKey]:
    """XLA's key of each value: the instruction that makes it, and the path in its result."""
    makers = [ranges.owner[value.node] for value in ranges.values]
    numbers = [value.node - ranges.first[maker] for value, maker in zip(ranges.values, makers, strict=True)]
    shapes = [_paths(ranges.module.instruction(maker).shape) for maker in makers]
    names = ranges.module.reader.names(makers)
    return [(name, paths[number]) for name, paths, number in zip(names, shapes, numbers, strict=True)]


@lru_cache(maxsize=1024)
def _paths(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """The paths to the leaves of a shape, in order."""
    inner = [(number, *path) for number, element in enumerate(shape.elements) for path in _paths(element)]
    return tuple(inner) if shape.is_tuple else ((),)


# ------------------------------------------------------------ places in the model


def _modelled_places(ranges: LiveRanges) -> tuple[list[_Location], int]:
    """The place of each value in the model, and how many values have no known size."""
    sizes = [ranges.shape_of(row).padded_bytes for row in range(len(ranges.values))]
    places, taken_over, unknown = dict[int, _Location](), dict(_taken_over(ranges)), sizes.count(None)
    # In the order of their first values, and so of the schedule: what is taken over has its place already.
    for number, rows in enumerate(ranges.buffers):
        freed = taken_over.get(rows[0])
        piece = number if freed is None else places[freed].piece
        size = max(sizes[row] or 0 for row in rows)
        places.update(dict.fromkeys(rows, _Location(piece, 0, size)))
    return [places[row] for row in range(len(sizes))], unknown


def _taken_over(ranges: LiveRanges) -> Iterator[tuple[int, int]]:
    """Values that lie where an operand did, each with that operand's value: rows."""
    values, taken = ranges.values, set[int]()
    # What shares its buffer with other values already, or reaches the instruction under another name, is left alone.
    alone = {values[rows[0]].node: ranges.kind(rows) for rows in ranges.buffers if len(rows) == 1}
    for row, value in enumerate(values):
        maker = ranges.owner[value.node]
        if alone.get(value.node) not in ("temporary", "result") or ranges.opcode_of(maker) not in _OVERWRITING:
            continue
        for number, operand in enumerate(ranges.operands(maker)):
            node = ranges.first[operand]
            if alone.get(node) != "temporary" or node in taken:
                continue
            freed = ranges.value_of[node]
            ends_here = values[freed].begins < value.begins == values[freed].ends
            if ends_here and can_share(ranges, value.node, number):
                taken.add(node)
                yield row, freed
                break


def can_share(ranges: LiveRanges, own: int, number: int) -> bool:
    """True if XLA lets a result overwrite operand `number`, which is not used afterwards."""
    maker = ranges.owner[own]
    operand = ranges.nodes(ranges.operands(maker)[number])
    if len(operand) != 1 or ranges.shape(own) != ranges.shape(operand[0]):
        return False
    opcode, called = ranges.opcode_of(maker), ranges.called(maker)
    if opcode == "sort":
        return own - ranges.first[maker] == number
    if opcode != "fusion":
        return opcode in _ELEMENTWISE
    is_loop = ranges.module.reader.kernel(maker)[0] in ("kLoop", "kInput")
    return is_loop and len(called) == 1 and _is_elementwise(ranges, called[0], number)


def _is_elementwise(ranges: LiveRanges, computation: int, number: int) -> bool:
    """True if every use of a fusion's parameter, and of values made from it, is elementwise."""
    users, border = ranges.module.users, ranges.parameters(computation)[number : number + 1]
    seen = set(border)
    while border:
        index = border.pop()
        for user in users[index].tolist():
            opcode = ranges.opcode_of(user)
            is_updated = opcode == "dynamic-update-slice" and ranges.operands(user)[0] == index
            if not is_updated and opcode not in _ELEMENTWISE and opcode != "tuple":
                return False
            if user not in seen:
                seen.add(user)
                border.append(user)
    return bool(seen)


# ------------------------------------------------------------ temporaries beside donated arguments


def find_beside(occupancy: Occupancy, alive: Sequence[Buffer]) -> list[tuple[Buffer, Buffer, str]]:
    """Temporaries beside free memory of a donated argument, that argument, and why; [] without XLA's assignment.

    Reports the largest, each of at least a hundredth of the bytes that are `alive` at the peak.

    *Source*: XLA's `BufferAssignment::LiveRangeInterferes`: a result overwrites an operand only if the operand's last
    use is as input of the same instruction; the last use of a value passed to a loop is the loop's result.
    """
    if occupancy.source != "counted":
        return []
    least = sum(one.bytes for one in alive) // _LEAST_BESIDE
    donated = [one for one in occupancy.buffers if one.kind == "argument" and one.bytes > least]
    apart = sorted((one for one in alive if one.is_apart and len(one.values) == 1), key=lambda one: -one.bytes)
    found = []
    for buffer in apart:
        ways = ((one, _why(occupancy.ranges, buffer, one)) for one in donated if one.bytes == buffer.bytes)
        found += [(buffer, argument, why) for argument, why in ways if why][:1]
    return found[:_MOST_BESIDE]


def _why(ranges: LiveRanges, buffer: Buffer, argument: Buffer) -> str:
    """The reason why a temporary is not in a dead argument's memory before its result is written; "" for none."""
    row = buffer.values[0]
    value = ranges.values[row]
    there = sorted((ranges.values[row] for row in argument.values), key=lambda one: one.begins)
    given, written = there[0], there[-1]
    is_freed = given is not written and written.is_returned and given.ends <= value.begins < written.begins
    if not is_freed or value.ends < written.begins:
        return ""
    if value.ends > written.begins:
        return "it is needed when the result is written there, and later"

    def is_value(nodes: Iterable[int]) -> bool:
        return any(ranges.value_of[node] == row for node in nodes)

    maker = ranges.owner[written.node]
    numbers = [number for number, one in enumerate(ranges.operands(maker)) if is_value(ranges.nodes(one))]
    if not numbers:
        return ""
    if ranges.opcode_of(maker) == "copy":
        return "XLA computes it apart and copies it there"
    reads = "the result that is written there is computed from it"
    could = any(can_share(ranges, written.node, number) for number in numbers)
    loops = (index for index in ranges.running.order if ranges.opcode_of(index) == "while")
    if not could or not any(is_value(ranges.nodes(index)) for index in loops):
        return reads
    return (
        f"{reads}, and XLA writes no result over an operand that was given to a loop; give the loop only what it "
        "reads of it"
    )
