"""The order in which a program runs, as nested scopes and loops, for a view as text.

The rows and kernels are the graph's, the order is XLA's schedule. Not its job: words (`view.record.tree`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.report.skeleton import SkeletonPart, SkeletonStep

_OUTSIDE = ("program", "all")

Alike = Callable[[int], object]
"""Key of a collective; two with the same key look the same to a reader."""


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of the path to a kernel: a phase, a row of the graph, or a loop without a row."""

    key: tuple[str, int]
    label: str
    is_loop: bool = False
    trips: int | None = None
    fold: int = -1


_Path = tuple[_Level, ...]


def find_skeleton(graph: ProgramGraph, alike: Alike) -> tuple[SkeletonPart | SkeletonStep, ...]:
    """The program's parts in order; neighbouring members of one fold that do the same appear once."""
    paths = _Paths(graph)
    of_kernel = {kernel: row for row, kernel in enumerate(graph.collective_kernels) if kernel >= 0}
    labels = graph.kernels.labels
    entries = [
        (paths.of(kernel), labels[label], of_kernel.get(kernel))
        for kernel, label in enumerate(graph.kernels.label.tolist())
    ]
    return _parts(entries, 0, alike)


_Entry = tuple[_Path, str, int | None]


def _parts(entries: Sequence[_Entry], depth: int, alike: Alike) -> tuple[SkeletonPart | SkeletonStep, ...]:
    found: list[tuple[SkeletonPart | SkeletonStep, _Level | None]] = []
    for level, run in itertools.groupby(entries, lambda entry: entry[0][depth] if len(entry[0]) > depth else None):
        inside = list(run)
        if level is None:
            found += [(step, None) for step in _steps(inside)]
        else:
            parts = _parts(inside, depth + 1, alike)
            part = SkeletonPart(label=level.label, is_loop=level.is_loop, trips=level.trips, parts=parts)
            found.append((part, level))
    return tuple(_folded(found, alike))


def _steps(entries: Iterable[_Entry]) -> list[SkeletonStep]:
    """Kernels up to the collectives that follow them."""
    steps: list[SkeletonStep] = []
    kernels: list[str] = []
    collectives: list[int] = []
    for _, label, collective in entries:
        if collective is not None:
            collectives.append(collective)
            continue
        if collectives:
            steps.append(SkeletonStep(kernels=_counted(kernels), collectives=tuple(collectives)))
            kernels, collectives = [], []
        kernels.append(label)
    return [*steps, SkeletonStep(kernels=_counted(kernels), collectives=tuple(collectives))]


def _counted(labels: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple((label, len(list(same))) for label, same in itertools.groupby(labels))


def _folded(
    found: Sequence[tuple[SkeletonPart | SkeletonStep, _Level | None]], alike: Alike
) -> Iterable[SkeletonPart | SkeletonStep]:
    """Neighbours of one fold that do the same, as one."""

    def key(entry: tuple[SkeletonPart | SkeletonStep, _Level | None]) -> object:
        part, level = entry
        if level is None or level.fold < 0 or not isinstance(part, SkeletonPart):
            return id(part)
        return level.fold, _shape(part, alike)

    for _, same in itertools.groupby(found, key):
        members = [part for part, _ in same]
        first, last = members[0], members[-1]
        if len(members) > 1 and isinstance(first, SkeletonPart) and isinstance(last, SkeletonPart):
            yield replace(first, label=f"{first.label} \u2026 {last.label}", alike=len(members))
        else:
            yield first


def _shape(part: SkeletonPart | SkeletonStep, alike: Alike) -> object:
    """The visible content of a part, without the part's name."""
    if isinstance(part, SkeletonStep):
        return part.kernels, tuple(map(alike, part.collectives))
    inner = tuple(
        (one.label, _shape(one, alike)) if isinstance(one, SkeletonPart) else _shape(one, alike) for one in part.parts
    )
    return part.is_loop, part.trips, part.alike, inner


class _Paths:
    """The way from the program to each kernel."""

    def __init__(self, graph: ProgramGraph) -> None:
        self._graph = graph
        self._rows: dict[int, _Path] = {}

    def of(self, kernel: int) -> _Path:
        """Phase, then loops that no row shows, then rows from the outermost."""
        graph = self._graph
        box = int(graph.kernels.box[kernel])
        rows = () if box < 0 else self._of_row(graph.boxes[box].row)
        phase = self._phase(box) if box >= 0 and graph.is_differentiated else ()
        loop = int(graph.kernels.loop[kernel])
        shown = sum(level.is_loop for level in rows)
        return (*phase, *self._loops(loop)[: max(0, self._depth(loop) - shown)], *rows)

    def _phase(self, box: int) -> _Path:
        phase = self._graph.boxes[box].phase
        return (_Level(("phase", phase), PHASES[phase]),)

    def _of_row(self, row: int) -> _Path:
        if row not in self._rows:
            one = self._graph.rows[row]
            above = self._of_row(one.parent) if one.parent >= 0 else ()
            level = _Level(("row", row), one.label, one.kind == "loop", one.loop_trips, one.fold)
            self._rows[row] = above if one.kind in _OUTSIDE else (*above, level)
        return self._rows[row]

    def _loops(self, loop: int) -> _Path:
        """The loops around a kernel, outermost first."""
        if loop < 0:
            return ()
        one = self._graph.loops[loop]
        return (*self._loops(one.parent), _Level(("loop", loop), "loop", True, one.trips))

    def _depth(self, loop: int) -> int:
        return 0 if loop < 0 else 1 + self._depth(self._graph.loops[loop].parent)
