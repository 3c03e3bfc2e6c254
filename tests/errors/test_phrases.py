"""Sentences know their words: each axis, spec, name and place of the program is one, and nothing else is."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import jax
import pytest
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.words.sentence import Phrase, Sentence

from .case import Case, refusal
from .every import CASES

HERE = [case for case in CASES if case.is_here and case.is_followed]
AXES = {"data", "model"}
"""Those of `MESH` and `EX`; a program that makes another mesh, or spells an axis wrong, quotes its name."""

GIVEN = {"MESH", "EX"}
"""Meshes that every program has."""

JAX_NAMES = {"loop_carry", "true_fun", "false_fun", "the carry", "init_val", "args"} | {f"branch{n}" for n in range(4)}
"""JAX's names for parts without a name in the program: of a loop, of a branch, of `*args`."""


def explained(case: Case) -> pi.ErrorExplanation:
    with jax.set_mesh(case.mesh) if case.mesh is not None else contextlib.nullcontext():
        return pi.explain_error(refusal(case))


def words_of(explanation: pi.ErrorExplanation) -> Iterator[str]:
    """Everything that is said in words; the edits that are Python are not."""
    yield explanation.sentence
    yield from explanation.notes
    for fit in explanation.fits:
        yield fit.effect
        if not fit.is_code:
            yield fit.edit


def quoted(case: Case) -> set[str]:
    """Every string in the program."""
    return set(re.findall(r"'([^'\n]*)'", case.code)) | set(re.findall(r'"([^"\n]*)"', case.code))


def root(text: str) -> str:
    return re.match(r"[\w ]*", text)[0]


def is_spec(text: str) -> bool:
    return re.fullmatch(r"P\((?:[^()]|\([^()]*\))*\)", text) is not None


def wrong(phrase: Phrase, case: Case, axes: set[str], names: set[str]) -> str:
    """Tells what is wrong with a phrase; "" for nothing."""
    match phrase.kind:
        case "axis" if phrase.text not in axes | quoted(case):
            return "no axis of a mesh in the program"
        case "spec" if not (is_spec(phrase.text) or root(phrase.text) in case.code):
            return "no PartitionSpec"
        case "name" if root(phrase.text.partition(" of ")[0]) not in case.code:
            return "" if root(phrase.text) in GIVEN | JAX_NAMES else "no name in the program"
        case "place" if not phrase.text.partition(":")[0].endswith(".py"):
            return "no file"
        case "code" if phrase.text in axes - names:
            return "an axis that is called code"
        case "code" if is_spec(phrase.text):
            return "a spec that is called code"
        case "code" if phrase.text in names:
            return "an array that is called code"
        case "word" if "`" in phrase.text:
            return "code in plain words"
    return ""


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.name)
def test_every_phrase_is_what_it_is_in_the_program(case: Case):
    explanation = explained(case)
    arrays = explanation.arrays
    axes = AXES | {axis for array in arrays if array.mesh is not None for axis in array.mesh.sizes}
    names = {array.name for array in arrays if array.is_named}
    for words in words_of(explanation):
        assert isinstance(words, Sentence), words
        assert "".join(map(str, words.phrases)) == words
        told = {phrase: why for phrase in words.phrases if (why := wrong(phrase, case, axes, names))}
        assert not told, words


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.name)
def test_what_the_sentence_says_of_its_arrays_is_said_as_names_and_specs(case: Case):
    explanation = explained(case)
    phrases = explanation.sentence.phrases
    for array in explanation.arrays:
        if array.is_named and f"`{array.name}`" in explanation.sentence:
            assert Phrase("name", array.name) in phrases
        if array.spec is not None and f"`{spec_text(array.spec)}`" in explanation.sentence:
            assert Phrase("spec", spec_text(array.spec)) in phrases
    for phrase in phrases:
        if phrase.kind == "spec" and is_spec(phrase.text):
            assert isinstance(eval(phrase.text, {"P": P}), P)


def test_there_are_phrases_of_every_kind():
    kinds = {phrase.kind for case in HERE for words in words_of(explained(case)) for phrase in words.phrases}
    assert kinds == {"word", "axis", "name", "spec", "code", "place"}
