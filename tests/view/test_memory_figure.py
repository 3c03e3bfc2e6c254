"""The figure of memory over the schedule: its bands add up, and figure, table and picture say the same.

Not its job: what is alive (tests/analyze/memory).
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from pjit_inspect.model.memory.memory_use import (
    LiveValue,
    MemoryCurve,
    MemoryKind,
    MemoryTimeline,
    MemoryUse,
    Moment,
    TimedValue,
)
from pjit_inspect.view.charts.memory_curve import MOST_PLACES, memory_curve_chart
from pjit_inspect.view.document.colors import MEMORY_COLORS
from pjit_inspect.view.document.document import Number, TableBlock, Text
from pjit_inspect.view.figures.figures import chart_blocks, plotly_figure
from pjit_inspect.view.svg.chart_picture import draw_chart

KIB = 1024


def timed(name: str, kind: MemoryKind, size: int, *spans: tuple[int, int]) -> TimedValue:
    return TimedValue(value=LiveValue(name=name, bytes=size, kind=kind), spans=spans)


# Four kernels: an argument of 4 KiB throughout, 8 KiB saved from kernel 1 to 2, 2 KiB temporary at 2, and at 3 half a
# KiB in buffers without a name.
VALUES = (
    timed("h", "saved for backward", 8 * KIB, (1, 2)),
    timed("x", "argument", 4 * KIB, (0, 3)),
    timed("t", "temporary", 2 * KIB, (2, 2)),
)
CURVE = MemoryCurve(space=0, name="memory", bytes=(4 * KIB, 12 * KIB, 14 * KIB, 4 * KIB + 512))
TIMELINE = MemoryTimeline(
    curve=CURVE, values=VALUES, nameless=2, phases=("forward", "forward", "backward", "optimizer")
)
USE = MemoryUse(peak_bytes=14 * KIB, at=Moment(kernel=2, kernels=4), curves=(CURVE,), source="counted")
CHART = memory_curve_chart(USE, (TIMELINE,))


def test_the_bands_lie_in_the_order_of_the_kinds_and_add_up_to_the_curve():
    assert [(band.name, band.values) for band in CHART.bands] == [
        ("argument", (4096, 4096, 4096, 4096)),
        ("saved for backward", (0, 8192, 8192, 0)),
        ("temporary", (0, 0, 2048, 0)),
        ("smaller buffers", (0, 0, 0, 512)),
    ]
    assert tuple(map(sum, zip(*(band.values for band in CHART.bands), strict=True))) == CURVE.bytes
    assert CHART.notes == ("4 kernels in XLA's order, not time", "2 smaller buffers without a name")
    assert CHART.phases == ("forward", "forward", "backward", "optimizer")


def test_the_figure_and_its_table_say_the_same():
    figure = plotly_figure(CHART)
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in figure.data] == [
        ("argument", [0, 1, 2, 3, 4], [4, 4, 4, 4, 4]),
        ("saved for backward", [0, 1, 2, 3, 4], [0, 8, 8, 0, 0]),
        ("temporary", [0, 1, 2, 3, 4], [0, 0, 2, 0, 0]),
        ("smaller buffers", [0, 1, 2, 3, 4], [0, 0, 0, 0.5, 0.5]),
    ]
    assert [trace.fillcolor for trace in figure.data][:2] == [
        MEMORY_COLORS["argument"],
        MEMORY_COLORS["saved for backward"],
    ]
    assert figure.layout.yaxis.title.text == "KiB alive on one device (counted)"
    [table] = [block for block in chart_blocks(CHART) if isinstance(block, TableBlock)]
    assert [column.title for column in table.columns] == ["", "at kernel 2 of 4, KiB", "at most KiB"]
    words = [
        [span.text for cell in row.cells for span in cell if isinstance(span, Number | Text)] for row in table.rows
    ]
    # Each row is what its trace has at the peak, and at most anywhere; together they are the peak.
    assert words == [
        ["smaller buffers", "0.00", "0.50"],
        ["temporary", "2.00", "2.00"],
        ["saved for backward", "8.00", "8.00"],
        ["argument", "4.00", "4.00"],
        ["all", "14.00", "14.00"],
    ]
    for trace, row in zip(figure.data, reversed(words[:-1]), strict=True):
        assert [f"{trace.y[2]:.2f}", f"{max(trace.y):.2f}"] == row[1:]


def test_the_still_picture_has_the_peak_the_phases_and_every_band():
    picture = draw_chart(CHART).write()
    ElementTree.fromstring(picture)
    words = [node.text for node in ElementTree.fromstring(picture).iter() if node.tag.endswith("text")]
    assert "peak 14.00 KiB, kernel 2" in words
    assert {"argument", "saved for backward", "temporary", "smaller buffers", "forward", "backward"} <= set(words)
    assert picture.count(f'fill="{MEMORY_COLORS["argument"]}"') == 2  # the band, and its square in the legend


def test_of_many_kernels_those_with_most_alive_are_shown_and_that_is_said():
    sizes = [1000 + (7 * kernel) % 613 for kernel in range(5 * MOST_PLACES)]
    sizes[1234] = 9999
    curve = MemoryCurve(space=0, name="memory", bytes=tuple(sizes))
    use = MemoryUse(peak_bytes=9999, at=Moment(kernel=1234, kernels=len(sizes)), curves=(curve,))
    chart = memory_curve_chart(use, (MemoryTimeline(curve=curve),))
    assert len(chart.places) == MOST_PLACES
    assert 1234 in chart.places
    assert [max(sizes[5 * k : 5 * k + 5]) for k in range(MOST_PLACES)] == list(chart.bands[0].values)
    assert chart.notes[0] == (
        "3,000 kernels in XLA's order, not time; 600 are shown, each the one with most alive of those near"
    )


@pytest.mark.parametrize("why", ["the program has no schedule", "there was no room"])
def test_without_a_schedule_the_reason_is_said(why: str):
    chart = memory_curve_chart(MemoryUse(missing=why), ())
    figure = plotly_figure(chart)
    assert not figure.data
    assert why in repr(figure)
    assert why in figure.layout.annotations[0].text
