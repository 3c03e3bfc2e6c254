"""Holes of a row's templates: numbers, words for what is not known, and what is left out."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.errors.table import Way, explain_row, filled, row
from pjit_inspect.model.report.explained_error import ErrorScene, ExplainedError
from pjit_inspect.model.words.sentence import name

FACTS = {"n": 6, "n_parts": 4, "one": 1, "x": name("x")}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        # 6 / 4 = 1.5, and 8 is the next multiple of 4.
        ("{n/n_parts}", "6 / 4 = 1.5"),
        ("{n^n_parts}", "8"),
        ("{n:entry} and {one:entry}", "6 entries and 1 entry"),
        ("{n:array}", "6 arrays"),
        ("{x} is {y|an array}", "`x` is an array"),
        ("{x}{?n}", "`x`"),
        ("{x}{?y}", None),
        ("{y}", None),
        ("{n/y}", None),
    ],
)
def test_a_hole_divides_counts_and_falls_back_on_words(template: str, words: str | None):
    assert filled(template, FACTS) == words


def explained(pattern: str, sentence: str | tuple[str, ...], message: str, *ways: Way) -> ExplainedError | None:
    return explain_row(row("argument", pattern, sentence, *ways), message, ErrorScene(), lambda fit, arrays: None)


def test_a_group_is_read_by_its_name():
    pattern = r"(?P<class_a>\S+) (?P<shape>\(.*?\)) (?P<entry>\(.*?\)) (?P<split>f32\S+) (?P<codes>\{.*?\}) (?P<n>\d+)"
    found = explained(
        pattern, "{class_a}, {shape}, {entry}, {split}, {codes}, {n}",
        "jax._src.Thing (8, 4) ('data', 'model') f32[8@x,4] {'b', 'a'} 1024",
    )  # fmt: skip
    assert found is not None
    assert found.sentence == "`Thing`, [8,4], `data` x `model`, `P('x', None)`, `a` and `b`, 1,024"


def test_the_first_sentence_that_is_known_is_said_and_a_way_that_is_not_known_is_left_out():
    ways = Way("use {what}", "it is there"), Way("use {which}", "it is not known")
    found = explained(r"(?P<what>\w+)", ("{which}, {what}", "only {what}"), "this", *ways)
    assert found is not None
    assert found.sentence == "only this"
    assert [fit.edit for fit in found.fits] == ["use this"]
