"""The place of every value in memory: from XLA's buffer assignment, or modelled.

The model: every buffer has a piece of memory for itself; but a result lies where an operand of its shape does that
nothing needs afterwards. Not its job: reading XLA's assignment (`parse.buffers`), or live ranges
(`analyze.memory.live_ranges`).

*Source*: XLA's `HloDataflowAnalysis::CanShareOperandBufferWithUser`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pjit_inspect.analyze.memory.arrays import Arrays
from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment, ValueKey
from pjit_inspect.model.program.shape import Shape

_ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert", "cbrt", "ceil", "clamp",
    "compare", "complex", "convert", "copy", "cosine", "cosh", "count-leading-zeros", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum",
    "multiply", "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "rsqrt", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
    "sine", "sinh", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "xor",
))  # fmt: skip
_OVERWRITING = _ELEMENTWISE - {"copy"} | {"fusion", "sort"}
"""Opcodes that may write their result over an operand."""


class Place(NamedTuple):
    """Where a value lies.

    Attributes:
      piece: the number of a piece of memory.
      offset: the first byte in it.
      bytes: the size of the value, padding of tiles included.
      lies_in: "argument" or "result" if XLA has the piece for one; "" for others, and in the model.
    """

    piece: int
    offset: int
    bytes: int
    lies_in: str = ""


# ------------------------------------------------------------ counted


def counted_places(ranges: LiveRanges, assignment: BufferAssignment) -> list[Place] | None:
    """The place of each value as XLA says; None where its account lacks a value: then it is of another program."""
    said: dict[ValueKey, Place] = {}
    for one in assignment.allocations:
        lies_in = "argument" if one.parameter is not None else "result" if one.is_live_out else ""
        for value in one.values:
            said[value.instruction, value.index] = Place(one.number, value.offset, value.bytes, lies_in)
    found = [said.get(key) for key in value_keys(ranges)]
    for number, rows in enumerate(ranges.buffers):
        # A value that XLA does not name lies with another one of its buffer.
        known = next((place for row in rows if (place := found[row]) is not None), None)
        if known is None:
            if any(_shape(ranges, row).bytes for row in rows):
                return None
            known = Place(-1 - number, 0, 0)
        for row in rows:
            found[row] = found[row] or known
    return found  # pyright: ignore[reportReturnType]


def value_keys(ranges: LiveRanges) -> list[ValueKey]:
    """XLA's key of each value: the instruction that makes it, and the path in its result."""
    arrays = ranges.arrays
    makers = [arrays.owner[value.node] for value in ranges.values]
    numbers = [value.node - arrays.first[maker] for value, maker in zip(ranges.values, makers, strict=True)]
    shapes = [_paths(arrays.module.instruction(maker).shape) for maker in makers]
    names = arrays.module.reader.names(makers)
    return [(name, paths[number]) for name, paths, number in zip(names, shapes, numbers, strict=True)]


@cache
def _paths(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """The paths to the leaves of a shape, in order."""
    inner = [(number, *path) for number, element in enumerate(shape.elements) for path in _paths(element)]
    return tuple(inner) if shape.is_tuple else ((),)


def _shape(ranges: LiveRanges, row: int) -> Shape:
    return ranges.arrays.shape(ranges.values[row].node)


# ------------------------------------------------------------ modelled


def modelled_places(ranges: LiveRanges) -> tuple[list[Place], int]:
    """The place of each value in the model, and how many values have no known size."""
    sizes = [_shape(ranges, row).padded_bytes for row in range(len(ranges.values))]
    buffer_of = {row: number for number, rows in enumerate(ranges.buffers) for row in rows}
    pieces = list(range(len(ranges.buffers)))
    for row, freed in _taken_over(ranges):
        pieces[buffer_of[row]] = pieces[buffer_of[freed]]
    largest = [max(sizes[row] or 0 for row in rows) for rows in ranges.buffers]
    places = [Place(pieces[buffer_of[row]], 0, largest[buffer_of[row]]) for row in range(len(ranges.values))]
    return places, sizes.count(None)


def _taken_over(ranges: LiveRanges) -> Iterator[tuple[int, int]]:
    """Values that lie where an operand did, each with that operand's value: rows."""
    arrays, values, taken = ranges.arrays, ranges.values, set[int]()
    # What shares its buffer with other values already, or reaches the instruction under another name, is left alone.
    alone = {values[rows[0]].node: ranges.kind(rows) for rows in ranges.buffers if len(rows) == 1}
    for row, value in enumerate(values):
        maker = arrays.owner[value.node]
        if alone.get(value.node) not in ("temporary", "result") or arrays.opcode_of(maker) not in _OVERWRITING:
            continue
        for number, operand in enumerate(arrays.operands(maker)):
            node = arrays.first[operand]
            if alone.get(node) != "temporary" or node in taken:
                continue
            freed = ranges.value_of[node]
            ends_here = values[freed].begins < value.begins == values[freed].ends
            if ends_here and can_share(arrays, value.node, number):
                taken.add(node)
                yield row, freed
                break


def can_share(arrays: Arrays, own: int, number: int) -> bool:
    """Whether XLA lets a result overwrite operand `number`, which is not used afterwards."""
    maker = arrays.owner[own]
    operand = arrays.nodes(arrays.operands(maker)[number])
    if len(operand) != 1 or arrays.shape(own) != arrays.shape(operand[0]):
        return False
    opcode, called = arrays.opcode_of(maker), arrays.called(maker)
    if opcode == "sort":
        return own - arrays.first[maker] == number
    if opcode != "fusion":
        return opcode in _ELEMENTWISE
    is_loop = arrays.module.reader.kernel(maker)[0] in ("kLoop", "kInput")
    return is_loop and len(called) == 1 and _is_elementwise(arrays, called[0], number)


def _is_elementwise(arrays: Arrays, computation: int, number: int) -> bool:
    """Whether every use of a fusion's parameter, and of values made from it, is elementwise."""
    users, border = arrays.module.users, arrays.parameters(computation)[number : number + 1]
    seen = set(border)
    while border:
        index = border.pop()
        for user in users[index].tolist():
            opcode = arrays.opcode_of(user)
            is_updated = opcode == "dynamic-update-slice" and arrays.operands(user)[0] == index
            if not is_updated and opcode not in _ELEMENTWISE and opcode != "tuple":
                return False
            if user not in seen:
                seen.add(user)
                border.append(user)
    return bool(seen)
