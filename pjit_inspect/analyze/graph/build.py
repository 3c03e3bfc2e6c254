"""A program as the inspector's graph and schedule strip: every step from instructions to rows, boxes and arrows.

The strip shows what the matrix cannot: weights gathered long before their layer, or what a collective overlaps with.
Its places count kernels, not time.

Not its job: the steps before the strip, in this order: `kernels`, `work`, `facts`, `scopes`, `placing`, `arguments`,
`functions`, `arrays`, `tree`, `fold`, `matrix`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pjit_inspect.analyze.graph.arguments import has_scopes, place_by_arguments
from pjit_inspect.analyze.graph.arrays import place_combined, place_updates
from pjit_inspect.analyze.graph.facts import KernelFacts
from pjit_inspect.analyze.graph.fold import find_deviations, fold_rows
from pjit_inspect.analyze.graph.functions import refine_by_functions
from pjit_inspect.analyze.graph.kernels import changes
from pjit_inspect.analyze.graph.matrix import build_matrix, find_arrows, find_mixes
from pjit_inspect.analyze.graph.placing import Placing, place_kernels
from pjit_inspect.analyze.graph.scopes import Scopes, read_names
from pjit_inspect.analyze.graph.tree import Rows, build_rows
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import GraphRow, LaneEvent, ProgramGraph, ScheduleStrip
from pjit_inspect.model.report.graph_columns import GraphKernels, Mixes, ScheduleRuns


def find_graph(module: HloModule, collectives: CollectiveTable) -> ProgramGraph:
    """The graph of an optimized program.

    Args:
      module: the program.
      collectives: all of its collectives (`find_collectives`).
    """
    facts = KernelFacts(module, collectives)
    placing, is_scoped = _place(facts)
    rows, folds = fold_rows(build_rows(placing), placing)
    matrix = build_matrix(placing, rows)
    mixes = find_mixes(placing, rows)
    parameters = facts.kernels.parameters
    return ProgramGraph(
        phases=tuple(sorted({box.phase for box in matrix.boxes})),
        is_differentiated=placing.is_differentiated,
        has_scopes=is_scoped,
        rows=tuple(rows.rows),
        boxes=matrix.boxes,
        kernels=_kernels(placing, matrix.of_kernel, mixes),
        box_kernels=matrix.kernels,
        reads=facts.kernels.reads,
        arguments=tuple(map(facts.argument_name, range(max(parameters, default=-1) + 1))),
        results=facts.kernels.results,
        loops=facts.kernels.running.loops,
        mixes=mixes,
        collective_boxes=matrix.of_collective,
        collective_kernels=facts.sites,
        folds=folds,
        deviations=find_deviations(rows.rows, folds, matrix.boxes, matrix.at),
        arrows=find_arrows(facts.kernels, matrix.of_kernel),
        strip=_build_strip(placing, rows),
    )


def _place(facts: KernelFacts) -> tuple[Placing, bool]:
    """Assigns kernels to scopes and phases, and says whether the program has scopes."""
    scopes = Scopes()
    placing = place_kernels(facts, scopes, read_names(facts.module, scopes))
    is_scoped = has_scopes(placing)
    if not is_scoped:
        place_by_arguments(placing)
    refine_by_functions(placing, has_scopes=is_scoped)
    place_combined(placing)
    place_updates(placing)
    return placing, is_scoped


def _kernels(placing: Placing, boxes: np.ndarray, mixes: Mixes) -> GraphKernels:
    facts, kernels, module = placing.facts, placing.facts.kernels, placing.facts.module
    opcodes, opcode = np.unique(module.instructions.opcode[kernels.rows], return_inverse=True)
    labels = {label: row for row, label in enumerate(dict.fromkeys(placing.label))}
    return GraphKernels(
        instruction=kernels.rows.astype(np.int32),
        names=tuple(module.reader.names(kernels.rows)),
        opcode=opcode.astype(np.int16),
        opcodes=tuple(module.opcodes[row] for row in opcodes.tolist()),
        label=np.array([labels[label] for label in placing.label], np.int32),
        labels=tuple(labels),
        box=boxes,
        how=np.array(placing.how, np.int8),
        loop=np.array(kernels.loops, np.int32),
        runs=facts.runs,
        result_bytes=kernels.result_bytes,
        matmuls=np.array(facts.matmuls, np.int32),
        flops=np.array(facts.flops, np.int64),
        mixed=np.isin(np.arange(len(kernels)), mixes.kernel),
    )


def _build_strip(placing: Placing, rows: Rows) -> ScheduleStrip:
    """The strip of one program."""
    facts = placing.facts
    lanes = _lanes(facts.table)
    uses = [(users[0], users[-1]) if users else (-1, -1) for users in facts.kernels.users]
    events = [
        LaneEvent(
            collective=number,
            lane=lanes[row.axes],
            start=kernel,
            end=facts.ends[number],
            first_use=uses[kernel][0],
            last_use=uses[kernel][1],
            is_async=row.is_async,
        )
        for number, (row, kernel) in enumerate(zip(facts.table.rows, facts.sites, strict=True))
        if kernel >= 0
    ]
    groups = _groups(rows.rows)
    group, phase = np.array([groups[row] for row in rows.of_kernel], np.int32), np.array(placing.phase, np.int8)
    starts = np.flatnonzero(changes(group, phase)).astype(np.int32)
    return ScheduleStrip(
        is_scheduled=facts.module.is_scheduled,
        runs=ScheduleRuns(start=starts, row=group[starts], phase=phase[starts]),
        lanes=tuple(lanes),
        events=tuple(sorted(events, key=lambda event: (event.start, event.collective))),
        first_matmul=next((kernel for kernel, count in enumerate(facts.matmuls) if count), -1),
    )


def _groups(rows: Sequence[GraphRow]) -> list[int]:
    """For each row its layer: the outermost fold member around it, or else the row directly under the program."""
    groups: list[int] = []
    is_layer: list[bool] = []
    for number, row in enumerate(rows):
        in_layer = row.parent > 0 and is_layer[row.parent]
        groups.append(groups[row.parent] if in_layer or (row.parent > 0 and row.fold < 0) else number)
        is_layer.append(in_layer or row.fold >= 0)
    return groups


def _lanes(table: CollectiveTable) -> dict[tuple[str, ...] | None, int]:
    counts = Counter(row.axes for row in table.rows)
    ordered = sorted(counts, key=lambda axes: (-counts[axes], axes is None, axes or ()))
    return {axes: lane for lane, axes in enumerate(ordered)}
