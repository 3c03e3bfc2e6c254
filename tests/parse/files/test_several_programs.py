"""A text with two programs, or two entries, gives no answer as if it were one: it is refused, or marked.

Not its job: files that end too soon (`test_truncated.py`).
"""

from __future__ import annotations

import re

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text

import pjit_inspect as pi
from pjit_inspect.model.program.incomplete import why_incomplete

NAME = "mlp_step.cpu_8"
MORE = "incomplete: the file holds more than one program, and this is the first"


def test_two_entries_are_refused_with_the_line_and_their_names():
    text = fixtures.text(NAME)
    twice = re.sub(r"\n(%\S+ \()", r"\nENTRY \1", text, count=1)
    assert twice.count("\nENTRY ") == 2
    with pytest.raises(pi.ParseError, match="more than one computation is marked ENTRY: ") as caught:
        parse_hlo_text(twice)
    assert caught.value.offset == 1 + twice.count("\n", 0, twice.rindex("\nENTRY ") + 1)


@pytest.mark.parametrize("between", ["\n", "\n\n", ""])
def test_of_two_programs_the_first_is_shown_and_the_other_told(between: str):
    text = fixtures.text(NAME)
    found, alone = parse_hlo_text(text + between + text), parse_hlo_text(text)
    assert why_incomplete(found.unknown) == MORE
    assert found.unknown["programs that follow"] == 1
    assert len(found) == len(alone)
    assert parse_hlo_text("\n".join([text] * 3)).unknown["programs that follow"] == 2


def test_a_program_after_one_that_ends_too_soon_is_not_taken_for_its_rest(tmp_path):
    text = fixtures.text(NAME)
    half = text[: text.index("\n", len(text) // 2) + 1]
    path = tmp_path / "two.hlo"
    path.write_text(half + text)
    log = pi.open(path)
    assert isinstance(log, pi.Log)
    assert [record.report.incomplete for record in log] == [
        "its entry computation is missing and a computation has no end",
        "",
    ]
    assert len(log[1].hlo) == len(parse_hlo_text(text))


def test_a_file_of_two_programs_gives_a_log_of_both(tmp_path):
    path = tmp_path / "two.hlo"
    path.write_text(f"{fixtures.text(NAME)}\n{fixtures.text('permute_ring.h100_1x1x8')}")
    log = pi.open(path)
    assert isinstance(log, pi.Log)
    assert log.names() == ("step", "local")
    assert [len(record.collectives) for record in log] == [2, 1]
    assert not any(record.report.incomplete for record in log)
    assert log[0].hlo_text == fixtures.text(NAME) + "\n"


def test_a_file_that_xlas_tools_split_gives_each_of_its_programs(tmp_path):
    path = tmp_path / "split.hlo"
    path.write_text("// RUN: x\ne {\n  a = f32[2] parameter(0)\n}\n// -----\nf {\n  ROOT b = f32[2] parameter(0)\n}\n")
    log = pi.open(path)
    assert [[one.name for one in record.hlo.computation(0)] for record in log] == [["a"], ["b"]]
