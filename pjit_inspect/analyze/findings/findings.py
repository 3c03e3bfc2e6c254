"""Problems of a program: facts that need no question, and the first rows of its advice.

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
from pjit_inspect.model.report.advice import Advice, BytesUnit

_Found = TypeVar("_Found", Candidate, Advice)
_MOST = 3
_NOTICEABLE = 0.05
"""A cost below this share of the program's bytes sent, or held as arguments, is no finding."""
_UNITS: tuple[BytesUnit, ...] = ("sent", "copied", "held")
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


def find_findings(advice: Iterable[Advice]) -> tuple[Advice, ...]:
    """At most three rows of an advice, without those that choose another way to split arguments and results."""
    return _in_order(row for row in advice if row.kind not in ("layout", "argument", "result"))[:_MOST]


def _in_order(found: Iterable[_Found]) -> tuple[_Found, ...]:
    """The most expensive first, without those whose collectives all belong to a more expensive one."""
    kept = list[_Found]()
    for one in sorted(found, key=lambda one: (_UNITS.index(one.unit), -one.cost_bytes)):
        own = set(one.removes)
        if not own or not any(own <= set(other.removes) for other in kept):
            kept.append(one)
    return tuple(kept)


def _is_noticeable(subject: Subject, candidate: Candidate) -> bool:
    is_sent = candidate.unit == "sent"
    return candidate.cost_bytes > _NOTICEABLE * (subject.sent_bytes if is_sent else subject.held_bytes)


def _fact(subject: Subject, candidate: Candidate) -> Advice:
    """The fact with its first remedy that is a change of code; one that could be tried is told by the advice."""
    plain = next((remedy for remedy in candidate.remedies if not remedy.edits), None)
    own = set(candidate.removes)
    unsure = (row for row in subject.collectives if row.count is None and not own.isdisjoint(row.instructions))
    return Advice(
        kind=candidate.kind,
        sentence=candidate.sentence,
        change="" if plain is None else str(plain.words),
        state="fact",
        source=candidate.source,
        cost_bytes=candidate.cost_bytes,
        unit=candidate.unit,
        removes=candidate.removes,
        runs_once=candidate.unit == "sent" and any(unsure),
    )
