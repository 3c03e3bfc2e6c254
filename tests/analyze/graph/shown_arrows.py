"""Arrows between boxes as the first picture shows them: every row open, every fold closed.

A box in a fold shows one member, and so do its arrows: `bytes` is that of the shown member, `total_bytes` that of all.
What goes from one member to the next is an arrow of its own. Written apart from the front end, which folds arrows by
itself, so that the two can be compared. Not its job: arrows with nothing folded (`analyze.graph.matrix`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, UPDATE
from pjit_inspect.model.report.graph import GraphBox, ProgramGraph

__all__ = ["ShownArrow", "shown_arrows"]

_MOST_SKIPS = 6
_DRAWN = ("flow", "saved", "next")
_MOST_MEMBERS = 4096
"""Members that have an arrow are told apart up to this number."""

_Relation = Literal["flow", "skip", "against", "saved", "next", "across"]
_Member = tuple[int, int]
"""A fold, and the place of a member in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownArrow:
    """An arrow while every row is open and every fold is closed.

    Boxes in a fold show one member, and so does `bytes`; `total_bytes` is what all members together have.

    Attributes:
      source, target: shown boxes.
      relation: "flow" to the next box of the same phase in its direction (down; up for backward); "skip" to a later
        one; "against" the direction; "saved" to a later phase in the same row (update: of the same group); "next" from
        one member of a fold to the next one in that direction; "across" for all else.
      bytes: of the shown member's own arrow; 0 when only other members have it.
      total_bytes: of all members.
      members: how many members have it.
      times: how many there are: the size of the folds that either end stands in; 1 outside of folds. A "next" arrow
        has one fewer in its fold.
      is_drawn: whether it belongs in the first picture: flow, saved and next, and the six skips of the forward phase
        with most bytes.
    """

    source: int
    target: int
    relation: Literal["flow", "skip", "against", "saved", "next", "across"]
    bytes: int
    total_bytes: int
    members: int
    times: int
    is_drawn: bool


class _Key(NamedTuple):
    """What arrows that become one share: shown boxes; whether they lead to another member of a fold, and of which."""

    source: int
    target: int
    step: Literal["inside", "next", "far"]
    crossed: int


@dataclass(slots=True)
class _Sum:
    """Arrows that become one; `leaving` and `entering` are bytes of those that start, or end, in shown members."""

    total: int = 0
    own: int = 0
    leaving: int = 0
    entering: int = 0
    members: set[tuple[_Member, ...]] = field(default_factory=set)
    folds: set[int] = field(default_factory=set)


def shown_arrows(graph: ProgramGraph) -> tuple[ShownArrow, ...]:
    """The arrows between shown boxes, most bytes first."""
    boxes, arrows, parents = graph.boxes, graph.arrows, [row.parent for row in graph.rows]
    at = {(box.row, box.phase): number for number, box in enumerate(boxes)}
    shown = [at[graph.rows[box.row].shown_as, box.phase] for box in boxes]
    members = _members(graph)
    sums: dict[_Key, _Sum] = {}
    for source, target, size in zip(arrows.source.tolist(), arrows.target.tolist(), arrows.bytes.tolist(), strict=True):
        near, far = members[boxes[source].row], members[boxes[target].row]
        step, crossed = _step(near, far)
        if step == "next" and not _flows(boxes[source].phase, boxes[target].phase, near, far):
            step = "far"
        key = _Key(shown[source], shown[target], step, crossed)
        if key.source != key.target or key.step != "inside":
            leaves, enters = key.source == source, key.target == target
            _add(sums.setdefault(key, _Sum()), size, (*near, *far), leaves=leaves, enters=enters)
    relations = _Relations(boxes, parents, shown)
    found = [_arrow(key, entry, graph, relations) for key, entry in sums.items()]
    return _with_skips(sorted(found, key=lambda arrow: (-arrow.total_bytes, arrow.source, arrow.target)), boxes)


def _members(graph: ProgramGraph) -> list[tuple[_Member, ...]]:
    """For each row the members of folds that it stands in, outer ones first."""
    places = {row: place for fold in graph.folds for place, row in enumerate(fold.members)}
    found: list[tuple[_Member, ...]] = []
    for number, row in enumerate(graph.rows):
        around = found[row.parent] if row.parent >= 0 else ()
        found.append((*around, (row.fold, places[number])) if number in places else around)
    return found


def _step(
    near: tuple[_Member, ...], far: tuple[_Member, ...]
) -> tuple[Literal["inside"], int] | tuple[Literal["next", "far"], int]:
    for (fold, place), (other, there) in zip(near, far, strict=False):
        if fold != other:
            break
        if place != there:
            return ("next" if abs(place - there) == 1 else "far"), fold
    return "inside", -1


def _flows(phase: int, other: int, near: tuple[_Member, ...], far: tuple[_Member, ...]) -> bool:
    """Whether an arrow between members stays in its phase and goes in its direction."""
    onward = next(there > place for (_, place), (_, there) in zip(near, far, strict=False) if place != there)
    return phase == other and phase != UPDATE and onward == (phase != BACKWARD)


def _add(entry: _Sum, size: int, members: tuple[_Member, ...], *, leaves: bool, enters: bool) -> None:
    entry.total += size
    entry.own += size * (leaves and enters)
    entry.leaving += size * leaves
    entry.entering += size * enters
    if len(entry.members) < _MOST_MEMBERS:
        entry.members.add(members)
    entry.folds.update(fold for fold, _ in members)


def _arrow(key: _Key, entry: _Sum, graph: ProgramGraph, relations: _Relations) -> ShownArrow:
    times = 1
    for fold in sorted(entry.folds):
        times *= len(graph.folds[fold].members) - (fold == key.crossed and key.step == "next")
    relation = relations.of(key)
    return ShownArrow(
        source=key.source,
        target=key.target,
        relation=relation,
        bytes=entry.own if key.step == "inside" else entry.leaving or entry.entering,
        total_bytes=entry.total,
        members=len(entry.members),
        times=times,
        is_drawn=relation in _DRAWN,
    )


class _Relations:
    """How two shown boxes stand to each other."""

    def __init__(self, boxes: Sequence[GraphBox], parents: Sequence[int], shown: Sequence[int]) -> None:
        self._boxes, self._parents = boxes, parents
        self._place: dict[int, int] = {}
        columns: dict[int, int] = {}
        for number, box in enumerate(boxes):
            if shown[number] == number:
                self._place[number] = columns.get(box.phase, 0)
                columns[box.phase] = self._place[number] + 1

    def of(self, key: _Key) -> _Relation:
        """What an arrow from one to the other is."""
        near, far = self._boxes[key.source], self._boxes[key.target]
        if key.step != "inside":
            return "next" if key.step == "next" else "across"
        if near.phase == far.phase:
            return "across" if near.phase == UPDATE else self._along(key, near.phase)
        is_group = near.row == far.row or (far.phase == UPDATE and self._is_around(far.row, near.row))
        return "saved" if is_group and far.phase > near.phase else "across"

    def _along(self, key: _Key, phase: int) -> _Relation:
        steps = self._place[key.target] - self._place[key.source]
        steps = -steps if phase == BACKWARD else steps
        if steps < 0:
            return "against"
        return "flow" if steps == 1 else "skip"

    def _is_around(self, outer: int, row: int) -> bool:
        while row > outer:
            row = self._parents[row]
        return row == outer


def _with_skips(arrows: Sequence[ShownArrow], boxes: Sequence[GraphBox]) -> tuple[ShownArrow, ...]:
    """The same with the forward skips of most bytes marked as drawn."""
    skips = [k for k, arrow in enumerate(arrows) if arrow.relation == "skip" and boxes[arrow.source].phase == FORWARD]
    chosen = frozenset(skips[:_MOST_SKIPS])
    return tuple(replace(arrow, is_drawn=True) if k in chosen else arrow for k, arrow in enumerate(arrows))
