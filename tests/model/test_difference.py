"""What a difference of a record's key keeps to, so that no analysis of a file has to check it."""

from __future__ import annotations

import pytest

from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Sentence


@pytest.mark.parametrize("length", ["", "n", "-1", "8\x1b", "9" * 5000])
def test_the_lengths_of_a_dimension_are_numbers(length: str):
    with pytest.raises(ValueError, match="the lengths of a dimension are numbers"):
        Difference(kind="shape", dimension=0, before="8", after=length, sentence=Sentence("`x`: length"))


def test_other_differences_may_say_anything():
    found = Difference(kind="dtype", before="f32", after="bf16", sentence=Sentence("`x`: type"))
    assert (found.before, found.after) == ("f32", "bf16")
