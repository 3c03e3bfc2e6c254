"""The graphs of two programs drawn as one: scopes by phases, each box with its contents before and after.

A box is the work of one scope in one phase, so scope and phase join the boxes: a renamed scope is one box removed and
one added. Equal layers share a row, and their counts are added up. Not its job: the graphs themselves
(`analyze.graph`), matching collectives (`analyze.diff`), drawing (`view/front/src/compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.diff.status import both_words, difference_words, status_of
from pjit_inspect.view.document.quantities import share_unit
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data

_LINES = 5
_LONGEST_LABEL = 80

RowKey = tuple[tuple[str, str, int], ...]
"""The scopes around a row, and the row's: kind, name with layer numbers starred, number among siblings of that name."""
BoxKey = tuple[RowKey, int]
BoxNumbers = Mapping[str, Sequence[int]]
"""Instruction -> the boxes it runs in, as places in `Matrix.data["boxes"]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSide:
    """One of the two programs.

    Attributes:
      collectives: the collectives, numbered as in its graph.
      graph: its graph; None where there is none.
      differing: instructions of kernels and collectives that the other program lacks or has differently.
    """

    collectives: Sequence[Collective]
    graph: ProgramGraph | None = None
    differing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The matrix as data for the page, and the boxes of every collective and kernel, before and after."""

    data: dict[str, Any]
    boxes: tuple[BoxNumbers, BoxNumbers] = ({}, {})
    kernels: tuple[BoxNumbers, BoxNumbers] = ({}, {})


@dataclass(slots=True)
class _Box:
    """The contents of a box on one side: kernels, whether any differs, and (kind, axes) -> its collectives."""

    kernels: int = 0
    differs: bool = False
    lines: dict[tuple[str, tuple[str, ...] | None], list[Collective]] = field(default_factory=dict)

    @property
    def sent_bytes(self) -> int:
        return sum(map(_sent, self.lines.values()))


@dataclass(slots=True)
class _GraphSide:
    """One graph by keys."""

    labels: dict[RowKey, tuple[str, str]] = field(default_factory=dict)
    counts: dict[RowKey, int] = field(default_factory=dict)
    children: dict[RowKey, dict[RowKey, None]] = field(default_factory=dict)
    boxes: dict[BoxKey, _Box] = field(default_factory=dict)
    box_of: dict[str, dict[BoxKey, None]] = field(default_factory=dict)
    kernels_of: dict[str, dict[BoxKey, None]] = field(default_factory=dict)


def matrix_data(before: MatrixSide, after: MatrixSide, tables: SharedTables, *, missing: str = "") -> Matrix:
    """Both graphs in one matrix; the reason where one is missing."""
    if before.graph is None or after.graph is None:
        return Matrix(data={"missing": name_data(missing or "no graph of one of the programs", longest=500)})
    sides = _read(before, before.graph), _read(after, after.graph)
    keys = list(_in_order(sides, ()))
    columns = sorted({*before.graph.phases, *after.graph.phases})
    rows = {key: number for number, key in enumerate(keys)}
    found = sorted({**sides[0].boxes, **sides[1].boxes}, key=lambda one: (rows[one[0]], one[1]))
    numbers = {key: number for number, key in enumerate(found)}
    unit = share_unit(box.sent_bytes for side in sides for box in side.boxes.values())

    def box(key: BoxKey) -> dict[str, Any]:
        both = sides[0].boxes.get(key), sides[1].boxes.get(key)
        return {"row": rows[key[0]], "column": columns.index(key[1]), **_box(both, tables, unit)}

    def numbered(places: Mapping[str, Iterable[BoxKey]]) -> BoxNumbers:
        return {name: [numbers[key] for key in keys] for name, keys in places.items()}

    return Matrix(
        data={
            "missing": "",
            "unit": unit,
            "columns": [PHASES[phase] or "" for phase in columns],
            "rows": [_row(sides, key) for key in keys],
            "boxes": list(map(box, found)),
        },
        boxes=(numbered(sides[0].box_of), numbered(sides[1].box_of)),
        kernels=(numbered(sides[0].kernels_of), numbered(sides[1].kernels_of)),
    )


def _read(given: MatrixSide, graph: ProgramGraph) -> _GraphSide:
    """The rows, boxes and collectives of one graph by their keys."""
    side, keys = _GraphSide(), _row_keys(graph)
    for row, key in zip(graph.rows, keys, strict=True):
        label = graph.folds[row.fold].label if row.fold >= 0 else row.label
        side.labels.setdefault(key, (label, row.holds))
        side.counts[key] = side.counts.get(key, 0) + 1
        if key:
            side.children.setdefault(key[:-1], {}).setdefault(key)
    for box in graph.boxes:
        side.boxes.setdefault((keys[box.row], box.phase), _Box()).kernels += box.kernels
    for row, place in zip(given.collectives, graph.collective_boxes, strict=False):
        key = keys[graph.boxes[place].row], graph.boxes[place].phase
        side.boxes[key].lines.setdefault((row.kind, row.axes), []).append(row)
        for name in row.instructions[:1]:
            side.box_of.setdefault(name, {})[key] = None
            side.boxes[key].differs |= name in given.differing
    for name, place in zip(graph.kernels.names, graph.kernels.box.tolist(), strict=True):
        key = keys[graph.boxes[place].row], graph.boxes[place].phase
        side.kernels_of.setdefault(name, {})[key] = None
        side.boxes[key].differs |= name in given.differing
    return side


def _row_keys(graph: ProgramGraph) -> list[RowKey]:
    """The key of each row; members of a fold have the key of the member that is shown."""
    own: list[tuple[str, str, int]] = []
    met: dict[tuple[int, str, str], int] = {}
    for row in graph.rows:
        number = met[row.parent, row.kind, row.name] = met.get((row.parent, row.kind, row.name), -1) + 1
        own.append((row.kind, scope_pattern(f"{row.name}/"), number))
    keys: list[RowKey] = []
    for place, row in enumerate(graph.rows):
        shown = graph.folds[row.fold].shown if row.fold >= 0 else place
        keys.append((*keys[row.parent], own[shown]) if row.parent >= 0 else ())
    return keys


def _children(sides: tuple[_GraphSide, _GraphSide], key: RowKey) -> list[RowKey]:
    """The rows in a row: those after in order; each removed row follows the row that it followed before."""
    merged = list(sides[1].children.get(key, ()))
    known, last = set(merged), -1
    for child in sides[0].children.get(key, ()):
        if child in known:
            last = merged.index(child)
        else:
            last += 1
            merged.insert(last, child)
    return merged


def _in_order(sides: tuple[_GraphSide, _GraphSide], key: RowKey) -> Iterator[RowKey]:
    yield key
    for child in _children(sides, key):
        yield from _in_order(sides, child)


def _row(sides: tuple[_GraphSide, _GraphSide], key: RowKey) -> dict[str, Any]:
    is_group = bool(_children(sides, key))
    label, holds = sides[1].labels.get(key) or sides[0].labels[key]
    counts = [side.counts.get(key, 0) for side in sides]
    return {
        "label": name_data(label, longest=_LONGEST_LABEL),
        "holds": "" if is_group else name_data(holds, longest=_LONGEST_LABEL),
        "depth": len(key),
        "counts": counts,
        "is_group": is_group,
        "status": "added" if not counts[0] else "removed" if not counts[1] else "same",
    }


def _box(both: tuple[_Box | None, _Box | None], tables: SharedTables, unit: str) -> dict[str, Any]:
    """Counts of kernels and bytes sent on both sides, then the lines of collectives, largest difference first."""
    sides = both[0] or _Box(), both[1] or _Box()
    sent = sides[0].sent_bytes, sides[1].sent_bytes

    def line(key: tuple[str, tuple[str, ...] | None]) -> dict[str, Any]:
        first, second = (side.lines.get(key, []) for side in sides)
        sizes = _sent(first), _sent(second)
        return {
            "kind": name_data(key[0]),
            "axes": tables.axis_set(key[1]),
            "counts": [len(first), len(second)],
            "bytes": list(map(float, sizes)),
            "sent": both_words(sizes, unit),
            "status": status_of(bool(first), bool(second), sizes, is_same=len(first) == len(second)),
        }

    lines = [line(key) for key in {**sides[0].lines, **sides[1].lines}]
    lines.sort(key=lambda line: -abs(line["bytes"][1] - line["bytes"][0]))
    is_same = None not in both and sides[0].kernels == sides[1].kernels
    is_same = is_same and not any(side.differs for side in sides) and all(line["status"] == "same" for line in lines)
    return {
        "kernels": [sides[0].kernels, sides[1].kernels],
        "status": status_of(both[0] is not None, both[1] is not None, sent, is_same=is_same),
        "bytes": list(map(float, sent)),
        "difference": difference_words(sent, unit),
        "lines": lines[:_LINES],
        "more": max(0, len(lines) - _LINES),
    }


def _sent(rows: Sequence[Collective]) -> int:
    """Bytes the busiest device sends per call; a collective in a loop of unknown length counts once."""
    return sum(row.least_sent_bytes for row in rows)
