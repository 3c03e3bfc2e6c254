"""What a change is worth: what it saves of what a device sends, unless something else is paid for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pjit_inspect.analyze.advice.counts import Counts, OneTurn
from pjit_inspect.analyze.advice.judge import find_saved
from pjit_inspect.analyze.advice.stakes import Counted
from pjit_inspect.model.report.edit import Edit


def counts(
    sent: int = 1000, *, products: int = 100, made: int = 100, held: int = 1000, results: tuple[int, ...] = ()
) -> Counts:
    return Counts(
        bytes=sent,
        products=products,
        made_bytes=made,
        held_bytes=held,
        results=results,
    )


def worth(before: Counts, after: Counts, *edits: Edit) -> float:
    one, other = (Counted(counts=counts, moved=()) for counts in (before, after))
    saved = find_saved(one, one, other, edits)
    return 0.0 if saved is None else saved.worth


def test_what_is_saved_is_a_share_of_what_is_sent() -> None:
    assert worth(counts(), counts(400)) == pytest.approx(0.6)


@pytest.mark.parametrize(
    "after",
    [
        counts(960),  # less than a twentieth
        counts(1200),
        counts(400, products=120),
        counts(400, made=130),
        counts(400, held=1030),
    ],
)
def test_little_and_what_is_paid_for_elsewhere_is_worth_nothing(after: Counts) -> None:
    assert worth(counts(), after) == 0


def test_memory_is_not_saved_by_sending_more() -> None:
    assert worth(counts(), counts(1002, held=500)) == 0
    assert worth(counts(), counts(held=500)) == pytest.approx(0.25)


def test_a_result_in_smaller_pieces_is_a_debt_unless_it_was_asked_for() -> None:
    before, after = counts(results=(800,)), counts(400, results=(200,))
    assert worth(before, after) == 0
    assert worth(before, after, Edit(kind="result", index=0, spec=(("a",),))) == pytest.approx(0.6)


def with_turns(sent: int, in_loop: int, *, products: int = 0) -> Counts:
    """So much sent outside of a loop of unknown length, and in each of its turns."""
    turn = OneTurn(loop=("jit(f)/while", "f.py:1"), bytes=in_loop, products=products, made_bytes=0)
    return replace(counts(sent + in_loop), turns=(turn,))


@pytest.mark.parametrize(
    ("after", "is_worth_it"),
    [
        (with_turns(400, 100), True),
        (with_turns(400, 101), False),
        (with_turns(1000, 0), True),
        (with_turns(1050, 0), False),  # one turn of it saves a twentieth, or less
        (with_turns(400, 100, products=1), False),
        (counts(400), False),  # nobody knows which loop is gone
    ],
)
def test_a_change_helps_for_any_number_of_turns(after: Counts, is_worth_it: bool) -> None:
    assert (worth(with_turns(1000, 100), after) > 0) is is_worth_it
