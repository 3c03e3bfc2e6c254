"""One to three problems of a program, most expensive first, each with a tried remedy if possible.

Possible problems come from the other modules here. XLA's partitioner runs on the program with and without each remedy,
and both results are counted. A remedy that does not help is not offered; a problem without a remedy is reported only if
it costs a noticeable part. Not its job: asking XLA (`handles.findings`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pjit_inspect.analyze.findings.arguments import not_donated, replicated_arguments, resharded_arguments
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.findings.exposed import exposed_collectives
from pjit_inspect.analyze.findings.lost_axes import lost_axes
from pjit_inspect.analyze.findings.padding import padded_arguments, padded_temporaries
from pjit_inspect.analyze.findings.repeated import (
    asked_every_turn,
    gathered_again,
    gathered_twice,
    summed_every_turn,
    without_rule,
)
from pjit_inspect.analyze.suggest.counts import Counts
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.finding import Finding, FindingTable
from pjit_inspect.model.report.suggestion import Checked, Edit

Count = Callable[[Sequence[Edit]], Counts]
"""Counts of the changed program from XLA's partitioner. Raises CaptureError if it gives no answer, or time is over."""

_MOST = 3
_NOTICEABLE = 0.05
"""A cost or saving below this share of the program's bytes sent, or held as arguments, is no finding."""
_UNITS = ("sent", "copied", "held")
"""Order of findings: bytes sent on every call come before bytes that only take memory."""


def find_findings(subject: Subject, count: Count | None) -> FindingTable:
    """At most three findings; none if nothing is proven to cost a noticeable part.

    Args:
      subject: the program.
      count: asks XLA's partitioner about a changed copy; None if it cannot be asked.
    """
    judge = _Judge(subject=subject, count=count)
    found: list[Finding] = []
    done: set[str] = set()
    for candidate in _candidates(subject):
        # An axis restored at one line is not lost again further down.
        if candidate.kind == "axis_lost" and not done.isdisjoint(candidate.about):
            continue
        finding = judge.finding(candidate)
        if finding is not None:
            found.append(finding)
            done |= set(candidate.about) if candidate.kind == "axis_lost" else set()
    found.sort(key=lambda one: (_UNITS.index(one.unit), -one.cost_bytes))
    return FindingTable(tuple(_without_parts(found)[:_MOST]))


def find_facts(subject: Subject) -> tuple[Finding, ...]:
    """Problems that no question is needed for, each of which costs a noticeable part, the most expensive first."""
    judge = _Judge(subject=subject, count=None)
    found = [one for candidate in fact_candidates(subject) if (one := judge.finding(candidate)) is not None]
    found.sort(key=lambda one: (_UNITS.index(one.unit), -one.cost_bytes))
    return tuple(_without_parts(found))


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


def _candidates(subject: Subject) -> Iterator[Candidate]:
    """The likeliest to be tried come first: the time for trying is bounded."""
    return chain(
        lost_axes(subject) if subject.collectives else (),
        gathered_again(subject),
        gathered_twice(subject),
        replicated_arguments(subject),
        summed_every_turn(subject),
        asked_every_turn(subject),
        without_rule(subject),
        exposed_collectives(subject),
        resharded_arguments(subject),
        not_donated(subject),
        padded_arguments(subject),
        padded_temporaries(subject),
    )


def _without_parts(found: list[Finding]) -> list[Finding]:
    """The findings without those whose collectives all belong to a more expensive one."""
    kept: list[Finding] = []
    for one in found:
        own = set(one.instructions)
        if not own or not any(own <= set(other.instructions) for other in kept):
            kept.append(one)
    return kept


@dataclass(slots=True, kw_only=True)
class _Judge:
    """Tries remedies, and turns candidates into findings."""

    subject: Subject
    count: Count | None
    _before: Counts | None = None

    def finding(self, candidate: Candidate) -> Finding | None:
        """The finding with the best of its remedies; None where it costs too little, or rests on a remedy alone."""
        plain = next((remedy for remedy in candidate.remedies if not remedy.edits), None)
        tried = [one for remedy in candidate.remedies if remedy.edits and (one := self._tried(candidate, remedy))]
        if tried:
            return min(tried, key=lambda one: one.tried.change_bytes if one.tried else 0)
        if not candidate.is_proven or not self._is_noticeable(candidate, candidate.cost_bytes):
            return None
        own = set(candidate.instructions)
        unsure = (row for row in self.subject.collectives if row.count is None and not own.isdisjoint(row.instructions))
        return _finding(candidate, plain, runs_once=candidate.unit == "sent" and any(unsure))

    def _tried(self, candidate: Candidate, remedy: Remedy) -> Finding | None:
        """The finding with a remedy that helps; None for any other."""
        try:
            before, after = self._as_it_is(), self._counted(remedy.edits)
        except CaptureError:
            return None
        traded = before.traded(after)
        if traded is None:
            return None
        compared, tried = traded
        if candidate.unit == "held":
            # Memory may not be saved by sending more.
            is_dearer = compared.sent.may_grow()
            tried = Checked(before_bytes=before.held_bytes, after_bytes=after.held_bytes)
        else:
            # Nobody knows how often some loops turn: what helps for one turn does so for any number.
            is_dearer = after.held_bytes > before.held_bytes or compared.sent.may_grow()
        saved = -tried.change_bytes
        if is_dearer or saved <= _NOTICEABLE * tried.before_bytes:
            return None
        gone = before.channels_not_in(after)
        rows = [row for row in self.subject.collectives if row.channel_id in gone and row.instructions]
        return _finding(
            candidate,
            remedy,
            cost_bytes=saved,
            tried=tried,
            runs_once=tried.is_one_turn,
            collectives=(_number(before), _number(after)),
            instructions=candidate.instructions or tuple(row.instructions[0] for row in rows),
        )

    def _as_it_is(self) -> Counts:
        if self._before is None:
            self._before = self._counted(())
        return self._before

    def _counted(self, edits: Sequence[Edit]) -> Counts:
        if self.count is None:
            raise CaptureError("nobody can be asked about a changed copy of this program")
        return self.count(edits)

    def _is_noticeable(self, candidate: Candidate, size: int) -> bool:
        is_sent = candidate.unit == "sent"
        return size > _NOTICEABLE * (self.subject.sent_bytes if is_sent else self.subject.held_bytes)


def _finding(candidate: Candidate, remedy: Remedy | None, **known: object) -> Finding:
    fields: dict[str, object] = {
        "kind": candidate.kind,
        "sentence": candidate.sentence,
        "source": candidate.source,
        "cost_bytes": candidate.cost_bytes,
        "unit": candidate.unit,
        "remedy": remedy.words if remedy is not None else "",
        "change": remedy.edits if remedy is not None else (),
        "instructions": candidate.instructions,
    }
    return Finding(**(fields | known))  # type: ignore[arg-type]


def _number(counts: Counts) -> int:
    return sum(map(len, counts.channels.values()))
