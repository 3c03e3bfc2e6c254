"""Advice on one record: asks XLA about changed copies of its program, and adds the facts that need no question.

Joins the rooms: `analyze` proposes and judges, `observe` asks. Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
from pjit_inspect.handles.findings import subject_of
from pjit_inspect.handles.suggest import Trials, check_change
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.finding import Finding
from pjit_inspect.model.report.suggestion import Checked, Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

MOST_QUESTIONS = 40
_OPS_EACH = 6_000
"""Operations of a program up to which all questions are asked; twice as many operations allow half of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordAdvice(OfRecord, Advice):
    """Advice on a record, which can be compiled."""

    _trials: Trials | None

    def check(self) -> Checked:
        """As `Advice.check`."""
        return check_change(self._trials if self.edits else None, (*self.with_edits, *self.edits))


def edited_program_of(trials: Trials, sources: Sequence[SourceText], files: UserFiles) -> EditedProgram:
    """The program that advice is about. Raises CaptureError if XLA gives no answer about it."""
    copied = trials.copied()
    return EditedProgram(ValueNames(copied.program, sources, files), copied.numbers, copied.trips)


def advice_for(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    program: ShardedProgram | None,
    sources: Sequence[SourceText],
    files: UserFiles,
    *,
    untried: str | None,
    most: int | None,
) -> AdviceTable:
    """The changes worth making to a program, and the facts worth knowing; `findings_of` takes the same.

    `untried` says why nothing can be asked (`why_untried`), None if it can; `most` is the number of questions to XLA's
    partitioner, fewer for a large program, None for no limit.
    """
    unsized = sum(row.is_unsized for row in collectives)
    if module is not None and (lacks := why_incomplete(module.unknown, unsized=unsized)):
        return AdviceTable(missing=f"the program is {lacks}")
    trials, own = None, None
    if untried is None:
        trials = Trials(data, collectives, module)
        try:
            own = edited_program_of(trials, sources, files)
        except CaptureError as error:
            untried = str(error)
    copy = None if own is None else own.names
    subject = subject_of(data, module, collectives, program, sources, files, copy)
    facts = find_facts(subject)
    known = subject.names or copy
    others = tuple(map(_of_no_record, find_other_facts(collectives, known, data.timings)))
    # With Explicit axes the types of all operations follow those of the arguments: no one place can be changed.
    if trials is None or own is None or find_explicit_axes(data):
        return AdviceTable(rows=(*map(_fact, facts), *others), missing=untried or "")
    limit = None if most is None else max(1, min(most, most * _OPS_EACH // max(1, len(own.program.ops))))
    found = _searched(trials, own, subject, facts, limit)
    return replace(found, rows=(*found.rows, *others))


def _searched(
    trials: Trials, own: EditedProgram, subject: Subject, facts: Sequence[Finding], most: int | None
) -> AdviceTable:
    """The table after all questions."""

    def ask(edits: Sequence[Edit]) -> Counted:
        wait_for_idle()
        return trials.answer(edits)

    try:
        climb = Climb(own=own, ask=ask, most=most, further=tuple(_remedies(own, subject)))
    except CaptureError as error:
        return AdviceTable(rows=tuple(map(_fact, facts)), missing=str(error))
    while climb.advance() is not None:
        pass
    where = (subject.data.user_frame,) if subject.data.user_frame else ()
    found = (one if one.source else replace(one, source=where) for one in advice_of(climb, subject.collectives))
    changes = tuple(RecordAdvice.made_of(one, _trials=trials) for one in found)
    # A fact whose remedy was tried, and helps, is told once.
    told = {(one.kind, one.source[:1]) for one in changes}
    left = [one for one in facts if (one.kind, one.source[:1]) not in told]
    free = [one.saved.sent for one in climb.tried if one.saved is not None and not one.saved.is_trade]
    return AdviceTable(
        rows=(*changes, *map(_fact, left)),
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


def _fact(one: Finding) -> RecordAdvice:
    return RecordAdvice(
        kind=one.kind,
        sentence=one.sentence,
        change=str(one.remedy),
        state="fact",
        source=one.source,
        cost_bytes=one.cost_bytes,
        unit=one.unit,
        _trials=None,
    )
