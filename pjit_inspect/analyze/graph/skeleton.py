"""The order in which a program runs, as nested scopes and loops, for a view as text.

The rows and kernels are the graph's, the order is XLA's schedule. Not its job: words (`view.record.text_views`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pjit_inspect.analyze.program.loops import loops_around
from pjit_inspect.model.report.graph import ProgramGraph, SkeletonPart, SkeletonStep
from pjit_inspect.model.report.graph_columns import PHASES

_OUTSIDE = ("program", "all")

Alike = Callable[[int], object]
"""Key of a collective; two with the same key look the same to a reader."""


class _Level(NamedTuple):
    """One level of the path to a kernel: a phase, a row of the graph, or a loop without a row."""

    key: tuple[str, int]
    label: str
    is_loop: bool = False
    trips: int | None = None
    fold: int = -1


class _Entry(NamedTuple):
    """A kernel: the levels around it, its label, and which collective it is."""

    path: Sequence[_Level]
    label: str
    collective: int | None


_Parts = tuple[SkeletonPart | SkeletonStep, ...]


def find_skeleton(graph: ProgramGraph, alike: Alike) -> _Parts:
    """The program's parts in order; neighbouring members of one fold that do the same appear once."""
    rows = functools.cache(lambda box: _rows(graph, graph.boxes[box].row))
    of_kernel = {kernel: row for row, kernel in enumerate(graph.collective_kernels) if kernel >= 0}
    kernels = graph.kernels
    columns = (kernels.box.tolist(), kernels.loop.tolist(), kernels.label.tolist())
    entries = []
    for kernel, (box, loop, label) in enumerate(zip(*columns, strict=True)):
        path = _path(graph, graph.boxes[box].phase, loop, rows(box))
        entries.append(_Entry(path, kernels.labels[label], of_kernel.get(kernel)))
    return _parts(entries, 0, alike)


def _path(graph: ProgramGraph, phase: int, loop: int, rows: list[_Level]) -> list[_Level]:
    """The way from the program to a kernel: phase, then loops that no row shows, then rows from the outermost."""
    loops = [_Level(("loop", k), "loop", True, graph.loops[k].trips) for k in loops_around(graph.loops, loop)]
    shown = sum(level.is_loop for level in rows)
    phases = [_Level(("phase", phase), PHASES[phase])] if graph.is_differentiated else []
    return [*phases, *loops[: max(0, len(loops) - shown)], *rows]


def _rows(graph: ProgramGraph, row: int) -> list[_Level]:
    levels = []
    while row >= 0:
        one = graph.rows[row]
        if one.kind not in _OUTSIDE:
            levels.append(_Level(("row", row), one.label, one.kind == "loop", one.loop_trips, one.fold))
        row = one.parent
    return levels[::-1]


def _parts(entries: Sequence[_Entry], depth: int, alike: Alike) -> _Parts:
    """The parts of neighbouring kernels that share all levels up to `depth`."""
    found: list[tuple[object, SkeletonPart | SkeletonStep]] = []
    for level, run in itertools.groupby(entries, lambda entry: entry.path[depth] if depth < len(entry.path) else None):
        if level is None:
            found += [(id(step), step) for step in _steps(run)]
            continue
        parts = _parts(list(run), depth + 1, alike)
        part = SkeletonPart(label=level.label, is_loop=level.is_loop, trips=level.trips, parts=parts)
        found.append(((level.fold, _shape(part, alike)) if level.fold >= 0 else id(part), part))
    # Neighbours of one fold that do the same are one.
    merged: list[SkeletonPart | SkeletonStep] = []
    for _, same in itertools.groupby(found, lambda each: each[0]):
        first, *others = (part for _, part in same)
        last = others[-1] if others else first
        if isinstance(first, SkeletonPart) and isinstance(last, SkeletonPart) and others:
            first = replace(first, label=f"{first.label} … {last.label}", alike=1 + len(others))
        merged.append(first)
    return tuple(merged)


def _steps(entries: Iterable[_Entry]) -> list[SkeletonStep]:
    """Kernels up to the collectives that follow them."""
    steps: list[SkeletonStep] = []
    kernels: list[str] = []
    for is_collective, run in itertools.groupby(entries, lambda entry: entry.collective is not None):
        inside = list(run)
        if is_collective:
            collectives = tuple(entry.collective for entry in inside if entry.collective is not None)
            steps.append(SkeletonStep(kernels=_counted(kernels), collectives=collectives))
        kernels = [] if is_collective else [entry.label for entry in inside]
    return [*steps, SkeletonStep(kernels=_counted(kernels), collectives=())] if kernels else steps


def _counted(labels: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple((label, len(list(same))) for label, same in itertools.groupby(labels))


def _shape(part: SkeletonPart | SkeletonStep, alike: Alike) -> object:
    """The visible content of a part, without the part's name."""
    if isinstance(part, SkeletonStep):
        return part.kernels, tuple(map(alike, part.collectives))
    inner = tuple((getattr(one, "label", None), _shape(one, alike)) for one in part.parts)
    return part.is_loop, part.trips, part.alike, inner
