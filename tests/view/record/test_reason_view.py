"""Why a program was compiled, as a record's display, the log and the watch say it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import view_reports

from pjit_inspect.model.record.reason import Difference, Reason
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.pages.session import log_view
from pjit_inspect.view.record.answer import reason_blocks, reason_words, watch_line
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.render.text import to_text

FIRST = Reason(kind="first", sentence="first compile of `train_step`")
LENGTH = Difference(kind="shape", path="x", sentence="`x`: length 511 -> 512 (dimension 1)")
LONGER = Reason(kind="changed", sentence=LENGTH.sentence, differences=(LENGTH,), nearest=1)
DROPPED = Reason(kind="dropped", sentence="JAX had dropped its program: the caches were cleared")


def several(count: int) -> Reason:
    differences = tuple(Difference(kind="shape", sentence=f"`p{i}`: length 1 -> 2") for i in range(count))
    return Reason(kind="changed", sentence="`p0`: length 1 -> 2; and more", differences=differences)


def lines_of(reason: Reason | None) -> list[str]:
    return to_text(Document(blocks=tuple(reason_blocks(reason)))).splitlines()


def test_a_first_compile_needs_no_word():
    assert lines_of(FIRST) == lines_of(None) == []
    assert reason_words(FIRST) == reason_words(None) == ""


def test_one_difference_is_the_sentence():
    assert lines_of(LONGER) == ["compiled again: `x`: length 511 -> 512 (dimension 1)"]


def test_differences_the_sentence_leaves_out_have_a_line_each_and_the_rest_is_counted():
    lines = lines_of(several(9))
    assert lines[0] == "compiled again: `p0`: length 1 -> 2; and more"
    assert [line.partition("`p")[2] for line in lines[1:5]] == [f"{i}`: length 1 -> 2" for i in (1, 2, 3, 4)]
    assert lines[5:] == ["... and 4 more differences"]


def test_a_record_that_was_compiled_again_says_so_under_its_name():
    report = view_reports.mlp("tensor")
    text = to_text(record_view(replace(report, data=replace(report.data, reason=LONGER)))).splitlines()
    assert text[1] == "compiled again: `x`: length 511 -> 512 (dimension 1)"
    assert [text[0], *text[2:]] == to_text(record_view(report)).splitlines()


def test_the_log_has_a_column_for_it_only_where_something_was_compiled_again():
    rows = [view_reports.mlp("tensor").data] * 3
    assert "compiled again for" not in to_text(log_view(rows, reasons=[FIRST] * 3))
    text = to_text(log_view(rows, reasons=[FIRST, LONGER, DROPPED])).splitlines()
    assert text[2].endswith("compiled again for")
    assert text[4].endswith("  shape")
    assert text[5].endswith("  cache dropped")


@pytest.mark.parametrize(
    ("seconds", "line"),
    [
        (1.25, "train_step, compile 2, 1.2 s: `x`: length 511 -> 512 (dimension 1)"),
        (None, "train_step, compile 2: `x`: length 511 -> 512 (dimension 1)"),
    ],
)
def test_a_compile_as_it_happens_is_one_line(seconds, line):
    assert watch_line("train_step", 2, seconds, LONGER) == line


def test_a_line_holds_no_control_characters():
    assert watch_line("f\x1b[31m\n", 1, None, FIRST) == "f\\x1b[31m\\x0a, compile 1: first compile of `train_step`"
