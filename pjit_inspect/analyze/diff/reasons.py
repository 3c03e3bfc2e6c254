"""Reasons why a collective was added, removed or changed, as far as facts of both programs prove them.

Two facts are needed: a sharding that was chosen differently (`analyze.diff.edits`), and a path from it to the
collective. Either the collective's cause names that array or constraint, or the sharding of the cause's operation
differs and comes from there, as propagation says or as a chain of differing values shows. Without both there is no
reason. Not its job: joining rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.diff.edits import ShardingEdit, moved_axes
from pjit_inspect.model.diff.pairs import CollectiveDiff, Pair, ShardingDiff
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence, joined

_MOST_REASONS = 2
_MOST_REACHES = 16
"""Edits whose reach is looked at, equal layers together; more are no comparison of one change."""

Programs = tuple[ShardedProgram | None, ShardedProgram | None]
Changed = tuple[ValueSharding, ValueSharding]
"""A value of both programs, with another spec in each."""


def with_reasons(
    collectives: CollectiveDiff, edits: Sequence[ShardingEdit], shardings: ShardingDiff, programs: Programs
) -> CollectiveDiff:
    """The collectives, each that came, went or changed with the edits that explain it; "" where none is proven to."""
    if not edits:
        return collectives
    finder = _ReasonFinder(edits, shardings, programs)
    rows = (replace(p, reason=finder.reason(p)) if p.status != "same" else p for p in collectives)
    return replace(collectives, rows=tuple(rows))


@dataclass(slots=True)
class _ReasonFinder:
    edits: Sequence[ShardingEdit]
    shardings: ShardingDiff
    programs: Programs
    _by_name: tuple[dict[str, ShardingEdit], dict[str, ShardingEdit]] = field(init=False)
    _values: tuple[dict[object, list[Changed]], dict[object, list[Changed]]] = field(init=False)
    _reached: dict[tuple[int, int], set[Sentence]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name = ({}, {})
        for edit in self.edits:
            for known, own in zip(self._by_name, edit.names, strict=True):
                if own:
                    known.setdefault(own, edit)
        before, after = self.programs
        self._values = _by_operation(self.shardings, 0, before), _by_operation(self.shardings, 1, after)
        self._reached = _reached(self.edits, self.shardings, self.programs)

    def reason(self, pair: Pair[Collective]) -> Sentence:
        """The edits that explain a collective; "" where none is proven to."""
        found: dict[Sentence, None] = {}
        for side, row in enumerate((pair.before, pair.after)):
            for cause in row.causes if row is not None else ():
                if cause.evidence == "sharding" and row is not None:
                    own = self._named(cause, side, row) or [self._propagated(cause, side, row)]
                    found |= dict.fromkeys(filter(None, own))
        reasons = sorted(found)
        left = len(reasons) - _MOST_REASONS
        return joined([*reasons[:_MOST_REASONS], *([f"{left} more edits"] if left > 0 else [])])

    def _named(self, cause: Cause, side: int, row: Collective) -> list[Sentence]:
        """The edits of the array or constraint of the cause, or else of all names in the cause and its facts."""
        known = self._by_name[side]
        about = [known.get(cause.value)]
        if cause.kind == "reshard_requested" and cause.source:
            about.append(known.get(cause.source[0].where))
        said = (phrase for text in (cause.sentence, *cause.facts) for phrase in text.phrases if phrase.kind != "place")
        named = (phrase.text for phrase in (*said, *cause.asked_at.phrases))
        edits = [edit for edit in about if edit is not None] or list(filter(None, map(known.get, named)))
        return [edit.sentence for edit in edits if _is_along(edit.axes, row)]

    def _propagated(self, cause: Cause, side: int, row: Collective) -> Sentence:
        """The edit from which the operation of the cause has its other sharding."""
        pairs = self._values[side].get((cause.op_name, cause.source[:1]), ())
        along = [pair for pair in pairs if _is_along(moved_axes(pair[0].spec, pair[1].spec), row)]
        for pair in along:
            if found := self._of_origins(pair, side):
                return found
        reaching = set[Sentence]().union(*(self._reached.get(_key(pair), ()) for pair in along))
        return reaching.pop() if len(reaching) == 1 else Sentence()

    def _of_origins(self, pair: Changed, side: int) -> Sentence:
        """The edit that propagation names as where an axis of a value came from."""
        moved = moved_axes(pair[0].spec, pair[1].spec)
        # Its own program first: the answer is then the same with the programs swapped.
        for own in (side, 1 - side):
            program = self.programs[own]
            for origin in () if program is None else program.values[pair[own].position].origins:
                edit = self._edit_of(origin, own) if origin.axis in moved else None
                if edit is not None and (edit.axes is None or edit.axes & moved):
                    return edit.sentence
        return Sentence()

    def _edit_of(self, origin: AxisOrigin, side: int) -> ShardingEdit | None:
        """The edit of the argument, result or constraint that an axis comes from."""
        program = self.programs[side]
        if program is None or origin.index is None:
            return None
        if origin.kind == "constraint":
            value = program.ops[origin.index].results[0]
            return next((edit for edit in self.edits if value in edit.values[side]), None)
        boundaries = {"input": program.inputs, "output": program.outputs}.get(origin.kind, ())
        return self._by_name[side].get(boundaries[origin.index].label) if origin.index < len(boundaries) else None


def _is_along(axes: frozenset[str] | None, row: Collective) -> bool:
    return axes is None or bool(axes & set(map(axis_name, row.axes or ())))


def _key(pair: Changed) -> tuple[int, int]:
    return pair[0].position, pair[1].position


def _changed_specs(shardings: ShardingDiff) -> Iterator[Changed]:
    for pair in shardings.changed:
        if pair.before is not None and pair.after is not None and pair.before.spec != pair.after.spec:
            yield pair.before, pair.after


def _by_operation(shardings: ShardingDiff, side: int, program: ShardedProgram | None) -> dict[object, list[Changed]]:
    """The values with another spec that an operation yields or takes, by its name and line."""
    changed = {pair[side].position: pair for pair in _changed_specs(shardings)}
    found: dict[object, dict[int, Changed]] = {}
    for both in shardings if changed else ():
        row = both.before if side == 0 else both.after
        if row is None or not row.op:
            continue
        maker = None if program is None else program.values[row.position].op
        taken = () if program is None or maker is None else program.ops[maker].operands
        near = {value: changed[value] for value in (row.position, *taken) if value in changed}
        if near:
            found.setdefault((row.op_name, row.source[:1]), {}).update(near)
    return {key: list(values.values()) for key, values in found.items()}


def _reached(
    edits: Sequence[ShardingEdit], shardings: ShardingDiff, programs: Programs
) -> dict[tuple[int, int], set[Sentence]]:
    """For each value with another spec, the edits that reach it in either program."""
    found: dict[tuple[int, int], set[Sentence]] = {}
    pairs = list(_changed_specs(shardings))
    together: dict[Sentence, list[ShardingEdit]] = {}
    for edit in edits:
        together.setdefault(edit.sentence, []).append(edit)
    if len(together) > _MOST_REACHES:
        return found
    for side, program in enumerate(programs):
        if program is None:
            continue
        reach = Reach(program, {p[side].position: moved_axes(p[0].spec, p[1].spec) for p in pairs})
        arguments = {p[side].name: p[side].position for p in pairs if not p[side].op}
        for sentence, own in together.items():
            start = {value for edit in own for value in edit.values[side]}
            start |= {arguments[edit.names[side]] for edit in own if edit.names[side] in arguments}
            values = reach.from_values(start, own[0].axes)
            for pair in pairs:
                if pair[side].position in values:
                    found.setdefault(_key(pair), set()).add(sentence)
    return found


@dataclass(slots=True)
class Reach:
    """The values of one program that edits reach.

    Attributes:
      program: the program before partitioning.
      moved: value -> the mesh axes that split one of its dimensions in only one of the two programs; for values that
        both programs have with different axes.
    """

    program: ShardedProgram
    moved: Mapping[int, frozenset[str]]
    _linked: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for one, other in self.program.links:
            self._linked.setdefault(one, []).append(other)
            self._linked.setdefault(other, []).append(one)

    def from_values(self, start: Iterable[int], axes: frozenset[str] | None) -> set[int]:
        """The values reached from the edited ones, along some axes; along any if None."""
        border = list(start)
        seen, reached = set(border), set()
        while border:
            value = border.pop()
            if self._is_moved(value, axes):
                reached.add(value)
            for near in self._neighbours(value):
                if near in seen:
                    continue
                seen.add(near)
                # A value that only crosses the border of a region has no separate row.
                if self._is_moved(near, axes) or near in self._linked.get(value, ()):
                    border.append(near)
        return reached

    def _is_moved(self, value: int, axes: frozenset[str] | None) -> bool:
        moved = self.moved.get(value)
        return moved is not None and (axes is None or bool(axes & moved))

    def _neighbours(self, value: int) -> Iterable[int]:
        """The other operands and results of the operations of a value, and the values it is linked to."""
        yield from self._linked.get(value, ())
        ops = [op for op, _ in self.program.users.get(value, ())]
        maker = self.program.values[value].op
        for index in ops if maker is None else (*ops, maker):
            yield from self.program.ops[index].operands
            yield from self.program.ops[index].results
