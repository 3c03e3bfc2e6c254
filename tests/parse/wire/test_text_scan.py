"""Brackets, commas, strings and comments of HLO text."""

from __future__ import annotations

import pytest

from pjit_inspect.parse.wire.text_scan import (
    find_close,
    inside,
    integers,
    split_commas,
    split_pairs,
    unquote,
    without_comments,
)


@pytest.mark.parametrize(
    ("text", "end"),
    [("(a)b", 3), ("{a(b)[c]}", 9), ('(")")', 5), ("(')')", 5), ('("\\")")', 7)],
)
def test_the_closing_bracket_is_found_past_strings_and_inner_brackets(text: str, end: int):
    assert find_close(text, 0) == end


@pytest.mark.parametrize("text", ["(", "((a)", '(")', "(" * 1000 + ")" * 1000])
def test_brackets_that_are_not_closed_or_too_deep_are_refused(text: str):
    with pytest.raises(ValueError, match="not closed"):
        find_close(text, 0)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, b", ["a", "b"]),
        ("f32[2,3]{1,0}, (s32[], f32[2])", ["f32[2,3]{1,0}", "(s32[], f32[2])"]),
        ('"a,b", c', ['"a,b"', "c"]),
        ("", []),
        ("a,", ["a", ""]),
    ],
)
def test_commas_in_brackets_and_strings_do_not_split(text: str, parts: list[str]):
    assert split_commas(text) == parts


def test_pairs_are_split_by_blanks_or_commas():
    assert list(split_pairs('a="x y" b={1,2},c=3')) == [("a", '"x y"'), ("b", "{1,2}"), ("c", "3")]
    with pytest.raises(ValueError, match="no list of attributes"):
        list(split_pairs("a=1 what"))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('"plain"', b"plain"),
        ("\"params[\\'w\\']\"", b"params['w']"),
        ('"a\\303\\251\\n\\t\\\\\\"\\x41"', b'a\xc3\xa9\n\t\\"A'),
        ("'single'", b"single"),
        ('""', b""),
    ],
)
def test_escapes_of_strings_are_resolved(text: str, content: bytes):
    assert unquote(text) == content


@pytest.mark.parametrize("text", ["", '"', "word", "\"a'"])
def test_what_is_no_string_is_refused(text: str):
    with pytest.raises(ValueError, match="no string"):
        unquote(text)


def test_comments_vanish_and_strings_do_not():
    assert without_comments("a /*index=5*/b/**/c") == "a  b c"
    assert without_comments("a // b\nc") == "a  \nc"
    assert without_comments('"http://a/*b*/" /*b') == '"http://a/*b*/"  '


def test_integers_are_integers_and_nothing_else():
    assert integers(" 1, -2,3") == [1, -2, 3]
    assert integers("") == []
    for text in ("1,", "a", "1_0", "9" * 40, "1 2"):
        with pytest.raises(ValueError, match="integers"):
            integers(text)


def test_brackets_around_the_whole_are_taken_off():
    assert inside(" {a{b}} ", "{") == "a{b}"
    for text in ("a", "{a}b", "(a)"):
        with pytest.raises(ValueError, match="brackets"):
            inside(text, "{")
