"""What every display says first of seconds: a range and its model, what is left out, and what was measured."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "time"))
import view_reports
from test_time_view import GATHER, KERNELS, STEP, UNTIMED

from pjit_inspect.model.time.hardware import HARDWARE
from pjit_inspect.model.time.rows import TimedCollectives, TimedKernels
from pjit_inspect.view.document.text_spans import spans_text
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.record.seconds import seconds_spans
from pjit_inspect.view.render.text import to_text

KNOWN = replace(STEP, kernels=TimedKernels(KERNELS[:3]))
REPORT = view_reports.train_step()


def words(step) -> str:
    return spans_text(seconds_spans(step), 1_000)


def test_an_estimate_has_its_range_its_model_and_what_is_exposed():
    assert words(KNOWN) == (
        "about 18.5 ms a call on 256 TPU v5e (12.1 ms to 20.0 ms), by XLA's estimate; compute-bound; "
        "500 µs of communication exposed"
    )


def test_what_takes_an_unknown_time_is_counted():
    gather = replace(GATHER, seconds=None, exposed_s=None, known_by="unknown")
    step = replace(STEP, collectives=TimedCollectives((gather, gather)))
    assert words(step).endswith("; compute-bound; without 1 kernel and 2 collectives of unknown time")


def test_the_model_is_named():
    modelled = TimedKernels(tuple(replace(row, known_by="modelled") for row in KERNELS[:3]))
    assert ", by a roofline of each kernel;" in words(replace(KNOWN, kernels=modelled))
    here = replace(HARDWARE["v5e"], name="cpu as measured", fit="fits")
    assert ", by speeds measured on this machine;" in words(replace(KNOWN, kernels=modelled, hardware=here))


def test_what_was_measured_comes_before_what_is_estimated():
    found = words(replace(KNOWN, measured_s=2.5e-2))
    assert found.startswith(
        "25.0 ms a call on 256 TPU v5e, measured, the mean of 256 devices; estimated 18.5 ms (12.1 ms to 20.0 ms), "
        "by XLA's estimate; compute-bound"
    )
    alone = replace(KNOWN, is_measured=True, hardware=None, devices=1, measured_s=1.85e-2)
    assert words(alone) == "18.5 ms a call, measured; compute-bound; 500 µs in collectives"


def test_of_unknown_seconds_nothing_is_said():
    assert seconds_spans(None) == seconds_spans(UNTIMED) == ()


@pytest.mark.parametrize("show_times", [True, False])
def test_every_display_begins_its_answer_with_it_and_none_that_is_to_be_the_same_everywhere(show_times):
    report = replace(REPORT, time=KNOWN)
    text = to_text(record_view(report, options=ViewOptions(show_times=show_times)))
    first = inspector_payload(InspectorInput(report=report, time={}, show_times=show_times)).first
    assert ("about 18.5 ms a call" in text) == show_times
    assert (first["answer"][0] == {"strong": "about 18.5 ms"}) == show_times
    assert first["has_time"] == show_times
    assert "collectives" in text
