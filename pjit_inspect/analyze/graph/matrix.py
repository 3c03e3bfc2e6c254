"""The boxes of the matrix: the work of each row in each phase, and the values that move between boxes.

Not its job: rows (`analyze.graph.tree`), folds (`analyze.graph.fold`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pjit_inspect.analyze.graph.arrays import Served, find_served
from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.graph.parts import GraphParts
from pjit_inspect.analyze.graph.placing import HOW, Placing
from pjit_inspect.analyze.graph.scopes import UNKNOWN, Scopes
from pjit_inspect.analyze.graph.sites import CollectiveSites
from pjit_inspect.analyze.graph.tree import Rows
from pjit_inspect.model.program.hlo_columns import Links
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import BoxCollectives, GraphBox, Mention
from pjit_inspect.model.report.graph_columns import GraphArrows, Mixes

_CONNECTED = 0.5
"""A box with fewer edges than this share of its kernels is a list."""
_LEAST_LIST = 8
_LARGEST_DAG = 400
"""More kernels than these cannot be read as a graph."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """The boxes.

    Attributes:
      boxes: by row, then phase.
      at: row and phase -> box.
      of_kernel: the box of each kernel.
      kernels: the kernels of each box.
      of_collective: the box of each collective.
    """

    boxes: tuple[GraphBox, ...]
    at: Mapping[tuple[int, int], int]
    of_kernel: np.ndarray
    kernels: Links
    of_collective: tuple[int, ...]


def build_matrix(parts: GraphParts) -> Matrix:
    """All boxes: those with kernels, and empty ones that a fold needs for a deviation.

    Collectives in unreachable computations are in the last row.
    """
    placing, rows, sites, inputs = parts.placing, parts.rows, parts.sites, parts.inputs
    homes = [
        (rows.of_kernel[kernel], placing.phase[kernel]) if kernel >= 0 else (len(rows) - 1, 0)
        for kernel in sites.kernels
    ]
    places = list(zip(rows.of_kernel, placing.phase, strict=True))
    served = {kernel: find_served(kernel, inputs) for kernel in sorted(inputs.combined)}
    keys = {*places, *homes}
    keys |= {(parts.folding.shown_as[row], phase) for row, phase in keys}
    at = {key: box for box, key in enumerate(sorted(keys))}
    of_kernel = np.array([at[place] for place in places], np.int32).reshape(-1)
    of_collective = tuple(at[home] for home in homes)
    mentions = _mentions(sites, served, of_kernel)
    held = _held(parts.collectives, of_collective, len(at))
    facts = _Facts(parts, of_kernel, len(at))
    boxes = tuple(
        replace(facts.box(box, row, phase), collectives=held[box], mentions=tuple(mentions.get(box, ())))
        for (row, phase), box in at.items()
    )
    return Matrix(boxes=boxes, at=at, of_kernel=of_kernel, kernels=facts.kernels, of_collective=of_collective)


class _Facts:
    """Numbers of boxes, from columns."""

    def __init__(self, parts: GraphParts, of_kernel: np.ndarray, boxes: int) -> None:
        kernels, work = parts.kernels, parts.work
        order = np.argsort(of_kernel, kind="stable").astype(np.int32)
        counts = np.bincount(of_kernel, minlength=boxes)
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        self.kernels = Links(starts=starts, items=order)
        self._counts = counts.tolist()
        self._inferred = np.bincount(of_kernel[np.array(parts.placing.how) != HOW["own"]], minlength=boxes).tolist()
        self._matmuls = np.bincount(of_kernel, work.matmuls, minlength=boxes).astype(np.int64).tolist()
        sizes = np.maximum(kernels.result_bytes, 0)
        self._bytes, self._flops, self._runs = sizes.tolist(), work.flops, parts.runs.tolist()
        edges = kernels.edges
        inside = of_kernel[edges.source] == of_kernel[edges.target]
        self._edges = np.bincount(of_kernel[edges.source[inside]], minlength=boxes).tolist()

    def box(self, box: int, row: int, phase: int) -> GraphBox:
        """Builds one box, without its collectives."""
        kernels = self.kernels[box].tolist()
        flops = [self._flops[kernel] for kernel in kernels]
        runs = Counter(self._runs[kernel] for kernel in kernels).most_common(1)
        per_call = [f * self._runs[k] for f, k in zip(flops, kernels, strict=True) if f]
        is_known = -1 not in flops
        is_large = len(kernels) > _LARGEST_DAG
        return GraphBox(
            row=row,
            phase=phase,
            kernels=len(kernels),
            inferred=self._inferred[box],
            matmuls=self._matmuls[box],
            flops=sum(flops) if is_known else None,
            flops_per_call=sum(per_call) if is_known and all(value >= 0 for value in per_call) else None,
            iterations=runs[0][0] if runs and runs[0][0] >= 0 else None,
            result_bytes=sum(self._bytes[kernel] for kernel in kernels),
            is_list=is_large or (len(kernels) >= _LEAST_LIST and self._edges[box] < _CONNECTED * len(kernels)),
        )


def _held(table: CollectiveTable, of_collective: Sequence[int], boxes: int) -> list[tuple[BoxCollectives, ...]]:
    """For each box its collectives by kind and axes."""
    groups: list[dict[tuple[str, tuple[str, ...] | None, int], list[int]]] = [{} for _ in range(boxes)]
    for number, (row, box) in enumerate(zip(table.rows, of_collective, strict=True)):
        groups[box].setdefault((row.kind, row.axes, row.mesh), []).append(number)
    held = []
    for group in groups:
        collectives = []
        for (kind, axes, mesh), numbers in group.items():
            counts = [table.rows[number].count for number in numbers]
            known = [count for count in counts if count is not None]
            collectives.append(
                BoxCollectives(
                    kind=kind,
                    axes=axes,
                    mesh=mesh,
                    collectives=tuple(numbers),
                    runs=sum(known) if len(known) == len(counts) else None,
                    payload_bytes=sum(table.rows[number].payload_bytes or 0 for number in numbers),
                )
            )
        held.append(tuple(sorted(collectives, key=lambda each: -each.payload_bytes)))
    return held


def _mentions(
    sites: CollectiveSites, served: Mapping[int, Sequence[Served]], of_kernel: np.ndarray
) -> dict[int, list[Mention]]:
    """Mentions of combined collectives in the other boxes they serve."""
    mentions: dict[int, list[Mention]] = {}
    for kernel, operands in served.items():
        sizes: dict[int, list[int]] = {}
        for each in operands:
            sizes.setdefault(int(of_kernel[each.kernel]), []).append(each.bytes)
        number = sites.by_kernel[kernel][0]
        for box, mine in sizes.items():
            if box != of_kernel[kernel]:
                mention = Mention(collective=number, operands=len(mine), payload_bytes=sum(mine))
                mentions.setdefault(box, []).append(mention)
    return mentions


def find_arrows(kernels: KernelList, of_kernel: np.ndarray) -> GraphArrows:
    """Distinct values passed from box to box; values that stay in a box are omitted."""
    reads, size = kernels.reads, kernels.sizes
    kept = reads.source >= 0
    source, target = of_kernel[reads.source[kept]], of_kernel[reads.target[kept]]
    maker, element, carried, size = reads.source[kept], reads.element[kept], reads.carried[kept], size[kept]
    out = source != target
    columns = (size[out], element[out], maker[out], target[out], source[out])
    order = np.lexsort(columns)
    size, element, maker, target, source = (column[order] for column in columns)
    carried = carried[out][order]
    last = np.ones(len(source), bool)
    last[:-1] = (maker[1:] != maker[:-1]) | (target[1:] != target[:-1]) | (element[1:] != element[:-1])
    size, target, source, carried = size[last], target[last], source[last], carried[last]
    first = np.ones(len(source), bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    starts = np.flatnonzero(first)
    return GraphArrows(
        source=source[starts],
        target=target[starts],
        values=np.diff(np.append(starts, len(source))).astype(np.int32),
        bytes=_added(size, starts),
        carried=_added(np.where(carried, size, 0), starts),
    )


def _added(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)


def find_mixes(placing: Placing, rows: Rows) -> Mixes:
    """Instructions within kernels that belong to other scopes or phases than the kernel.

    Scopes around the kernel's scope, or within it, do not count as other.
    """
    mixed: list[tuple[int, int, int, int]] = []
    bare = functools.cache(lambda scope: _bare(placing.scopes, scope))
    for kernel, body in sorted(placing.bodies.items()):
        own, phase = bare(placing.scope[kernel]), placing.phase[kernel]
        others: dict[tuple[int, int], int] = {}
        for (scope, stated), count in body.items():
            inner, there = bare(scope), phase if stated == UNKNOWN else stated
            shared = min(len(own), len(inner))
            if there != phase or own[:shared] != inner[:shared]:
                row = _row_of(scope, placing, rows)
                others[row, there] = others.get((row, there), 0) + count
        mixed += [(kernel, row, there, count) for (row, there), count in others.items()]
    columns = np.array(mixed, np.int32).reshape(-1, 4).T
    return Mixes(kernel=columns[0], row=columns[1], phase=columns[2], instructions=columns[3])


def _bare(scopes: Scopes, scope: int) -> tuple[str, ...]:
    """The names on the way to a scope, without loops and functions, which do not come from names alone."""
    return tuple(scopes.names[row] for row in scopes.path(scope) if scopes.kinds[row] not in ("loop", "function"))


def _row_of(scope: int, placing: Placing, rows: Rows) -> int:
    """The row of a scope, or of the nearest scope around it that has one."""
    while scope not in rows.of_scope:
        scope = placing.scopes.parents[scope]
    return rows.of_scope[scope]
