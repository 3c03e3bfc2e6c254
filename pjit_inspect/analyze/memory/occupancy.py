"""The bytes alive at every position of the schedule: arguments, results, and the rest.

Without XLA's buffer assignment this is a model: a result reuses the memory of an operand of its shape that nothing else
needs; nothing else shares memory. Not its job: live ranges (`analyze.memory.live_ranges`), or XLA's assignment
(`analyze.memory.counted`).

*Source*: XLA's `HloDataflowAnalysis::CanShareOperandBufferWithUser`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.memory.live_ranges import LiveRanges, Value
from pjit_inspect.analyze.memory.passing import Nodes
from pjit_inspect.model.memory.memory_use import MemorySource
from pjit_inspect.model.program.shape import Shape

_ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil", "clamp",
    "compare", "complex", "convert", "copy", "cosine", "cosh", "count-leading-zeros", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
    "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip


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
    kind: str
    space: int
    spans: list[tuple[int, int]]
    lies_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Occupancy:
    """The buffers of a program and their live ranges.

    Attributes:
      ranges: the values.
      buffers: the buffers, by number. Two buffers alive at one position share no memory.
      unknown: number of buffers of unknown size.
      source: "counted" if XLA gives the place and size of each.
    """

    ranges: LiveRanges
    buffers: list[Buffer]
    unknown: int
    source: MemorySource = "modelled"

    def place_by_caller(self) -> None:
        """Places arguments and results in the caller's memory: CPU instructions do not show that it is host memory."""
        nodes = self.ranges.nodes
        entry, shapes = nodes.module.entry, nodes.module.reader.entry_shapes()
        arguments, result = shapes or ((), Shape(dtype="tuple"))
        ends = [*zip(nodes.parameters(entry), arguments, strict=False), (nodes.root(entry), result)]
        for index, shape in ends:
            for node, leaf in zip(nodes.of(index), shape.leaves, strict=False):
                if leaf.layout is not None and leaf.layout.memory_space:
                    self.buffers[self.ranges.values[self.ranges.value_of[node]].buffer].space = leaf.layout.memory_space

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


def find_occupancy(ranges: LiveRanges) -> Occupancy:
    """All buffers with their sizes, the padding of tiles included."""
    sizes: dict[Shape, int | None] = {}
    buffers, unknown = [], 0
    for rows in ranges.buffers:
        shapes = [ranges.nodes.shapes[ranges.values[row].node] for row in rows]
        for shape in shapes:
            if shape not in sizes:
                sizes[shape] = shape.padded_bytes
            unknown += sizes[shape] is None
        kind, last = kind_of_values(ranges, rows), shapes[-1].layout
        buffers.append(
            Buffer(
                values=rows,
                bytes=max((sizes[shape] or 0 for shape in shapes), default=0),
                kind=kind,
                space=last.memory_space if last else 0,
                spans=merged_spans(ranges, rows, kind),
            )
        )
    _end_where_taken_over(ranges, buffers)
    return Occupancy(ranges=ranges, buffers=buffers, unknown=unknown)


def kind_of_values(ranges: LiveRanges, rows: Iterable[int]) -> str:
    """The kind of a buffer of these values."""
    kinds = {_kind(ranges, ranges.values[row]) for row in rows}
    return next(kind for kind in ("argument", "result", "constant", "temporary") if kind in kinds)


def _kind(ranges: LiveRanges, value: Value) -> str:
    nodes = ranges.nodes
    maker = nodes.owner[value.node]
    opcode = nodes.opcode(maker)
    if opcode == "parameter" and int(nodes.module.instructions.computation[maker]) == nodes.module.entry:
        return "argument"
    if opcode == "constant":
        return "constant"
    return "result" if value.is_returned else "temporary"


def merged_spans(ranges: LiveRanges, rows: list[int], kind: str) -> list[tuple[int, int]]:
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


# ------------------------------------------------------------ operands that end where a result begins


def _end_where_taken_over(ranges: LiveRanges, buffers: list[Buffer]) -> None:
    """Ends the life of an operand just before its last use if the result may take its place."""
    nodes, taken = ranges.nodes, set[int]()
    for value in ranges.values:
        maker, own = nodes.owner[value.node], buffers[value.buffer]
        if len(own.values) > 1 or own.kind not in ("temporary", "result") or not _may_share(nodes, maker):
            continue
        for number, operand in enumerate(nodes.operands(maker)):
            freed = _freed(ranges, buffers, operand, value)
            if freed is not None and freed.buffer not in taken and can_share(nodes, value.node, number, freed.node):
                taken.add(freed.buffer)
                before = buffers[freed.buffer]
                before.spans = [(freed.begins, freed.ends - 1)]
                break


def _freed(ranges: LiveRanges, buffers: list[Buffer], operand: int, value: Value) -> Value | None:
    """The value of an operand that ends with the instruction that takes it, and which that instruction may reuse."""
    for node in ranges.nodes.of(operand):
        freed = ranges.values[ranges.value_of[node]]
        buffer = buffers[freed.buffer]
        is_alone = buffer.kind == "temporary" and len(buffer.values) == 1 and freed.node == node
        if is_alone and freed.ends == value.begins > freed.begins:
            return freed
    return None


def _may_share(nodes: Nodes, maker: int) -> bool:
    """Whether an instruction ever writes its result over an operand. (A copy never does.)"""
    opcode = nodes.opcode(maker)
    return opcode in ("fusion", "sort") or (opcode in _ELEMENTWISE and opcode != "copy")


def can_share(nodes: Nodes, own: int, number: int, taken: int) -> bool:
    """Whether XLA lets a result overwrite operand `number`, which is not used afterwards."""
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
    """Whether every use of a fusion's parameter, and of values made from it, is elementwise."""
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
