"""Live ranges in the schedule of every array of a program, and the arrays that share a buffer.

A *value* is an array from the instruction that makes it to its last use, through all instructions that only pass it on.
A *buffer* is shared by values that overwrite one another: a loop's carry, operations in place. Not its job: the places
of buffers in memory (`analyze.memory.places`).

*Source*: XLA's `HloDataflowAnalysis` (what only passes arrays on), `GetInPlaceInputOutputPairs`, `HloAliasAnalysis`
and `HloLiveRange`, which its buffer assignment follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.loops import Running, details_of, number_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.shape import Shape

_SAME = frozenset(("bitcast", "opt-barrier", "optimization-barrier", "domain", "add-dependency", "async-update"))
_STARTS_WITH_OPERANDS = frozenset(("all-gather-start", "collective-permute-start", "async-start", "send"))
"""Opcodes whose result begins with their operands."""
_IN_PLACE = frozenset(("dynamic-update-slice", "set-dimension-size", "scatter", "all-reduce-start"))
"""Opcodes that write their results over their first operands."""
_UPDATES = frozenset(("dynamic-update-slice", "scatter"))
_ALIASED_PARTS = ("operand_index", "operand_shape_index", "output_shape_index")
_ALIASED = re.compile(rf"({'|'.join(_ALIASED_PARTS)}): (\d+)")
_ALIASING = b"\xd2\x04"
"""First bytes of the field `output_operand_aliasing` (74): few instructions have it, and decoding is slow."""
_MOST_STEPS = 50
BufferKind = Literal["argument", "result", "constant", "temporary"]
"""What a value or a buffer is to the caller of the program."""
_KINDS: tuple[BufferKind, ...] = get_args(BufferKind)
_FORWARDING = frozenset(("tuple", "get-tuple-element", "call"))
"""Opcodes that do not read the values they pass on."""
_MOST_SWEEPS = 30
"""Nested loops need one sweep more than they are deep; only a program that no compiler made needs more than this."""

_Pairs = Iterator[tuple[int, int]]


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


@dataclass(slots=True, kw_only=True)
class Value:
    """One array and its live range.

    Attributes:
      node: the node that makes it.
      kind: its kind.
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiveRanges:
    """All values of a program.

    Attributes:
      arrays: the arrays.
      values: the values, in the order of the schedule.
      value_of: node -> the row of its value.
      buffers: for each buffer the rows of its values.
      end: the last place in the schedule.
    """

    arrays: Arrays
    values: list[Value]
    value_of: dict[int, int]
    buffers: list[list[int]]
    end: int

    def shape(self, row: int) -> Shape:
        """The shape of a value."""
        return self.arrays.shape(self.values[row].node)

    def kind(self, rows: Iterable[int]) -> BufferKind:
        """The kind of a buffer of these values: that of its argument, if it has one, and so on."""
        kinds = {self.values[row].kind for row in rows}
        return next(kind for kind in _KINDS if kind in kinds)


class _Groups:
    """Sets of equal numbers, merged step by step (union-find); the number of most use represents a set."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, item: int) -> int:
        """The representative of a number's set."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Makes two sets one."""
        self._parent[self.find(one)] = self.find(other)


def find_live_ranges(arrays: Arrays) -> LiveRanges:
    """The values of a scheduled program, from where to where each is alive, and their buffers."""
    values, value_of, choices = _find_values(arrays)
    _use(arrays, values, value_of)
    buffers = _Groups(len(values))
    pairs = [(node, source) for node in choices for source in arrays.before[node]]
    pairs += [pair for index in arrays.running.order for pair in _in_place_pairs(arrays, index)]
    for own, other in (*pairs, *_donated(arrays)):
        buffers.join(value_of[own], value_of[other])
    rows: dict[int, list[int]] = {}
    for row in range(len(values)):
        rows.setdefault(buffers.find(row), []).append(row)
    end = len(arrays.running.order) - 1
    return LiveRanges(arrays=arrays, values=values, value_of=value_of, buffers=list(rows.values()), end=end)


def _find_values(arrays: Arrays) -> tuple[list[Value], dict[int, int], list[int]]:
    """The values, still without uses, the value of each node, and the nodes that several values may reach."""
    same, choices = _Groups(len(arrays.before)), list[int]()
    for index in arrays.running.order:
        for node in arrays.nodes(index):
            if len(sources := arrays.before[node]) == 1:
                same.join(node, sources[0])
            elif sources:
                choices.append(node)
        for own, operand in _passed_pairs(arrays, index):
            same.join(own, operand)
    # A loop hands on one value where each turn leaves it as it was; so does a branch that all ways leave as it was.
    for _ in range(_MOST_SWEEPS):
        left = [node for node in choices if not _join_only_source(arrays, same, node)]
        if len(left) == len(choices):
            break
        choices = left
    values, value_of, rows = list[Value](), dict[int, int](), dict[int, int]()
    for time, index in enumerate(arrays.running.order):
        for node in arrays.nodes(index):
            group = same.find(node)
            if group not in rows:
                rows[group] = len(values)
                other = "constant" if arrays.opcode_of(index) == "constant" else "temporary"
                kind = "argument" if node in arrays.given else other
                values.append(Value(node=node, kind=kind, begins=time, ends=time))
            value_of[node] = rows[group]
    return values, value_of, choices


def _join_only_source(arrays: Arrays, same: _Groups, node: int) -> bool:
    """Joins a node with the one value that it can be besides itself; False if there are several."""
    found = {same.find(source) for source in arrays.before[node]} - {same.find(node)}
    if len(found) > 1:
        return False
    for source in found:
        same.join(node, source)
    return True


def _use(arrays: Arrays, values: list[Value], value_of: dict[int, int]) -> None:
    """Extends every value to its last use."""
    running = arrays.running
    for index in running.order:
        opcode, time = arrays.opcode_of(index), arrays.time[index]
        if opcode in _FORWARDING:
            continue
        if opcode == "while":
            # A loop owns its inputs from the first evaluation of its condition: it overwrites them.
            inside = (arrays.time[one] for called in arrays.called(index) for one in arrays.parameters(called))
            time = min(inside, default=time)
        for node in arrays.entering(index):
            value = values[value_of[node]]
            if time >= value.ends:
                value.ends, value.last_user = time, index
    for computation in running.computations:
        caller = running.callers.get(computation)
        is_condition = (
            caller is not None and arrays.opcode_of(caller) == "while" and arrays.called(caller)[0] != computation
        )
        last = max(arrays.time[index] for index in arrays.module.computation(computation).range)
        # What a computation returns is alive behind it. A condition passes its inputs on to the loop's body.
        kept = [arrays.root(computation), *(arrays.parameters(computation) if is_condition else ())]
        for node in (node for index in kept for node in arrays.nodes(index)):
            value = values[value_of[node]]
            value.ends = max(value.ends, last + (caller is not None))
            if caller is None:
                value.is_returned = True
                value.kind = "result" if value.kind == "temporary" else value.kind


def _donated(arrays: Arrays) -> _Pairs:
    """Results in the buffers of donated arguments: (result, argument)."""
    parameters, results = arrays.parameters(arrays.module.entry), arrays.results
    for alias in arrays.module.aliases:
        place = alias.output[0] if alias.output else 0
        if alias.parameter < len(parameters) and place < len(results) and len(alias.output) <= 1:
            source = arrays.nodes(parameters[alias.parameter])
            number = alias.parameter_index[0] if alias.parameter_index else 0
            if number < len(source):
                yield results[place], source[number]


# ------------------------------------------------------------ one array under two names, or two in one place


def _passed_pairs(arrays: Arrays, index: int) -> _Pairs:
    """Nodes that are the same array as an operand's node: (own, operand's). Excludes what `Flow` follows."""
    opcode, own = arrays.opcode_of(index), arrays.nodes(index)
    is_start = opcode in _STARTS_WITH_OPERANDS and arrays.is_tuple(index)
    if is_start or opcode in _SAME:
        yield from zip(own, arrays.entering(index), strict=False)
    elif opcode == "copy-start":
        yield from zip(own[1:], arrays.entering(index)[:1], strict=False)
    elif opcode.endswith("-done"):
        start, given = arrays.operands(index)[0], list(arrays.entering(index))
        if arrays.opcode_of(start) in (*_STARTS_WITH_OPERANDS, "async-update") and arrays.is_tuple(start):
            # Its operands are element 0.
            given = [node for node, element in zip(given, arrays.elements(start), strict=False) if element]
        yield from zip(own, given, strict=False)


def _in_place_pairs(arrays: Arrays, index: int) -> _Pairs:
    """Nodes that are written in an operand's memory: (own, operand's)."""
    opcode, own = arrays.opcode_of(index), arrays.nodes(index)
    if opcode in _IN_PLACE:
        yield from zip(own, arrays.entering(index), strict=False)
    elif opcode in ("fusion", "custom-call"):
        yield from _declared(arrays, index, own)
        if opcode == "fusion":
            yield from _updated(arrays, index, own)


def _declared(arrays: Arrays, index: int, own: range) -> _Pairs:
    """In-place pairs declared by the program (`output_operand_aliasing`)."""
    if _ALIASING not in arrays.module.reader.raw(index):
        return
    operands = arrays.operands(index)
    for entry in details_of(arrays.module, index).other.get("output_operand_aliasing", ()):
        said = dict(_ALIASED.findall(entry))
        operand, element, target = (int(said.get(name, 0)) for name in _ALIASED_PARTS)
        source = arrays.nodes(operands[operand]) if operand < len(operands) else range(0)
        if element < len(source) and target < len(own):
            yield own[target], source[element]


def _updated(arrays: Arrays, index: int, own: range) -> _Pairs:
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
