"""The timeline of a session's compiles: when each stage of each ran, as bars however drawn, and as a still picture.

Its colours mean stages, not mesh axes: it shows no axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry
from pjit_inspect.view.document.colors import LINE, NEUTRAL
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import seconds_text
from pjit_inspect.view.svg.chart_parts import LABEL, draw_legend
from pjit_inspect.view.svg.svg import Svg, fit

Stage = Literal["trace", "lower", "XLA", "from disk"]

STAGES: tuple[Stage, ...] = ("trace", "lower", "XLA", "from disk")
"""The stages in order; "from disk" replaces XLA where the compilation cache had the program."""
STAGE_COLORS = {"trace": "#3b6fb6", "lower": "#7a5aa6", "XLA": "#b04a06", "from disk": "#56700b"}
"""One colour for each stage, mid tones for light and dark pages."""

_WIDTH, _STEP, _BAR = 620.0, 20.0, 12.0
_MAX_BARS = 4_000
_MAX_CELLS = 24
_ROWS = 12
_OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineBar:
    """One stage of one compile.

    Attributes:
      row: its row.
      stage: its stage.
      began_s: seconds after the first stage of the session began.
      seconds: its duration (measured).
      entry: the compile.
    """

    row: str
    stage: Stage
    began_s: float
    seconds: float
    entry: LedgerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineBars:
    """A timeline: rows, bars, and the first compile of each notebook cell.

    Attributes:
      rows: the functions, most expensive first; the last is "others" when there are many.
      bars: in no order.
      cells: (name of a cell, seconds), in order of time.
    """

    rows: tuple[str, ...]
    bars: tuple[TimelineBar, ...]
    cells: tuple[tuple[str, float], ...]


def timeline_bars(ledger: LedgerData) -> TimelineBars:
    """The bars of every compile in a ledger with known times."""
    spent: dict[str, float] = {}
    for entry in ledger.entries:
        spent[printable(entry.name)] = spent.get(printable(entry.name), 0.0) + sum(s for _, _, s in _stages(entry))
    named = sorted(spent, key=lambda name: -spent[name])
    rows = named if len(named) <= _ROWS else [*named[: _ROWS - 1], _OTHERS]
    start = min((began for entry in ledger.entries for _, began, _ in _stages(entry)), default=0.0)
    bars = tuple(
        TimelineBar(
            row=name if (name := printable(entry.name)) in rows else _OTHERS,
            stage=stage, began_s=began - start, seconds=seconds, entry=entry,
        )
        for entry in ledger.entries
        for stage, began, seconds in _stages(entry)
    )  # fmt: skip
    return TimelineBars(rows=tuple(rows), bars=bars, cells=_cells(bars))


def _stages(entry: LedgerEntry) -> list[tuple[Stage, float, float]]:
    times = entry.timings
    last: Stage = "from disk" if entry.disk else "XLA"
    stages: list[tuple[Stage, float | None, float | None]] = [
        ("trace", times.trace_began_s, times.trace_s),
        ("lower", times.lower_began_s, times.lower_s),
        (last, times.compile_began_s, times.compile_s),
    ]
    return [(stage, began, seconds) for stage, began, seconds in stages if began is not None and seconds is not None]


def _cells(bars: tuple[TimelineBar, ...]) -> tuple[tuple[str, float], ...]:
    first: dict[str, float] = {}
    for bar in sorted(bars, key=lambda bar: bar.began_s):
        if bar.entry.cell is not None:
            first.setdefault(bar.entry.cell, bar.began_s)
    return tuple(first.items())


def draw_timeline(ledger: LedgerData) -> Svg:
    """The picture: a row for each function, a bar for each stage, a mark for each cell."""
    bars = timeline_bars(ledger)
    svg = Svg()
    end = max((bar.began_s + bar.seconds for bar in bars.bars), default=0.0) or 1.0
    height = 24 + _STEP * len(bars.rows)
    svg.rect(0, 0, LABEL + _WIDTH, height + 24)
    _draw_cells(svg, bars, end, height)
    for number, row in enumerate(bars.rows):
        label = fit(row, LABEL - 8)
        svg.chip(LABEL - 6, 24 + _STEP * number + _BAR / 2, label, color=NEUTRAL, anchor="end")
    places = {row: number for number, row in enumerate(bars.rows)}
    for bar in sorted(bars.bars, key=lambda bar: -bar.seconds)[:_MAX_BARS]:
        x, y = LABEL + _WIDTH * bar.began_s / end, 24 + _STEP * places[bar.row]
        svg.rect(x, y, max(1.0, _WIDTH * bar.seconds / end), _BAR, fill=STAGE_COLORS[bar.stage])
    present = {bar.stage for bar in bars.bars}
    draw_legend(svg, {stage: STAGE_COLORS[stage] for stage in STAGES if stage in present}, LABEL, height + 12)
    shown = f"{seconds_text(end)} from the first to the last"
    svg.chip(LABEL + _WIDTH, height + 12, shown, color=NEUTRAL, anchor="end")
    return svg


def _draw_cells(svg: Svg, bars: TimelineBars, end: float, height: float) -> None:
    free = 0.0
    for name, began_s in bars.cells[:_MAX_CELLS]:
        x = LABEL + _WIDTH * began_s / end
        svg.line(x, 16, x, height, stroke=LINE, stroke_dasharray="2 3")
        if x >= free:
            free = x + svg.chip(x, 8, name, color=LINE) + 4
