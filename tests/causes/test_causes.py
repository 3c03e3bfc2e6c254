"""Every cause of the corpus is the one worked out by hand.

The expectations were written before any program ran (see `case`). Not its job: how a cause is worded.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from causes.case import Case
from causes.cases.crashing import CASES as CRASHING
from causes.corpus import CASES
from causes.score import Score, score, tag_lines
from pjit_inspect.model.report.collective import Collective

_MOST_UNKNOWN = 0.05
_SCRIPT = Path(__file__).parents[2] / "scripts" / "causes"


@cache
def _score(case: Case) -> Score:
    return score(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_collectives_of_a_program_have_the_causes_worked_out_by_hand(case: Case) -> None:
    result = _score(case)
    wrong = [
        f"{answer.collective.kind} over {answer.collective.axes_text}: {answer.cause} ({answer.sentence}); "
        f"expected {answer.expected or 'no such collective'}"
        for answer in result.answers
        if answer.verdict == "wrong"
    ]
    missing = [f"no {want.kind} over {want.axes} for {want.cause}" for want in result.missing]
    assert not wrong + missing, case.why
    for row in {id(answer.collective): answer.collective for answer in result.answers}.values():
        _check_words(row)


@pytest.mark.parametrize("case", CRASHING, ids=lambda case: case.name)
def test_a_program_that_ends_shardy_does_not_end_the_process_and_has_the_causes_worked_out_by_hand(case: Case) -> None:
    done = subprocess.run([sys.executable, _SCRIPT, "--case", case.name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _check_words(row: Collective) -> None:
    """The words of its causes are what they say they are: axes, names, specs."""
    for cause in row.causes:
        phrases = [phrase for said in (cause.sentence, *cause.facts) for phrase in said.phrases]
        assert not any("`" in phrase.text for phrase in phrases if phrase.kind == "word")
        # What is in backticks and has the shape of a spec is one, and no axis is mere code.
        code = {phrase.text for phrase in phrases if phrase.kind == "code"}
        assert not [text for text in code if text.startswith("P(")], cause.sentence
        assert not code & set(row.axes or ()), cause.sentence
        if f"`{cause.value}`" in cause.sentence:
            assert ("name", cause.value) in {(phrase.kind, phrase.text) for phrase in cause.sentence.phrases}


def test_at_most_one_cause_in_twenty_is_unknown() -> None:
    verdicts = Counter(answer.verdict for case in CASES for answer in _score(case).answers)
    assert verdicts["unknown"] <= _MOST_UNKNOWN * verdicts.total()


def test_every_case_has_a_name_of_its_own() -> None:
    assert max(Counter(case.name for case in CASES).values()) == 1


@pytest.mark.parametrize("case", [*CASES, *CRASHING], ids=lambda case: case.name)
def test_every_tag_that_is_wanted_is_in_the_program(case: Case) -> None:
    assert {want.at for want in case.wants if want.at is not None} <= set(tag_lines(case.build))
