"""Live ranges in the schedule of every array of a program, and the arrays that share a buffer.

A *value* is an array from the instruction that makes it to its last use, through all instructions that only pass it on.
A *buffer* is shared by values that overwrite one another: a loop's carry, operations in place. Not its job: classifying
buffers, and adding up bytes (`analyze.memory.occupancy`).

*Source*: XLA's `HloDataflowAnalysis`, `HloAliasAnalysis` and `HloLiveRange`, which its buffer assignment follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pjit_inspect.analyze.memory.groups import Groups
from pjit_inspect.analyze.memory.passing import FORWARDING, Nodes, in_place_pairs, passed_pairs


@dataclass(slots=True, kw_only=True)
class Value:
    """One array and its live range.

    Attributes:
      node: the node that makes it.
      begins, ends: positions in the schedule, the last one included.
      buffer: the number of its buffer.
      last_user: the instruction that takes it last; -1 for none.
      is_returned: whether the program returns it.
    """

    node: int
    begins: int
    ends: int
    buffer: int = -1
    last_user: int = -1
    is_returned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiveRanges:
    """All values of a program.

    Attributes:
      nodes: the arrays.
      values: the values, in the order of the schedule.
      value_of: for each node the row of its value.
      buffers: for each buffer its values.
      end: the last place in the schedule.
    """

    nodes: Nodes
    values: list[Value]
    value_of: list[int]
    buffers: list[list[int]]
    end: int


def find_live_ranges(nodes: Nodes) -> LiveRanges:
    """The values of a scheduled program, from where to where each is alive, and their buffers."""
    same = Groups(len(nodes.owner))
    for index in nodes.running.order:
        for own, earlier in passed_pairs(nodes, index):
            same.join(own, earlier)
    carried = _join_loops(nodes, same)
    values, value_of = _values(nodes, same)
    _use(nodes, values, value_of)
    buffers = _buffers(nodes, values, value_of, carried)
    return LiveRanges(nodes=nodes, values=values, value_of=value_of, buffers=buffers, end=len(nodes.running.order) - 1)


def _join_loops(nodes: Nodes, same: Groups) -> list[tuple[int, int]]:
    """Joins values that a loop never changes, inside and outside; pairs the changed ones, and branches, by buffer."""
    carried: list[tuple[int, int]] = []
    # Inner loops precede outer ones: the values they leave unchanged are then known.
    for index in nodes.running.order:
        opcode = nodes.opcode(index)
        if opcode == "while":
            carried += _join_loop(nodes, same, index)
        elif opcode == "conditional":
            for number, called in enumerate(nodes.called(index)):
                carried += zip(nodes.of(index), nodes.of(nodes.root(called)), strict=False)
                for parameter in nodes.parameters(called):
                    for own, given in zip(nodes.of(parameter), _given(nodes, index, number), strict=False):
                        same.join(own, given)
    return carried


def _given(nodes: Nodes, index: int, number: int) -> range:
    operands = nodes.operands(index)
    return nodes.of(operands[number + 1]) if number + 1 < len(operands) else range(0)


def _join_loop(nodes: Nodes, same: Groups, index: int) -> list[tuple[int, int]]:
    carried: list[tuple[int, int]] = []
    entered = [nodes.of(parameter) for called in nodes.called(index) for parameter in nodes.parameters(called)]
    returned = nodes.of(nodes.root(nodes.called(index)[0])) if nodes.called(index) else range(0)
    for place, (own, start) in enumerate(zip(nodes.of(index), nodes.entering(index), strict=False)):
        inside = [parameter[place] for parameter in entered if place < len(parameter)]
        back = returned[place] if place < len(returned) else own
        is_kept = bool(inside) and same.find(back) == same.find(inside[0])
        for node in inside:
            (same.join(node, start) if is_kept else carried.append((node, start)))
        if is_kept:
            same.join(own, start)
        else:
            carried += [(own, start), (back, start)]
    return carried


def _values(nodes: Nodes, same: Groups) -> tuple[list[Value], list[int]]:
    values: list[Value] = []
    row_of: dict[int, int] = {}
    value_of: list[int] = []
    for node, owner in enumerate(nodes.owner):
        group, time = same.find(node), nodes.time[owner]
        if group not in row_of:
            row_of[group] = len(values)
            values.append(Value(node=node, begins=time, ends=time))
        row = row_of[group]
        value_of.append(row)
        if time < values[row].begins:
            values[row].begins, values[row].node = time, node
    return values, value_of


def _use(nodes: Nodes, values: list[Value], value_of: list[int]) -> None:
    """Extend every value to its last use."""
    for index in nodes.running.order:
        opcode = nodes.opcode(index)
        if opcode in FORWARDING:
            continue
        # A loop owns its inputs from the first evaluation of its condition: it overwrites them.
        inside = (
            [one for called in nodes.called(index) for one in nodes.parameters(called)] if opcode == "while" else []
        )
        time = min((nodes.time[one] for one in inside), default=nodes.time[index])
        for node in nodes.entering(index):
            value = values[value_of[node]]
            if time >= value.ends:
                value.ends, value.last_user = time, index
    for computation in nodes.running.computations:
        caller = nodes.running.callers.get(computation)
        is_condition = caller is not None and nodes.opcode(caller) == "while" and nodes.called(caller)[0] != computation
        # A condition passes its inputs on to the loop's body.
        end = _end(nodes, computation)
        kept = [nodes.root(computation), *(nodes.parameters(computation) if is_condition else ())]
        for node in (node for index in kept for node in nodes.of(index)):
            value = values[value_of[node]]
            value.ends = max(value.ends, end)
            value.is_returned |= caller is None


def _end(nodes: Nodes, computation: int) -> int:
    """The place behind the last instruction of a computation; of the program, that instruction's."""
    last = max(nodes.time[index] for index in nodes.module.computation(computation).range)
    return last if computation == nodes.module.entry else last + 1


def _buffers(
    nodes: Nodes, values: list[Value], value_of: list[int], carried: Iterable[tuple[int, int]]
) -> list[list[int]]:
    together = Groups(len(values))
    for one, other in carried:
        together.join(value_of[one], value_of[other])
    for index in nodes.running.order:
        for own, written in in_place_pairs(nodes, index):
            together.join(value_of[own], value_of[written])
    _join_aliases(nodes, value_of, together)
    buffers: list[list[int]] = []
    number_of: dict[int, int] = {}
    for row, value in enumerate(values):
        group = together.find(row)
        if group not in number_of:
            number_of[group] = len(buffers)
            buffers.append([])
        value.buffer = number_of[group]
        buffers[value.buffer].append(row)
    return buffers


def _join_aliases(nodes: Nodes, value_of: list[int], together: Groups) -> None:
    """Results in the buffers of donated arguments."""
    module = nodes.module
    parameters, root = nodes.parameters(module.entry), nodes.of(nodes.root(module.entry))
    for alias in module.aliases:
        place = alias.output[0] if alias.output else 0
        if alias.parameter < len(parameters) and place < len(root) and len(alias.output) <= 1:
            source = nodes.of(parameters[alias.parameter])
            number = alias.parameter_index[0] if alias.parameter_index else 0
            if number < len(source):
                together.join(value_of[root[place]], value_of[source[number]])
