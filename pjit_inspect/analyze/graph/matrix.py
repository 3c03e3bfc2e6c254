"""The boxes of the matrix: the work of each row in each phase, and the values that move between boxes.

Not its job: rows (`analyze.graph.tree`), folds (`analyze.graph.fold`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.graph.arrays import find_served
from pjit_inspect.analyze.graph.facts import KernelFacts
from pjit_inspect.analyze.graph.kernels import KernelList, changes
from pjit_inspect.analyze.graph.placing import HOW, Placing
from pjit_inspect.analyze.graph.scopes import UNKNOWN, Scopes
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
class BoxMatrix:
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


def build_matrix(placing: Placing, rows: Rows) -> BoxMatrix:
    """All boxes: those with kernels, and empty ones that a fold needs for a deviation.

    Collectives in unreachable computations are in the last row.
    """
    facts = placing.facts
    places = list(zip(rows.of_kernel, placing.phase, strict=True))
    homes = [places[kernel] if kernel >= 0 else (len(rows.rows) - 1, 0) for kernel in facts.sites]
    keys = {*places, *homes}
    keys |= {(rows.rows[row].shown_as, phase) for row, phase in keys}
    at = {key: box for box, key in enumerate(sorted(keys))}
    of_kernel = np.array([at[place] for place in places], np.int32).reshape(-1)
    of_collective = tuple(at[home] for home in homes)
    kernels = Links(starts=np.arange(len(of_kernel) + 1), items=of_kernel).reversed(len(at))
    mentions, held = _mentions(facts, of_kernel), _held(facts.table, of_collective, len(at))
    ends = of_kernel[facts.kernels.edges]
    connected = np.bincount(ends[ends[:, 0] == ends[:, 1], 0], minlength=len(at)).tolist()
    boxes = tuple(
        _box(placing, key, kernels[box], connected[box], held[box], tuple(mentions.get(box, ())))
        for key, box in at.items()
    )
    return BoxMatrix(boxes=boxes, at=at, of_kernel=of_kernel, kernels=kernels, of_collective=of_collective)


def _box(
    placing: Placing,
    key: tuple[int, int],
    inside: np.ndarray,
    edges: int,
    collectives: tuple[BoxCollectives, ...],
    mentions: tuple[Mention, ...],
) -> GraphBox:
    facts, kernels = placing.facts, inside.tolist()
    flops, runs = [facts.flops[kernel] for kernel in kernels], facts.runs[inside].tolist()
    per_call = [each * times for each, times in zip(flops, runs, strict=True) if each]
    iterations = Counter(runs).most_common(1)
    is_known = -1 not in flops
    return GraphBox(
        row=key[0],
        phase=key[1],
        kernels=len(kernels),
        inferred=sum(placing.how[kernel] != HOW["own"] for kernel in kernels),
        matmuls=sum(facts.matmuls[kernel] for kernel in kernels),
        flops=sum(flops) if is_known else None,
        flops_per_call=sum(per_call) if is_known and all(value >= 0 for value in per_call) else None,
        iterations=iterations[0][0] if iterations and iterations[0][0] >= 0 else None,
        result_bytes=sum(np.maximum(facts.kernels.result_bytes[inside], 0).tolist()),
        collectives=collectives,
        mentions=mentions,
        is_list=len(kernels) > _LARGEST_DAG or (len(kernels) >= _LEAST_LIST and edges < _CONNECTED * len(kernels)),
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


def _mentions(facts: KernelFacts, of_kernel: np.ndarray) -> dict[int, list[Mention]]:
    """Mentions of combined collectives in the other boxes they serve."""
    mentions: dict[int, list[Mention]] = {}
    for kernel in sorted(facts.combined):
        sizes: dict[int, list[int]] = {}
        for served in find_served(kernel, facts):
            sizes.setdefault(int(of_kernel[served.kernel]), []).append(served.bytes)
        for box, mine in sizes.items():
            if box != of_kernel[kernel]:
                number = facts.collectives[kernel][0]
                mention = Mention(collective=number, operands=len(mine), payload_bytes=sum(mine))
                mentions.setdefault(box, []).append(mention)
    return mentions


def find_arrows(kernels: KernelList, of_kernel: np.ndarray) -> GraphArrows:
    """Distinct values passed from box to box; values that stay in a box are omitted."""
    reads = kernels.reads
    kept = reads.source >= 0
    kept[kept] = of_kernel[reads.source[kept]] != of_kernel[reads.target[kept]]
    maker, element, size = reads.source[kept], reads.element[kept], reads.bytes[kept]
    source, target = of_kernel[maker], of_kernel[reads.target[kept]]
    order = np.lexsort((size, element, maker, target, source))
    # The last read of a value is the largest.
    last = np.append(changes(*(column[order] for column in (source, target, maker, element)))[1:], True)
    values = order[last[: len(order)]]
    starts = np.flatnonzero(changes(source[values], target[values]))
    sizes = np.stack([size, np.where(reads.carried[kept], size, 0)])[:, values]
    bytes_, carried = np.add.reduceat(sizes, starts, axis=1) if len(starts) else sizes
    return GraphArrows(
        source=source[values[starts]],
        target=target[values[starts]],
        values=np.diff(np.append(starts, len(values))).astype(np.int32),
        bytes=bytes_,
        carried=carried,
    )


def find_mixes(placing: Placing, rows: Rows) -> Mixes:
    """Instructions within kernels that belong to other scopes or phases than the kernel.

    Scopes around the kernel's scope, or within it, do not count as other.
    """
    mixed: list[tuple[int, int, int, int]] = []
    bare = functools.cache(lambda scope: _bare(placing.scopes, scope))
    for kernel, body in sorted(placing.bodies.items()):
        own, phase = bare(placing.scope[kernel]), placing.phase[kernel]
        others = Counter[tuple[int, int]]()
        for (scope, stated), count in body.items():
            inner, there = bare(scope), phase if stated == UNKNOWN else stated
            shared = min(len(own), len(inner))
            if there != phase or own[:shared] != inner[:shared]:
                while scope not in rows.of_scope:
                    scope = placing.scopes.parents[scope]
                others[rows.of_scope[scope], there] += count
        mixed += [(kernel, row, there, count) for (row, there), count in others.items()]
    columns = np.array(mixed, np.int32).reshape(-1, 4).T
    return Mixes(kernel=columns[0], row=columns[1], phase=columns[2], instructions=columns[3])


def _bare(scopes: Scopes, scope: int) -> tuple[str, ...]:
    """The names on the way to a scope, without loops and functions, which do not come from names alone."""
    return tuple(scopes.names[row] for row in scopes.path(scope) if scopes.kinds[row] not in ("loop", "function"))
