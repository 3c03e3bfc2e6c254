"""Finds the HLO instruction of each kernel of a CUDA graph.

XLA launches GPU kernels together as a graph, which it calls a command buffer; the profiler then often names the buffer
and the kernel's function, but no instruction. Two facts help; anything they do not settle is unknown:

- A function has the name of the instruction it was made for, and fusions that compute the same share one. A buffer is
  a stretch of one computation's schedule: its functions identify the computation. If a function ran there as many
  times as instructions of the computation can have run it, the first run belongs to the first one in the schedule.
- Nodes are numbered in schedule order. A library's call and an asynchronous copy are inner graphs, which take a number
  without an event; their nodes have the numbers after all others, in the same order. If the number of nodes between
  two known instructions equals the number of instructions between them, these are their owners. If there are fewer
  nodes than instructions, or more than possible, one of the two known owners is wrong, and the nodes that share its
  function get none.

Not its job: whether the counts agree with the program (`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pjit_inspect.analyze.measured.launches import KernelFunction, Launch, Launches, is_clearing, moves_bytes
from pjit_inspect.model.record.kernel_times import GraphNode

_SUM_OF_PARTS = re.compile(r"split_?k.*reduce", re.IGNORECASE)
"""The kernel of cuBLAS that adds up the partial sums of the previous one."""


def owners_of_nodes(
    nodes: Sequence[GraphNode], launches: Launches, known: Mapping[GraphNode, str], ran: Collection[str] = ()
) -> dict[GraphNode, str]:
    """The instruction of each node that has one.

    `nodes` are all nodes of one run, in order of their first run; `known` are the instructions named by events, `ran`
    the instructions that ran outside graphs.
    """
    of_graph: dict[int, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        of_graph[node.graph].append(node)
    home_of = {graph: _home(inside, launches, known) for graph, inside in of_graph.items()}
    owners = dict(known) | _by_function(nodes, launches, known, home_of, ran)
    stretches = {graph: _Stretch.of(inside, launches, home_of[graph]) for graph, inside in of_graph.items()}
    for node in _contradicted(stretches.values(), launches, owners) - known.keys():
        del owners[node]
    for graph, stretch in stretches.items():
        if stretch is not None:
            owners |= _by_place(stretch, launches, owners, _elsewhere(graph, owners, ran))
    return owners


def _elsewhere(graph: int, owners: Mapping[GraphNode, str], ran: Collection[str]) -> set[str]:
    """Instructions that ran outside a graph."""
    return {*ran, *(name for node, name in owners.items() if node.graph != graph)}


def _home(inside: Iterable[GraphNode], launches: Launches, known: Mapping[GraphNode, str]) -> int | None:
    """The only computation with instructions for all nodes of a graph; None if there is none, or several."""
    left: set[int] | None = None
    for node in inside:
        found: set[int] | None = None
        if node in known:
            found = {
                at for at, commands in launches.commands.items() if any(c.instruction == known[node] for c in commands)
            }
        elif (function := launches.function(node.kernel)) is not None:
            found = set(function.instructions)
        if found is not None:
            left = found if left is None else left & found
    return next(iter(left)) if left is not None and len(left) == 1 else None


def _by_function(
    nodes: Sequence[GraphNode],
    launches: Launches,
    known: Mapping[GraphNode, str],
    home_of: Mapping[int, int | None],
    ran: Collection[str],
) -> dict[GraphNode, str]:
    """Owners by the function that ran, where the functions of its computation leave no choice.

    What `ran` outside of graphs has run already, and has a function of another graph no more.
    """
    place_of = {graph: place for place, graph in enumerate(dict.fromkeys(node.graph for node in nodes))}
    function_of: dict[str, KernelFunction] = {}
    grouped: dict[tuple[int, str], list[GraphNode]] = defaultdict(list)
    made_for: dict[int, set[str]] = defaultdict(set)
    for node in nodes:
        home, function = home_of[node.graph], launches.function(node.kernel)
        if home is not None and function is not None and home in function.instructions:
            grouped[home, node.kernel].append(node)
            function_of[node.kernel] = function
            made_for[home] |= function.own
    owners: dict[GraphNode, str] = {}
    for (home, kernel), group in grouped.items():
        taken = {*ran, *(known[node] for node in group if node in known)}
        open_nodes = [node for node in group if node not in known]
        function = function_of[kernel]
        can_be = [name for name in function.instructions[home] if name not in taken]
        # The own ones first; and what has a function of its own that ran there has run no other.
        own = [name for name in can_be if name in function.own]
        others = [name for name in can_be if name in function.own or name not in made_for[home]]
        candidates = own if len(own) == len(open_nodes) else others
        if len(candidates) == len(open_nodes):
            ordered = sorted(open_nodes, key=lambda node: (place_of[node.graph], node.number))
            owners |= zip(ordered, candidates, strict=True)
    return owners


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """One graph, which is a stretch of the schedule of one computation.

    Attributes:
      home: the computation.
      nodes: its nodes, by number.
      numbers: the numbers of the nodes.
      commands: all commands of the computation.
      place_of: instruction -> its index among the commands.
    """

    home: int
    nodes: tuple[GraphNode, ...]
    numbers: tuple[int, ...]
    commands: tuple[Launch, ...]
    place_of: Mapping[str, int]

    @staticmethod
    def of(nodes: Iterable[GraphNode], launches: Launches, home: int | None) -> _Stretch | None:
        """The stretch of a graph; None if its computation is unknown."""
        if home is None:
            return None
        commands = launches.commands.get(home, ())
        place_of = {command.instruction: place for place, command in enumerate(commands)}
        by_number = tuple(sorted(nodes, key=lambda node: node.number))
        numbers = tuple(node.number for node in by_number)
        return _Stretch(home=home, nodes=by_number, numbers=numbers, commands=commands, place_of=place_of)

    def count_between(self, first: int, last: int) -> int:
        """The number of nodes with a number between these two."""
        return bisect_left(self.numbers, last) - bisect_right(self.numbers, first)

    def anchors(self, owners: Mapping[GraphNode, str]) -> list[tuple[GraphNode, int]]:
        """The nodes with known instructions, and the indices of these."""
        return [(node, self.place_of[owners[node]]) for node in self.nodes if owners.get(node) in self.place_of]


def _contradicted(
    stretches: Iterable[_Stretch | None], launches: Launches, owners: Mapping[GraphNode, str]
) -> set[GraphNode]:
    """The nodes that may be of another instruction which shares the function, as their places say."""
    found: set[GraphNode] = set()
    for stretch in stretches:
        while stretch is not None:
            anchors = [(node, place) for node, place in stretch.anchors(owners) if node not in found]
            doubtful = {
                node
                for pair in pairwise((None, *anchors))
                if not _is_possible(stretch, *pair)
                for node in (one[0] for one in pair if one)
                if _is_shared(node, stretch.home, launches)
            }
            if not doubtful:
                break
            found |= doubtful
    return found


def _is_possible(stretch: _Stretch, first: tuple[GraphNode, int] | None, second: tuple[GraphNode, int] | None) -> bool:
    """True if the schedule allows the nodes between two nodes, or before the first one."""
    if second is None or (first is not None and first[1] == second[1]):
        return True
    (number, place), (next_number, next_place) = _at(first) if first else (-1, -1), _at(second)
    if next_place < place:
        return False
    between = stretch.commands[place + 1 : next_place]
    steps = next_number - number - 1
    hidden = steps - stretch.count_between(number, next_number)
    least = sum(not one.may_be_nothing for one in between) if first else 0
    is_open = any(one.may_be_several and not one.is_one_graph for one in (*between, stretch.commands[next_place]))
    return (
        least <= steps
        and (is_open or steps <= len(between))
        and hidden <= sum(one.is_library or one.moves for one in between)
    )


def _at(anchor: tuple[GraphNode, int]) -> tuple[int, int]:
    return anchor[0].number, anchor[1]


def _is_shared(node: GraphNode, home: int, launches: Launches) -> bool:
    function = launches.function(node.kernel)
    return function is not None and len(function.instructions.get(home, ())) > 1


def _by_place(
    stretch: _Stretch, launches: Launches, owners: Mapping[GraphNode, str], elsewhere: Collection[str]
) -> dict[GraphNode, str]:
    """Owners of nodes between nodes with known instructions, if their number matches the schedule.

    Before the first node are instructions that ran `elsewhere`, or none.
    """
    commands, anchors = stretch.commands, [_at(anchor) for anchor in stretch.anchors(owners)]
    if not anchors or any(second < first for (_, first), (_, second) in pairwise(anchors)):
        return {}
    ran = (place for name, place in stretch.place_of.items() if name in elsewhere and place < anchors[0][1])
    before, (last, end) = max(ran, default=-1), anchors[-1]
    tail = _tail(stretch, last, end, elsewhere)
    # For other libraries the number of kernels per call is unknown.
    is_clear = tail is not None and not any(one.is_of_unknown_size for one in commands[before + 1 : end])
    last += len(tail or ())
    steps = _steps(stretch.nodes, last, is_complete=is_clear)
    found: dict[GraphNode, str] = {}
    for (number, place), (next_number, next_place) in pairwise(((-1, before), *anchors)):
        between = [steps.get(k, ()) for k in range(number + 1, next_number)]
        owned = _paired(between, commands[place + 1 : next_place], commands[next_place], launches)
        found |= {node: one.instruction for nodes, one in zip(between, owned, strict=False) for node in nodes}
    for number, one in enumerate(tail or (), last + 1 - len(tail or ())):
        if _agree(nodes := steps.get(number, ()), one, launches):
            found |= dict.fromkeys(nodes, one.instruction)
    within = {node for node in stretch.nodes if node.number > last}
    if any(one.is_attention for one in (*commands[before + 1 : end], *(tail or ()))) and not within <= found.keys():
        # Nobody knows how many kernels cuDNN takes: they are told from others where all are told.
        return {node: owner for node, owner in found.items() if node not in within}
    return found


def _tail(stretch: _Stretch, last: int, end: int, elsewhere: Collection[str]) -> Sequence[Launch] | None:
    """The commands after the last known one, if the graph ends with them; each is an inner graph.

    Their numbers precede that of the first node in an inner graph. None if the end of the graph is unclear.
    """
    behind = stretch.commands[end + 1 :]
    stop = next((place for place, one in enumerate(behind) if one.instruction in elsewhere), len(behind))
    first_within = next((number for number in stretch.numbers if number > last), last + 1)
    is_clear = not stop or (stop == first_within - last - 1 and all(one.is_one_graph for one in behind[:stop]))
    return behind[:stop] if is_clear else None


def _paired(
    between: Sequence[Sequence[GraphNode]], wanted: Sequence[Launch], following: Launch, launches: Launches
) -> Sequence[Launch]:
    """The command of each step between two known nodes; () if unclear.

    `following` is the command of the second node. Its preparations also precede that node.
    """
    if between and not wanted:
        is_of_following = all(nodes and _prepare(nodes, following) for nodes in between)
        return [following] * len(between) if is_of_following else ()
    # A command without nodes, and another with two, would also add up.
    may_be_several = any(
        one.is_of_unknown_size or any(nodes and _prepare(nodes, one) for nodes in between)
        for one in (*wanted, following)
    )
    if len(between) != len(wanted) or (may_be_several and any(one.may_be_nothing for one in wanted)):
        return ()
    return wanted if all(_agree(*pair, launches) for pair in zip(between, wanted, strict=True)) else ()


def _steps(nodes: Sequence[GraphNode], last: int, *, is_complete: bool) -> dict[int, tuple[GraphNode, ...]]:
    """The nodes of each number of the outer graph, with nodes of inner graphs if their owners are clear.

    `last` is the number of the last step whose instruction is known; `is_complete` says whether the outer graph ends
    there, by the schedule, and each inner graph is one copy, one product or one attention.
    """
    by_number = {node.number: node for node in nodes}
    steps = {number: (by_number[number],) for number in range(last + 1) if number in by_number}
    hidden = [number for number in range(last + 1) if number not in by_number]
    if not hidden or not is_complete:
        return steps
    calls: list[list[GraphNode]] = []
    is_begun = False
    for node in (node for node in nodes if node.number > last):
        goes_on = calls and (_SUM_OF_PARTS.search(node.kernel) or (_is_of_cudnn(node) and _is_of_cudnn(calls[-1][-1])))
        if is_begun or goes_on:
            calls[-1].append(node)
        else:
            calls.append([node])
        # A library clears its workspace, and then runs a kernel.
        is_begun = is_clearing(node.kernel)
    is_clear = not is_begun and len(calls) == len(hidden)
    return steps | {number: tuple(call) for number, call in zip(hidden, calls, strict=True)} if is_clear else steps


def _is_of_cudnn(node: GraphNode) -> bool:
    return "cudnn" in node.kernel.lower()


def _prepare(nodes: Iterable[GraphNode], command: Launch) -> bool:
    """True if nodes can be copies or clearings that come before the kernel of a command."""
    return all(
        command.clears_first if is_clearing(node.kernel) else command.copies_first and moves_bytes(node.kernel)
        for node in nodes
    )


def _only_moves(nodes: Iterable[GraphNode]) -> bool:
    return all(moves_bytes(node.kernel) for node in nodes)


def _agree(nodes: Sequence[GraphNode], command: Launch, launches: Launches) -> bool:
    """True if nodes can belong to a command: kernels of its library call, or a function that it can run.

    No nodes stand for an inner graph with unknown nodes.
    """
    if not nodes:
        return command.is_library or command.moves
    if _only_moves(nodes):
        return command.fills if any(is_clearing(node.kernel) for node in nodes) else command.moves
    functions = [launches.function(node.kernel) for node in nodes if not _only_moves([node])]
    if command.is_one_graph and any(map(_is_of_cudnn, nodes)) != command.is_attention:
        return False
    if command.is_library:
        return not any(functions)
    return len(nodes) == 1 and all(
        function is not None and any(command.instruction in names for names in function.instructions.values())
        for function in functions
    )
