"""What is kept of a candidate: a remedy that helps, or a cost that is noticeable; dearest first, three at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pjit_inspect.analyze.findings import findings
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.findings.findings import find_findings
from pjit_inspect.analyze.suggest.counts import Counts, OneTurn
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.finding import Finding
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words
from pjit_inspect.view.record.findings import figures_of

WHOLE = Sharding(spec=(None,), tiles=(1,), device_ids=(0, 1), tile_of=(0, 0))
DATA = RecordData(name="f", inputs=(ArrayLayout(path="x", dtype="float32", global_shape=(250,), sharding=WHOLE),))
ROW = Collective(
    kind="all-gather", axes=("a",), groups=((0, 1),), dtype="f32", local_shape=(1,), payload_bytes=1000, wire_bytes=1000
)
SUBJECT = Subject(data=DATA, collectives=(ROW,))
EDIT = Edit(kind="argument", index=0, spec=(("a",),))


def counts(sent: int = 1000, *, products: int = 100, made: int = 100, held: int = 1000) -> Counts:
    return Counts(
        forward_bytes=sent,
        backward_bytes=0,
        by_kind=(("all-gather", sent),),
        products=products,
        made_bytes=made,
        held_bytes=held,
        channels={},
    )


def candidate(
    kind: str = "axis_lost", unit: str = "sent", cost: int = 0, edits: tuple[Edit, ...] = (EDIT,)
) -> Candidate:
    return Candidate(
        kind=kind,
        sentence=Sentence(f"{kind} {cost}"),
        unit=unit,
        cost_bytes=cost,
        remedies=(Remedy(words=Sentence("do it"), edits=edits),),
        is_proven=kind not in ("axis_lost", "replicated_argument"),
    )


def judged(monkeypatch: pytest.MonkeyPatch, *found: Candidate, after: Counts | None = None) -> Sequence[Finding]:
    def count(change: Sequence[Edit]) -> Counts:
        if change and after is None:
            raise CaptureError("no answer")
        return after if change and after is not None else counts()

    monkeypatch.setattr(findings, "_candidates", lambda _: iter(found))
    return find_findings(SUBJECT, count)


def test_what_a_remedy_saves_is_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = judged(monkeypatch, candidate(), after=counts(400))
    assert one.cost_bytes == 600
    assert one.tried is not None
    assert (one.tried.before_bytes, one.tried.after_bytes) == (1000, 400)
    assert one.change == (EDIT,)


@pytest.mark.parametrize(
    "after",
    [
        counts(960),  # less than a twentieth
        counts(1200),
        counts(400, products=120),
        counts(400, made=130),
        counts(400, held=1001),
        None,
    ],
)
def test_a_lost_axis_is_none_without_a_remedy_that_helps(monkeypatch: pytest.MonkeyPatch, after: Counts | None) -> None:
    assert not judged(monkeypatch, candidate(), after=after)


def test_a_remedy_that_does_not_help_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = judged(monkeypatch, candidate("gathered_again", cost=500), after=counts(1000))
    assert one.remedy == ""
    assert one.tried is None
    assert one.cost_bytes == 500


def test_memory_is_not_saved_by_sending_more(monkeypatch: pytest.MonkeyPatch) -> None:
    held = candidate("replicated_argument", "held")
    assert not judged(monkeypatch, held, after=counts(1001, held=500))
    (one,) = judged(monkeypatch, held, after=counts(1000, held=500))
    assert one.tried is not None
    assert (one.tried.before_bytes, one.tried.after_bytes) == (1000, 500)


def with_turns(sent: int, in_loop: int, *, products: int = 0) -> Counts:
    """So much sent outside of a loop of unknown length, and in each of its turns."""
    turn = OneTurn(loop=("jit(f)/while", "f.py:1"), bytes=in_loop, products=products, made_bytes=0)
    return replace(counts(sent + in_loop), turns=(turn,))


@pytest.mark.parametrize(
    ("after", "is_offered"),
    [
        (with_turns(400, 100), True),
        (with_turns(400, 101), False),
        (with_turns(1000, 0), True),
        (with_turns(1050, 0), False),  # one turn of it saves a twentieth, or less
        (with_turns(400, 100, products=1), False),
        (counts(400), False),  # nobody knows which loop is gone
    ],
)
def test_a_remedy_helps_for_any_number_of_turns(
    monkeypatch: pytest.MonkeyPatch, after: Counts, is_offered: bool
) -> None:
    def count(change: Sequence[Edit]) -> Counts:
        return after if change else with_turns(1000, 100)

    monkeypatch.setattr(findings, "_candidates", lambda _: iter([candidate()]))
    found = find_findings(SUBJECT, count)
    assert bool(found) is is_offered
    for one in found:
        assert one.runs_once
        assert one.tried is not None
        assert one.tried.outside_bytes == (1000, after.bytes - after.turns[0].bytes)
        assert "per device and call if each loop of unknown length takes one turn" in plain(figures_of(one))


def test_what_is_not_tried_says_that_it_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(ROW, count=None, count_min=None, instructions=("gather",))
    one = replace(candidate("loop_predicate", cost=900, edits=()), instructions=("gather",))
    monkeypatch.setattr(findings, "_candidates", lambda _: iter([one]))
    (found,) = find_findings(replace(SUBJECT, collectives=(row,)), None)
    assert "sent per device and call if these run once" in plain(figures_of(found))


def plain(spans: Sequence[Any]) -> str:
    return "".join(getattr(span, "text", "") for span in spans)


def test_what_costs_little_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not judged(monkeypatch, candidate("summed_per_turn", cost=50, edits=()))
    assert judged(monkeypatch, candidate("summed_per_turn", cost=51, edits=()))


def test_three_at_most_what_is_sent_first_then_dearest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(
        monkeypatch,
        candidate("not_donated", "held", 1000, edits=()),
        candidate("loop_predicate", cost=100, edits=()),
        candidate("resharded_argument", "copied", 900, edits=()),
        candidate("summed_per_turn", cost=300, edits=()),
    )
    assert [one.kind for one in found] == ["summed_per_turn", "loop_predicate", "resharded_argument"]


def test_nothing_is_tried_where_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([candidate(), candidate("not_donated", "held", 1000, edits=())])
    monkeypatch.setattr(findings, "_candidates", lambda _: found)
    assert [one.kind for one in find_findings(SUBJECT, None)] == ["not_donated"]


def test_a_program_of_which_nothing_is_known_has_none() -> None:
    assert list(find_findings(Subject(data=RecordData(name="f")), None)) == []


@pytest.mark.parametrize(("size", "text"), [(7, "7 B"), (1536, "1.5 KiB"), (3 << 20, "3 MiB"), (200 << 30, "200 GiB")])
def test_sizes_are_in_the_largest_unit_that_gives_one(size: int, text: str) -> None:
    assert bytes_in_words(size) == text
