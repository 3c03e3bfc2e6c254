"""Problems of a program: facts that need no question, and the changes of its advice that are clear enough to be one.

Facts come from the other modules here. A fact is told if it costs a noticeable part. Not its job: proposing changes or
asking about them (`analyze.advice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeVar

from pjit_inspect.analyze.findings.arguments import not_donated, resharded_arguments
from pjit_inspect.analyze.findings.candidate import Candidate, Subject
from pjit_inspect.analyze.findings.exposed import exposed_collectives
from pjit_inspect.analyze.findings.padding import padded_arguments, padded_temporaries
from pjit_inspect.analyze.findings.repeated import (
    asked_every_turn,
    gathered_again,
    gathered_twice,
    summed_every_turn,
    without_rule,
)
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.report.edit import Checked
from pjit_inspect.model.report.finding import FINDING_KINDS, Finding, FindingKind, FindingUnit
from pjit_inspect.model.words.sentence import Sentence, code, say

_Found = TypeVar("_Found", Candidate, Finding)
_MOST = 3
_NOTICEABLE = 0.05
"""A cost below this share of the program's bytes sent, or held as arguments, is no finding."""
_UNITS: tuple[FindingUnit, ...] = ("sent", "copied", "held")
"""Order of findings: bytes sent on every call come before bytes that only take memory."""


def find_facts(subject: Subject) -> tuple[Advice, ...]:
    """Problems that no question is needed for, each of which costs a noticeable part, the most expensive first."""
    proven = (one for one in fact_candidates(subject) if one.is_proven and _is_noticeable(subject, one))
    return tuple(_fact(subject, one) for one in _in_order(proven))


def fact_candidates(subject: Subject) -> Iterator[Candidate]:
    """Problems that a property of the program shows; remedies of some can be tried."""
    return chain(
        gathered_again(subject),
        gathered_twice(subject),
        summed_every_turn(subject),
        asked_every_turn(subject),
        without_rule(subject),
        exposed_collectives(subject),
        resharded_arguments(subject),
        not_donated(subject),
        padded_arguments(subject),
        padded_temporaries(subject),
    )


def find_findings(advice: Iterable[Advice]) -> tuple[Finding, ...]:
    """At most three of the rows of an advice, but for those that only other sizes or layouts speak for."""
    found = (_of_fact(row) if row.state == "fact" else _of_change(row) for row in advice)
    return _in_order(one for one in found if one is not None)[:_MOST]


def _in_order(found: Iterable[_Found]) -> tuple[_Found, ...]:
    """The most expensive first, without those whose collectives all belong to a more expensive one."""
    kept = list[_Found]()
    for one in sorted(found, key=lambda one: (_UNITS.index(one.unit), -one.cost_bytes)):
        own = set(one.instructions)
        if not own or not any(own <= set(other.instructions) for other in kept):
            kept.append(one)
    return tuple(kept)


def _of_change(row: Advice) -> Finding | None:
    """A change that was tried as a finding; None where no axis is lost and nothing is held in full."""
    is_border = row.kind in ("argument", "result")
    kind = _kind("replicated_argument" if is_border and row.is_whole else row.kind)
    if kind is None or row.sent is None or row.memory is None:
        return None
    unit: FindingUnit = "held" if kind == "replicated_argument" or row.sent[0] <= row.sent[1] else "sent"
    before, after = row.memory if unit == "held" else row.sent
    # A line of source is one piece of code; a sentence has its own marks.
    is_line = kind == "axis_lost" and "with_sharding_constraint(" in row.change and "`" not in row.change
    return Finding(
        kind=kind,
        sentence=row.sentence,
        source=row.source,
        cost_bytes=before - after,
        unit=unit,
        remedy=say("{}", code(row.change)) if is_line else Sentence(row.change),
        tried=Checked(before_bytes=before, after_bytes=after, per_turn=row.sent_per_turn if unit == "sent" else ()),
        change=(*row.with_edits, *row.edits),
        collectives=row.collectives,
        instructions=row.removes,
        runs_once=unit == "sent" and bool(row.sent_per_turn),
    )


def _of_fact(row: Advice) -> Finding | None:
    """A fact as a finding; None for one that costs neither bytes nor memory."""
    kind = _kind(row.kind)
    return kind and Finding(
        kind=kind,
        sentence=row.sentence,
        source=row.source,
        cost_bytes=row.cost_bytes,
        unit=row.unit,
        remedy=Sentence(row.change) if row.change else "",
        instructions=row.removes,
        runs_once=row.runs_once,
    )


def _kind(kind: str) -> FindingKind | None:
    return next((own for own in FINDING_KINDS if own == kind), None)


def _is_noticeable(subject: Subject, candidate: Candidate) -> bool:
    is_sent = candidate.unit == "sent"
    return candidate.cost_bytes > _NOTICEABLE * (subject.sent_bytes if is_sent else subject.held_bytes)


def _fact(subject: Subject, candidate: Candidate) -> Advice:
    """The fact with its first remedy that is a change of code; one that could be tried is told by the advice."""
    plain = next((remedy for remedy in candidate.remedies if not remedy.edits), None)
    own = set(candidate.instructions)
    unsure = (row for row in subject.collectives if row.count is None and not own.isdisjoint(row.instructions))
    return Advice(
        kind=candidate.kind,
        sentence=candidate.sentence,
        change="" if plain is None else str(plain.words),
        state="fact",
        source=candidate.source,
        cost_bytes=candidate.cost_bytes,
        unit=candidate.unit,
        removes=candidate.instructions,
        runs_once=candidate.unit == "sent" and any(unsure),
    )
