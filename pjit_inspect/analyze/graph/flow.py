"""A small program as a flow from its arguments to its results, for a picture without boxes.

Kernels, the values they take, and the sources of results are the graph's. Not its job: the graph
(`analyze.graph.build`), large programs, which are drawn as rows of boxes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.program.custom_calls import workspace_of
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.opcodes import SUMS, operations
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import FlowNode, ProgramFlow, ProgramGraph
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding

_MOST = 40
_MOST_DIFFERENTIATED = 24
_COPIES = operations("view")


def find_flow(
    graph: ProgramGraph,
    module: HloModule,
    collectives: Sequence[Collective] = (),
    shardings: ShardingTable | None = None,
) -> ProgramFlow | None:
    """The flow of a program of at most some 40 kernels; None of a larger one, and of one that does nothing."""
    kernels, reads = len(graph.kernels), graph.reads
    if not 0 < kernels <= (_MOST_DIFFERENTIATED if graph.is_differentiated else _MOST):
        return None
    columns = (reads.source, reads.argument, reads.target, reads.carried)
    pairs = [
        ((source, argument), target)
        for source, argument, target, carried in zip(*(column.tolist() for column in columns), strict=True)
        if (not carried and source < target if source >= 0 else argument >= 0)
    ]
    arguments = sorted({argument for _, argument in [*(source for source, _ in pairs), *graph.results]} - {-1})
    if len(arguments) + len(graph.results) > 2 * _MOST:
        return None
    # Rows are arguments, kernels, results.
    row = {(-1, argument): number for number, argument in enumerate(arguments)}
    row |= {(kernel, -1): len(arguments) + kernel for kernel in range(kernels)}
    edges = [(row[source], row[target, -1]) for source, target in pairs]
    ends = [(row[source], len(row) + number) for number, source in enumerate(graph.results) if source in row]
    values = _Values(graph, module, collectives, shardings)
    nodes = [FlowNode(kind="argument", number=number) for number in arguments]
    nodes += [values.node(kernel) for kernel in range(kernels)]
    nodes += [FlowNode(kind="result", number=number) for number in range(len(graph.results))]
    opcodes = [graph.kernels.opcodes[opcode] for opcode in graph.kernels.opcode.tolist()]
    copies = {row[kernel, -1] for kernel, opcode in enumerate(opcodes) if opcode in _COPIES}
    return _without(copies, nodes, list(dict.fromkeys(edges + ends)))


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
        self._summed = {row.source[0].line for row in collectives if row.kind in SUMS and row.source}

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
