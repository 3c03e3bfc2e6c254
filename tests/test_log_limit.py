"""A log holds a bounded number of records and of bytes: the oldest make room, and it says so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import pjit_inspect as pi
from pjit_inspect.handles.session.log import LogLimit


def records(number: int) -> list[pi.CompileRecord]:
    with pi.capture() as log:
        for i in range(number):
            jax.jit(lambda x, i=i: jnp.tanh(x) + i)(np.ones(3, np.float32))
    return list(log.user_records())


def test_of_more_records_than_allowed_the_oldest_are_dropped_and_counted():
    made = records(5)
    log = pi.Log(made[:2], limit=LogLimit(records=3))
    log.extend(made[2:])
    assert [a is b for a, b in zip(log, made[2:], strict=True)] == [True] * 3
    assert log.dropped == 2
    assert "2 older records were dropped: the log holds at most 3" in str(log)
    log.clear()
    assert (len(log), log.dropped) == (0, 0)


def test_of_more_bytes_than_allowed_the_oldest_lose_their_programs_and_say_so():
    made = records(6)
    each = made[0].held_bytes
    assert each == len(made[0].data.hlo.read()) + len(made[0].data.stablehlo.read())
    assert made[0].hlo is not None
    newest = sum(record.held_bytes for record in made[3:])
    # A tenth more than needed goes, so that the newest three just stay.
    log = pi.Log(made, limit=LogLimit(program_bytes=round(newest / 0.9) + 1))
    assert [record.data.hlo is not None for record in log] == [False] * 3 + [True] * 3
    oldest = log[0]
    assert oldest.hlo is None
    assert oldest.data.missing["hlo"].startswith("dropped when the log was full (")
    assert "Collectives unknown" in str(oldest)
    assert "dropped when the log was full" in " ".join(str(oldest).split())
    assert (oldest.name, oldest.inputs[0].path) == ("<lambda>", "x")


def test_the_newest_record_keeps_its_program_however_large_it_is():
    log = pi.Log(records(2), limit=LogLimit(program_bytes=1))
    assert [record.data.hlo is not None for record in log] == [False, True]


def test_only_the_records_that_a_log_lists_are_analysed_for_it():
    made = records(45)
    str(pi.Log(made))
    assert ["_counted" in record.state.analyses.known for record in made] == [False] * 5 + [True] * 40


def test_only_logs_that_captures_fill_are_bounded_and_what_is_chosen_from_one_takes_nothing_away():
    made = records(3)
    each = max(record.held_bytes for record in made)
    wide = pi.Log(made, limit=LogLimit(program_bytes=4 * each))
    assert wide.find(origin="user").limit is wide[:2].limit is pi.Log(made).limit is None
    assert pi.session_log().limit == LogLimit()
    with pi.capture() as log:
        assert log.limit == LogLimit()
