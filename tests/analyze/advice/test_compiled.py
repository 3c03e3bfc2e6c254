"""What the collectives of two compiled programs send, compared, and how that is said."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.advice.compiled import compare_traffic
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Checked
from pjit_inspect.model.words.sentence import Sentence

KIB = 1024


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1399, 1015, "tried: -384 MiB (1.37 GiB -> 1,015 MiB) per device per call (modelled, ring)"),
        (1399, 1451, "tried: +52 MiB (1.37 GiB -> 1.42 GiB) per device per call (modelled, ring), worse"),
        (1399, 1399, "tried: 0 B (1.37 GiB -> 1.37 GiB) per device per call (modelled, ring), changes nothing"),
    ],
)
def test_a_checked_one_says_what_came_of_it(before: int, after: int, said: str) -> None:
    assert str(Checked(before_bytes=before * KIB**2, after_bytes=after * KIB**2)) == said


def test_a_thousandth_is_nothing() -> None:
    assert Checked(before_bytes=10_000, after_bytes=9_990).verdict == "nothing"
    assert Checked(before_bytes=10_000, after_bytes=9_989).verdict == "helps"
    assert Checked(before_bytes=0, after_bytes=0).verdict == "nothing"
    assert Checked(before_bytes=0, after_bytes=1).verdict == "worse"


def test_advice_of_no_record_cannot_be_checked() -> None:
    one = Advice(kind="line", sentence=Sentence("s"))
    with pytest.raises(ValueError, match="not handed out by a record"):
        one.check()


def test_a_collective_in_a_loop_that_nobody_can_name_counts_once_and_proves_nothing() -> None:
    row = Collective(
        kind="all-gather", axes=("x",), groups=((0, 1),), dtype="f32", local_shape=(2,), operands=1,
        payload_bytes=8, wire_bytes=8, count=None,
    )  # fmt: skip
    found = compare_traffic((row,), ())
    assert found == Checked(
        before_bytes=8, after_bytes=0, before_by_kind=(("all-gather", 8),), after_by_kind=(), per_turn=None
    )
    assert found.verdict == "depends"
