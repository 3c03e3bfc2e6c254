"""Which functions come from one place in the source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pjit_inspect.analyze.recompiles.changes import same_definition
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.compile_key import FunctionKey

PLACE = Frame(file="train.py", line=3)
STEP = FunctionKey(name="step", serial=1, place=PLACE, code="c0de", version="v1", twins=1)
TWIN = replace(STEP, serial=2, twins=2)
BELOW = Frame(file="train.py", line=9)
LAMBDA = replace(STEP, name="<lambda>", kind="lambda", twins=None, place=replace(PLACE, columns=(5, 9)))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (STEP, STEP, True),
        (STEP, replace(STEP, serial=2), True),
        # One text, two places: the branches of an `if`.
        (TWIN, replace(TWIN, serial=3, place=BELOW, code="0ther"), False),
        (TWIN, replace(TWIN, serial=3, place=BELOW), False),
        # Two texts.
        (STEP, replace(STEP, serial=2, version="v2", code="0ther"), True),
        (STEP, replace(TWIN, version="v2", code="0ther"), None),
        # One text, of which one function cannot be: it was edited before anybody looked.
        (STEP, replace(STEP, serial=2, place=BELOW, code="0ther"), True),
        (TWIN, replace(TWIN, serial=3, code="0ther"), None),
        # No text.
        (replace(STEP, version=None), replace(STEP, serial=2, version=None), True),
        (replace(STEP, version=None), replace(STEP, serial=2, version=None, code="0ther"), None),
        (replace(STEP, place=None), replace(STEP, serial=2), None),
        # Lambdas: on one line, and in another text.
        (LAMBDA, replace(LAMBDA, serial=2), True),
        (LAMBDA, replace(LAMBDA, serial=2, place=replace(PLACE, columns=(20, 24))), False),
        (LAMBDA, replace(LAMBDA, serial=2, version="v2", place=BELOW), True),
    ],
)
def test_two_functions_are_one_definition_two_or_unknown(old: FunctionKey, new: FunctionKey, same: bool | None) -> None:
    assert same_definition(old, new) is same
