"""Finds results that are operands in the same memory: instructions that pass arrays on, or work in place.

A *node* is one array: one leaf of the result of an instruction that runs by itself. Not its job: live ranges
(`analyze.memory.live_ranges`).

*Source*: XLA's `HloDataflowAnalysis` (passing values on) and `GetInPlaceInputOutputPairs` (working in place).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from pjit_inspect.analyze.program.loops import Running, details_of, number_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.shape import Shape

_SAME = frozenset(("bitcast", "opt-barrier", "optimization-barrier", "domain", "add-dependency"))
FORWARDING = frozenset(("tuple", "get-tuple-element", "call"))
"""Opcodes that do not read the values they pass on."""
_STARTS_WITH_OPERANDS = frozenset(("all-gather-start", "collective-permute-start", "async-start", "send"))
"""Opcodes whose result begins with their operands."""
_FIRST_IN_PLACE = frozenset(("dynamic-update-slice", "set-dimension-size"))
_ALIASED = re.compile(r"operand_index: (\d+)")
_FROM = re.compile(r"operand_shape_index: (\d+)")
_TO = re.compile(r"output_shape_index: (\d+)")
_ALIASING = b"\xd2\x04"
"""First bytes of the field `output_operand_aliasing` (74): few instructions have it, and decoding is slow."""
_MOST_STEPS = 50

_NONE = range(0)

Pairs = Iterator[tuple[int, int]]


class Nodes:
    """The arrays of all instructions that run by themselves.

    Attributes:
      module: the program.
      running: its running computations.
      time: running instruction -> its place in the schedule, loops' bodies before their loops.
      shapes: for each node its shape.
      owner: for each node its instruction.
    """

    def __init__(self, module: HloModule, running: Running) -> None:
        self.module: HloModule = module
        self.running: Running = running
        self.time: dict[int, int] = {index: place for place, index in enumerate(running.order)}
        self.shapes: list[Shape] = []
        self.owner: list[int] = []
        self._shape, self._opcode = module.instructions.shape.tolist(), module.instructions.opcode.tolist()
        self._operands = module.instructions.operands
        self._leaves: dict[int, tuple[Shape, ...]] = {}
        self._starts: dict[int, list[int]] = {}
        self._of: dict[int, range] = {}
        self._parameters: dict[int, list[int]] = {}
        for index in running.order:
            leaves = self._leaves_of(self._shape[index])
            self._of[index] = range(len(self.shapes), len(self.shapes) + len(leaves))
            self.shapes += leaves
            self.owner += [index] * len(leaves)

    def _leaves_of(self, shape: int) -> tuple[Shape, ...]:
        if shape not in self._leaves:
            self._leaves[shape] = self.module.reader.shape(shape).leaves
        return self._leaves[shape]

    def opcode(self, index: int) -> str:
        """The opcode of an instruction."""
        return self.module.opcodes[self._opcode[index]]

    def operands(self, index: int) -> list[int]:
        """The instructions that are the operands of one."""
        return self._operands[index].tolist()

    def called(self, index: int) -> list[int]:
        """The computations that an instruction calls."""
        return self.module.instructions.called[index].tolist()

    def root(self, computation: int) -> int:
        """The instruction whose value a computation returns."""
        return int(self.module.computations.root[computation])

    def of(self, index: int) -> range:
        """The nodes of an instruction; none for one that does not run by itself."""
        return self._of.get(index, _NONE)

    def entering(self, index: int) -> list[int]:
        """The nodes of all operands of an instruction, in order."""
        return [node for operand in self.operands(index) for node in self.of(operand)]

    def element(self, index: int) -> range:
        """The nodes that a get-tuple-element takes."""
        operand = self.operands(index)[:1]
        if not operand:
            return range(0)
        shape = self._shape[operand[0]]
        if shape not in self._starts:
            elements = self.module.reader.shape(shape).elements
            self._starts[shape] = [0, *accumulate(len(element.leaves) for element in elements)]
        starts, number, nodes = self._starts[shape], number_of(self.module, index), self.of(operand[0])
        return nodes[starts[number] : starts[number + 1]] if 0 <= number < len(starts) - 1 else range(0)

    def parameters(self, computation: int) -> list[int]:
        """The parameters of a computation, in order."""
        if computation not in self._parameters:
            within = self.module.computation(computation).range
            found = [index for index in within if self.opcode(index) == "parameter"]
            self._parameters[computation] = sorted(found, key=lambda index: number_of(self.module, index))
        return self._parameters[computation]


def passed_pairs(nodes: Nodes, index: int) -> Pairs:
    """Nodes that are the same array as an earlier node: (own, earlier). Excludes loops and branches."""
    opcode, own = nodes.opcode(index), nodes.of(index)
    if opcode == "get-tuple-element":
        yield from zip(own, nodes.element(index), strict=False)
    elif opcode == "tuple" or opcode in _SAME:
        yield from zip(own, nodes.entering(index), strict=False)
    elif opcode in _STARTS_WITH_OPERANDS:
        entering = nodes.entering(index)
        if len(own) > len(entering):
            yield from zip(own, entering, strict=False)
    elif opcode == "copy-start":
        yield from zip(own[1:], nodes.entering(index)[:1], strict=False)
    elif opcode == "async-update":
        yield from zip(own, nodes.entering(index), strict=False)
    elif opcode.endswith("-done"):
        yield from zip(own, _finished(nodes, index), strict=False)
    elif opcode == "call":
        yield from _called_pairs(nodes, index, own)


def _called_pairs(nodes: Nodes, index: int, own: range) -> Pairs:
    for called in nodes.called(index):
        yield from zip(own, nodes.of(nodes.root(called)), strict=False)
        for parameter, operand in zip(nodes.parameters(called), nodes.operands(index), strict=False):
            yield from zip(nodes.of(parameter), nodes.of(operand), strict=False)


def _finished(nodes: Nodes, index: int) -> range:
    """The nodes of the start that the second half of something asynchronous yields."""
    start = nodes.operands(index)[:1]
    for _ in range(_MOST_STEPS):
        if not start or nodes.opcode(start[0]) != "async-update":
            break
        start = nodes.operands(start[0])[:1]
    if not start:
        return range(0)
    opcode, results = nodes.opcode(start[0]), nodes.of(start[0])
    if opcode in ("copy-start", "all-reduce-start", "recv"):
        return results
    taken = len(nodes.entering(start[0]))
    return results[taken:] if opcode in _STARTS_WITH_OPERANDS else range(0)


def in_place_pairs(nodes: Nodes, index: int) -> Pairs:
    """Nodes that are written in an operand's memory: (own, operand's)."""
    opcode, own = nodes.opcode(index), nodes.of(index)
    if opcode in _FIRST_IN_PLACE:
        yield from zip(own, nodes.entering(index)[:1], strict=False)
    elif opcode == "scatter":
        yield from zip(own, nodes.entering(index)[: len(own)], strict=False)
    elif opcode == "all-reduce-start":
        entering = nodes.entering(index)
        if len(entering) == len(own):
            yield from zip(own, entering, strict=True)
    elif opcode in ("fusion", "custom-call"):
        yield from _declared(nodes, index, own)
        if opcode == "fusion":
            yield from _updated(nodes, index, own)


def _declared(nodes: Nodes, index: int, own: range) -> Pairs:
    """In-place pairs declared by the program (`output_operand_aliasing`)."""
    if _ALIASING not in nodes.module.reader.raw(index):
        return
    for entry in details_of(nodes.module, index).other.get("output_operand_aliasing", ()):
        operand, element, target = (_number(form, entry) for form in (_ALIASED, _FROM, _TO))
        operands = nodes.operands(index)
        if operand < len(operands):
            source = nodes.of(operands[operand])
            if element < len(source) and target < len(own):
                yield own[target], source[element]


def _number(form: re.Pattern[str], text: str) -> int:
    found = form.search(text)
    return 0 if found is None else int(found[1])


def _updated(nodes: Nodes, index: int, own: range) -> Pairs:
    """In-place pairs of a fusion that ends in updating a part of an operand: the part is written in the operand."""
    module, called = nodes.module, nodes.called(index)
    if len(called) != 1:
        return
    root = nodes.root(called[0])
    ends = nodes.operands(root) if nodes.opcode(root) == "tuple" else [root]
    operands = nodes.operands(index)
    for target, end in zip(own, ends, strict=False):
        parameter = _updated_parameter(nodes, end)
        if parameter is not None and (number := number_of(module, parameter)) < len(operands):
            source = nodes.of(operands[number])
            if len(source) == 1:
                yield target, source[0]


def _updated_parameter(nodes: Nodes, index: int) -> int | None:
    """The parameter of a fusion that an instruction within it updates in part; None if there is none."""
    index = _behind_bitcasts(nodes, index)
    if nodes.opcode(index) not in ("dynamic-update-slice", "scatter"):
        return None
    index = _behind_bitcasts(nodes, nodes.operands(index)[0])
    return index if nodes.opcode(index) == "parameter" else None


def _behind_bitcasts(nodes: Nodes, index: int) -> int:
    for _ in range(_MOST_STEPS):
        if nodes.opcode(index) != "bitcast" or not nodes.operands(index):
            break
        index = nodes.operands(index)[0]
    return index
