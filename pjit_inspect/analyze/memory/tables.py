"""Tables of pointers: one for each result of several arrays, as XLA has them.

A loop has one, from what enters it to what leaves it; so has a conditional for what its branches return. The program's
own results have theirs elsewhere. Not its job: where they lie (`analyze.memory.occupancy`).

*Source*: the values of tuple shape in the buffer assignments of CPU programs; XLA's `HloAliasAnalysis`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.memory.groups import Groups
from pjit_inspect.analyze.memory.passing import Nodes

__all__ = ["find_tables"]

_FROM_OUTSIDE = frozenset(("parameter", "get-tuple-element"))
_SAME = frozenset(("opt-barrier", "optimization-barrier", "domain"))


def find_tables(nodes: Nodes) -> list[int]:
    """The number of pointers in each table among the temporaries."""
    own = [index for index in nodes.time if nodes.opcode(index) not in _FROM_OUTSIDE and nodes.width(index)]
    groups = Groups(len(nodes.module))
    for index in own:
        for one, other in _shared(nodes, index):
            groups.join(one, other)
    returned = groups.find(nodes.root(nodes.module.entry))
    found = {groups.find(index): nodes.width(index) for index in own}
    return [width for group, width in found.items() if group != returned]


def _shared(nodes: Nodes, index: int) -> Iterator[tuple[int, int]]:
    """Instructions that have one table: what an instruction hands on, and what it is given."""
    opcode, operands, called = nodes.opcode(index), nodes.operands(index), nodes.called(index)
    if opcode in _SAME:
        yield from ((index, operand) for operand in operands[:1])
    elif opcode == "while":
        yield from ((index, operand) for operand in operands[:1])
        yield from ((index, nodes.root(body)) for body in called[:1])
    elif opcode in ("call", "conditional"):
        for number, computation in enumerate(called):
            yield index, nodes.root(computation)
            given = operands if opcode == "call" else operands[number + 1 :]
            yield from zip(nodes.parameters(computation), given, strict=False)
