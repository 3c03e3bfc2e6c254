"""How many bytes are alive at every place of the schedule: arguments, results, and all else, as XLA places them.

XLA frees an operand before it places a result that may lie there; and it places in the buffer of a result what fits
there while that is not written yet. Not its job: from where to where things are alive (`analyze.memory.live_ranges`).

*Source*: XLA's `HeapSimulator`, and `BufferAssigner::AssignSingleHloBuffer`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from pjit_inspect.analyze.memory.live_ranges import LiveRanges, Value
from pjit_inspect.analyze.memory.packing import Chunk, packed_bytes
from pjit_inspect.analyze.memory.passing import Nodes
from pjit_inspect.analyze.memory.tables import find_tables
from pjit_inspect.model.program.shape import Shape

__all__ = ["Buffer", "Occupancy", "find_occupancy"]

_ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil", "clamp",
    "compare", "complex", "convert", "copy", "cosine", "cosh", "count-leading-zeros", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
    "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip
_MOST_NEAR = 16
"""Operands of a combined collective that are looked at; any other instruction has fewer."""
_MOST_PLACED = 4000
"""Temporaries that are looked up a place in results: the largest."""


@dataclass(slots=True, kw_only=True)
class Buffer:
    """One piece of memory.

    Attributes:
      values: the rows of its values.
      bytes: its size on one device, padding of tiles included.
      kind: "argument", "result" (also in the buffer of an argument), "constant", "temporary".
      space: XLA's number of the memory.
      spans: from where to where it is alive, ends included, ascending, apart.
      place: the buffer of a result it lies in, by its number; -1 for none.
      before: the buffer whose memory it takes over, by its number; -1 for none.
      is_taken_over: whether another takes over its memory in its last step.
    """

    values: list[int]
    bytes: int
    kind: str
    space: int
    spans: list[tuple[int, int]]
    place: int = -1
    before: int = -1
    is_taken_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Occupancy:
    """What is alive when.

    Attributes:
      ranges: the values.
      buffers: the buffers, by number.
      unknown: how many have no known size.
    """

    ranges: LiveRanges
    buffers: list[Buffer]
    unknown: int

    def curve(self, wanted: Callable[[Buffer], bool]) -> np.ndarray:
        """Bytes alive at each place of the schedule, of the buffers that are wanted."""
        spans = [(span, buffer.bytes) for buffer in self.buffers if wanted(buffer) for span in buffer.spans]
        # A damaged program may claim more bytes than a machine's number holds.
        kind = np.int64 if sum(size for _, size in spans) < 2**63 else object
        change = np.zeros(self.ranges.end + 2, kind)
        if spans:
            places, sizes = np.array([span for span, _ in spans]), np.array([size for _, size in spans], kind)
            np.add.at(change, places[:, 0], sizes)
            np.add.at(change, places[:, 1] + 1, -sizes)
        return np.cumsum(change)[:-1]

    def reserved_bytes(self, alignment: int, table_bytes: int = 0, space: int = 0) -> int:
        """What XLA would reserve for temporaries: they do not fit without gaps.

        Args:
          alignment: the bytes that places are multiples of.
          table_bytes: bytes of a table of pointers; 0 for 8 bytes each. A table has a place that nothing shares.
          space: the memory.
        """
        times = self._event_times()
        groups: dict[int, list[int]] = {}
        for number, buffer in enumerate(self.buffers):
            if buffer.kind == "temporary" and buffer.space == space and buffer.place < 0 and buffer.spans:
                first = number
                while self.buffers[first].before >= 0:
                    first = self.buffers[first].before
                groups.setdefault(first, []).append(number)
        chunks = [self._chunk(members, times) for members in groups.values()]
        reserved = packed_bytes(chunks, alignment)
        for width in find_tables(self.ranges.nodes) if space == 0 else ():
            reserved = -(-reserved // alignment) * alignment + (table_bytes or 8 * width)
        return reserved

    def _chunk(self, members: list[int], times: dict[int, tuple[int, int]]) -> Chunk:
        spans = sorted(times[row] for number in members for row in self.buffers[number].values if row in times)
        return Chunk(bytes=max(self.buffers[number].bytes for number in members), spans=tuple(spans))

    def _event_times(self) -> dict[int, tuple[int, int]]:
        """When each value is taken and freed, by its row, where every step that takes or frees one counts."""
        begun: list[list[int]] = [[] for _ in range(self.ranges.end + 1)]
        ended: list[list[int]] = [[] for _ in range(self.ranges.end + 1)]
        for row, value in enumerate(self.ranges.values):
            buffer = self.buffers[value.buffer]
            if buffer.kind == "temporary" and buffer.place < 0:
                begun[value.begins].append(row)
                # What a result takes over is freed just before, and nothing lies between.
                ended[value.ends - buffer.is_taken_over].append(row)
        now, first, found = 0, dict[int, int](), dict[int, tuple[int, int]]()
        for place in range(self.ranges.end + 1):
            for row in begun[place]:
                first[row] = now
                now += 1
            for row in ended[place]:
                found[row] = first[row], now
                now += 1
        return found


def find_occupancy(ranges: LiveRanges, unplaced: frozenset[str] = frozenset()) -> Occupancy:
    """All buffers with their sizes, the padding of tiles included.

    What is made by the opcodes in `unplaced` has no place in results.
    """
    maker = _Maker(ranges)
    buffers = [maker.buffer(rows) for rows in ranges.buffers]
    _free_operands(ranges, buffers)
    for buffer in buffers:
        buffer.spans = _merged(ranges, buffer)
    _place_in_results(ranges, buffers, unplaced)
    return Occupancy(ranges=ranges, buffers=buffers, unknown=maker.unknown)


class _Maker:
    def __init__(self, ranges: LiveRanges) -> None:
        self._ranges = ranges
        self._sizes: dict[Shape, int | None] = {}
        self.unknown = 0

    def buffer(self, rows: list[int]) -> Buffer:
        ranges, size = self._ranges, 0
        kinds = {self._kind(ranges.values[row]) for row in rows}
        space = 0
        for row in rows:
            shape = ranges.nodes.shapes[ranges.values[row].node]
            own = self._size(shape)
            self.unknown += own is None
            size = max(size, own or 0)
            space = shape.layout.memory_space if shape.layout else 0
        kind = next(kind for kind in ("argument", "result", "constant", "temporary") if kind in kinds)
        return Buffer(values=rows, bytes=size, kind=kind, space=space, spans=[])

    def _size(self, shape: Shape) -> int | None:
        if shape not in self._sizes:
            self._sizes[shape] = shape.padded_bytes
        return self._sizes[shape]

    def _kind(self, value: Value) -> str:
        nodes = self._ranges.nodes
        maker = nodes.owner[value.node]
        opcode = nodes.opcode(maker)
        if opcode == "parameter" and int(nodes.module.instructions.computation[maker]) == nodes.module.entry:
            return "argument"
        if opcode == "constant":
            return "constant"
        return "result" if value.is_returned else "temporary"


# ------------------------------------------------------------ operands that end where a result begins


def _free_operands(ranges: LiveRanges, buffers: list[Buffer]) -> None:
    """The result takes over the buffer of an operand that is taken for the last time, where it may lie there."""
    nodes, values = ranges.nodes, ranges.values
    for value in values:
        if not _is_alone(value, buffers):
            continue
        maker = nodes.owner[value.node]
        if not _may_share(nodes, maker):
            continue
        for number, operand in enumerate(nodes.operands(maker)):
            taken = _freed(ranges, buffers, operand, value)
            if taken is not None and can_share(nodes, value.node, number, taken.node):
                buffers[taken.buffer].is_taken_over = True
                buffers[value.buffer].before = taken.buffer
                break


def _freed(ranges: LiveRanges, buffers: list[Buffer], operand: int, value: Value) -> Value | None:
    """The value of an operand that ends with the instruction that takes it, and which that instruction may reuse."""
    for node in ranges.nodes.of(operand):
        taken = ranges.values[ranges.value_of[node]]
        is_free = taken.ends == value.begins > taken.begins and not buffers[taken.buffer].is_taken_over
        if is_free and taken.node == node and _is_alone(taken, buffers):
            return taken
    return None


def _is_alone(value: Value, buffers: list[Buffer]) -> bool:
    buffer = buffers[value.buffer]
    return buffer.kind == "temporary" and len(buffer.values) == 1


def _may_share(nodes: Nodes, maker: int) -> bool:
    """Whether an instruction ever puts a result where an operand lies. (A copy never does.)"""
    opcode = nodes.opcode(maker)
    return opcode in ("fusion", "sort") or (opcode in _ELEMENTWISE and opcode != "copy")


def can_share(nodes: Nodes, own: int, number: int, taken: int) -> bool:
    """Whether XLA lets a result lie where operand `number` lies, which nobody takes afterwards."""
    if nodes.shapes[own] != nodes.shapes[taken]:
        return False
    maker = nodes.owner[own]
    opcode = nodes.opcode(maker)
    if opcode == "sort":
        return own - nodes.of(maker).start == number
    if opcode != "fusion":
        return opcode in _ELEMENTWISE
    kind, _ = nodes.module.reader.kernel(maker)
    called = nodes.called(maker)
    return kind in ("kLoop", "kInput") and len(called) == 1 and _is_elementwise(nodes, called[0], number)


def _is_elementwise(nodes: Nodes, computation: int, number: int) -> bool:
    """Whether every use of a parameter of a fusion, and of what is made of it, is element by element."""
    parameters = nodes.parameters(computation)
    if number >= len(parameters):
        return False
    users, seen, border = nodes.module.users, {parameters[number]}, [parameters[number]]
    while border:
        index = border.pop()
        for user in users[index].tolist():
            opcode = nodes.opcode(user)
            is_updated = opcode == "dynamic-update-slice" and nodes.operands(user)[0] == index
            if not is_updated and opcode not in _ELEMENTWISE and opcode != "tuple":
                return False
            if user not in seen:
                seen.add(user)
                border.append(user)
    return True


# ------------------------------------------------------------ spans


def _merged(ranges: LiveRanges, buffer: Buffer) -> list[tuple[int, int]]:
    """From where to where any value of a buffer is alive: arguments and constants from the beginning to the end.

    But an argument that was given up for a result is dead from its last use until the result is written.
    """
    if buffer.kind in ("argument", "constant"):
        if buffer.kind == "constant" or not any(ranges.values[row].is_returned for row in buffer.values):
            return [(0, ranges.end)]
        first = min((ranges.values[row] for row in buffer.values), key=lambda value: value.begins)
        first.begins = 0
    spans = sorted((ranges.values[row].begins, ranges.values[row].ends) for row in buffer.values)
    merged: list[tuple[int, int]] = []
    for begins, ends in spans:
        if merged and begins <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        elif begins <= ends:
            merged.append((begins, ends))
    if buffer.is_taken_over:
        # It is alone in its buffer; from its last step on, the memory is counted for what takes it over.
        merged = [(merged[0][0], merged[0][1] - 1)]
    return merged


# ------------------------------------------------------------ places in results


def _place_in_results(ranges: LiveRanges, buffers: list[Buffer], unplaced: frozenset[str]) -> None:
    """Large temporaries lie in a result's buffer where that is free as long as they live, the smallest that fits."""
    results = [k for k, one in enumerate(buffers) if one.kind in ("argument", "result") and _has_room(one)]
    if not results:
        return
    order = partial(_order, ranges, buffers)
    results.sort(key=order)
    sizes = [-buffers[k].bytes for k in results]
    busy = {k: sorted(map(partial(_stay, ranges), buffers[k].values)) for k in results}
    temporaries = [k for k, one in enumerate(buffers) if one.kind == "temporary" and one.spans and one.bytes]
    for number in sorted(temporaries, key=order)[:_MOST_PLACED]:
        buffer = buffers[number]
        if any(_maker(ranges, row) in unplaced for row in buffer.values):
            continue
        stays = [_stay(ranges, row) for row in buffer.values]
        fitting = bisect_left(sizes, -buffer.bytes + 1)
        for k in (*_near(ranges, buffers, number), *reversed(results[:fitting])):
            fits = k in busy and buffers[k].bytes >= buffer.bytes and buffers[k].space == buffer.space
            if fits and all(_is_free(ranges, busy[k], stay) for stay in stays):
                for stay in stays:
                    insort(busy[k], stay)
                buffer.place = k
                break


def _maker(ranges: LiveRanges, row: int) -> str:
    return ranges.nodes.opcode(ranges.nodes.owner[ranges.values[row].node])


def _stay(ranges: LiveRanges, row: int) -> tuple[int, int, int]:
    """From where to where a value is alive, and which it is."""
    value = ranges.values[row]
    return value.begins, value.ends, row


def _order(ranges: LiveRanges, buffers: list[Buffer], number: int) -> tuple[int, int, int]:
    """Large ones first; then as they stand in the program, what calls before what is called."""
    nodes = ranges.nodes
    makers = (nodes.owner[ranges.values[row].node] for row in buffers[number].values)
    first = min((-int(nodes.module.instructions.computation[maker]), maker) for maker in makers)
    return (-buffers[number].bytes, *first)


def _near(ranges: LiveRanges, buffers: list[Buffer], number: int) -> Iterator[int]:
    """Where the operands of what makes a buffer lie."""
    nodes = ranges.nodes
    for operand in nodes.operands(nodes.owner[ranges.values[buffers[number].values[0]].node])[:_MOST_NEAR]:
        for node in nodes.of(operand)[:1]:
            near = ranges.values[ranges.value_of[node]].buffer
            yield near if buffers[near].place < 0 else buffers[near].place


def _has_room(buffer: Buffer) -> bool:
    """Whether it is the program's to write: a result, or an argument that is given up for one."""
    return buffer.bytes > 0 and (buffer.kind == "result" or len(buffer.spans) > 1)


def _is_free(ranges: LiveRanges, busy: list[tuple[int, int, int]], stay: tuple[int, int, int]) -> bool:
    """Whether nothing else is alive there meanwhile; what ends where another begins that may lie there is no other."""
    begins, ends, row = stay
    after = bisect_left(busy, (begins, -1, -1))
    if after and busy[after - 1][1] >= begins:
        before = busy[after - 1]
        if before[1] > begins or not _takes_over(ranges, before[2], row):
            return False
    for other_begins, other_ends, other in busy[after:]:
        if other_begins > ends:
            break
        touches = other_begins == ends and _takes_over(ranges, row, other)
        if not touches and not (other_ends == begins and _takes_over(ranges, other, row)):
            return False
    return True


def _takes_over(ranges: LiveRanges, ending: int, beginning: int) -> bool:
    """Whether what makes a value may put it where one of its operands lies."""
    nodes, own = ranges.nodes, ranges.values[beginning].node
    maker = nodes.owner[own]
    return _may_share(nodes, maker) and any(
        ranges.value_of[node] == ending and can_share(nodes, own, number, node)
        for number, operand in enumerate(nodes.operands(maker))
        for node in nodes.of(operand)
    )
