"""The table of errors: how its text is read, the holes of its templates, and that it names functions that there are."""

from __future__ import annotations

import re

import pytest

from pjit_inspect.analyze.errors.explain import known_errors
from pjit_inspect.analyze.errors.table import explain_row, filled, read_table
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
        ("{x}[[ has {n}]][[ and {y}]]", "`x` has 6"),
    ],
)
def test_a_hole_divides_counts_and_falls_back_on_words(template: str, words: str | None):
    assert filled(template, FACTS) == words


def explained(text: str, message: str) -> ExplainedError | None:
    (row,) = read_table(text, lambda path: pytest.fail(path))
    return explain_row(row, message, ErrorScene(), lambda fit, arrays: None)


def test_a_group_is_read_by_its_name():
    found = explained(
        r"""
let KEYS: (?P<codes>\{.*?\})
[argument] (?P<class_a>\S+) (?P<shape>\(.*?\)) (?P<entry>\(.*?\))
        (?P<split>f32\S+) {KEYS} {n} {word}
    means: {class_a}, {shape}, {entry}, {split}, {codes}, {n}, {word}
""",
        "jax._src.Thing (8, 4) ('data', 'model') f32[8@x,4] {'b', 'a'} 1024 end",
    )
    assert found is not None
    assert found.sentence == "`Thing`, [8,4], `data` x `model`, `P('x', None)`, `a` and `b`, 1,024, end"


def test_the_first_sentence_that_is_known_is_said_and_a_way_that_is_not_known_is_left_out():
    found = explained(
        """
[argument] {what}
    means: {which}, {what}
    means: only {what}
    fix: use {what} => it is there
    fix: use {which} => it is not known
""",
        "this",
    )
    assert found is not None
    assert found.sentence == "only this"
    assert [(fit.edit, fit.effect) for fit in found.fits] == [("use this", "it is there")]


def test_every_row_is_whole():
    for row in known_errors():
        assert row.sentences
        assert not re.search(r"\{[A-Z]", " ".join([row.pattern.pattern, *row.sentences]))
