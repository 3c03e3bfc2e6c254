"""The charts of seconds: shares that are all of a call, the strip, the roofs, more and more chips."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from data import hlo_fixtures as fixtures

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.rows import TimedCollectives, TimedKernels, TimelineSpan
from pjit_inspect.model.time.scaling import ScalingRow, ScalingTable
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.view.charts.seconds import roofline_chart, scaling_chart, shares_charts, strip_chart
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.chart_picture import draw_chart
from pjit_inspect.view.time.page import time_blocks
from pjit_inspect.view.time.payload import time_data

sys.path.insert(0, str(Path(__file__).parent))
from test_time_view import GATHER, KERNELS, STEP, UNTIMED

TIMELINE = (
    TimelineSpan(lane="loops", name="while", label="while", begin_s=0.0, end_s=1.85e-2, turns=10),
    TimelineSpan(lane="fsdp", name=GATHER.name, label="all-gather", begin_s=0.0, end_s=8.5e-4),
    TimelineSpan(lane="compute", name="fusion.1", label="dot_general", begin_s=0.0, end_s=8e-4),
    TimelineSpan(lane="compute", name="fusion.2", label="dot_general", begin_s=8.5e-4, end_s=1.55e-3),
    TimelineSpan(lane="compute", name="fusion.3", label="softmax", begin_s=1.55e-3, end_s=1.85e-3),
)
TIMED = replace(
    STEP,
    kernels=TimedKernels(tuple(replace(row, seconds=None if row.seconds is None else row.seconds) for row in KERNELS)),
    timeline=TIMELINE,
)


def table() -> ScalingTable:
    return ScalingTable(
        tuple(
            ScalingRow(devices=devices, target="", step_s=step_s, floor_s=step_s / 2, exposed_s=exposed)
            for devices, step_s, exposed in ((64, 4.0, 0.1), (256, 1.2, 0.2), (1024, 0.7, 0.4))
        )
    )


def whole(step: StepTime) -> float:
    return step.step_s or 0.0


@pytest.mark.parametrize("step", [TIMED, replace(TIMED, is_measured=True, idle_s=1e-3, step_s=1.95e-2)])
def test_shares_are_all_of_a_call(step):
    charts = shares_charts(step)
    assert [chart.title for chart in charts] == ["A call by phase", "A call by limit"]
    for chart in charts:
        assert chart.rows[0].total == pytest.approx(whole(step))
    for one in time_data(step)["bars"]:
        assert sum(share for _, share, _ in one["parts"]) == pytest.approx(1.0, abs=2e-3)


def test_what_has_no_known_time_is_told_as_not_modelled():
    _, limits = time_data(TIMED)["bars"]
    assert ["not modelled", 0.0, "1 row of unknown time"] in limits["parts"]


def test_a_real_program_has_all_its_seconds_on_the_strip():
    step = fixtures.on_v5e("transformer_step.v5e_2x4").time
    [strip] = step.strips
    assert sum(piece.seconds for piece in strip.lanes[0].pieces) == pytest.approx(whole(step))
    assert strip.exposed_s == pytest.approx(step.exposed_s, rel=1e-3)
    for chart in shares_charts(step):
        assert chart.rows[0].total == pytest.approx(whole(step))


def test_no_kernel_is_above_the_roofs():
    chart = roofline_chart(fixtures.on_v5e("transformer_step.v5e_2x4").time)
    (low, ridge, high) = chart.curves[0].points
    assert low[0] < ridge[0] < high[0]
    for disc in chart.discs:
        roof = min(ridge[1], disc.x * ridge[1] / ridge[0])
        assert disc.y <= roof * 1.001
    assert sum(disc.share for disc in chart.discs) == pytest.approx(1.0, abs=0.05)


def test_pictures_look_as_before(golden):
    golden("time_loop.svg", draw_chart(strip_chart(TIMED.strips[1], ("fsdp",))).write())
    golden("time_roofline.svg", draw_chart(roofline_chart(TIMED)).write())
    golden("time_scaling.svg", draw_chart(scaling_chart(table())).write())
    golden("time_loops.txt", to_text(Document(blocks=time_blocks(TIMED, RecordData(name="step", transform="jit")))))


def test_the_page_has_the_pictures_and_text_does_not():
    blocks = time_blocks(TIMED, RecordData(name="step", transform="jit"))
    page = to_html(Document(blocks=blocks))
    assert page.count("<img") == 5
    assert "One turn of a loop" in page
    assert "One turn of a loop" not in to_text(Document(blocks=blocks))


def test_without_seconds_there_are_no_pictures():
    blocks = time_blocks(UNTIMED, RecordData(name="step", transform="jit"))
    assert "<img" not in to_html(Document(blocks=blocks))
    assert roofline_chart(UNTIMED).missing
    assert scaling_chart(ScalingTable(table().rows[:1])).missing


def test_a_program_without_collectives_has_no_waits():
    step = replace(TIMED, collectives=TimedCollectives(()), exposed_s=0.0, timeline=TIMELINE[2:])
    assert "network" not in str(time_data(step)["bars"])


def test_the_pane_has_the_scaling_curve_if_somebody_asked():
    assert time_data(TIMED)["scaling"] is None
    drawn = time_data(TIMED, table())["scaling"]
    assert drawn is not None
    assert drawn["notes"] == "strong scaling: the same arguments"


def test_without_loss_a_call_that_grows_takes_as_long():
    strong, weak = scaling_chart(table()), scaling_chart(replace(table(), is_weak=True))
    assert [y for _, y in strong.curves[-1].points] == pytest.approx([4000.0, 250.0])
    assert [y for _, y in weak.curves[-1].points] == pytest.approx([4000.0, 4000.0])
    assert weak.notes == ("weak scaling: a call of its own for each number",)
