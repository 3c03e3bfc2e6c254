"""How the arrays that collectives move follow each other: what each is made of and goes to, with none between.

Not its job: which array of one program is which of another (`analyze.partition.join`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.program.array_flow import Flow

Sources = tuple[tuple[int, ...], ...]
_WORK = frozenset(("dot", "convolution", "reduce", "gather", "scatter", "custom-call", "sort", "select-and-scatter"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One array that a collective moves: the nodes it gives, and those it becomes."""

    given: Sequence[int]
    yielded: Sequence[int]


def given_to(flow: Flow, index: int) -> list[int]:
    """The nodes that an instruction takes, leaf by leaf."""
    return [node for operand in flow.operands(index) for node in flow.nodes(operand)]


def neighbours(flow: Flow, arrays: Sequence[Moved]) -> tuple[list[Sources], list[tuple[int, ...]]]:
    """For each array what it is made of, and the program's results it goes to, with none of the others between.

    What it is made of is told for each operand of the products and sums that lie closest before it: indices of arrays,
    and -1 - k for argument k of the program.
    """
    count = len(flow.arguments)
    marks = {node: number for number, node in enumerate(flow.arguments)}
    marks |= {node: count + number for number, array in enumerate(arrays) for node in array.yielded}
    bits = flow.nearest(marks)

    def made_of(node: int) -> tuple[int, ...]:
        return tuple(mark - count if mark >= count else ~mark for mark in _members(bits[node]))

    reaches: list[list[int]] = [[] for _ in arrays]
    for number, node in enumerate(flow.results):
        for source in made_of(node):
            if source >= 0:
                reaches[source].append(number)
    close = (_operands(flow, array.given, marks) for array in arrays)
    return [tuple(sorted({made_of(node) for node in own})) for own in close], list(map(tuple, reaches))


def _operands(flow: Flow, given: Sequence[int], marks: Mapping[int, int]) -> Iterator[int]:
    """The operands of the nearest products and sums before some nodes; what is marked is one itself."""
    seen, border = set(given), list(given)
    for node in border:
        if node in marks:
            yield node
        elif flow.opcode(node) in _WORK:
            yield from flow.before[node]
        else:
            more = [source for source in flow.before[node] if source not in seen]
            seen.update(more)
            border += more


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
