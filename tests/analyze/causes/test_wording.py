"""Every sentence that a cause can have, with sample names, in one file to read: `sentences.txt`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pjit_inspect.analyze.causes import cause_form, causes
from pjit_inspect.analyze.causes.cause_subject import CauseSubject
from pjit_inspect.analyze.causes.wording import FORMS, clause, worded
from pjit_inspect.model.words.sentence import Sentence, code, name, say, spec

GOLDEN = Path(__file__).parent / "sentences.txt"
WITH = say("{} (train.py:12)", code("h @ w"))
GIVEN = {
    "op": WITH,
    "made": WITH,
    "of": WITH,
    "asks": say("{} (train.py:14) asks", code("with_sharding_constraint(y, P(None, 'model'))")),
    "moved": say("{}", name("w")),
    "had": say("{}", spec("P(None, 'model')")),
    "wanted": say("{}", spec("P(None, None)")),
    "asked": spec("P(None, None)"),
    "splitting": WITH,
    "helper": "a mask",
    "made_as": spec("P('data', None)"),
    "computed": spec("P('data', None)"),
    "returned": spec("P(None, None)"),
    "as_wanted": say("as {}", spec("P(None, None)")),
    "then": say("{} needs {} as {}, but it is {}", WITH, name("w"), spec("P(None, None)"), spec("P(None, 'model')")),
    "taken": "axis `model` already splits dimension 0 of the result",
    "taker": say("{} (line 13)", code("jnp.sin(y)")),
    "dimensions": "dimension 1 of `h` and dimension 0 of `w`",
    "numbers": "dimension 0",
    "looked_up": "`x`",
    "rolled": "`x`",
    "elements": "these 2,048 elements",
    "along": "dimension 0",
    "axes": "`model`",
    "over": "`model`",
    "shown_axes": "`model`",
    "adds": "the all-reduce adds the 4",
    "combines": "the all-reduce combines the 4",
    "needs_it": say("{} needs it", WITH),
    "result": name("result"),
    "as_computed": "in pieces of [16, 64] on each device",
    "as_split": ", as its operands are split",
    "as_taken": say("as {}", spec("P('data', None)")),
    "target": name("topk"),
    "verb": "sorts along",
    "partial": "sum",
    "decided": "whether the loop goes on",
    "call": code("dot(x, w)"),
    "collective": name("psum"),
    "at": " at train.py:12",
    "operations": "`a @ b` (line 3) or `c @ d` (line 4)",
    "alike": ", which XLA has made alike",
    "kind": "contraction",
    "it_is": "it is",
    "dimension": 0,
    "length": 15,
    "devices": 4,
    "number": 2,
    "step": 2,
    "steps": 2,
}


def test_all_sentences_are_those_of_the_golden_file(request: pytest.FixtureRequest):
    found = "".join(f"{form}\n    {worded(form, GIVEN.__getitem__)}\n" for form in FORMS)
    if request.config.getoption("--update-golden", default=False):
        GOLDEN.write_text(found, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == found, "run: pytest --update-golden, and read what it wrote"


@pytest.mark.parametrize("form", FORMS)
def test_a_cause_has_at_most_two_sentences_that_begin_with_a_capital_and_end_in_a_full_stop(form: str):
    assert len(FORMS[form]) <= 2
    for text in FORMS[form]:
        assert text.endswith(".")
        assert ". " not in text
        assert text[0] == "{" or text[0].isupper()


def _code() -> str:
    return "".join(inspect.getsource(module) for module in (cause_form, causes))


def test_what_stands_in_a_form_is_a_method_or_is_given_by_who_says_it():
    places = {place for texts in FORMS.values() for text in texts for place in re.findall(r"\{(\w+)\}", text)}
    assert places == GIVEN.keys()
    given = set(re.findall(r"\b(\w+)=", _code())) | set(re.findall(r'"(\w+)":', _code()))
    assert places <= given | set(dir(CauseSubject))


def test_every_form_is_said_somewhere():
    said = set(re.findall(r'"([^"\n]+)"', _code()))
    said |= {f"{form}, returned" for form in said}
    said |= {f"{form}, {how}" for form in ("alike", "arrays alike") for how in ("summed", "written")}
    assert FORMS.keys() <= said


def test_a_sentence_that_begins_in_plain_words_begins_with_a_capital():
    given = {**GIVEN, "op": say("the gradient of {}", code("x @ w"))}
    assert worded("window", given.__getitem__).startswith("The gradient of `x @ w` slides a window")
    assert clause("needed", given.__getitem__).startswith("the gradient of `x @ w` needs `w` as")


def test_a_form_that_is_not_there_is_an_error():
    with pytest.raises(KeyError, match="no such form"):
        worded("no such form", lambda _: Sentence())
