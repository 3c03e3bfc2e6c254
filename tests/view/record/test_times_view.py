"""Measured times in text: the line, the table, what is left out, units; nothing where nobody measured or wants them."""

from __future__ import annotations

import dataclasses
import json

import pytest
import view_reports
from blob_reader import read_blob

from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes, UnknownTime
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.quantities import time_in, time_text, time_unit
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload
from pjit_inspect.view.record.kernels import measured_words, runs_text, time_data
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

REPORT = view_reports.train_step()
ROW = KernelTime(instruction="fusion.0.1", opcode="fusion", slowest_us=1_500, mean_us=1_200)
TIMES = KernelTimes(
    calls=3,
    left_out=1,
    devices=8,
    call_us=41_234,
    mean_call_us=40_000,
    rows=(
        KernelTime(instruction="while.9", opcode="while", slowest_us=30_000, mean_us=25_000),
        KernelTime(instruction="fusion.0.0", opcode="fusion", runs_per_call=24, slowest_us=2_500, mean_us=2_000),
        ROW,
        *(KernelTime(instruction=f"x.{i}", slowest_us=0.001, mean_us=0) for i in range(9)),
    ),
)


def measured(times: KernelTimes = TIMES) -> RecordReport:
    timed = {"fusion.0.0": ("jit(f)/jit(main)/jvp(layer0)/mlp/mul", (view_reports.Frame(file="/a/train.py", line=11),))}
    return dataclasses.replace(REPORT, data=dataclasses.replace(REPORT.data, kernel_times=times), timed=timed)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "measured: 3 calls, 41.2 ms each on the slowest device; 1 unfinished call left out"),
        (
            {"left_out": 0, "calls": 2, "warm_up_us": 95_100.0},
            "measured: 2 calls, 41.2 ms each on the slowest device; the first call, 95.1 ms, left out",
        ),
        ({"left_out": 0, "calls": 1}, "measured: 1 call, 41.2 ms on the slowest device"),
        ({"left_out": 0, "devices": 1, "call_us": 9.5}, "measured: 3 calls, 9.50 \u00b5s each on its device"),
        (
            {"left_out": 0, "devices": 1, "call_us": 9.5, "mean_call_us": 9.5, "busy_us": 7.98},
            "measured: 3 calls, 9.50 \u00b5s each on its device, a kernel or a copy running for 84 % of it",
        ),
        ({"left_out": 2, "call_us": 2.5e9}, "measured: 3 calls, 2,500 s each on the slowest device; 2 unfinished"),
    ],
)
def test_a_line_says_what_was_measured(changes, words):
    assert measured_words(dataclasses.replace(TIMES, **changes)).startswith(words)


def test_instructions_of_unknown_time_are_named_with_the_reason():
    why = "the profiler saw it 4 times in a call, but the program runs it 5 times"
    unknown = tuple(UnknownTime(instruction=f"while.{i}", opcode="while", why=why) for i in range(14))
    text = to_text(record_view(measured(dataclasses.replace(TIMES, unknown=unknown))), width=120)
    assert f"unknown: while.0: {why}" in text
    assert "and 2 more of unknown time" in text


def test_a_display_has_the_line_and_the_longest_rows():
    text = to_text(record_view(measured()))
    assert "\nmeasured: 3 calls, 41.2 ms each on the slowest device; 1 unfinished call left out\n" in text
    table = text[text.index("times of 12 HLO instructions") :].splitlines()
    head = next(number for number, line in enumerate(table) if line.startswith("slowest ms"))
    assert table[head + 1].split()[:4] == ["30.00", "25.00", "1", "while.9"]
    assert "with what it runs" in table[head + 1]
    assert table[head + 2].split()[:5] == ["2.50", "2.00", "24", "fusion.0.0", "fusion"]
    assert table[head + 2].split()[-2:] == ["layer0/mlp/mul", "train.py:11"]
    assert table[head + 4].split()[:4] == ["<0.01", "0.00", "1", "x.0"]
    assert table[head + 7] == "6 shorter ones; record.kernel_times has all"
    assert "which slows the" in text
    assert "fusion.0.0" in to_html(record_view(measured()))


def test_nothing_is_said_where_nobody_measured_or_wants_times():
    bare = to_text(record_view(REPORT, options=ViewOptions(show_times=False)))
    assert to_text(record_view(measured(), options=ViewOptions(show_times=False))) == bare
    assert "measured:" not in to_text(record_view(REPORT))
    reason = dataclasses.replace(REPORT.data, missing={"kernel_times": "the profiler saw no run of it"})
    silent = dataclasses.replace(REPORT, data=reason)
    assert "kernel_times unknown: the profiler saw no run of it" in to_text(record_view(silent))
    assert to_text(record_view(silent, options=ViewOptions(show_times=False))) == bare


def test_hostile_instruction_names_are_text():
    rows = (dataclasses.replace(ROW, instruction="<script>\u202e\x00" + "y" * 10_000, opcode="</iframe>"),)
    document = record_view(measured(dataclasses.replace(TIMES, rows=rows)))
    assert "<script>\u202e" not in to_html(document)
    assert "\u202e" not in to_text(document)
    assert "\x00" not in to_text(document)


def payload(report: RecordReport, **more):
    found = inspector_payload(InspectorInput(report=report, **more))
    return found.first, read_blob(found.blob)[0]


def test_rows_of_kernels_have_the_times_of_all_their_members():
    first, header = payload(measured())
    assert first["measured"] == measured_words(TIMES)
    # fusion.0.0 and fusion.0.1 are two of four equal kernels in one row: 2,500 + 1,500; the other two were not seen.
    (row,) = [one for one in header["kernels"] if "time" in one]
    assert {"fusion.0.0", "fusion.0.1"} <= set(row["names"])
    assert (row["time"], row["time_us"]) == ("4.00 ms", 4_000)
    assert ["time per call, slowest device", "4.00 ms", "measured"] in row["numbers"]
    assert ["time per call, mean of devices", "3.20 ms", "measured"] in row["numbers"]
    assert row["numbers"][-1][0] == "saves per call"


def test_rows_of_collectives_have_the_times_of_their_instructions():
    rows = (KernelTime(instruction="all-reduce.77", slowest_us=7, mean_us=5),)
    report = measured(dataclasses.replace(TIMES, rows=rows))
    all_rows = tuple(report.collectives or ())
    named = CollectiveTable((dataclasses.replace(all_rows[0], instructions=("all-reduce.77",)), *all_rows[1:]))
    _, header = payload(dataclasses.replace(report, collectives=named))
    found = [
        row
        for row in header["collectives"]
        if ["time per call, slowest device", "7.00 \u00b5s", "measured"] in row["numbers"]
    ]
    assert len(found) == 1
    assert found[0]["numbers"][-1][0] == "sends per call"


@pytest.mark.parametrize(("report", "more"), [(REPORT, {}), (measured(), {"show_times": False})])
def test_the_inspector_has_no_times_where_there_are_none_or_none_are_wanted(report, more):
    first, header = payload(report, **more)
    assert "measured" not in first
    assert not any("time" in row or "time_us" in row for row in header["kernels"])
    assert "time per call" not in json.dumps(header["kernels"]) + json.dumps(header["collectives"])


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (0, "0.00 \u00b5s"),
        (0.004, "0.00 \u00b5s"),
        (9.994, "9.99 \u00b5s"),
        (9.996, "10.0 \u00b5s"),
        (999.4, "999 \u00b5s"),
        (999.6, "1.00 ms"),
        (99_960, "100 ms"),
        (999_400, "999 ms"),
        (1.31e9, "1,310 s"),
    ],
)
def test_a_time_on_its_own_has_three_digits(time_us, text):
    assert time_text(time_us) == text


def test_a_column_of_times_has_the_unit_of_the_longest():
    assert [time_unit(t) for t in (0, 9_999, 10_000, 9.9e6, 1e7)] == ["\u00b5s", "\u00b5s", "ms", "ms", "s"]
    assert [time_in(t, "ms") for t in (0, 4, 12_345)] == ["0.00", "<0.01", "12.35"]
    assert [runs_text(n) for n in (1, 0.25, 4_000)] == ["1", "0.25", "4,000"]


def test_one_instruction_is_one():
    row = KernelTime(instruction="copy", opcode="copy", slowest_us=2.0, mean_us=1.0)
    times = KernelTimes(calls=1, devices=8, call_us=2.0, mean_call_us=1.0, rows=(row,))
    assert repr(times) == "KernelTimes(1 instruction, 1 call of 2 us)"


def test_of_one_device_a_time_is_said_once():
    alone = dataclasses.replace(TIMES, devices=1, call_us=41_234, mean_call_us=41_234)
    text = to_text(record_view(measured(alone)))
    (header,) = (line for line in text.splitlines() if " instruction" in line and " where" in line and "ms" in line)
    assert header.split()[:3] == ["ms", "n", "instruction"]
    assert time_data(["x"], {"x": KernelTime(instruction="x", slowest_us=2.0, mean_us=2.0)})[0] == [
        ["time per call", "2.00 µs", "measured"]
    ]
