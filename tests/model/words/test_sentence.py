"""Sentences keep their phrases, and are strings."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.words.sentence import (
    PHRASE_KINDS,
    Phrase,
    Sentence,
    axis,
    bare,
    code,
    joined,
    name,
    place,
    say,
    spec,
    word,
)

SUM = say("{} ({}) sums over dimension {}, sharded over {}", code("h @ w"), place("train.py:12"), 1, axis("model"))


def test_a_sentence_is_the_string_it_prints():
    assert SUM == "`h @ w` (train.py:12) sums over dimension 1, sharded over `model`"
    assert isinstance(SUM, str)


def test_its_phrases_say_what_each_is():
    assert [phrase.kind for phrase in SUM.phrases] == ["code", "word", "place", "word", "axis"]
    assert SUM.phrases[3] == Phrase("word", ") sums over dimension 1, sharded over ")


def test_sentences_nest_with_their_phrases():
    told = say("{}, so each device has a partial sum", SUM)
    assert told.phrases[:5:4] == (code("h @ w"), axis("model"))


def test_plain_text_is_read_once_what_is_in_backticks_is_code():
    assert Sentence("call `f` again").phrases == (Phrase("word", "call "), code("f"), Phrase("word", " again"))


def test_plain_text_calls_its_axes_so():
    one = Sentence("`f` sums over `a`, `b` and `c`, and `d` stays")
    assert [phrase.text for phrase in one.phrases if phrase.kind == "axis"] == ["a", "b", "c"]
    assert [phrase.text for phrase in one.phrases if phrase.kind == "code"] == ["f", "d"]


def test_a_bare_phrase_prints_without_backticks_and_is_what_it_is():
    moved = say("sharding {} -> {}", bare(spec("P('data')")), bare(code("w[3]")))
    assert moved == "sharding P('data') -> w[3]"
    assert moved.phrases[1].kind == "spec"
    assert moved.pattern == "sharding P('data') -> w[*]"


def test_words_from_elsewhere_are_not_read():
    assert say("static {}: {}", name("n"), word("'`x`'")).phrases[-1] == Phrase("word", ": '`x`'")


def test_layers_are_starred_in_names_and_code_not_in_axes_specs_and_shapes():
    one = say("{} [4,8] over {} as {}", name("params['layers'][3]['w1']"), axis("data_0]"), spec("P('a[1]')"))
    assert one.pattern == "`params['layers'][*]['w1']` [4,8] over `data_0]` as `P('a[1]')`"
    assert one.phrases[0].layers == (3,)
    assert name("layer3/attn/w[0]").layers == (3, 0)


def test_equal_layers_have_one_pattern():
    first, last = (say("gathers {}", name(f"p[{n}]['w']")) for n in (0, 11))
    assert first != last
    assert first.pattern == last.pattern


def test_names_are_found_with_and_without_their_layer():
    one = say("gathers {} over {}", name("p[3]['w']"), axis("data"))
    assert all(map(one.names, ("p[3]['w']", "p[*]['w']", "data")))
    assert not any(map(one.names, ("gathers ", "p")))


def test_lists_read_as_english():
    assert joined([]) == ""
    assert joined([axis("a")]) == "`a`"
    assert joined([axis("a"), axis("b")]) == "`a` and `b`"
    assert joined([axis("a"), axis("b"), axis("c")], " or ") == "`a`, `b` or `c`"


def test_as_many_parts_as_places():
    with pytest.raises(ValueError, match="1 places for 2 parts"):
        say("{}", "a", "b")


def test_adding_and_pickling_keep_phrases():
    both = SUM + ": `x`"
    assert both.phrases[-1] == code("x")
    assert pickle.loads(pickle.dumps(both)).phrases == both.phrases


PHRASES = st.builds(Phrase, st.sampled_from(PHRASE_KINDS), st.text(max_size=6), st.booleans())


@given(st.lists(PHRASES, max_size=6))
def test_any_phrases_give_their_text_in_order(phrases):
    made = Sentence.of(phrases)
    assert made == "".join(map(str, phrases))
    assert Sentence.of(made.phrases).phrases == made.phrases
    assert all(a.kind != "word" or b.kind != "word" for a, b in zip(made.phrases, made.phrases[1:], strict=False))


@given(st.text(max_size=30))
def test_any_text_prints_as_it_was(text):
    assert Sentence(text) == text
