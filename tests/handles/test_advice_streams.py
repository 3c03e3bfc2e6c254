"""Advice comes row by row: facts at once, then what each answer tells; who asks for all of it waits, nobody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect as pi
from pjit_inspect.handles import advice
from pjit_inspect.handles.advice import RecordAdvice, as_compiled
from pjit_inspect.handles.live import later_advice_of
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.report.edit import Checked, Edit
from pjit_inspect.model.words.sentence import Sentence

STEP = Path(__file__).parents[1] / "data" / "mlp.before_xla_was_asked.pjit"
FACT = Advice(kind="not_donated", sentence=Sentence("`p` is held twice"), state="fact")
ROW = Advice(kind="line", sentence=Sentence("`x` is `P()`"), edits=(Edit(kind="remove", index=1),), sent=(8, 4))
STEPS = (
    AdviceTable((FACT,), left=2, is_done=False),
    AdviceTable((ROW, FACT), asked=1, left=1, is_done=False),
    AdviceTable((ROW, FACT), asked=2),
)


class Asked:
    """Hands out the steps, each once it may."""

    def __init__(self) -> None:
        self.may, self.begun = threading.Event(), 0

    def __call__(self, *args: Any, **kwargs: Any) -> Iterator[AdviceTable]:
        yield STEPS[0]
        for step in STEPS[1:]:
            self.begun += 1
            assert self.may.wait(60)
            yield step


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    found = Asked()
    monkeypatch.setattr(advice, "advice_steps", found)
    return found


@pytest.fixture
def record() -> pi.CompileRecord:
    return pi.load(STEP)


def test_what_is_known_now_is_had_without_a_question(record: pi.CompileRecord, asked: Asked):
    assert record.advice_now == STEPS[0]
    assert "Worth knowing: `p` is held twice (not asked yet; record.advice asks XLA, at most 2 times)" in str(record)
    assert asked.begun == 0


def test_who_asks_waits_and_others_see_each_answer(record: pi.CompileRecord, asked: Asked):
    found: list[AdviceTable] = []
    waiting = threading.Thread(target=lambda: found.append(record.advice))
    waiting.start()
    while not asked.begun:
        pass
    assert record.advice_now == replace(STEPS[0], is_asking=True)
    assert not found
    asked.may.set()
    waiting.join(60)
    assert found == [STEPS[2]]
    assert record.advice_now == record.advice == STEPS[2]
    assert asked.begun == 2


def test_a_display_is_told_what_is_known_until_all_is(record: pi.CompileRecord, asked: Asked):
    now = record.state.analyses.of(record.data.__class__(name="f", stablehlo=Blob(b"program")))
    later = later_advice_of(now, is_still=True)
    assert later is not None
    told: list[str] = []
    is_done = threading.Event()

    def update(bundle: dict[str, str]) -> None:
        told.append(bundle["text/plain"])
        if "asked)" in bundle["text/plain"]:
            is_done.set()

    later.tell(update)
    while not asked.begun:
        pass
    asked.may.set()
    assert is_done.wait(60)
    assert "XLA is asked about changes: 0 by now, at most 2 more" in told[0]
    assert told[-1].startswith("A change sends 50 % less, and 1 more row (2 changes asked)")
    assert later_advice_of(now) is None


class Compiler:
    """Trials that count without compiling."""

    def __init__(self) -> None:
        self.checked: dict[tuple[Edit, ...], Checked] = {}

    def check(self, change: tuple[Edit, ...]) -> Checked:
        sizes = Checked(before_bytes=16, after_bytes=16 - 5 * len(change))
        return self.checked.setdefault(change, sizes)


def test_a_row_that_was_compiled_has_compiled_figures_over_those_before_it():
    trials: Any = Compiler()
    more = (Edit(kind="remove", index=2),)
    first = RecordAdvice.made_of(ROW, _trials=trials)
    second = RecordAdvice(
        kind="line", sentence=ROW.sentence, edits=more, sent=(4, 2), collectives=(3, 2), with_edits=ROW.edits,
        _trials=trials,
    )  # fmt: skip
    table = AdviceTable((first, second), asked=2)
    assert as_compiled(table) == table
    assert second.check() == Checked(before_bytes=16, after_bytes=6)
    assert [(one.state, one.sent, one.collectives) for one in as_compiled(table)] == [
        ("compiled", (16, 11), None),
        ("compiled", (11, 6), None),
    ]
