"""Problems of a program: facts that need no question, and the changes of its advice that are clear enough to be one.

Facts come from the other modules here. A fact is told if it costs a noticeable part. Not its job: proposing changes or
asking about them (`analyze.advice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

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

_MOST = 3
_NOTICEABLE = 0.05
"""A cost below this share of the program's bytes sent, or held as arguments, is no finding."""
_UNITS: tuple[FindingUnit, ...] = ("sent", "copied", "held")
"""Order of findings: bytes sent on every call come before bytes that only take memory."""


def find_facts(subject: Subject) -> tuple[Finding, ...]:
    """Problems that no question is needed for, each of which costs a noticeable part, the most expensive first."""
    return _in_order(
        _finding(subject, candidate)
        for candidate in fact_candidates(subject)
        if candidate.is_proven and _is_noticeable(subject, candidate)
    )


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


def find_findings(facts: Iterable[Finding], advice: Iterable[Advice]) -> tuple[Finding, ...]:
    """At most three: facts, and changes of advice, but for those that only other sizes or layouts speak for."""
    changes = [one for row in advice if (one := _of_change(row)) is not None]
    told = {(one.kind, one.source[:1]) for one in changes}
    # A fact whose remedy was tried, and helps, is told once.
    left = [one for one in facts if (one.kind, one.source[:1]) not in told]
    return _in_order((*changes, *left))[:_MOST]


def _in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most expensive first, without those whose collectives all belong to a more expensive one."""
    kept: list[Finding] = []
    for one in sorted(found, key=lambda one: (_UNITS.index(one.unit), -one.cost_bytes)):
        own = set(one.instructions)
        if not own or not any(own <= set(other.instructions) for other in kept):
            kept.append(one)
    return tuple(kept)


def _of_change(row: Advice) -> Finding | None:
    """A change that was tried as a finding; None for facts, and where no axis is lost and nothing is held in full."""
    kind = _kind(row)
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


def _kind(row: Advice) -> FindingKind | None:
    if row.state == "fact":
        return None
    if row.kind in ("argument", "result"):
        return "replicated_argument" if row.is_whole else None
    return next((kind for kind in FINDING_KINDS if kind == row.kind), None)


def _is_noticeable(subject: Subject, candidate: Candidate) -> bool:
    is_sent = candidate.unit == "sent"
    return candidate.cost_bytes > _NOTICEABLE * (subject.sent_bytes if is_sent else subject.held_bytes)


def _finding(subject: Subject, candidate: Candidate) -> Finding:
    """The finding with its first remedy that is a change of code; one that could be tried is told by the advice."""
    plain = next((remedy for remedy in candidate.remedies if not remedy.edits), None)
    own = set(candidate.instructions)
    unsure = (row for row in subject.collectives if row.count is None and not own.isdisjoint(row.instructions))
    return Finding(
        kind=candidate.kind,
        sentence=candidate.sentence,
        source=candidate.source,
        cost_bytes=candidate.cost_bytes,
        unit=candidate.unit,
        remedy=plain.words if plain is not None else "",
        instructions=candidate.instructions,
        runs_once=candidate.unit == "sent" and any(unsure),
    )
