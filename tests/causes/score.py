"""Compares what a program's collectives are said to be for with what was worked out by hand.

Not its job: printing (`scripts/causes`), or deciding how much may be wrong (`test_causes`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import jax

import pjit_inspect
from causes.case import Build, Case, Want
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Collective

__all__ = ["Answer", "Score", "Verdict", "check_collectives", "score", "tag_lines", "wants_here"]

Verdict = Literal["right", "unknown", "wrong"]

_TAG = re.compile(r"#\s*@(\w+)\s*$")
_BOUND = re.compile(r"(<|>=)(\d+)\.(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One cause of one collective, judged.

    Attributes:
      collective: the collective.
      cause: the kind that was answered; "" when no cause was asked for.
      sentence: the answer in words.
      verdict: "wrong" too for a collective that no `Want` has.
      expected: the causes wanted for this kind and these axes, split by commas; "" for an unexpected collective.
      line_right: whether the answer's line is that of a matching tag; None when there is no tag, or no right cause.
      line: the line answered, 0 for none.
    """

    collective: Collective
    cause: str = ""
    sentence: str = ""
    verdict: Verdict
    expected: str = ""
    line_right: bool | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One program, judged.

    Attributes:
      case: the program.
      answers: one for every cause of every collective.
      missing: the wants that no collective met.
      unpointed: the wants that were met, though by no cause that points to their line.
    """

    case: Case
    answers: tuple[Answer, ...]
    missing: tuple[Want, ...]
    unpointed: tuple[Want, ...] = ()

    @property
    def is_right(self) -> bool:
        return not self.missing and all(answer.verdict == "right" for answer in self.answers)


def score(case: Case, target: str | None = None) -> Score:
    """Compile the case's program, or lower it for a target to XLA's partitioner; judge every cause of a collective."""
    collectives, wants, lines = _collectives(case, target), wants_here(case, target), tag_lines(case.build)
    answers = tuple(
        _judge(row, kind, sentence, source, wants, lines)
        for row in collectives
        for kind, sentence, source in _causes_of(row)
    )
    met = {want for answer in answers for want in _fitting(answer.collective, answer.cause, wants)}
    unpointed = tuple(want for want in wants if want in met and _is_unpointed(want, answers, lines))
    return Score(case=case, answers=answers, missing=_unmet(wants, met), unpointed=unpointed)


def check_collectives(case: Case) -> Score:
    """The same for kinds, axes and phases alone: an answer is wrong when no want has such a collective."""
    collectives, wants = _collectives(case), wants_here(case)
    answers = tuple(
        Answer(collective=row, verdict="right" if fitting else "wrong", expected=_names_of(fitting))
        for row in collectives
        for fitting in [_fitting(row, "unknown", wants)]
    )
    met = {want for row in collectives for want in _fitting(row, "unknown", wants)}
    return Score(case=case, answers=answers, missing=_unmet(wants, met))


def wants_here(case: Case, target: str | None = None) -> tuple[Want, ...]:
    """Those of this version of JAX and of the target's platform."""
    platform = "cpu" if target is None else target.partition(":")[0]
    return tuple(want for want in case.wants if (not want.jax or _holds(want.jax)) and _is_for(want, platform))


def _is_for(want: Want, platform: str) -> bool:
    if want.platform.startswith("not "):
        return platform != want.platform.removeprefix("not ")
    return want.platform in ("", platform)


def tag_lines(build: Build) -> Mapping[str, int]:
    """Tag -> line number in the file, for every `# @tag` in the builder's source."""
    text, first = inspect.getsourcelines(build)
    found = ((_TAG.search(line), first + i) for i, line in enumerate(text))
    return {match[1]: number for match, number in found if match}


@cache
def _holds(bound: str) -> bool:
    match = _BOUND.match(bound)
    if match is None:
        raise ValueError(f"a bound is written '<0.11' or '>=0.11'; got {bound!r}")
    version = tuple(int(part) for part in jax.__version__.split(".")[:2])
    limit = int(match[2]), int(match[3])
    return version < limit if match[1] == "<" else version >= limit


def _collectives(case: Case, target: str | None = None) -> tuple[Collective, ...]:
    # JAX traces an inner jitted function of its own once, and keeps the lines of whoever called it first.
    jax.clear_caches()
    function, arguments = case.build()
    # Without a target it is compiled to the end, for the devices that are here.
    asked = {} if target is None else {"target": target, "effort": "partition"}
    return tuple(pjit_inspect.inspect(function, *arguments, **asked).collectives)


def _causes_of(row: Collective) -> list[tuple[str, str, tuple[Frame, ...]]]:
    """Kind, sentence and source of each cause; a collective without any has one that is unknown."""
    causes = [(cause.kind, cause.sentence, cause.source) for cause in row.causes]
    return causes or [("unknown", "no cause was given", ())]


def _judge(
    row: Collective,
    kind: str,
    sentence: str,
    source: tuple[Frame, ...],
    wants: tuple[Want, ...],
    lines: Mapping[str, int],
) -> Answer:
    expected = _names_of(_fitting(row, "unknown", wants))
    fitting = _fitting(row, kind, wants)
    verdict: Verdict = "wrong" if not fitting else "unknown" if kind == "unknown" else "right"
    line = source[0].line if source else 0
    tagged = {lines[want.at] for want in fitting if want.at is not None}
    counts = verdict == "right" and tagged and all(want.at is not None for want in fitting)
    return Answer(
        collective=row,
        cause=kind,
        sentence=sentence,
        verdict=verdict,
        expected=expected,
        line_right=line in tagged if counts else None,
        line=line,
    )


def _fitting(row: Collective, cause: str, wants: Iterable[Want]) -> tuple[Want, ...]:
    """The wants that this collective with this cause meets; an unknown cause meets any."""
    axes = None if row.axes is None else frozenset(row.axes)
    # XLA combines sums of the forward and the backward pass: what they have in common is then no phase.
    phases = None, row.phase
    is_combined = row.operands > 1
    return tuple(
        want
        for want in wants
        if row.kind in want.kinds
        and axes in want.axis_sets
        and (cause == "unknown" or cause in want.causes)
        and (is_combined or want.phase in phases)
    )


def _is_unpointed(want: Want, answers: Iterable[Answer], lines: Mapping[str, int]) -> bool:
    if want.at is None or want.optional:
        return False
    # What is unknown points nowhere, and counts as unknown.
    about = [answer for answer in answers if want in _fitting(answer.collective, answer.cause, (want,))]
    return all(answer.line != lines[want.at] and answer.cause != "unknown" for answer in about)


def _unmet(wants: Iterable[Want], met: set[Want]) -> tuple[Want, ...]:
    return tuple(want for want in wants if not want.optional and want not in met)


def _names_of(wants: Iterable[Want]) -> str:
    return ", ".join(dict.fromkeys(want.cause for want in wants))
