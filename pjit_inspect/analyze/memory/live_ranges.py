"""Live ranges in the schedule of every array of a program, and the arrays that share a buffer.

A *value* is an array from the instruction that makes it to its last use, through all instructions that only pass it on.
A *buffer* is shared by values that overwrite one another: a loop's carry, operations in place. Not its job: the places
of buffers in memory (`analyze.memory.occupancy`).

*Source*: XLA's `HloDataflowAnalysis` (what only passes arrays on), `GetInPlaceInputOutputPairs`, `HloAliasAnalysis`
and `HloLiveRange`, which its buffer assignment follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.loops import Running, details_of, find_running, number_of
from pjit_inspect.analyze.program.union_find import UnionFind
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.shape import Shape

_SAME = operations("barrier", "rename") | {"async-update"}
_STARTS_WITH_OPERANDS = frozenset(("all-gather-start", "collective-permute-start", "async-start", "send"))
"""Opcodes whose result begins with their operands."""
_UPDATES = operations("write")
_IN_PLACE = _UPDATES | {"set-dimension-size", "all-reduce-start"}
"""Opcodes that write their results over their first operands."""
_ALIASED_PARTS = ("operand_index", "operand_shape_index", "output_shape_index")
_ALIASED = re.compile(rf"({'|'.join(_ALIASED_PARTS)}): (\d+)")
_ALIASING = b"\xd2\x04"
"""First bytes of the field `output_operand_aliasing` (74): few instructions have it, and decoding is slow."""
_MOST_STEPS = 50
BufferKind = Literal["argument", "result", "constant", "temporary"]
"""The role of a value or a buffer for the caller of the program."""
_KINDS: tuple[BufferKind, ...] = get_args(BufferKind)
_FORWARDING = frozenset(("tuple", "get-tuple-element", "call"))
"""Opcodes that do not read the values they pass on."""
_MOST_SWEEPS = 30
"""Nested loops need one sweep more than they are deep; only a program that no compiler made needs more than this."""

_Pairs = Iterator[tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class Value:
    """One array and its live range.

    Attributes:
      node: the node that makes it.
      kind: what it is to the caller.
      begins, ends: positions in the schedule, the last one included.
      last_user: the instruction that takes it last; -1 for none.
      is_returned: whether the program returns it.
    """

    node: int
    kind: BufferKind
    begins: int
    ends: int
    last_user: int = -1
    is_returned: bool = False


class LiveRanges(Flow):
    """All values of a program with a schedule.

    Attributes:
      running: its running computations.
      time: running instruction -> its place in the schedule, loops' bodies before their loops.
      end: the last place in the schedule.
      given: the nodes of the program's arguments.
      values: the values, in the order of the schedule.
      value_of: node -> the row of its value.
      buffers: for each buffer the rows of its values, in the order of the first.
    """

    def __init__(self, module: HloModule) -> None:
        super().__init__(module, within=False)
        self.running: Running = find_running(module)
        self.time: dict[int, int] = {index: place for place, index in enumerate(self.running.order)}
        self.end: int = len(self.running.order) - 1
        self.given: frozenset[int] = frozenset(self.arguments)
        self.values: list[Value] = []
        self.value_of: dict[int, int] = {}
        choices = self._find_values()
        self._use()
        self.buffers: list[list[int]] = self._find_buffers(choices)

    def called(self, index: int) -> list[int]:
        """The computations that an instruction calls."""
        return self.module.instructions.called[index].tolist()

    def root(self, computation: int) -> int:
        """The instruction whose value a computation returns."""
        return int(self.module.computations.root[computation])

    def entering(self, index: int) -> list[int]:
        """The nodes of all operands of an instruction, in order."""
        return [node for operand in self.operands(index) for node in self.nodes(operand)]

    def shape_of(self, row: int) -> Shape:
        """The shape of a value."""
        return self.shape(self.values[row].node)

    def kind(self, rows: Iterable[int]) -> BufferKind:
        """The kind of a buffer of these values: that of its argument, if it has one, and so on."""
        kinds = {self.values[row].kind for row in rows}
        return next(kind for kind in _KINDS if kind in kinds)

    def _find_values(self) -> list[int]:
        """Finds the values, still without uses; the nodes that several values may reach."""
        same, choices = UnionFind(len(self.before)), list[int]()
        for index in self.running.order:
            for node in self.nodes(index):
                if len(sources := self.before[node]) == 1:
                    same.join(node, sources[0])
                elif sources:
                    choices.append(node)
            for own, operand in _passed_pairs(self, index):
                same.join(own, operand)
        # A loop hands on one value where each turn leaves it as it was; so does a branch if all ways leave it.
        for _ in range(_MOST_SWEEPS):
            left = [node for node in choices if not same.join_only(node, self.before[node])]
            if len(left) == len(choices):
                break
            choices = left
        rows: dict[int, int] = {}
        for time, index in enumerate(self.running.order):
            other = "constant" if self.opcode_of(index) == "constant" else "temporary"
            for node in self.nodes(index):
                group = same.find(node)
                if group not in rows:
                    rows[group] = len(self.values)
                    kind = "argument" if node in self.given else other
                    self.values.append(Value(node=node, kind=kind, begins=time, ends=time))
                self.value_of[node] = rows[group]
        return choices

    def _use(self) -> None:
        """Extends every value to its last use."""
        for time, index in enumerate(self.running.order):
            opcode = self.opcode_of(index)
            if opcode == "while":
                # A loop owns its inputs from the first evaluation of its condition: it overwrites them.
                inside = (self.time[one] for called in self.called(index) for one in self.parameters(called))
                time = min(inside, default=time)
            for node in () if opcode in _FORWARDING else self.entering(index):
                value = self.values[self.value_of[node]]
                if time >= value.ends:
                    value.ends, value.last_user = time, index
        for computation in self.running.computations:
            caller = self.running.callers.get(computation, -1)
            is_condition = caller >= 0 and self.opcode_of(caller) == "while" and self.called(caller)[0] != computation
            last = max(self.time[index] for index in self.module.computation(computation).range)
            # What a computation returns is alive behind it. A condition passes its inputs on to the loop's body.
            kept = [self.root(computation), *(self.parameters(computation) if is_condition else ())]
            for node in (node for index in kept for node in self.nodes(index)):
                value = self.values[self.value_of[node]]
                value.ends = max(value.ends, last + (caller >= 0))
                if caller < 0:
                    value.is_returned = True
                    value.kind = "result" if value.kind == "temporary" else value.kind

    def _find_buffers(self, choices: Iterable[int]) -> list[list[int]]:
        """Values that overwrite one another, together: those that reach one node, and those of work in place."""
        together, rows = UnionFind(len(self.values)), dict[int, list[int]]()
        pairs = [(node, source) for node in choices for source in self.before[node]]
        pairs += [pair for index in self.running.order for pair in _in_place_pairs(self, index)]
        for own, other in (*pairs, *_donated(self)):
            together.join(self.value_of[own], self.value_of[other])
        for row in range(len(self.values)):
            rows.setdefault(together.find(row), []).append(row)
        return list(rows.values())


# ------------------------------------------------------------ one array under two names, or two in one place


def _donated(ranges: LiveRanges) -> _Pairs:
    """Results in the buffers of donated arguments: (result, argument)."""
    parameters, results = ranges.parameters(ranges.module.entry), ranges.results
    for alias in ranges.module.aliases:
        place, number = (*alias.output, 0)[0], (*alias.parameter_index, 0)[0]
        if alias.parameter < len(parameters) and place < len(results) and len(alias.output) <= 1:
            source = ranges.nodes(parameters[alias.parameter])
            if number < len(source):
                yield results[place], source[number]


def _passed_pairs(ranges: LiveRanges, index: int) -> _Pairs:
    """Nodes that are the same array as an operand's node: (own, operand's). Excludes what `Flow` follows."""
    opcode, own = ranges.opcode_of(index), ranges.nodes(index)
    is_start = opcode in _STARTS_WITH_OPERANDS and ranges.is_tuple(index)
    if is_start or opcode in _SAME:
        yield from zip(own, ranges.entering(index), strict=False)
    elif opcode == "copy-start":
        yield from zip(own[1:], ranges.entering(index)[:1], strict=False)
    elif opcode.endswith("-done"):
        for start in ranges.operands(index)[:1]:
            given = list(ranges.nodes(start))
            if ranges.opcode_of(start) in (*_STARTS_WITH_OPERANDS, "async-update") and ranges.is_tuple(start):
                # Its operands are element 0.
                given = [node for node, element in zip(given, ranges.elements(start), strict=True) if element]
            yield from zip(own, given, strict=False)


def _in_place_pairs(ranges: LiveRanges, index: int) -> _Pairs:
    """Nodes that are written in an operand's memory: (own, operand's)."""
    opcode, own = ranges.opcode_of(index), ranges.nodes(index)
    if opcode in _IN_PLACE:
        yield from zip(own, ranges.entering(index), strict=False)
    elif opcode in ("fusion", "custom-call"):
        yield from _declared(ranges, index, own)
        if opcode == "fusion":
            yield from _updated(ranges, index, own)


def _declared(ranges: LiveRanges, index: int, own: range) -> _Pairs:
    """In-place pairs declared by the program (`output_operand_aliasing`)."""
    if _ALIASING not in ranges.module.reader.raw(index):
        return
    operands = ranges.operands(index)
    for entry in details_of(ranges.module, index).other.get("output_operand_aliasing", ()):
        said = dict(_ALIASED.findall(entry))
        operand, element, target = (int(said.get(name, 0)) for name in _ALIASED_PARTS)
        source = ranges.nodes(operands[operand]) if operand < len(operands) else range(0)
        if element < len(source) and target < len(own):
            yield own[target], source[element]


def _updated(ranges: LiveRanges, index: int, own: range) -> _Pairs:
    """In-place pairs of a fusion that ends in updating a part of an operand: the part is written in the operand."""
    called, operands = ranges.called(index), ranges.operands(index)
    if len(called) != 1:
        return
    root = ranges.root(called[0])
    ends = ranges.operands(root) if ranges.opcode_of(root) == "tuple" else [root]
    for target, end in zip(own, ends, strict=False):
        update = _behind_bitcasts(ranges, end)
        if ranges.opcode_of(update) not in _UPDATES:
            continue
        whole = _behind_bitcasts(ranges, ranges.operands(update)[0])
        number = number_of(ranges.module, whole)
        if ranges.opcode_of(whole) == "parameter" and number < len(operands):
            source = ranges.nodes(operands[number])
            if len(source) == 1:
                yield target, source[0]


def _behind_bitcasts(ranges: LiveRanges, index: int) -> int:
    for _ in range(_MOST_STEPS):
        if ranges.opcode_of(index) != "bitcast" or not ranges.operands(index):
            break
        index = ranges.operands(index)[0]
    return index
