"""Live ranges in the schedule of every array of a program, and the arrays that share a buffer.

A *value* is an array from the instruction that makes it to its last use, through all instructions that only pass it on.
A *buffer* is shared by values that overwrite one another: a loop's carry, operations in place. Not its job: the places
of buffers in memory (`analyze.memory.places`).

*Source*: XLA's `HloDataflowAnalysis`, `HloAliasAnalysis` and `HloLiveRange`, which its buffer assignment follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from pjit_inspect.analyze.memory.arrays import Arrays, Pairs, in_place_pairs, passed_pairs

BufferKind = Literal["argument", "result", "constant", "temporary"]
"""What a value or a buffer is to the caller of the program."""
_KINDS: tuple[BufferKind, ...] = get_args(BufferKind)
_FORWARDING = frozenset(("tuple", "get-tuple-element", "call"))
"""Opcodes that do not read the values they pass on."""
_MOST_SWEEPS = 30
"""Nested loops need one sweep more than they are deep; only a program that no compiler made needs more than this."""


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
    pairs += [pair for index in arrays.running.order for pair in in_place_pairs(arrays, index)]
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
        for own, operand in passed_pairs(arrays, index):
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


def _donated(arrays: Arrays) -> Pairs:
    """Results in the buffers of donated arguments: (result, argument)."""
    parameters, results = arrays.parameters(arrays.module.entry), arrays.results
    for alias in arrays.module.aliases:
        place = alias.output[0] if alias.output else 0
        if alias.parameter < len(parameters) and place < len(results) and len(alias.output) <= 1:
            source = arrays.nodes(parameters[alias.parameter])
            number = alias.parameter_index[0] if alias.parameter_index else 0
            if number < len(source):
                yield results[place], source[number]
