"""Advice on one record: asks XLA about changed copies of its program, and adds the facts that need no question.

Joins the rooms: `analyze` proposes and judges, `observe` asks. Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pjit_inspect.analyze.advice.advice_words import advice_of
from pjit_inspect.analyze.advice.climb import Climb
from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.facts import find_other_facts
from pjit_inspect.analyze.advice.judge import NOTICEABLE
from pjit_inspect.analyze.advice.site import Site, site_of_edits
from pjit_inspect.analyze.advice.stakes import Counted
from pjit_inspect.analyze.findings.candidate import Subject
from pjit_inspect.analyze.findings.findings import fact_candidates, find_facts
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.background import wait_for_idle
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.handles.facts import subject_of
from pjit_inspect.handles.trials import Trials, check_change
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Checked, Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

MOST_QUESTIONS = 40
_UNHEARD = "XLA's partitioner was not heard, so facts about its program are not known"
_ONE_DEVICE = "on one device nothing is sent, and everything is held in full"
_EXPLICIT = "shardings are part of the types here (Explicit axes): a change is another program, which JAX must trace"
_OPS_EACH = 6_000
"""Operations of a program up to which all questions are asked; twice as many operations allow half of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordAdvice(OfRecord, Advice):
    """Advice on a record, which can be compiled."""

    _trials: Trials | None

    def check(self) -> Checked:
        """As `Advice.check`."""
        trials = self._trials if self.edits else None
        if trials is not None and self.with_edits and self.with_edits not in trials.checked:
            # What this row saves is counted from there.
            check_change(trials, self.with_edits)
        return check_change(trials, (*self.with_edits, *self.edits))

    def as_compiled(self) -> Self:
        """The row with the bytes of the compiled programs, if it was compiled."""
        checked = {} if self._trials is None or not self.edits else self._trials.checked
        after, before = checked.get((*self.with_edits, *self.edits)), checked.get(self.with_edits)
        if after is None or (self.with_edits and before is None):
            return self
        per_turn = after.per_turn or ()
        if before is not None:
            own = zip(before.per_turn or (), per_turn, strict=False)
            per_turn = tuple((earlier, later) for (_, earlier), (_, later) in own)
        sent = (after.before_bytes if before is None else before.after_bytes, after.after_bytes)
        return replace(self, state="compiled", sent=sent, sent_per_turn=per_turn, collectives=None)


def edited_program_of(trials: Trials, sources: Sequence[SourceText], files: UserFiles) -> EditedProgram:
    """The program that advice is about. Raises CaptureError if XLA gives no answer about it."""
    copied = trials.copied()
    return EditedProgram(ValueNames(copied.program, sources, files), copied.numbers, copied.trips)


def advice_steps(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    program: ShardedProgram | None,
    sources: Sequence[SourceText],
    files: UserFiles,
    *,
    untried: str | None,
    propagated: Callable[[], ShardedProgram | None],
    most: int | None,
    is_live: bool = True,
) -> Iterator[AdviceTable]:
    """The changes worth making as they become known: the facts, which need no question; after each answer; then all.

    `program` is None where nobody asked for it yet; `propagated` asks. `untried` says why nothing can be asked
    (`why_untried`), None if it can; `most` is the number of questions to XLA's partitioner, fewer for a large program,
    None for no limit.
    """
    unsized = sum(row.is_unsized for row in collectives)
    if module is not None and (lacks := why_incomplete(module.unknown, unsized=unsized)):
        yield AdviceTable(missing=f"the program is {lacks}")
        return

    def known_with(found: ShardedProgram | None, copy: ValueNames | None) -> tuple[Subject, AdviceTable]:
        subject = subject_of(data, module, collectives, found, sources, files, copy)
        others = find_other_facts(collectives, subject.names or copy, data.timings)
        return subject, AdviceTable(rows=tuple(map(_of_no_record, (*find_facts(subject), *others))))

    _, facts = known_with(program, None)
    if untried is not None:
        is_heard = program is not None and not program.is_predicted
        why = data.missing.get("partitioner", "nobody has asked it yet")
        more = "" if is_heard or not collectives or data.stablehlo is None else f"; {_UNHEARD}: {why}"
        yield replace(facts, missing=f"{untried}{more}" if untried else _ONE_DEVICE)
        return
    yield replace(facts, left=most or 0, is_done=False)
    trials = Trials(data, collectives, module, is_live=is_live)
    wait_for_idle()
    try:
        own = edited_program_of(trials, sources, files)
    except CaptureError as error:
        yield replace(facts, missing=str(error))
        return
    subject, facts = known_with(propagated(), own.names)
    if find_explicit_axes(data):
        yield replace(facts, missing=_EXPLICIT)
        return
    limit = None if most is None else max(1, min(most, most * _OPS_EACH // max(1, len(own.program.ops))))
    yield from _searched(trials, own, subject, facts, limit)


def as_compiled(advice: AdviceTable) -> AdviceTable:
    """The table with the figures of the rows that were compiled meanwhile."""
    rows = tuple(one.as_compiled() if isinstance(one, RecordAdvice) else one for one in advice)
    return replace(advice, rows=rows)


def _searched(
    trials: Trials, own: EditedProgram, subject: Subject, facts: AdviceTable, most: int | None
) -> Iterator[AdviceTable]:
    """The table after each question."""

    def ask(edits: Sequence[Edit]) -> Counted:
        wait_for_idle()
        return trials.answer(edits)

    try:
        climb = Climb(own=own, ask=ask, most=most, further=tuple(_remedies(own, subject)))
    except CaptureError as error:
        yield replace(facts, missing=str(error))
        return
    is_done = False
    while not is_done:
        is_done = climb.advance() is None
        left = 0 if is_done else max(0, (most or climb.proposed) - climb.asked)
        yield replace(_table(climb, trials, subject, facts), left=left, is_done=is_done)


def _table(climb: Climb, trials: Trials, subject: Subject, facts: AdviceTable) -> AdviceTable:
    """The findings of the search by now, and the facts."""
    where = (subject.data.user_frame,) if subject.data.user_frame else ()
    found = (one if one.source else replace(one, source=where) for one in advice_of(climb, subject.collectives))
    changes = tuple(RecordAdvice.made_of(one, _trials=trials) for one in found)
    # A fact whose remedy was tried, and helps, is told once.
    told = {(one.kind, one.source[:1]) for one in changes}
    left = [one for one in facts if (one.kind, one.source[:1]) not in told]
    free = [one.saved.sent for one in climb.tried if one.saved is not None and not one.saved.is_trade]
    return AdviceTable(
        rows=(*changes, *left),
        asked=climb.asked,
        proposed=climb.proposed,
        best=max((0.0, *(sent for sent in free if sent < NOTICEABLE))),
        untried=climb.untried,
        left_out=climb.left_out,
    )


def _remedies(own: EditedProgram, subject: Subject) -> Iterator[Site]:
    """The places that facts have remedies for, which can be tried."""
    for candidate in fact_candidates(subject):
        for remedy in candidate.remedies:
            if remedy.edits:
                yield site_of_edits(
                    own,
                    remedy.edits,
                    words=candidate.sentence,
                    fact=candidate.kind,
                    sentence=candidate.sentence,
                    change=str(remedy.words),
                    source=candidate.source,
                )


def _of_no_record(one: Advice) -> RecordAdvice:
    return RecordAdvice.made_of(one, _trials=None)
