"""The arrays of a program with a schedule: when each is made, and which lie in an operand's memory.

Not its job: dataflow through tuples, loops and calls (`analyze.program.array_flow`), or live ranges
(`analyze.memory.live_ranges`).

*Source*: XLA's `HloDataflowAnalysis` (passing arrays on) and `GetInPlaceInputOutputPairs` (working in place).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.loops import Running, details_of, number_of
from pjit_inspect.model.program.hlo import HloModule

_SAME = frozenset(("bitcast", "opt-barrier", "optimization-barrier", "domain", "add-dependency", "async-update"))
_STARTS_WITH_OPERANDS = frozenset(("all-gather-start", "collective-permute-start", "async-start", "send"))
"""Opcodes whose result begins with their operands."""
_IN_PLACE = frozenset(("dynamic-update-slice", "set-dimension-size", "scatter", "all-reduce-start"))
"""Opcodes that write their results over their first operands."""
_UPDATES = frozenset(("dynamic-update-slice", "scatter"))
_ALIASED = re.compile(r"(operand_index|operand_shape_index|output_shape_index): (\d+)")
_ALIASING = b"\xd2\x04"
"""First bytes of the field `output_operand_aliasing` (74): few instructions have it, and decoding is slow."""
_MOST_STEPS = 50

Pairs = Iterator[tuple[int, int]]


class Arrays(Flow):
    """The dataflow of a program with a schedule.

    Attributes:
      running: its running computations.
      time: running instruction -> its place in the schedule, loops' bodies before their loops.
      given: the nodes of the program's arguments.
    """

    def __init__(self, module: HloModule, running: Running) -> None:
        super().__init__(module, within=False)
        self.running: Running = running
        self.time: dict[int, int] = {index: place for place, index in enumerate(running.order)}
        self.given: frozenset[int] = frozenset(self.arguments)

    def called(self, index: int) -> list[int]:
        """The computations that an instruction calls."""
        return self.module.instructions.called[index].tolist()

    def root(self, computation: int) -> int:
        """The instruction whose value a computation returns."""
        return int(self.module.computations.root[computation])

    def entering(self, index: int) -> list[int]:
        """The nodes of all operands of an instruction, in order."""
        return [node for operand in self.operands(index) for node in self.nodes(operand)]


def passed_pairs(arrays: Arrays, index: int) -> Pairs:
    """Nodes that are the same array as an operand's node: (own, operand's). Excludes what `Flow` follows."""
    opcode, own = arrays.opcode_of(index), arrays.nodes(index)
    if opcode in _SAME or (opcode in _STARTS_WITH_OPERANDS and len(own) > len(arrays.entering(index))):
        yield from zip(own, arrays.entering(index), strict=False)
    elif opcode == "copy-start":
        yield from zip(own[1:], arrays.entering(index)[:1], strict=False)
    elif opcode.endswith("-done"):
        yield from zip(own, arrays.entering(index)[_taken(arrays, index) :], strict=False)


def _taken(arrays: Arrays, index: int) -> int:
    """How many operands the start of something asynchronous has in front of its results."""
    for _ in range(_MOST_STEPS):
        operands = arrays.operands(index)
        if not operands:
            break
        index = operands[0]
        if arrays.opcode_of(index) != "async-update":
            break
    return len(arrays.entering(index)) if arrays.opcode_of(index) in _STARTS_WITH_OPERANDS else 0


def in_place_pairs(arrays: Arrays, index: int) -> Pairs:
    """Nodes that are written in an operand's memory: (own, operand's)."""
    opcode, own = arrays.opcode_of(index), arrays.nodes(index)
    if opcode in _IN_PLACE:
        yield from zip(own, arrays.entering(index), strict=False)
    elif opcode in ("fusion", "custom-call"):
        yield from _declared(arrays, index, own)
        if opcode == "fusion":
            yield from _updated(arrays, index, own)


def _declared(arrays: Arrays, index: int, own: range) -> Pairs:
    """In-place pairs declared by the program (`output_operand_aliasing`)."""
    if _ALIASING not in arrays.module.reader.raw(index):
        return
    operands = arrays.operands(index)
    for entry in details_of(arrays.module, index).other.get("output_operand_aliasing", ()):
        said = {name: int(number) for name, number in _ALIASED.findall(entry)}
        operand, element, target = (
            said.get(f"{name}_index", 0) for name in ("operand", "operand_shape", "output_shape")
        )
        source = arrays.nodes(operands[operand]) if operand < len(operands) else range(0)
        if element < len(source) and target < len(own):
            yield own[target], source[element]


def _updated(arrays: Arrays, index: int, own: range) -> Pairs:
    """In-place pairs of a fusion that ends in updating a part of an operand: the part is written in the operand."""
    called, operands = arrays.called(index), arrays.operands(index)
    if len(called) != 1:
        return
    root = arrays.root(called[0])
    ends = arrays.operands(root) if arrays.opcode_of(root) == "tuple" else [root]
    for target, end in zip(own, ends, strict=False):
        update = _behind_bitcasts(arrays, end)
        if arrays.opcode_of(update) not in _UPDATES:
            continue
        whole = _behind_bitcasts(arrays, arrays.operands(update)[0])
        number = number_of(arrays.module, whole)
        if arrays.opcode_of(whole) == "parameter" and number < len(operands):
            source = arrays.nodes(operands[number])
            if len(source) == 1:
                yield target, source[0]


def _behind_bitcasts(arrays: Arrays, index: int) -> int:
    for _ in range(_MOST_STEPS):
        if arrays.opcode_of(index) != "bitcast" or not arrays.operands(index):
            break
        index = arrays.operands(index)[0]
    return index
