"""The schedule strip: which phase and layer runs when, and from where to where each collective is under way.

It shows what the matrix cannot: weights gathered long before their layer, or what a collective overlaps with. Places
count kernels, not time. Not its job: how long anything takes.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pjit_inspect.analyze.graph.fold import Folding
from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.graph.parts import GraphParts
from pjit_inspect.analyze.graph.tree import Rows
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import LaneEvent, ScheduleStrip
from pjit_inspect.model.report.graph_columns import ScheduleRuns

__all__ = ["build_strip"]


def build_strip(parts: GraphParts) -> ScheduleStrip:
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
        runs=_runs(np.array([groups[row] for row in rows.of_kernel], np.int32), np.array(parts.placing.phase, np.int8)),
        lanes=tuple(lanes),
        events=tuple(sorted(events, key=lambda event: (event.start, event.collective))),
        first_matmul=next((kernel for kernel, count in enumerate(parts.work.matmuls) if count), -1),
    )


def _groups(rows: Rows, folding: Folding) -> list[int]:
    """For each row its layer: the outermost member of a fold around it, else the row right under the program."""
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


def _runs(groups: np.ndarray, phases: np.ndarray) -> ScheduleRuns:
    """Neighbouring kernels of one group and phase together."""
    first = np.ones(len(groups), bool)
    first[1:] = (groups[1:] != groups[:-1]) | (phases[1:] != phases[:-1])
    starts = np.flatnonzero(first).astype(np.int32)
    return ScheduleRuns(start=starts, row=groups[starts], phase=phases[starts])
