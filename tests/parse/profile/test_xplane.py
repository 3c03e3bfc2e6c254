"""Planes of a profile, written by hand: whose each event is, on a host and on a TPU."""

from __future__ import annotations

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.profile.runs import read_runs
from pjit_inspect.parse.profile.xplane import TraceNotes, read_planes
from pjit_inspect.parse.wire.hlo_schema import message_class

NAMES = {1: "hlo_op", 2: "hlo_module", 3: "program_id", 4: "run_id", 5: "device_ordinal", 6: "flops", 20: "dot.1"}


def trace(
    plane_name: str, kinds: dict[int, str], lines: dict[str, list[tuple[int, int, int, dict[int, object]]]]
) -> bytes:
    """A file with one plane; an event is its kind, its begin and duration in picoseconds, and its stats."""
    plane = message_class("TracePlane")(name=plane_name)
    for number, name in NAMES.items():
        plane.stat_metadata.add(key=number).value.name = name
    for number, name in kinds.items():
        plane.event_metadata.add(key=number).value.name = name
    for line_name, events in lines.items():
        line = plane.lines.add(name=line_name, timestamp_ns=100)
        for kind, offset, duration, stats in events:
            event = line.events.add(metadata_id=kind, offset_ps=offset, duration_ps=duration)
            for number, value in stats.items():
                event.stats.add(
                    metadata_id=number,
                    **(
                        {"ref_value": 20}
                        if value == "dot.1"
                        else {"str_value": value.encode()}
                        if isinstance(value, str)
                        else {"int64_value": value}
                    ),
                )
    content = plane.SerializeToString()
    return b"\x0a" + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + _varint(high) if high else bytes([low])


def test_an_event_of_a_host_names_its_instruction_program_and_run():
    stats = {1: "dot.1", 2: "jit_f", 3: 7, 4: -2, 5: 3, 6: 99}
    (plane,) = read_planes(trace("/host:CPU", {9: "dot.1"}, {"python": [(9, 2_000, 500, stats), (9, 0, 1, {6: 1})]}))
    (event,) = plane.events
    assert (event.name, event.start_ns, event.duration_ns) == ("dot.1", 102.0, 0.5)
    assert event.stats == {"hlo_op": "dot.1", "hlo_module": "jit_f", "program_id": 7, "run_id": -2, "device_ordinal": 3}


def test_an_instruction_of_a_tpu_is_of_the_call_during_which_it_began():
    kinds = {
        1: "jit_f(12190760917235803885)",
        2: "jit_g(5)",
        11: "%fusion.3 = f32[8]{0:T(256)} fusion(f32[8] %p)",
        12: "copy.1",
    }
    lines = {
        "XLA Modules": [(1, 0, 100_000, {4: 41}), (2, 200_000, 50_000, {4: 42}), (1, 300_000, 90_000, {4: 43})],
        "XLA Ops": [
            (11, 10_000, 60_000, {}),
            (12, 80_000, 30_000, {}),
            (12, 150_000, 1_000, {}),
            (12, 210_000, 5_000, {}),
            (11, 310_000, 70_000, {}),
        ],
        "Steps": [(2, 0, 400_000, {})],
    }
    runs = read_runs(trace("/device:TPU:5", kinds, lines), TraceNotes())
    found = {(run.module, run.program, run.run, run.device): dict(run.ops) for run in runs}
    number = 12190760917235803885
    assert found == {
        ("jit_f", number, 41, 5): {"fusion.3": (1, 60.0), "copy.1": (1, 30.0)},
        ("jit_g", 5, 42, 5): {"copy.1": (1, 5.0)},
        ("jit_f", number, 43, 5): {"fusion.3": (1, 70.0)},
    }
    assert not any(run.on_host or run.spans for run in runs)


def test_a_plane_without_instructions_has_no_events():
    (plane,) = read_planes(trace("/host:python", {1: "train"}, {"python": [(1, 0, 1, {6: 1})]}))
    assert list(plane.events) == []


def test_damaged_bytes_are_refused():
    whole = trace("/host:CPU", {9: "dot.1"}, {"python": [(9, 2_000, 500, {1: "dot.1", 2: "jit_f"})]})
    with pytest.raises(ParseError):
        list(read_planes(whole[:-3]))
