"""Rows of a record's advice as presets of its playground: to apply one comes to what the row says.

Not its job: which advice is given (`analyze.advice`).
"""

from __future__ import annotations

from typing import Any

import jax
import pytest
from analyze.advice.programs import PROGRAMS

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError


def record_of(name: str) -> Any:
    jax.clear_caches()
    function, arguments = next(one for one in PROGRAMS if one.name == name).build()
    return pi.inspect(function, *arguments)


@pytest.mark.parametrize(
    "name", ["latent_attention_weights", "batch_lost_at_a_reshape", "gradients_returned_replicated"]
)
def test_applied_advice_comes_to_what_it_says(name: str) -> None:
    """A line and then arguments; a constraint that is there; results."""
    record = record_of(name)
    rows = [row for row in record.advice if row.edits]
    play = record.playground()
    assert [own.name for own in play.advised] == [f"advice {number}" for number in range(1, len(rows) + 1)]
    assert rows
    for own, row in zip(play.advised, rows, strict=True):
        assert own.why_not == ""
        assert row.change in own.sentence
        play.apply(own.name)
        found = play.wait()
        assert row.sent is not None
        assert (found.sent_bytes, found.preset) == (row.sent[1], own.name)
    play.close()


def test_without_advice_there_is_none_to_apply() -> None:
    play = record_of("latent_attention_weights").playground()
    assert play.advised == ()
    with pytest.raises(ChangeError, match="no preset 'advice 1'"):
        play.apply("advice 1")
    play.close()
