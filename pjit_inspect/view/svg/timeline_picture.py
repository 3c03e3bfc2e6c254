"""The timeline of a session's compiles as a still picture, for places without scripts.

Its colours mean stages, not mesh axes: it shows no axis.
"""

from __future__ import annotations

from pjit_inspect.model.record.ledger import LedgerData
from pjit_inspect.view.document.colors import LINE, NEUTRAL
from pjit_inspect.view.document.quantities import seconds_text
from pjit_inspect.view.svg.chart_parts import LABEL, draw_legend
from pjit_inspect.view.svg.svg import Svg, fit
from pjit_inspect.view.svg.timeline_bars import STAGES, TimelineBars, timeline_bars

STAGE_COLORS = {"trace": "#3b6fb6", "lower": "#7a5aa6", "XLA": "#b04a06", "from disk": "#56700b"}
"""One colour for each stage, mid tones for light and dark pages."""

_WIDTH, _ROW, _BAR = 620.0, 20.0, 12.0
_MAX_BARS = 4_000
_MAX_CELLS = 24


def draw_timeline(ledger: LedgerData) -> Svg:
    """The picture: a row for each function, a bar for each stage, a mark for each cell."""
    bars = timeline_bars(ledger)
    svg = Svg()
    end = max((bar.began_s + bar.seconds for bar in bars.bars), default=0.0) or 1.0
    height = 24 + _ROW * len(bars.rows)
    svg.rect(0, 0, LABEL + _WIDTH, height + 24)
    _draw_cells(svg, bars, end, height)
    for number, row in enumerate(bars.rows):
        label = fit(row, LABEL - 8)
        svg.chip(LABEL - 6, 24 + _ROW * number + _BAR / 2, label, color=NEUTRAL, anchor="end")
    places = {row: number for number, row in enumerate(bars.rows)}
    for bar in sorted(bars.bars, key=lambda bar: -bar.seconds)[:_MAX_BARS]:
        x, y = LABEL + _WIDTH * bar.began_s / end, 24 + _ROW * places[bar.row]
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
