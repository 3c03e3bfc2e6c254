"""Folds equal layers into one that is shown, and states every deviation of the others.

An exact comparison would fold almost nothing: first and last layers always differ, and a TPU fuses each layer
differently. Layers count as alike if their arrays have similar shapes and their matmuls and collectives are similar.
Differences in collectives are stated, which loses none: `count_shown` is the number of the program's collectives. Not
its job: which rows there are (`analyze.graph.tree`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import FORWARD, numbered
from pjit_inspect.analyze.graph.tree import Rows
from pjit_inspect.model.report.graph import Deviation, GraphBox, GraphFold, GraphRow, ProgramGraph

_LIKE_SHAPES = 0.5
_LIKE_ESSENTIALS = 0.6
_MOST_COMPARED = 64
"""Different members of one fold that are all compared with each other."""

_Signature = Counter[tuple]


def fold_rows(rows: Rows, placing: Placing) -> tuple[Rows, tuple[GraphFold, ...]]:
    """Folds neighbouring rows that do the same work: the rows with their folds, and the folds, outer ones first."""
    candidates = _candidates(rows.rows)
    compared = _RowBag(rows, placing, frozenset(row for group in candidates for row in group))
    folds = [
        compared.fold(run, f"{rows.rows[run[0]].name} … {rows.rows[run[-1]].name}")
        for group in candidates
        for run in compared.runs(group)
        if len(run) > 1
    ]
    fold_of = {member: number for number, fold in enumerate(folds) for member in fold.members}
    folded = [replace(row, fold=fold_of.get(number, -1)) for number, row in enumerate(rows.rows)]
    shown = _shown_as(folded, folds)
    folded = [replace(row, shown_as=other) for row, other in zip(folded, shown, strict=True)]
    return replace(rows, rows=folded), tuple(folds)


def _candidates(rows: Sequence[GraphRow]) -> list[list[int]]:
    """Rows within one row whose names differ in their numbers only, in order."""
    candidates = []
    for around in rows:
        alike: dict[tuple[str, str], list[int]] = {}
        for row in around.children:
            # Names without a number are not compared: two scopes that happen to do the same are not layers of one
            # stack.
            name, kind = rows[row].name, rows[row].kind
            if numbered(name) != name and kind in ("scope", "argument", "function"):
                alike.setdefault((kind, numbered(name)), []).append(row)
        candidates += [group for group in alike.values() if len(group) > 1]
    return candidates


class _RowBag:
    """The content of rows as multisets, whose likeness is their Jaccard index.

    Attributes:
      essential: matmuls and collectives, by place and phase.
      exact: all kernels, by place and phase.
      shapes: shapes of the program's arguments that the row's forward kernels take, gathered or not.
    """

    def __init__(self, rows: Rows, placing: Placing, wanted: frozenset[int]) -> None:
        self._rows, self._wanted, facts = rows.rows, wanted, placing.facts
        self._within: dict[int, list[tuple[int, int]]] = {}
        self._paths: dict[tuple[int, str], int] = {}
        self.essential, self.exact, self.shapes = ({row: _Signature() for row in sorted(wanted)} for _ in range(3))
        columns = facts.module.instructions
        opcodes, shape_of = columns.opcode[facts.kernels.rows].tolist(), columns.shape
        looks = list(zip(placing.label, opcodes, facts.kernels.result_bytes.tolist(), strict=True))
        owned: set[tuple[int, int]] = set()
        for kernel, row in enumerate(rows.of_kernel):
            phase, members = placing.phase[kernel], self._members(row)
            moved = tuple(
                (facts.table.rows[k].kind, facts.table.rows[k].axes) for k in facts.collectives.get(kernel, ())
            )
            for member, path in members:
                if facts.matmuls[kernel]:
                    self.essential[member][path, phase] += facts.matmuls[kernel]
                for collective in moved:
                    self.essential[member][path, phase, *collective] += 1
                self.exact[member][path, phase, looks[kernel], moved] += 1
            for taken in facts.inputs[kernel] if phase == FORWARD and members and not moved else ():
                argument = facts.argument_of(taken)
                for member in (member for member, _ in members if argument >= 0):
                    if (member, argument) not in owned:
                        owned.add((member, argument))
                        self.shapes[member][(int(shape_of[facts.kernels.parameters[argument]]),)] += 1

    def _members(self, row: int) -> list[tuple[int, int]]:
        """The wanted rows around a row, and its path from each, as a number that equal paths share."""
        if row not in self._within:
            parent = self._rows[row].parent
            step = numbered(self._rows[row].name)
            around = self._members(parent) if parent >= 0 else []
            members = [(member, self._paths.setdefault((path, step), len(self._paths) + 1)) for member, path in around]
            self._within[row] = [*members, (row, 0)] if row in self._wanted else members
        return self._within[row]

    def runs(self, group: Sequence[int]) -> list[list[int]]:
        """Neighbours that are alike."""
        runs: list[list[int]] = []
        for row in group:
            if runs and self._is_like(runs[-1][-1], row):
                runs[-1].append(row)
            else:
                runs.append([row])
        return runs

    def _is_like(self, a: int, b: int) -> bool:
        if self.shapes[a] and self.shapes[b] and _likeness(self.shapes[a], self.shapes[b]) < _LIKE_SHAPES:
            return False
        content = self.essential if self.essential[a] or self.essential[b] else self.exact
        return _likeness(content[a], content[b]) >= _LIKE_ESSENTIALS

    def fold(self, run: Sequence[int], label: str) -> GraphFold:
        """The fold of these rows."""
        shown = self._most_alike(run)
        return GraphFold(
            members=tuple(run),
            shown=shown,
            label=label,
            likeness=tuple(_likeness(self.exact[shown], self.exact[row]) for row in run),
            essential_likeness=tuple(_likeness(self.essential[shown], self.essential[row]) for row in run),
        )

    def _most_alike(self, run: Sequence[int]) -> int:
        """The member most like all others in matmuls and collectives, then in kernels; the first if several are."""
        classes: dict[tuple[frozenset, frozenset], list[int]] = {}
        for row in run:
            key = frozenset(self.essential[row].items()), frozenset(self.exact[row].items())
            classes.setdefault(key, []).append(row)
        largest = sorted(classes.values(), key=len, reverse=True)[:_MOST_COMPARED]

        def fitness(members: list[int]) -> list[float]:
            return [
                round(sum(len(others) * _likeness(content[members[0]], content[others[0]]) for others in largest), 6)
                for content in (self.essential, self.exact)
            ]

        return max(largest, key=fitness)[0]


def _likeness(a: _Signature, b: _Signature) -> float:
    """The Jaccard index of two multisets; 1 when both are empty."""
    total = (a | b).total()
    return (a & b).total() / total if total else 1.0


def _shown_as(rows: Sequence[GraphRow], folds: Sequence[GraphFold]) -> list[int]:
    """For each row the row shown in its place: in a fold the shown member, and in that the row of the same name."""
    counts = Counter[tuple]()
    places: list[list[tuple]] = []
    at: dict[tuple, int] = {}
    for number, row in enumerate(rows):
        places.append([])
        # Names as they are come first, then names without their numbers; equal ones are counted.
        for key in ((row.kind, row.name, "exact"), (row.kind, numbered(row.name), "numbered")):
            places[-1].append((*key, counts[row.parent, key]))
            at[row.parent, *places[-1][-1]] = number
            counts[row.parent, key] += 1

    def member(row: int) -> int:
        return row if rows[row].fold < 0 else folds[rows[row].fold].shown

    shown: list[int] = []
    for number, row in enumerate(rows):
        around = shown[row.parent] if row.parent >= 0 else -1
        if around == row.parent:
            shown.append(member(number))
            continue
        match = next((at[around, *place] for place in places[number] if (around, *place) in at), None)
        if match is None:
            match = around
            while rows[match].children:
                match = member(rows[match].children[0])
        shown.append(member(match))
    return shown


def times_of(rows: Sequence[GraphRow], folds: Sequence[GraphFold]) -> list[int]:
    """For each row the number of rows it represents: the product of the sizes of the folds around it."""
    times: list[int] = []
    for row in rows:
        around = times[row.parent] if row.parent >= 0 else 1
        times.append(around * (len(folds[row.fold].members) if row.fold >= 0 else 1))
    return times


_Collectives = dict[tuple[int, str, tuple[str, ...] | None, int], tuple[int, int]]
"""(shown box, kind, axes, mesh) -> their number, and their bytes."""


def find_deviations(
    rows: Sequence[GraphRow],
    folds: Sequence[GraphFold],
    boxes: Sequence[GraphBox],
    box_at: Mapping[tuple[int, int], int],
) -> tuple[Deviation, ...]:
    """Collectives that other members of a fold have more or fewer of than the shown member.

    Folds within members that are not shown are skipped: the fold around them covers them. `box_at` gives the box of a
    row and phase.
    """
    times, counted = times_of(rows, folds), _count_collectives(rows, boxes, box_at)
    deviations: list[Deviation] = []
    for number, fold in enumerate(folds):
        around, usual = rows[fold.shown].parent, counted.get(fold.shown, {})
        if rows[around].shown_as != around:
            continue
        for place, member in enumerate(fold.members):
            other = counted.get(member, {})
            for key in dict.fromkeys([*usual, *other]):
                more, less = other.get(key, (0, 0)), usual.get(key, (0, 0))
                count, size = more[0] - less[0], more[1] - less[1]
                if count or size:
                    box, kind, axes, mesh = key
                    deviation = Deviation(
                        fold=number, member=place, box=box, kind=kind, axes=axes, mesh=mesh, count=count,
                        payload_bytes=size, times=times[around],
                    )  # fmt: skip
                    deviations.append(deviation)
    return tuple(deviations)


def _count_collectives(
    rows: Sequence[GraphRow], boxes: Iterable[GraphBox], box_at: Mapping[tuple[int, int], int]
) -> dict[int, _Collectives]:
    """The collectives of each member of a fold."""
    counted: dict[int, _Collectives] = {}
    for box in (box for box in boxes if box.collectives):
        shown, around = box_at[rows[box.row].shown_as, box.phase], box.row
        while around >= 0:
            if rows[around].fold >= 0:
                counts = counted.setdefault(around, {})
                for each in box.collectives:
                    key = shown, each.kind, each.axes, each.mesh
                    count, size = counts.get(key, (0, 0))
                    counts[key] = count + len(each.collectives), size + each.payload_bytes
            around = rows[around].parent
    return counted


def count_shown(graph: ProgramGraph) -> int:
    """The number of collectives in the program: the shown ones times their folds, plus the stated deviations."""
    times = times_of(graph.rows, graph.folds)
    shown = sum(
        times[box.row] * sum(len(each.collectives) for each in box.collectives)
        for box in graph.boxes
        if graph.rows[box.row].shown_as == box.row
    )
    return shown + sum(deviation.count * deviation.times for deviation in graph.deviations)
