"""No suggestion that is offered for a program of the corpora makes it send more.

A sample runs always, all of them with `--all`. Not its job: which suggestions there should be (`tests/analyze/advice`).
"""

from __future__ import annotations

import pytest
from causes.case import Case
from causes.corpus import CASES
from corpus.program import Program
from corpus.programs import PROGRAMS

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError

_EVERY = 12
_STEPS = ("logits_gathered_before_the_loss", "lookup_in_a_split_table", "dqn_with_split_replay")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("--all", default=False)
        steps = [program for program in PROGRAMS if is_all or program.name in _STEPS]
        chosen = [*(CASES if is_all else CASES[::_EVERY]), *steps]
        metafunc.parametrize("program", chosen, ids=[program.name for program in chosen])


def test_no_suggestion_makes_a_program_send_more(program: Case | Program) -> None:
    function, arguments = program.build()
    record = pi.inspect(function, *arguments)
    try:
        found = record.suggestions
    except CaptureError:
        pytest.skip("a program that Shardy did not partition")
    for suggestion in found:
        assert suggestion.sent is not None
        assert suggestion.sent[1] <= suggestion.sent[0]
        assert suggestion.check().verdict != "worse", str(suggestion.check())
