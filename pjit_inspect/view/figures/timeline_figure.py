"""The timeline of a session's compiles as a plotly figure.

A plain `go.Figure` with a tiny template: plotly's own is 7 KB in every figure, and a `FigureWidget` brings 5 MB.
plotly is imported when a figure is asked for. Not its job: which bars there are (`view.svg.timeline_bars`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.record.ledger import LedgerData
from pjit_inspect.view.document.quantities import seconds_text
from pjit_inspect.view.render.html_spans import escaped
from pjit_inspect.view.svg.timeline_bars import STAGES, TimelineBar, timeline_bars
from pjit_inspect.view.svg.timeline_picture import STAGE_COLORS

__all__ = ["timeline_figure"]

_MAX_REASON = 160


def timeline_figure(ledger: LedgerData) -> Any:
    """A `plotly.graph_objects.Figure`: a row per function, a bar per stage, a dashed mark per notebook cell."""
    import plotly.graph_objects as go

    bars = timeline_bars(ledger)
    figure = go.Figure(layout={"template": go.layout.Template()})
    for stage in STAGES:
        mine = [bar for bar in bars.bars if bar.stage == stage]
        if mine:
            figure.add_trace(_trace(go, stage, mine))
    figure.update_layout(
        barmode="overlay", bargap=0.35, height=130 + 26 * len(bars.rows), margin={"l": 10, "r": 10, "t": 56, "b": 40},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"color": "#7d8590", "size": 12},
        legend={"orientation": "h", "y": 1, "yanchor": "top", "yref": "container", "x": 0},
        xaxis={"title": {"text": "seconds since the first compile (measured)"}, "gridcolor": "rgba(127,127,127,0.25)"},
        yaxis={"autorange": "reversed", "automargin": True, "categoryorder": "array",
               "categoryarray": [escaped(row) for row in bars.rows]},
    )  # fmt: skip
    for name, began_s in bars.cells:
        figure.add_vline(x=began_s, line={"dash": "dot", "width": 1, "color": "#7d8590"})
        # Above the bars, which would hide it.
        figure.add_annotation(x=began_s, y=1, yref="paper", yanchor="bottom", text=name, showarrow=False)
    return figure


def _trace(go: Any, stage: str, bars: list[TimelineBar]) -> Any:
    return go.Bar(
        name=stage, orientation="h", marker={"color": STAGE_COLORS[stage], "line": {"width": 0}},
        y=[escaped(bar.row) for bar in bars], base=[round(bar.began_s, 6) for bar in bars],
        x=[round(bar.seconds, 6) for bar in bars], customdata=[_hover(bar) for bar in bars],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _hover(bar: TimelineBar) -> str:
    """What pointing at a bar shows. plotly reads tags in it, so that names have to be escaped."""
    entry = bar.entry
    reason = entry.reason.sentence
    short = reason if len(reason) <= _MAX_REASON else reason[: _MAX_REASON - 3] + "..."
    head = f"#{entry.index} {entry.name}: {bar.stage} {seconds_text(bar.seconds)}"
    return f"{escaped(head)}<br>{escaped(short, longest=_MAX_REASON)}"
