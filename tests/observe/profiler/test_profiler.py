"""Events of JAX's profiler, made by hand, summed per program, run, device and instruction; bounds; what is damaged."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.record.profile import ProfiledRun
from pjit_inspect.observe.profiler import profiler


def event(op: str | None, start: float, duration: float, **stats: Any) -> SimpleNamespace:
    named = {} if op is None else {"hlo_op": op, "hlo_module": "jit_f", "program_id": 4, "run_id": -9}
    return SimpleNamespace(name="", start_ns=start, duration_ns=duration, stats=list((named | stats).items()))


def plane(name: str, *lines: list[SimpleNamespace]) -> SimpleNamespace:
    return SimpleNamespace(name=name, lines=[SimpleNamespace(events=events) for events in lines])


def test_events_are_summed_by_instruction_over_all_lines_of_a_run_on_a_device():
    host = plane(
        "/host:CPU",
        [event("dot", 100, 10, device_ordinal=0), event("add", 115, 5, device_ordinal=0), event(None, 0, 1_000)],
        [event("add", 130, 7, device_ordinal=0), event("dot", 90, 20, device_ordinal=1)],
    )
    first, second = profiler.sum_events([host])
    names = {"module": "jit_f", "program": 4, "run": -9}
    assert first == ProfiledRun(**names, device=0, began_ns=100, ended_ns=137, ops={"dot": (1, 10.0), "add": (2, 12.0)})
    assert second == ProfiledRun(**names, device=1, began_ns=90, ended_ns=110, ops={"dot": (1, 20.0)})


def test_runs_and_programs_are_kept_apart():
    events = [event("dot", 0, 1), event("dot", 2, 1, run_id=8), event("dot", 4, 1, program_id=5)]
    found = profiler.sum_events([plane("/host:CPU", events)])
    assert [(run.program, run.run) for run in found] == [(4, -9), (4, 8), (5, -9)]


def test_a_device_that_no_event_names_is_that_of_its_plane():
    (run,) = profiler.sum_events([plane("/device:GPU:3", [event("dot", 0, 1)])])
    assert run.device == 3


def test_numbers_that_are_not_there_stay_unknown():
    bare = SimpleNamespace(start_ns=0, duration_ns=1, stats=[("hlo_op", "dot"), ("hlo_module", "jit_f")])
    (run,) = profiler.sum_events([plane("/host:CPU", [bare])])
    assert (run.program, run.run) == (None, None)


def test_more_events_than_the_bound_are_refused(monkeypatch):
    monkeypatch.setattr(profiler, "MAX_EVENTS", 2)
    events = [event("dot", 0, 1)] * 3
    with pytest.raises(CaptureError, match="over 2 events: measure fewer calls"):
        profiler.sum_events([plane("/host:CPU", events)])


def test_a_larger_file_than_the_bound_is_refused(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(profiler, "MAX_BYTES", 10)
    (tmp_path / "a.xplane.pb").write_bytes(b"x" * 11)
    with pytest.raises(CaptureError, match="11 bytes, at most 10 are read"):
        profiler.read_profile(tmp_path)


def test_a_folder_without_a_trace_is_said(tmp_path: Path):
    with pytest.raises(CaptureError, match="wrote no trace"):
        profiler.read_profile(tmp_path)
