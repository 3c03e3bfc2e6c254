"""A text with two programs, or two entries, gives no answer as if it were one: it is refused, or marked.

Not its job: files that end too soon (`test_truncated.py`).
"""

from __future__ import annotations

import re

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.parse.hlo_text.hlo_text import parse_hlo_text

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


def test_a_program_after_one_that_ends_too_soon_is_not_taken_for_its_rest():
    text = fixtures.text(NAME)
    half = text[: text.index("\n", len(text) // 2) + 1]
    found = parse_hlo_text(half + text)
    assert why_incomplete(found.unknown).endswith("the file holds more than one program, and this is the first")
    assert "a computation has no end" in why_incomplete(found.unknown)
    assert len(found) <= len(parse_hlo_text(half)) + 1


def test_a_record_of_two_programs_says_so_and_keeps_saying_it(tmp_path):
    path, saved = tmp_path / "two.hlo", tmp_path / "two.pjit"
    path.write_text(fixtures.text(NAME) + "\n" + fixtures.text(NAME))
    opened = pi.open(path)
    assert isinstance(opened, pi.CompileRecord)
    assert opened.data.missing["hlo"] == MORE
    assert "Incomplete program: the file holds more than one program, and this is the first. At least " in " ".join(
        str(opened).split()
    )
    opened.save(saved)
    assert pi.load(saved).report.data.missing["hlo"] == MORE
