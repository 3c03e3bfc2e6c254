"""Explains why a temporary does not use the free memory of a donated argument, from XLA's buffer assignment.

Not its job: the places of values (`analyze.memory.occupancy`).

*Source*: XLA's `BufferAssignment::LiveRangeInterferes`: a result overwrites an operand only if the operand's last use
is as input of the same instruction; the last use of a value passed to a loop is the loop's result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy, can_share
from pjit_inspect.model.memory.memory_use import LiveValue
from pjit_inspect.model.words.byte_words import bytes_in_words

_MOST, _LEAST = 3, 100
"""At most `_MOST` are reported, each of at least a hundredth of the live bytes."""


def find_beside(
    occupancy: Occupancy, alive: Sequence[Buffer], row_of: Callable[[Buffer], LiveValue]
) -> tuple[str, ...]:
    """A sentence for each of the largest; () without XLA's buffer assignment.

    Args:
      occupancy: all buffers.
      alive: the buffers alive at the peak.
      row_of: describes a buffer.
    """
    if occupancy.source != "counted":
        return ()
    ranges, least = occupancy.ranges, sum(one.bytes for one in alive) // _LEAST
    donated = [one for one in occupancy.buffers if one.kind == "argument" and one.bytes > least]
    found = []
    for buffer in sorted((one for one in alive if one.is_apart and len(one.values) == 1), key=lambda one: -one.bytes):
        for argument in donated:
            why = _why(ranges, buffer, argument) if buffer.bytes == argument.bytes else ""
            if why:
                name, size, free = row_of(buffer).name, bytes_in_words(buffer.bytes), row_of(argument).name
                found.append(f"{name}, {size}, does not lie in the memory of the donated {free}: {why}")
                break
    return tuple(found[:_MOST])


def _why(ranges: LiveRanges, buffer: Buffer, argument: Buffer) -> str:
    """Why a temporary is not in the memory of a dead argument whose result is unwritten; "" if that does not apply."""
    arrays, row = ranges.arrays, buffer.values[0]
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

    maker = arrays.owner[written.node]
    numbers = [number for number, one in enumerate(arrays.operands(maker)) if is_value(arrays.nodes(one))]
    if not numbers:
        return ""
    if arrays.opcode_of(maker) == "copy":
        return "XLA computes it apart and copies it there"
    reads = "the result that is written there is computed from it"
    could = any(can_share(arrays, written.node, number) for number in numbers)
    loops = (index for index in arrays.running.order if arrays.opcode_of(index) == "while")
    if not could or not any(is_value(arrays.nodes(index)) for index in loops):
        return reads
    return (
        f"{reads}, and XLA writes no result over an operand that was given to a loop; give the loop only what it "
        "reads of it"
    )
