"""Forty lives over nineteen programs, read from XLA's dumps by hand; counts as XLA's own reader has them."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from handles.passes.pass_programs import LIVES, PROGRAMS
from handles.passes.test_passes import counted_by_xla

import pjit_inspect as pi
from pjit_inspect.model.report.passes import Life

COUNTED = tuple(PROGRAMS)[-10:]
"""The programs whose counts after every pass are compared with XLA's reader."""


def said(life: Life) -> str:
    parts = [f" + {event.words.split()[0]}" if event.kind == "combined" else "" for event in life.events]
    events = [f"{event.kind} {event.pass_name}{part}" for event, part in zip(life.events, parts, strict=True)]
    return f"{life.kind}: {', '.join(events)}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_lives_are_those_written_by_hand(name: str) -> None:
    function, *arguments = PROGRAMS[name]
    record = pi.inspect(jax.jit(function), *arguments)
    passes = record.passes
    lives = list(map(said, passes.lives))
    assert sorted(lives) == sorted(LIVES[name])
    for row in record.collectives:
        life = passes.life(row)
        assert life is not None
        assert row.life == life.line
    if name in COUNTED:
        steps: Any = record.state.analyses.pass_steps
        dumped = steps.dumped
        for row in passes:
            own = row.instructions_after, dict(row.collectives_after), row.fusions_after, row.copies_after
            assert own == counted_by_xla(dumped.read(dumped.steps[row.number])), row


def test_there_are_forty_lives() -> None:
    assert sum(map(len, LIVES.values())) == 40
