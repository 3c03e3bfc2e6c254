"""Why a collective came, went or changed, as far as the facts of both programs prove it.

Two witnesses are needed: a spec that differs between the programs (of an argument, a result, or a constraint that is
new, gone or another), and the collective's own cause, which names that array, or propagation, which says that the
sharding of the cause's operation comes from there. Without both there is no reason. Not its job: joining rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.diff.match import Joined
from pjit_inspect.analyze.diff.side import DiffSide
from pjit_inspect.model.diff.pairs import ArrayDiff, CollectiveDiff, Pair, ShardingDiff
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.spec import PartitionSpec, axes_of, spec_text
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.model.words.sentence import Sentence, name, place, say, spec

__all__ = ["Edit", "find_edits", "with_reasons"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A sharding that somebody chose otherwise.

    Attributes:
      names: what it is called in the program before and in that after: a path, or a constraint's place.
      axes: the mesh axes along which a dimension is split in one of the programs only; None where it concerns them all.
      sentence: the change for a person, behind "because".
    """

    names: tuple[str, str]
    axes: frozenset[str] | None
    sentence: Sentence


def find_edits(
    before: DiffSide, after: DiffSide, arguments: ArrayDiff, results: ArrayDiff, requests: Sequence[Joined]
) -> tuple[Edit, ...]:
    """The shardings that were chosen otherwise, outermost first."""
    found = [_array_edit(pair) for table in (arguments, results) for pair in table.changed]
    return (*(edit for edit in found if edit is not None), *_request_edits(before, after, requests))


def _array_edit(pair: Pair[ArrayLayout]) -> Edit | None:
    one, two = pair.before, pair.after
    if one is None or two is None or one.spec is None or two.spec is None or one.spec == two.spec:
        return None
    # Equal layers have one sentence.
    words = say("{} is {}, was {}", name(path_pattern(two.path)), spec(spec_text(two.spec)), spec(spec_text(one.spec)))
    return Edit(names=(one.path, two.path), axes=_moved_axes(one.spec, two.spec), sentence=words)


def _request_edits(before: DiffSide, after: DiffSide, joined: Sequence[Joined]) -> Iterator[Edit]:
    same = {one.before: one.after for one in joined}
    kept = set(same.values())
    for number, request in enumerate(before.requests):
        if number not in same:
            words = say("the constraint to {} at {} is gone", spec(spec_text(request.spec)), place(request.where))
            yield Edit(names=(request.where, ""), axes=None, sentence=words)
            continue
        other = after.requests[same[number]]
        if request.spec != other.spec:
            specs = (spec(spec_text(one.spec)) for one in (other, request))
            words = say("the constraint at {} asks for {}, was {}", place(other.where), *specs)
            yield Edit(names=(request.where, other.where), axes=_moved_axes(request.spec, other.spec), sentence=words)
    for number, request in enumerate(after.requests):
        if number not in kept:
            words = say("the constraint to {} at {} is new", spec(spec_text(request.spec)), place(request.where))
            yield Edit(names=("", request.where), axes=None, sentence=words)


def _moved_axes(one: PartitionSpec, two: PartitionSpec) -> frozenset[str]:
    """The axes that split a dimension in one of two specs only."""
    return frozenset(axis for _, axis in _split(one) ^ _split(two))


def _split(found: PartitionSpec) -> set[tuple[int, str]]:
    return {(k, axis_name(axis)) for k, entry in enumerate(found) for axis in axes_of(entry)}


# ---------------------------------------------------------------- what they explain


def with_reasons(collectives: CollectiveDiff, edits: Sequence[Edit], shardings: ShardingDiff) -> CollectiveDiff:
    """The collectives, each that came, went or changed with the edit that explains it; without where none is proven."""
    if not edits:
        return collectives
    finder = _Finder(edits, shardings)
    return replace(
        collectives,
        rows=tuple(
            replace(pair, reason=finder.reason(pair)) if pair.status != "same" else pair for pair in collectives
        ),
    )


@dataclass(slots=True)
class _Finder:
    edits: Sequence[Edit]
    shardings: ShardingDiff
    _by_name: tuple[dict[str, Edit], dict[str, Edit]] = field(init=False)
    _values: tuple[dict[object, list[Pair[ValueSharding]]], dict[object, list[Pair[ValueSharding]]]] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = ({}, {})
        for edit in self.edits:
            for known, own in zip(self._by_name, edit.names, strict=True):
                if own:
                    known.setdefault(own, edit)
        self._values = ({}, {})
        for pair in self.shardings.changed:
            if pair.before is not None and pair.after is not None and pair.before.spec != pair.after.spec:
                for known, row in zip(self._values, (pair.before, pair.after), strict=True):
                    known.setdefault((row.op_name, row.source[:1]), []).append(pair)

    def reason(self, pair: Pair[Collective]) -> Sentence:
        """The edit that explains a collective; "" where none is proven to."""
        for side, row in enumerate((pair.before, pair.after)):
            for cause in row.causes if row is not None else ():
                edit = self._named(cause, side, row) or self._propagated(cause, side, row)
                if edit is not None:
                    return edit.sentence
        return Sentence()

    def _named(self, cause: Cause, side: int, row: Collective | None) -> Edit | None:
        """The edit of an array or constraint that the cause itself names."""
        if cause.evidence != "sharding" or row is None:
            return None
        if cause.kind == "reshard_requested" and cause.source:
            edit = self._by_name[side].get(cause.source[0].where)
            if edit is not None and self._is_along(edit.axes, row):
                return edit
        for edit in self._edits_in((say("{}", name(cause.value)), cause.sentence, *cause.facts), side):
            if self._is_along(edit.axes, row):
                return edit
        return None

    def _propagated(self, cause: Cause, side: int, row: Collective | None) -> Edit | None:
        """The edit from which the operation of the cause has its other sharding, as propagation says."""
        if cause.evidence != "sharding" or row is None:
            return None
        for pair in self._values[side].get((cause.op_name, cause.source[:1]), ()):
            if pair.before is None or pair.after is None:
                continue
            moved = _moved_axes(pair.before.spec, pair.after.spec)
            if not self._is_along(moved, row):
                continue
            # Its own program first, so that the answer is the same with the programs turned.
            for own in (side, 1 - side):
                value = (pair.before, pair.after)[own]
                origins = (text for axis, text in value.origins.items() if axis in moved)
                for edit in self._edits_in(origins, own):
                    if edit.axes is None or edit.axes & moved:
                        return edit
        return None

    def _edits_in(self, sentences: Iterable[Sentence], side: int) -> Iterator[Edit]:
        """The edits of what some sentences name."""
        known = self._by_name[side]
        for sentence in sentences:
            is_constraint = "constraint" in sentence
            for phrase in sentence.phrases:
                if phrase.kind in ("name", "code") or (phrase.kind == "place" and is_constraint):
                    edit = known.get(phrase.text)
                    if edit is not None:
                        yield edit

    @staticmethod
    def _is_along(axes: frozenset[str] | None, row: Collective) -> bool:
        return axes is None or bool(axes & set(map(axis_name, row.axes or ())))
