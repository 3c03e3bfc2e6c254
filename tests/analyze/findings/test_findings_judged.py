"""Which facts are told: what costs a noticeable part, dearest first; three findings at most, what is sent first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pjit_inspect.analyze.findings import findings
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.findings.findings import find_facts, find_findings
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words

WHOLE = Sharding(spec=(None,), tiles=(1,), device_ids=(0, 1), tile_of=(0, 0))
DATA = RecordData(name="f", inputs=(ArrayLayout(path="x", dtype="float32", global_shape=(250,), sharding=WHOLE),))
ROW = Collective(
    kind="all-gather", axes=("a",), groups=((0, 1),), dtype="f32", local_shape=(1,), payload_bytes=1000, wire_bytes=1000
)
SUBJECT = Subject(data=DATA, collectives=(ROW,))
EDIT = Edit(kind="argument", index=0, spec=(("a",),))


def candidate(kind: str, unit: str = "sent", cost: int = 0, *, is_proven: bool = True) -> Candidate:
    return Candidate(
        kind=kind,
        sentence=Sentence(f"{kind} {cost}"),
        unit=unit,
        cost_bytes=cost,
        remedies=(Remedy(words=Sentence("do it")),),
        is_proven=is_proven,
    )


def facts(monkeypatch: pytest.MonkeyPatch, *found: Candidate, subject: Subject = SUBJECT) -> Sequence[Advice]:
    monkeypatch.setattr(findings, "fact_candidates", lambda _: iter(found))
    return find_facts(subject)


def change(kind: str = "axis_lost", **fields: Any) -> Advice:
    given = {"sent": (1000, 400), "memory": (1000, 1000), "edits": (EDIT,), "change": "do it"} | fields
    return Advice(kind=kind, sentence=Sentence(f"a {kind}"), **given)


def test_what_costs_little_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not facts(monkeypatch, candidate("summed_per_turn", cost=50))
    assert facts(monkeypatch, candidate("summed_per_turn", cost=51))


def test_what_only_a_remedy_proves_is_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not facts(monkeypatch, candidate("gathered_again", cost=500, is_proven=False))


def test_what_is_not_tried_says_that_it_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(ROW, count=None, count_min=None, instructions=("gather",))
    one = replace(candidate("loop_predicate", cost=900), removes=("gather",))
    (found,) = facts(monkeypatch, one, subject=replace(SUBJECT, collectives=(row,)))
    assert found.runs_once


def test_three_at_most_what_is_sent_first_then_dearest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = facts(
        monkeypatch,
        candidate("not_donated", "held", 1000),
        candidate("loop_predicate", cost=100),
        candidate("resharded_argument", "copied", 900),
        candidate("summed_per_turn", cost=300),
    )
    assert [one.kind for one in find_findings(found)] == ["summed_per_turn", "loop_predicate", "resharded_argument"]


def test_another_layout_is_no_finding() -> None:
    found = (change(), change("layout"), change("argument"), change("line"))
    assert [one.kind for one in find_findings(found)] == ["axis_lost", "line"]


def test_a_program_of_which_nothing_is_known_has_none() -> None:
    assert not find_facts(Subject(data=RecordData(name="f")))


@pytest.mark.parametrize(("size", "text"), [(7, "7 B"), (1536, "1.5 KiB"), (3 << 20, "3 MiB"), (200 << 30, "200 GiB")])
def test_sizes_are_in_the_largest_unit_that_gives_one(size: int, text: str) -> None:
    assert bytes_in_words(size) == text
