"""Comparisons find what a known edit does, and say nothing where an edit makes no other program."""

from __future__ import annotations

import functools

import pytest

from diff.pair import EditPair
from diff.score import PAIRS, Judged, judge


@functools.cache
def judged(name: str) -> Judged:
    return judge(next(pair for pair in PAIRS if pair.name == name))


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_the_collectives_that_came_went_and_changed_are_those_worked_out_by_hand(pair: EditPair):
    one = judged(pair.name)
    assert one.found == one.wanted, one.diff.sentence


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_a_reason_names_what_was_edited_and_no_reason_is_given_without_an_edit_of_shardings(pair: EditPair):
    one = judged(pair.name)
    assert one.unreasoned == ()
    if not any(move.because for move in pair.moves) and "shardings" not in pair.build.__module__:
        # A collective may be there for an argument that is new.
        reasons = [str(p.reason) for p in one.diff.collectives if p.reason]
        assert [reason for reason in reasons if not reason.startswith("argument ")] == []


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.is_empty], ids=[p.name for p in PAIRS if p.is_empty])
def test_an_edit_that_makes_no_other_program_gives_an_empty_comparison(pair: EditPair):
    one = judged(pair.name)
    assert one.diff.is_empty, str(one.diff)
    assert not one.diff
    assert one.diff.sentence.startswith("nothing differs")
