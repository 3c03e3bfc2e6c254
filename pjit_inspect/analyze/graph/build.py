"""A program as the inspector's graph and schedule strip: every step from instructions to rows, boxes and arrows.

The strip shows what the matrix cannot: weights gathered long before their layer, or what a collective overlaps with.
Its places count kernels, not time.

Not its job: the steps before the strip, in this order: `kernels`, `sites`, `scopes`, `placing`, `arguments`,
`functions`, `arrays`, `work`, `tree`, `fold`, `matrix`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pjit_inspect.analyze.graph.arguments import has_scopes, place_by_arguments
from pjit_inspect.analyze.graph.arrays import Inputs, find_homes, place_combined, place_updates
from pjit_inspect.analyze.graph.fold import Folding, KernelFacts, find_deviations, fold_rows
from pjit_inspect.analyze.graph.functions import refine_by_functions
from pjit_inspect.analyze.graph.kernels import KernelList, find_kernels
from pjit_inspect.analyze.graph.matrix import Matrix, build_matrix, find_arrows, find_mixes
from pjit_inspect.analyze.graph.parts import GraphParts
from pjit_inspect.analyze.graph.placing import Placing, place_kernels
from pjit_inspect.analyze.graph.scopes import Scopes, read_names
from pjit_inspect.analyze.graph.sites import CollectiveSites, find_collective_kernels
from pjit_inspect.analyze.graph.tree import Rows, build_rows
from pjit_inspect.analyze.graph.work import Work, count_work
from pjit_inspect.analyze.program.loops import count_runs, number_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import GraphRow, LaneEvent, ProgramGraph, ScheduleStrip
from pjit_inspect.model.report.graph_columns import GraphKernels, GraphReads, ScheduleRuns


def find_graph(module: HloModule, collectives: CollectiveTable) -> ProgramGraph:
    """The graph of an optimized program.

    Args:
      module: the program.
      collectives: all of its collectives (`find_collectives`).
    """
    parts, is_scoped = _parts(module, collectives)
    matrix = build_matrix(parts)
    mixes = find_mixes(parts.placing, parts.rows)
    numbers = _argument_numbers(module)
    return ProgramGraph(
        phases=tuple(sorted({box.phase for box in matrix.boxes})),
        is_differentiated=parts.placing.is_differentiated,
        has_scopes=is_scoped,
        rows=_rows(parts.rows, parts.folding),
        boxes=matrix.boxes,
        kernels=_kernels(parts, matrix, mixes.kernel),
        box_kernels=matrix.kernels,
        reads=_reads(parts.kernels, numbers),
        arguments=_argument_names(module, numbers),
        loops=parts.kernels.running.loops,
        mixes=mixes,
        collective_boxes=matrix.of_collective,
        collective_kernels=parts.sites.kernels,
        folds=parts.folding.folds,
        deviations=find_deviations(parts.folding, parts.rows, matrix.boxes, matrix.at),
        arrows=find_arrows(parts.kernels, matrix.of_kernel),
        strip=_build_strip(parts),
    )


def _parts(module: HloModule, collectives: CollectiveTable) -> tuple[GraphParts, bool]:
    """The parts, and whether the program has scopes."""
    kernels = find_kernels(module)
    sites = find_collective_kernels(kernels, collectives)
    inputs = Inputs(kernels, sites.combined(collectives))
    placing, is_scoped = _place(kernels, collectives, sites, inputs)
    work = count_work(kernels)
    computations = module.instructions.computation[kernels.rows].tolist()
    loops = [kernels.running.loop_of[computation] for computation in computations]
    rows = build_rows(placing, work.matmuls, kernels.running.loops, loops)
    if -1 in sites.kernels:
        rows.add_unreached()
    parts = GraphParts(
        kernels=kernels,
        collectives=collectives,
        sites=sites,
        inputs=inputs,
        placing=placing,
        rows=rows,
        folding=_fold(kernels, collectives, sites, inputs, placing, rows, work),
        work=work,
        runs=_runs(module, computations),
        loops=loops,
    )
    return parts, is_scoped


def _place(
    kernels: KernelList, collectives: CollectiveTable, sites: CollectiveSites, inputs: Inputs
) -> tuple[Placing, bool]:
    """Assigns kernels to scopes and phases, and says whether the program has scopes."""
    scopes = Scopes()
    names = read_names(kernels.module, scopes)
    placing = place_kernels(kernels, scopes, names, sites.sums(collectives))
    is_scoped = has_scopes(placing)
    if not is_scoped:
        place_by_arguments(placing, inputs)
    refine_by_functions(kernels, placing, has_scopes=is_scoped)
    place_combined(placing, inputs)
    place_updates(placing, inputs, find_homes(placing, inputs))
    return placing, is_scoped


def _fold(
    kernels: KernelList,
    collectives: CollectiveTable,
    sites: CollectiveSites,
    inputs: Inputs,
    placing: Placing,
    rows: Rows,
    work: Work,
) -> Folding:
    moved = {
        kernel: tuple((collectives.rows[number].kind, collectives.rows[number].axes) for number in numbers)
        for kernel, numbers in sites.by_kernel.items()
    }
    columns = kernels.module.instructions.opcode[kernels.rows], kernels.result_bytes
    looks = list(zip(placing.label, *(column.tolist() for column in columns), strict=True))
    facts = KernelFacts(matmuls=work.matmuls, collectives=moved, looks=looks)
    return fold_rows(rows, placing, inputs, facts, sites.kinds(collectives))


def _runs(module: HloModule, computations: list[int]) -> np.ndarray:
    """For each kernel the upper bound of its runs per call; -1 if unknown."""
    runs = count_runs(module)
    return np.array([-1 if runs[c].most is None else runs[c].most for c in computations], np.int64)


def _rows(rows: Rows, folding: Folding) -> tuple[GraphRow, ...]:
    return tuple(
        GraphRow(
            parent=rows.parents[row],
            children=tuple(rows.children[row]),
            kind=rows.kinds[row],  # type: ignore[arg-type]
            name=rows.names[row],
            label=rows.labels[row],
            holds=rows.holds[row],
            loop_trips=rows.trips[row],
            fold=folding.fold_of[row],
            shown_as=folding.shown_as[row],
        )
        for row in range(len(rows))
    )


def _kernels(parts: GraphParts, matrix: Matrix, mixed: np.ndarray) -> GraphKernels:
    kernels, placing, module = parts.kernels, parts.placing, parts.kernels.module
    opcodes, opcode = np.unique(module.instructions.opcode[kernels.rows], return_inverse=True)
    labels = {label: row for row, label in enumerate(dict.fromkeys(placing.label))}
    return GraphKernels(
        instruction=kernels.rows.astype(np.int32),
        names=tuple(module.reader.names(kernels.rows)),
        opcode=opcode.astype(np.int16),
        opcodes=tuple(module.opcodes[row] for row in opcodes.tolist()),
        label=np.array([labels[label] for label in placing.label], np.int32),
        labels=tuple(labels),
        box=matrix.of_kernel,
        how=np.array(placing.how, np.int8),
        loop=np.array(parts.loops, np.int32),
        runs=parts.runs,
        result_bytes=kernels.result_bytes,
        matmuls=np.array(parts.work.matmuls, np.int32),
        flops=np.array(parts.work.flops, np.int64),
        mixed=np.isin(np.arange(len(kernels)), mixed),
    )


def _reads(kernels: KernelList, numbers: dict[int, int]) -> GraphReads:
    reads = kernels.reads
    return GraphReads(
        target=reads.target.astype(np.int32),
        operand=reads.operand.astype(np.int32),
        source=reads.source.astype(np.int32),
        argument=np.array([numbers.get(index, -1) for index in kernels.arguments.tolist()], np.int32),
        element=reads.element.astype(np.int32),
        bytes=kernels.sizes.astype(np.int64),
        carried=reads.carried,
    )


def _argument_numbers(module: HloModule) -> dict[int, int]:
    """The number of each of the program's arguments, by its instruction; a damaged program may give any number."""
    numbers = {row: number_of(module, row) for row in module.computation(module.entry).parameters.tolist()}
    return {row: number for row, number in numbers.items() if 0 <= number < len(module)}


def _argument_names(module: HloModule, numbers: dict[int, int]) -> tuple[str, ...]:
    names = {number: module.instruction(row).op_name for row, number in numbers.items()}
    return tuple(names.get(number, "") for number in range(max(names, default=-1) + 1))


def _build_strip(parts: GraphParts) -> ScheduleStrip:
    """The strip of one program."""
    kernels, table, rows = parts.kernels, parts.collectives, parts.rows
    groups = _groups(rows, parts.folding)
    lanes = _lanes(table)
    uses = _uses(kernels)
    events = [
        LaneEvent(
            collective=number,
            lane=lanes[table.rows[number].axes],
            start=kernel,
            end=parts.sites.ends[number],
            first_use=int(uses[0][kernel]),
            last_use=int(uses[1][kernel]),
            is_async=table.rows[number].is_async,
        )
        for number, kernel in enumerate(parts.sites.kernels)
        if kernel >= 0
    ]
    return ScheduleStrip(
        is_scheduled=kernels.module.is_scheduled,
        runs=_schedule_runs(
            np.array([groups[row] for row in rows.of_kernel], np.int32), np.array(parts.placing.phase, np.int8)
        ),
        lanes=tuple(lanes),
        events=tuple(sorted(events, key=lambda event: (event.start, event.collective))),
        first_matmul=next((kernel for kernel, count in enumerate(parts.work.matmuls) if count), -1),
    )


def _groups(rows: Rows, folding: Folding) -> list[int]:
    """For each row its layer: the outermost fold member around it, or else the row directly under the program."""
    groups: list[int] = []
    is_layer: list[bool] = []
    for row, parent in enumerate(rows.parents):
        inherits = parent > 0 and (is_layer[parent] or folding.fold_of[row] < 0)
        groups.append(groups[parent] if inherits else row)
        is_layer.append(folding.fold_of[row] >= 0 or (parent > 0 and is_layer[parent]))
    return groups


def _lanes(table: CollectiveTable) -> dict[tuple[str, ...] | None, int]:
    counts = Counter(row.axes for row in table.rows)
    ordered = sorted(counts, key=lambda axes: (-counts[axes], axes is None, axes or ()))
    return {axes: lane for lane, axes in enumerate(ordered)}


def _uses(kernels: KernelList) -> tuple[np.ndarray, np.ndarray]:
    """For each kernel the first and the last that takes its result; -1 where none does."""
    edges, count = kernels.edges, len(kernels)
    first, last = np.full(count, count, np.int64), np.full(count, -1, np.int64)
    np.minimum.at(first, edges.source, edges.target)
    np.maximum.at(last, edges.source, edges.target)
    return np.where(last < 0, -1, first), last


def _schedule_runs(groups: np.ndarray, phases: np.ndarray) -> ScheduleRuns:
    """Neighbouring kernels of one group and phase together."""
    first = np.ones(len(groups), bool)
    first[1:] = (groups[1:] != groups[:-1]) | (phases[1:] != phases[:-1])
    starts = np.flatnonzero(first).astype(np.int32)
    return ScheduleRuns(start=starts, row=groups[starts], phase=phases[starts])
