"""Explains why a temporary does not use the free memory of a donated argument, from XLA's buffer assignment.

Not its job: the places of values (`analyze.memory.counted`).

*Source*: XLA's `BufferAssignment::LiveRangeInterferes`: a result overwrites an operand only if the operand's last use
is as input of the same instruction; the last use of a value passed to a loop is the loop's result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pjit_inspect.analyze.memory.live_ranges import LiveRanges, Value
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
    own = [one for one in alive if one.kind == "temporary" and not one.lies_in and len(one.values) == 1]
    found = []
    for buffer in sorted(own, key=lambda one: -one.bytes):
        for argument in donated:
            why = _why(ranges, buffer, argument) if buffer.bytes == argument.bytes else ""
            if why:
                name, size, free = row_of(buffer).name, bytes_in_words(buffer.bytes), row_of(argument).name
                found.append(f"{name}, {size}, does not lie in the memory of the donated {free}: {why}")
                break
    return tuple(found[:_MOST])


def _why(ranges: LiveRanges, buffer: Buffer, argument: Buffer) -> str:
    """Why a temporary is not in the memory of a dead argument whose result is unwritten; "" if that does not apply."""
    value = ranges.values[buffer.values[0]]
    there = sorted((ranges.values[row] for row in argument.values), key=lambda one: one.begins)
    given, written = there[0], there[-1]
    is_freed = given is not written and written.is_returned and given.ends <= value.begins < written.begins
    if not is_freed or value.ends < written.begins:
        return ""
    if value.ends > written.begins:
        return "it is needed when the result is written there, and later"
    nodes, maker = ranges.nodes, ranges.nodes.owner[written.node]
    numbers = list(_numbers(ranges, maker, value))
    if nodes.opcode(maker) == "copy":
        return "XLA computes it apart and copies it there" if numbers else ""
    reads = "the result that is written there is computed from it" if numbers else ""
    could = any(can_share(nodes, written.node, number, value.node) for number in numbers)
    if not could or not _is_given_to_a_loop(ranges, value):
        return reads
    return (
        f"{reads}, and XLA writes no result over an operand that was given to a loop; give the loop only what it "
        "reads of it"
    )


def _numbers(ranges: LiveRanges, maker: int, value: Value) -> Iterator[int]:
    """The numbers of an instruction's operands that are a value."""
    nodes = ranges.nodes
    for number, operand in enumerate(nodes.operands(maker)):
        if any(ranges.values[ranges.value_of[node]] is value for node in nodes.of(operand)):
            yield number


def _is_given_to_a_loop(ranges: LiveRanges, value: Value) -> bool:
    nodes = ranges.nodes
    loops = (index for index in nodes.running.order if nodes.opcode(index) == "while")
    return any(ranges.values[ranges.value_of[node]] is value for index in loops for node in nodes.of(index))
