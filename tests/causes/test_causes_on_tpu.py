"""Programs of which the compiler for TPUs makes other collectives have the causes worked out by hand there, too.

`scripts/causes --target tpu:v5e:2x4` asks about the whole corpus. Skipped where that compiler is not installed.
"""

from __future__ import annotations

import pytest

from causes.case import Case, Want
from causes.corpus import CASES
from causes.score import score, wants_here
from pjit_inspect.observe.partitioner import targets

TARGET = "tpu:v5e:2x4"
OTHERS = [case for case in CASES if any(want.platform for want in case.wants) or case.elsewhere]


@pytest.mark.skipif(bool(targets.why_missing("tpu")), reason="libtpu is not installed")
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_the_collectives_of_a_tpu_program_have_the_causes_worked_out_by_hand(case: Case) -> None:
    result = score(case, TARGET)
    verdicts = [(answer.collective.kind, answer.cause, answer.verdict) for answer in result.answers]
    assert [row for row in verdicts if row[2] != "right"] == [], case.elsewhere
    assert result.missing == ()


@pytest.mark.parametrize(
    ("platform", "target", "holds"),
    [
        ("", None, True),
        ("", TARGET, True),
        ("tpu", None, False),
        ("tpu", TARGET, True),
        ("not tpu", None, True),
        ("not tpu", TARGET, False),
        ("not tpu", "cuda:h100:1x8", True),
    ],
)
def test_a_want_holds_on_the_platforms_it_names(platform: str, target: str | None, holds: bool) -> None:
    own = Want("all-gather", "x", "halo", platform=platform)
    case = Case(name="any", build=OTHERS[0].build, wants=(own,), why="")
    assert wants_here(case, target) == ((own,) if holds else ())


def test_what_differs_on_a_platform_is_explained() -> None:
    assert [case.name for case in OTHERS if not case.elsewhere or not any(want.platform for want in case.wants)] == []
