"""A small program as a flow from its arguments to its results, for a picture without boxes.

Kernels and what they take are the graph's; what the results are made of is traced here, plumbing looked through. Not
its job: the graph (`analyze.graph.build`), large programs, which are drawn as rows of boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pjit_inspect.analyze.program.custom_calls import workspace_of
from pjit_inspect.analyze.program.loops import number_of
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.flow import FlowNode, ProgramFlow
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding

_MOST = 40
_MOST_DIFFERENTIATED = 24
_DEEPEST = 60
_COPIES = ("copy", "transpose", "reshape", "bitcast")
_SUMS = ("all-reduce", "reduce-scatter")
_Source = tuple[str, int]
"""A kernel's or an argument's number: ("kernel", 3), ("argument", 0)."""


def find_flow(
    graph: ProgramGraph,
    module: HloModule,
    collectives: Sequence[Collective] = (),
    shardings: ShardingTable | None = None,
) -> ProgramFlow | None:
    """The flow of a program of at most some 40 kernels; None of a larger one, and of one that does nothing."""
    kernels = len(graph.kernels)
    if not 0 < kernels <= (_MOST_DIFFERENTIATED if graph.is_differentiated else _MOST):
        return None
    reads = graph.reads
    pairs: list[tuple[_Source, int]] = []
    for target, source, argument, carried in zip(
        reads.target.tolist(), reads.source.tolist(), reads.argument.tolist(), reads.carried.tolist(), strict=True
    ):
        if source >= 0 and not carried and source < target:
            pairs.append((("kernel", source), target))
        elif source < 0 and argument >= 0:
            pairs.append((("argument", argument), target))
    results = _results(graph, module)
    taken = sorted(
        {one[1] for one, _ in pairs if one[0] == "argument"} | {n for kind, n in results if kind == "argument"}
    )
    if len(taken) + len(results) > 2 * _MOST:
        return None
    return _flow(graph, taken, pairs, results, _Values(graph, module, collectives, shardings))


def _flow(
    graph: ProgramGraph,
    taken: Sequence[int],
    pairs: Sequence[tuple[_Source, int]],
    results: Sequence[_Source],
    values: _Values,
) -> ProgramFlow:
    arguments = [FlowNode(kind="argument", number=number) for number in taken]
    kernels = [values.node(kernel) for kernel in range(len(graph.kernels))]
    ends = [FlowNode(kind="result", number=number) for number in range(len(results))]
    at = {("argument", number): row for row, number in enumerate(taken)}
    at |= {("kernel", kernel): len(arguments) + kernel for kernel in range(len(kernels))}
    first_end = len(arguments) + len(kernels)
    edges = [(at[source], len(arguments) + target) for source, target in pairs]
    edges += [(at[source], first_end + number) for number, source in enumerate(results) if source in at]
    copies = {
        at["kernel", kernel]
        for kernel in range(len(kernels))
        if graph.kernels.opcodes[graph.kernels.opcode[kernel]] in _COPIES
    }
    return _without(copies, (*arguments, *kernels, *ends), list(dict.fromkeys(edges)))


def _without(copies: set[int], given: Sequence[FlowNode], edges: list[tuple[int, int]]) -> ProgramFlow:
    """The flow without kernels that only change an array's layout: edges lead from their source to their users."""
    nodes: list[FlowNode | None] = list(given)
    for copy in sorted(copies):
        into = [source for source, target in edges if target == copy]
        out = [target for source, target in edges if source == copy]
        if len(into) != 1 or not out:
            continue
        nodes[copy] = None
        edges = [edge for edge in edges if copy not in edge] + [(into[0], target) for target in out]
    row = {old: new for new, old in enumerate(old for old, node in enumerate(nodes) if node is not None)}
    kept = tuple(dict.fromkeys((row[source], row[target]) for source, target in sorted(edges)))
    return ProgramFlow(nodes=tuple(node for node in nodes if node is not None), edges=kept, copies=nodes.count(None))


def _results(graph: ProgramGraph, module: HloModule) -> list[_Source]:
    """The source of each result of the program; ("", -1) if unknown."""
    root = module.computation(module.entry).root
    kernels = {int(row): kernel for kernel, row in enumerate(graph.kernels.instruction.tolist())}
    if root.shape.dtype != "tuple":
        return [_source(module, kernels, root, None, 0)]
    return [_source(module, kernels, root, element, 0) for element in range(len(root.shape.elements))]


def _source(
    module: HloModule, kernels: Mapping[int, int], one: Instruction, element: int | None, depth: int
) -> _Source:
    """The source of a value, or of element `element` of it; ("", -1) if unknown."""
    if one.index in kernels:
        return "kernel", kernels[one.index]
    operands, opcode = one.operands, one.opcode
    if depth > _DEEPEST:
        return "", -1
    if opcode == "parameter":
        return _of_parameter(module, kernels, one, element, depth)
    if opcode == "get-tuple-element" and operands:
        return _source(module, kernels, operands[0], number_of(module, one.index), depth + 1)
    if opcode == "tuple" and element is not None and element < len(operands):
        return _source(module, kernels, operands[element], None, depth + 1)
    if opcode == "while" and element is not None:
        bodies = [called.root for called in one.called if called.root.shape.dtype == "tuple"]
        return _source(module, kernels, bodies[0], element, depth + 1) if len(bodies) == 1 else ("", -1)
    # Copies, bitcasts and second halves pass on their first operand.
    return _source(module, kernels, operands[0], element, depth + 1) if len(operands) == 1 else ("", -1)


def _of_parameter(
    module: HloModule, kernels: Mapping[int, int], one: Instruction, element: int | None, depth: int
) -> _Source:
    """An argument of the program; in a loop, the source of the loop's input."""
    if one.computation.is_entry:
        return "argument", number_of(module, one.index)
    callers = one.computation.callers
    if len(callers) != 1 or callers[0].opcode != "while":
        return "", -1
    return _source(module, kernels, callers[0].operands[0], element, depth + 1)


class _Values:
    """Values that leave each kernel, with their shardings where those are certain."""

    def __init__(
        self,
        graph: ProgramGraph,
        module: HloModule,
        collectives: Sequence[Collective],
        shardings: ShardingTable | None,
    ) -> None:
        self._graph, self._module, self._collectives = graph, module, collectives
        self._known: dict[tuple[str, int], list[ValueSharding]] = {}
        for row in shardings or ():
            if row.op and row.source and not row.is_per_shard:
                self._known.setdefault((row.op_name, row.source[0].line), []).append(row)
        self._of_kernel = {kernel: row for row, kernel in enumerate(graph.collective_kernels) if kernel >= 0}
        # A partial result that is summed afterwards is not yet the value of its line.
        self._summed = {row.source[0].line for row in collectives if row.kind in _SUMS and row.source}

    def node(self, kernel: int) -> FlowNode:
        """The kernel, or the collective it is."""
        one = self._module.instruction(int(self._graph.kernels.instruction[kernel]))
        number = self._of_kernel.get(kernel, -1)
        shape = one.shape.elements[0] if workspace_of(one) and len(one.shape.elements) == 2 else one.shape
        array = "" if shape.dtype == "tuple" else f"{shape.dtype}[{','.join(map(str, shape.dimensions))}]"
        spec = self._spec(one, None if number < 0 else self._collectives[number].kind) if array else None
        kind = "kernel" if number < 0 else "collective"
        return FlowNode(kind=kind, number=kernel if number < 0 else number, kernel=kernel, array=array, spec=spec)

    def _spec(self, one: Instruction, collective: str | None) -> PartitionSpec | None:
        """The spec that all values of its name, line and shape before partitioning agree on."""
        line = one.frames[0].line if one.frames else None
        if line is None or (collective is None and line in self._summed) or collective not in (None, "all-reduce"):
            return None
        alike = [
            row
            for row in self._known.get((one.op_name, line), ())
            if row.local_shape == one.shape.dimensions and row.dtype == one.shape.dtype
        ]
        found = {row.spec for row in alike}
        return found.pop() if len(found) == 1 else None
