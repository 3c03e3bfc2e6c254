"""Folds equal layers into one that is shown, and states every deviation of the others.

An exact comparison would fold almost nothing: first and last layers always differ, and a TPU fuses each layer
differently. Layers count as alike if their arrays have similar shapes and their matmuls and collectives are similar.
Differences in collectives are stated, which loses none: `count_shown` is the number of the program's collectives. Not
its job: which rows there are (`analyze.graph.tree`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pjit_inspect.analyze.graph.arrays import Inputs, numbered
from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import FORWARD
from pjit_inspect.analyze.graph.tree import Rows
from pjit_inspect.model.report.graph import BoxCollectives, Deviation, GraphBox, GraphFold, ProgramGraph

_LIKE_SHAPES = 0.5
_LIKE_ESSENTIALS = 0.6
_MOST_COMPARED = 64
"""Different members of one fold that are all compared with each other."""

_Signature = Counter[tuple]


class KernelFacts(NamedTuple):
    """Properties by which kernels are compared, one entry per kernel.

    `collectives` are the (kind, axes) of each kernel's collectives; `looks` is anything that equal kernels share.
    """

    matmuls: Sequence[int]
    collectives: Mapping[int, tuple[tuple[Any, ...], ...]]
    looks: Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folding:
    """The folds, and the rows in them.

    Attributes:
      folds: the folds, outer ones first.
      fold_of: for each row the fold it is a member of; -1.
      shown_as: for each row the row that is shown in its place while all folds are closed.
    """

    folds: tuple[GraphFold, ...]
    fold_of: tuple[int, ...]
    shown_as: tuple[int, ...]

    def is_shown(self, row: int) -> bool:
        """Whether a row is shown itself while all folds are closed."""
        return self.shown_as[row] == row

    def times(self, parents: Sequence[int]) -> list[int]:
        """For each row the number of rows it represents: the product of the sizes of the folds around it."""
        times: list[int] = []
        for row, parent in enumerate(parents):
            fold = self.fold_of[row]
            around = times[parent] if parent >= 0 else 1
            times.append(around * (len(self.folds[fold].members) if fold >= 0 else 1))
        return times


def fold_rows(rows: Rows, placing: Placing, inputs: Inputs, facts: KernelFacts, kinds: Mapping[int, str]) -> Folding:
    """Folds neighbouring rows that do the same work.

    Args:
      rows: the rows.
      placing: the scopes and phases of kernels.
      inputs: the inputs of kernels.
      facts: the properties by which kernels are compared.
      kinds: the kind of each kernel that is a collective.
    """
    candidates = _candidates(rows)
    compared = _Compared(rows, placing, facts, frozenset(row for group in candidates for row in group))
    shapes = _owned_shapes(rows, placing, inputs, kinds, compared.wanted)
    folds: list[GraphFold] = []
    for group in candidates:
        for run in _runs(group, compared, shapes):
            if len(run) > 1:
                folds.append(_fold(run, compared, rows))
    fold_of = [-1] * len(rows)
    for number, fold in enumerate(folds):
        for member in fold.members:
            fold_of[member] = number
    return Folding(folds=tuple(folds), fold_of=tuple(fold_of), shown_as=_shown_as(rows, folds, fold_of))


def _candidates(rows: Rows) -> list[list[int]]:
    """Rows within one row whose names differ in their numbers only, in order."""
    candidates = []
    for children in rows.children:
        alike: dict[tuple[str, str], list[int]] = {}
        for row in children:
            # Names without a number are not compared: two scopes that happen to do the same are not layers of one
            # stack.
            masked = numbered(rows.names[row])
            if masked != rows.names[row] and rows.kinds[row] in ("scope", "argument", "function"):
                alike.setdefault((rows.kinds[row], masked), []).append(row)
        candidates += [group for group in alike.values() if len(group) > 1]
    return candidates


class _Compared:
    """Signatures of rows: their content, by place and phase."""

    def __init__(self, rows: Rows, placing: Placing, facts: KernelFacts, wanted: frozenset[int]) -> None:
        self.wanted = wanted
        self.essential: dict[int, _Signature] = {row: Counter() for row in sorted(wanted)}
        self.exact: dict[int, _Signature] = {row: Counter() for row in sorted(wanted)}
        self._within: dict[int, list[tuple[int, int]]] = {}
        self._paths: dict[tuple[int, str], int] = {}
        for kernel, row in enumerate(rows.of_kernel):
            phase = placing.phase[kernel]
            for member, path in self._members(row, rows):
                essential, exact = self.essential[member], self.exact[member]
                if facts.matmuls[kernel]:
                    essential[path, phase] += facts.matmuls[kernel]
                moved = facts.collectives.get(kernel, ())
                for collective in moved:
                    essential[path, phase, *collective] += 1
                exact[path, phase, facts.looks[kernel], moved] += 1

    def _members(self, row: int, rows: Rows) -> list[tuple[int, int]]:
        """The wanted rows around a row, and its path from each, as a number that equal paths share."""
        if row not in self._within:
            parent = rows.parents[row]
            step = numbered(rows.names[row])
            around = self._members(parent, rows) if parent >= 0 else []
            members = [(member, self._paths.setdefault((path, step), len(self._paths) + 1)) for member, path in around]
            self._within[row] = [*members, (row, 0)] if row in self.wanted else members
        return self._within[row]


def _owned_shapes(
    rows: Rows, placing: Placing, inputs: Inputs, kinds: Mapping[int, str], wanted: frozenset[int]
) -> dict[int, _Signature]:
    """For each wanted row the shapes of the program's arguments that its forward kernels take, gathered or not."""
    owned: dict[int, _Signature] = {row: Counter() for row in sorted(wanted)}
    shape_of = inputs.kernels.module.instructions.shape
    seen: set[tuple[int, int]] = set()
    for kernel, row in enumerate(rows.of_kernel):
        if placing.phase[kernel] != FORWARD or kernel in kinds:
            continue
        for argument in _arguments(inputs.of[kernel], inputs, kinds):
            around = row
            while around >= 0 and (around, argument) not in seen:
                seen.add((around, argument))
                if around in wanted:
                    owned[around][(int(shape_of[argument]),)] += 1
                around = rows.parents[around]
    return owned


def _arguments(taken: Iterable[tuple[int, int, int, int]], inputs: Inputs, kinds: Mapping[int, str]) -> Iterable[int]:
    for source, element, argument, _ in taken:
        if source >= 0:
            source, argument = inputs.made_by(source, element)
        if source >= 0 and kinds.get(source) == "all-gather" and source not in inputs.combined:
            yield from (inner for maker, _, inner, _ in inputs.of[source] if maker < 0)
        elif source < 0:
            yield argument


def _likeness(a: _Signature, b: _Signature) -> float:
    """The Jaccard index of two multisets; 1 when both are empty."""
    total = (a | b).total()
    return (a & b).total() / total if total else 1.0


def _runs(group: Sequence[int], compared: _Compared, shapes: Mapping[int, _Signature]) -> list[list[int]]:
    runs: list[list[int]] = []
    for row in group:
        if runs and _is_like(runs[-1][-1], row, compared, shapes):
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _is_like(a: int, b: int, compared: _Compared, shapes: Mapping[int, _Signature]) -> bool:
    if shapes[a] and shapes[b] and _likeness(shapes[a], shapes[b]) < _LIKE_SHAPES:
        return False
    essential = compared.essential if compared.essential[a] or compared.essential[b] else compared.exact
    return _likeness(essential[a], essential[b]) >= _LIKE_ESSENTIALS


def _fold(run: Sequence[int], compared: _Compared, rows: Rows) -> GraphFold:
    shown = _most_alike(run, compared)
    return GraphFold(
        members=tuple(run),
        shown=shown,
        label=f"{rows.names[run[0]]} … {rows.names[run[-1]]}",
        likeness=tuple(_likeness(compared.exact[shown], compared.exact[row]) for row in run),
        essential_likeness=tuple(_likeness(compared.essential[shown], compared.essential[row]) for row in run),
    )


def _most_alike(run: Sequence[int], compared: _Compared) -> int:
    """The member most like all others in matmuls and collectives, then in kernels; the first if several are equal."""
    classes: dict[tuple[frozenset, frozenset], list[int]] = {}
    for row in run:
        key = frozenset(compared.essential[row].items()), frozenset(compared.exact[row].items())
        classes.setdefault(key, []).append(row)
    largest = sorted(classes.values(), key=len, reverse=True)[:_MOST_COMPARED]

    def fitness(members: list[int]) -> tuple[float, float]:
        def total(signatures: Mapping[int, _Signature]) -> float:
            mine = signatures[members[0]]
            return round(sum(len(others) * _likeness(mine, signatures[others[0]]) for others in largest), 6)

        return total(compared.essential), total(compared.exact)

    return max(largest, key=fitness)[0]


def _shown_as(rows: Rows, folds: Sequence[GraphFold], fold_of: Sequence[int]) -> tuple[int, ...]:
    shown: list[int] = []
    places: dict[int, dict[tuple[str, str, int], int]] = {}
    for row, parent in enumerate(rows.parents):
        if parent < 0:
            shown.append(row)
        elif shown[parent] == parent:
            shown.append(row if fold_of[row] < 0 else folds[fold_of[row]].shown)
        else:
            around = shown[parent]
            match = _counterpart(row, parent, around, rows, places)
            if match is None:
                shown.append(_first_leaf(around, rows, folds, fold_of))
            else:
                shown.append(match if fold_of[match] < 0 else folds[fold_of[match]].shown)
    return tuple(shown)


def _counterpart(
    row: int, parent: int, around: int, rows: Rows, places: dict[int, dict[tuple[str, str, int], int]]
) -> int | None:
    """The row within `around` that corresponds to `row` within `parent`: by name, or else by name without numbers."""
    for each in (parent, around):
        if each not in places:
            places[each] = _places(rows, each)
    mine = [key for key, value in places[parent].items() if value == row] if len(rows.children[parent]) < 64 else []
    keys = mine or [(rows.kinds[row], rows.names[row], 0), (rows.kinds[row], numbered(rows.names[row]), 0)]
    return next((places[around][key] for key in keys if key in places[around]), None)


def _places(rows: Rows, parent: int) -> dict[tuple[str, str, int], int]:
    """The rows within a row by kind, name, and number of earlier rows of that name; exact names come first."""
    places: dict[tuple[str, str, int], int] = {}
    for mask in (False, True):
        counts = Counter[tuple[str, str]]()
        for row in rows.children[parent]:
            key = rows.kinds[row], numbered(rows.names[row]) if mask else rows.names[row]
            places.setdefault((*key, counts[key]), row)
            counts[key] += 1
    return places


def _first_leaf(row: int, rows: Rows, folds: Sequence[GraphFold], fold_of: Sequence[int]) -> int:
    while rows.children[row]:
        row = rows.children[row][0]
        row = row if fold_of[row] < 0 else folds[fold_of[row]].shown
    return row


def find_deviations(
    folding: Folding, rows: Rows, boxes: Sequence[GraphBox], box_at: Mapping[tuple[int, int], int]
) -> tuple[Deviation, ...]:
    """Collectives that other members of a fold have more or fewer of than the shown member.

    Folds within members that are not shown are skipped: the fold around them covers them. `box_at` gives the box of a
    row and phase.
    """
    times = folding.times(rows.parents)
    counted = _Counted(folding, rows, boxes, box_at)
    deviations: list[Deviation] = []
    for number, fold in enumerate(folding.folds):
        around = rows.parents[fold.shown]
        if not folding.is_shown(around):
            continue
        usual = counted.of(fold.shown)
        for place, member in enumerate(fold.members):
            if member == fold.shown:
                continue
            other = counted.of(member)
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


class _Counted:
    """The collectives of each member: (shown box, kind, axes, mesh) -> (number, bytes)."""

    def __init__(
        self, folding: Folding, rows: Rows, boxes: Sequence[GraphBox], box_at: Mapping[tuple[int, int], int]
    ) -> None:
        self._members: dict[int, dict[tuple[int, str, tuple[str, ...] | None, int], tuple[int, int]]] = {}
        for box in boxes:
            if not box.collectives:
                continue
            shown = box_at[folding.shown_as[box.row], box.phase]
            around = box.row
            while around >= 0:
                if folding.fold_of[around] >= 0:
                    self._add(around, shown, box.collectives)
                around = rows.parents[around]

    def _add(self, member: int, shown: int, collectives: Iterable[BoxCollectives]) -> None:
        counts = self._members.setdefault(member, {})
        for each in collectives:
            key = shown, each.kind, each.axes, each.mesh
            count, size = counts.get(key, (0, 0))
            counts[key] = count + len(each.collectives), size + each.payload_bytes

    def of(self, member: int) -> dict[tuple[int, str, tuple[str, ...] | None, int], tuple[int, int]]:
        """The collectives of a member of a fold."""
        return self._members.get(member, {})


def count_shown(graph: ProgramGraph) -> int:
    """The number of collectives in the program: the shown ones times their folds, plus the stated deviations."""
    times = [1] * len(graph.rows)
    for row, each in enumerate(graph.rows):
        around = times[each.parent] if each.parent >= 0 else 1
        times[row] = around * (len(graph.folds[each.fold].members) if each.fold >= 0 else 1)
    shown = sum(
        times[box.row] * sum(len(each.collectives) for each in box.collectives)
        for box in graph.boxes
        if graph.rows[box.row].shown_as == box.row
    )
    return shown + sum(deviation.count * deviation.times for deviation in graph.deviations)
