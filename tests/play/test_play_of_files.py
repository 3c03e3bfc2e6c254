"""A playground of a record from a file: as of the live one, its copies changed in a process that may die."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.asked.copies import CopiesApart, CopyChange
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.apart import call
from play import steps


@pytest.fixture(scope="module")
def live() -> pi.CompileRecord:
    step, arguments = steps.transformer((2, 4), is_by_hand=True)
    return pi.inspect(step, *arguments, effort="partition")


@pytest.fixture
def loaded(live: pi.CompileRecord, tmp_path: Path) -> pi.CompileRecord:
    live.save(tmp_path / "step.pjit")
    return pi.open(tmp_path / "step.pjit")


@pytest.fixture
def play(loaded: pi.CompileRecord) -> Iterator[pi.Playground]:
    made = loaded.playground()
    yield made
    made.close()


def process_of(play: pi.Playground) -> int:
    copies = play.subject._copies
    assert isinstance(copies, CopiesApart)
    assert copies.channel.helper is not None
    return copies.channel.helper.facts["process"]


def assert_gone(process: int) -> None:
    deadline = time.monotonic() + 60
    while is_there(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_there(process)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def changes(play: pi.Playground) -> list[object]:
    """What every kind of change comes to: followers taken along, constraints, another mesh."""
    (*_, constraint) = play.controls.constraints
    found: list[object] = [play.wait().sent_bytes]
    asked = (
        {"specs": {"params['layers']['up']": P(None, None, "model")}},
        {"constraints": {constraint.place: None}},
        {"mesh": {"data": 4, "model": 8}},
        {"mesh": {"data": 4, "model": 5}},
    )
    for change in asked:
        play.set(**change)
        now = play.wait()
        text = "" if now.problem is None else now.problem.text
        found.append((now.stage, now.sent_bytes, now.memory_bytes, now.work, now.change, text))
    return found


def test_every_change_is_answered_as_of_the_live_record(live: pi.CompileRecord, play: pi.Playground):
    here = live.playground()
    ours, theirs = changes(play), changes(here)
    assert ours == theirs
    here.close()
    before = [(row.kind, row.axes, row.cause.sentence) for row in play.base.record.collectives]
    assert before == [(row.kind, row.axes, row.cause.sentence) for row in here.base.record.collectives]


def test_it_can_be_searched(loaded: pi.CompileRecord):
    play = loaded.playground()
    history = pi.search(play, budget_s=8)
    assert any(row.origin not in ("base", "user") and row.stage == "partitioned" for row in history)
    assert history.notes
    process = process_of(play)
    play.close()
    assert_gone(process)


def test_a_search_of_a_record_leaves_no_process_and_its_variants_are_records(loaded: pi.CompileRecord):
    before = children()
    history = pi.search(loaded, budget_s=5)
    # XLA's partitioner is no child of this process.
    assert children() <= before
    assert history.best("bytes").record.collectives is not None


def children() -> set[int]:
    return {int(own) for task in Path("/proc/self/task").iterdir() for own in (task / "children").read_text().split()}


def test_its_process_ends_with_the_playground(loaded: pi.CompileRecord):
    play = loaded.playground()
    play.wait()
    process = process_of(play)
    del play
    deadline = time.monotonic() + 20
    while is_there(process) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    assert not is_there(process)


def test_a_process_that_was_killed_is_told_of_and_the_same_change_asks_again(play: pi.Playground):
    play.wait()
    os.kill(process_of(play), signal.SIGKILL)
    play.set(specs={"params['head']": P()})
    found = play.wait()
    # It may have died before it was asked: then another was started.
    if found.stage == "refused":
        assert found.problem is not None
        assert "ended before it answered" in found.problem.text
    play.set(specs={"params['head']": P()})
    assert play.wait().stage == "partitioned"
    assert [row.number for row in play.history] == [0, 1]


def test_an_interrupt_does_not_leave_an_answer_for_the_next_question(
    play: pi.Playground, monkeypatch: pytest.MonkeyPatch
):
    play.wait()
    copies = play.subject._copies
    assert isinstance(copies, CopiesApart)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(call, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            copies.changed(CopyChange(mesh=dict(copies.mesh), target=None, specs={}, edits=()))
    assert copies.channel.helper is None
    play.set(specs={"params['head']": P()})
    assert play.wait().stage == "partitioned"


def test_a_damaged_program_costs_a_process_and_not_this_one(loaded: pi.CompileRecord):
    stablehlo = loaded.data.stablehlo
    assert stablehlo is not None
    half = Blob(stablehlo.read()[: len(stablehlo.read()) // 2])
    with pytest.raises(CaptureError):
        pi.CompileRecord(replace(loaded.data, stablehlo=half)).playground()


def test_a_record_without_stablehlo_is_refused():
    with pytest.raises(ChangeError, match="no program before optimization"):
        pi.CompileRecord(RecordData(name="f")).playground()


def test_a_file_of_a_program_without_a_mesh_opens_on_eight_devices(tmp_path: Path):
    pi.inspect(jax.jit(lambda x, w: x @ w), jnp.ones((64, 32)), jnp.ones((32, 16))).save(tmp_path / "f.pjit")
    play = pi.open(tmp_path / "f.pjit").playground()
    assert play.wait().sentence == "captured without a mesh: here devices=8, every argument replicated"
    play.set(specs={"x": P(None, "devices"), "w": P("devices")})
    assert [own.kind for own in play.wait().by_kind] == ["all-reduce"]
    play.close()
