"""What is tried does not depend on how fast the machine is, and what is not tried is said.

Not its job: which faults are found (`test_findings`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

import pytest

from findings.case import Fault
from findings.faults import FAULTS
from findings.score import record_of
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.advice import MOST_QUESTIONS
from pjit_inspect.handles.trials import Trials
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.edit import Edit

TWO = next(fault for fault in FAULTS if fault.name == "keys_of_heads_whose_product_has_another_order")
"""Several changes are tried of it."""


def looked(fault: Fault = TWO, most: int | None = MOST_QUESTIONS) -> AdviceTable:
    now = record_of(fault).state.analyses
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(now.known, "advice", now._advised(most))
        return now.findings


@pytest.fixture
def hours() -> Iterator[None]:
    """A clock by which every question takes hours."""
    clock = iter(range(0, 10**12, 10_000))
    with pytest.MonkeyPatch.context() as patch:
        real, answer = time.monotonic, Trials.answer

        def slowly(self: Trials, change: Sequence[Edit]) -> object:
            found = answer(self, change)
            shift = next(clock)
            patch.setattr(time, "monotonic", lambda: real() + shift)
            return found

        patch.setattr(Trials, "answer", slowly)
        yield


@pytest.mark.usefixtures("hours")
def test_a_slow_machine_finds_what_a_fast_one_does() -> None:
    found = looked()
    assert [(one.kind, str(one)) for one in found] == [(one.kind, str(one)) for one in record_of(TWO).findings]
    assert (found.untried, found.missing) == ("", "")


def test_what_is_left_out_is_said_and_tried_when_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(TWO)
    whole = record.advice
    part = looked(most=1)
    left = r"(\d+) of (\d+) changes were left out, as at most 1 are tried"
    assert re.fullmatch(left, part.untried)
    monkeypatch.setitem(record.state.analyses.known, "advice", part)
    assert "record.advice.try_all() asks about all" in str(record.advice.show())
    assert list(map(str, record.advice.try_all())) == list(map(str, whole))
    assert record.advice.untried == ""


def test_findings_of_no_record_have_nothing_to_try() -> None:
    with pytest.raises(ValueError, match="not handed out by a record"):
        AdviceTable(()).try_all()


def test_a_change_without_an_answer_is_said_to_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where XLA takes longer than anybody waits: neither "none helps" nor silence."""
    answer = Trials.answer

    def none(self: Trials, change: Sequence[Edit]) -> object:
        if change:
            raise CaptureError("XLA's partitioner gave no answer in 600 s")
        return answer(self, change)

    monkeypatch.setattr(Trials, "answer", none)
    found = looked()
    assert re.fullmatch(r"(\d+) of \1 got no answer: XLA's partitioner gave no answer in 600 s", found.untried)
