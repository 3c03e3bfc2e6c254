"""A finding as lines: the sentence and its place, the remedy, the figures and what they rest on."""

from __future__ import annotations

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.finding import Finding, FindingTable
from pjit_inspect.model.report.suggestion import Checked
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.record.findings import finding_blocks
from pjit_inspect.view.render.text import to_text

FRAME = Frame(file="/home/me/train.py", line=31)
LOST = Finding(
    kind="axis_lost",
    sentence=Sentence("`x` (train.py:31) loses `fsdp`"),
    source=(FRAME,),
    cost_bytes=3 << 20,
    remedy=Sentence("put `with_sharding_constraint(..., P('fsdp'))` on it"),
    tried=Checked(before_bytes=4 << 20, after_bytes=1 << 20),
    collectives=(163, 50),
)
KEPT = Finding(
    kind="not_donated", sentence=Sentence("`params` is held twice"), source=(FRAME,), cost_bytes=1024, unit="held"
)


def text(*found: Finding) -> str:
    return to_text(Document(blocks=finding_blocks(FindingTable(found))))


def test_no_findings_are_one_line_and_unknown_ones_are_not_none() -> None:
    assert text().strip() == "no findings"
    unknown = to_text(Document(blocks=finding_blocks(FindingTable((), missing="the program is incomplete"))))
    assert unknown.strip() == "findings unknown: the program is incomplete"


def test_what_was_tried_has_bytes_and_collectives_before_and_after() -> None:
    shown = text(LOST)
    assert "finding 1  `x` (train.py:31) loses `fsdp`" in shown
    assert "remedy: put `with_sharding_constraint(..., P('fsdp'))` on it" in shown
    assert "4 MiB -> 1 MiB sent per device and call" in shown
    assert "163 -> 50 collectives" in shown
    assert "before optimization" in shown


def test_the_place_is_told_once() -> None:
    assert text(LOST).count("train.py:31") == 1
    assert text(KEPT).count("train.py:31") == 1


def test_what_was_not_tried_says_so() -> None:
    shown = text(LOST, KEPT)
    assert "finding 2  `params` is held twice" in shown
    assert "1 KiB held by each device" in shown
    assert "not tried" in shown.rpartition("finding 2")[2]
    assert "remedy" not in shown.rpartition("finding 2")[2]
