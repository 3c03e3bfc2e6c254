"""Which HLO instruction each kernel of a CUDA graph belongs to.

XLA launches kernels of a GPU together as a graph, which it calls a command buffer; the profiler often names the buffer
then, and the kernel's function, and no instruction. Two things tell more; what they do not settle stays unknown:

- a function bears the name of the instruction that it was made for, and fusions that compute the same share one. A
  buffer is a stretch of one computation's schedule, so that its functions tell the computation; where as many
  instructions of that can have run a function as it ran there, the first run of it is of the first in the schedule;
- nodes are numbered in the order of the schedule. A library's call and an asynchronous copy are graphs of their own
  within, which take a number that no event has; what is in them has the numbers after all others, in the same order.
  Between two nodes whose instructions are known, as many others are the instructions between.

Not its job: whether the counts agree with the program (`analyze.report.kernel_times`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from pjit_inspect.analyze.report.launches import Command, KernelFunction, Launches
from pjit_inspect.model.record.profile import GraphNode

__all__ = ["owners_of_nodes"]

_MOVES_BYTES = ("memcpy", "memset")
"""How the names begin of what only moves bytes, in lower case: XLA's own kernels and those of CUDA."""


def owners_of_nodes(
    nodes: Sequence[GraphNode], launches: Launches, known: Mapping[GraphNode, str], ran: Collection[str] = ()
) -> dict[GraphNode, str]:
    """The instruction of each node that has one.

    `nodes` are all of one run, in the order in which they first ran; `known` are the instructions that events named,
    `ran` those that ran outside of graphs.
    """
    of_graph: dict[int, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        of_graph[node.graph].append(node)
    home_of = {graph: _home(inside, launches, known) for graph, inside in of_graph.items()}
    owners = dict(known) | _by_function(nodes, launches.functions, known, home_of)
    for graph, inside in of_graph.items():
        home = home_of[graph]
        if home is not None:
            elsewhere = {*ran, *(name for node, name in owners.items() if node.graph != graph)}
            owners |= _by_place(inside, launches, home, owners, elsewhere)
    return owners


def _home(inside: Iterable[GraphNode], launches: Launches, known: Mapping[GraphNode, str]) -> int | None:
    """The one computation that has instructions for all nodes of a graph; None where there is none, or several."""
    left: set[int] | None = None
    for node in inside:
        found: set[int] | None = None
        if node in known:
            found = {
                at for at, commands in launches.commands.items() if any(c.instruction == known[node] for c in commands)
            }
        elif node.kernel in launches.functions:
            found = set(launches.functions[node.kernel].instructions)
        if found is not None:
            left = found if left is None else left & found
    return next(iter(left)) if left is not None and len(left) == 1 else None


def _by_function(
    nodes: Sequence[GraphNode],
    functions: Mapping[str, KernelFunction],
    known: Mapping[GraphNode, str],
    home_of: Mapping[int, int | None],
) -> dict[GraphNode, str]:
    """Owners by the function that ran, where the functions of its computation leave no choice."""
    graphs = list(dict.fromkeys(node.graph for node in nodes))
    grouped: dict[tuple[int, str], list[GraphNode]] = defaultdict(list)
    for node in nodes:
        home = home_of[node.graph]
        if home is not None and home in getattr(functions.get(node.kernel), "instructions", {}):
            grouped[home, node.kernel].append(node)
    owners: dict[GraphNode, str] = {}
    for (home, kernel), group in grouped.items():
        taken = {known[node] for node in group if node in known}
        open_nodes = [node for node in group if node not in known]
        seen = {name for at, name in grouped if at == home}
        own = [name for name in functions[kernel].instructions[home] if name in functions[kernel].own - taken]
        candidates = own if len(own) == len(open_nodes) else _candidates(kernel, home, functions, seen, taken)
        if len(candidates) == len(open_nodes):
            ordered = sorted(open_nodes, key=lambda node: (graphs.index(node.graph), node.number))
            owners |= zip(ordered, candidates, strict=True)
    return owners


def _candidates(
    kernel: str,
    home: int,
    functions: Mapping[str, KernelFunction],
    seen: Collection[str],
    taken: Collection[str],
) -> list[str]:
    """The instructions of a computation that can have run a function; not those whose own one ran there."""
    others = [functions[name].own for name in seen if name != kernel]
    return [
        name
        for name in functions[kernel].instructions[home]
        if name not in taken and (name in functions[kernel].own or not any(name in own for own in others))
    ]


def _by_place(
    inside: Sequence[GraphNode],
    launches: Launches,
    home: int,
    owners: Mapping[GraphNode, str],
    elsewhere: Collection[str],
) -> dict[GraphNode, str]:
    """Owners of what lies between nodes whose instructions are known, in numbers as in the schedule.

    Before the first node is what ran `elsewhere`, or nothing.
    """
    commands = launches.commands.get(home, ())
    place_of = {command.instruction: place for place, command in enumerate(commands)}
    anchors = sorted((node.number, place_of[owners[node]]) for node in inside if owners.get(node) in place_of)
    if not anchors or any(second <= first for (_, first), (_, second) in pairwise(anchors)):
        return {}
    before = max((place for name, place in place_of.items() if name in elsewhere and place < anchors[0][1]), default=-1)
    following = commands[anchors[-1][1] + 1 :][:1]
    is_last = all(command.instruction in elsewhere for command in following)
    steps = _steps(inside, anchors[-1][0], is_complete=is_last)
    found: dict[GraphNode, str] = {}
    for (number, place), (next_number, next_place) in pairwise(((-1, before), *anchors)):
        between = [steps.get(k, ()) for k in range(number + 1, next_number)]
        wanted = commands[place + 1 : next_place]
        if len(between) == len(wanted) and all(_agree(*pair, launches) for pair in zip(between, wanted, strict=True)):
            found |= {
                node: command.instruction for nodes, command in zip(between, wanted, strict=True) for node in nodes
            }
    return found


def _steps(inside: Sequence[GraphNode], last: int, *, is_complete: bool) -> dict[int, tuple[GraphNode, ...]]:
    """The nodes of each number of the outer graph; with those of graphs within, where it is clear which are whose.

    `last` is the number of the last node whose instruction is known; `is_complete` is whether the outer graph ends
    there, by the schedule.
    """
    by_number = {node.number: node for node in inside}
    steps = {number: (by_number[number],) for number in range(last + 1) if number in by_number}
    hidden = [number for number in range(last + 1) if number not in by_number]
    if not hidden or not is_complete:
        return steps
    calls: list[list[GraphNode]] = [[]]
    for number in sorted(number for number in by_number if number > last):
        calls[-1].append(by_number[number])
        # A library clears its workspace, and then runs a kernel.
        if not by_number[number].kernel.lower().startswith("memset"):
            calls.append([])
    is_clear = not calls.pop() and len(calls) == len(hidden)
    return steps | {number: tuple(call) for number, call in zip(hidden, calls, strict=True)} if is_clear else steps


def _agree(nodes: Sequence[GraphNode], command: Command, launches: Launches) -> bool:
    """Whether nodes can be of a command: a library's kernels of its call, a function of whose it can be."""
    kernels = [node.kernel for node in nodes if not node.kernel.lower().startswith(_MOVES_BYTES)]
    if not nodes or not kernels:
        return not (nodes and command.is_library)
    functions = [launches.functions.get(kernel) for kernel in kernels]
    if command.is_library:
        return not any(functions)
    return all(
        function is not None and any(command.instruction in names for names in function.instructions.values())
        for function in functions
    )
