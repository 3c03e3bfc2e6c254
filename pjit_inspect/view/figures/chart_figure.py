"""Plotly figures: a chart with its still twin.

This module imports plotly, so it is imported for the first figure only. A plain `go.Figure` with a tiny template:
plotly's own is 7 KB in every figure, and a `FigureWidget` brings 5 MB. plotly reads tags, entities and TeX in labels,
so every foreign name passes `_label`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from pjit_inspect.view.document.chart import (
    AreaBand,
    AreaChart,
    BarChart,
    BarPart,
    BarRow,
    Chart,
    MatrixCell,
    MatrixChart,
    ScatterChart,
    ScatterPoint,
)
from pjit_inspect.view.document.colors import LINE, NEUTRAL, NOTE
from pjit_inspect.view.render.html_spans import escaped
from pjit_inspect.view.svg.chart_parts import amount_text, legend_of, part_words, scatter_scales, size_in
from pjit_inspect.view.svg.chart_picture import cell_strength

_LOOKS = {
    "template": go.layout.Template(), "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"color": "#7d8590", "size": 12},
}  # fmt: skip
_WIDTH = 720  # px; without it, a reopened notebook draws figures wider than their cell
_GRID = "rgba(127,127,127,0.25)"
_LONGEST_SENTENCE = 200
_LEGEND_ROW = 4
"""Names of bands that plotly puts in one row at this width."""


class ChartFigure(go.Figure):
    """A plotly figure with its text and still picture, for places where plotly does not run.

    Trusted notebooks show the figure. Untrusted ones, and pages made of notebooks, show the still picture with its
    table; a terminal shows the text. `show()` and everything else are plotly's.
    """

    _still: dict[str, str] = {"text/plain": "an empty figure", "text/html": "an empty figure"}  # noqa: RUF012

    # plotly's would send script and no still picture; IPython asks for the bundle where this is no function.
    _ipython_display_ = None  # pyright: ignore[reportAssignmentType]

    def with_still(self, still: dict[str, str]) -> ChartFigure:
        """The same figure; `still` (MIME type -> text) is shown where plotly does not run."""
        self._still = still
        return self

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, Any]:
        return {"application/vnd.plotly.v1+json": json.loads(str(self.to_json())), **self._still}

    def _repr_html_(self) -> str:
        return self._still["text/html"]

    def __repr__(self) -> str:
        return self._still["text/plain"]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_dict(), self._still)


def _restored(properties: dict[str, Any], still: dict[str, str]) -> ChartFigure:
    return ChartFigure(properties).with_still(still)


def chart_figure(chart: Chart) -> ChartFigure:
    """The figure of a chart, without its still twin. An empty chart shows the sentence that says why."""
    traces, more = _traces(chart)
    notes = "<br>".join(_label(note, longest=_LONGEST_SENTENCE) for note in chart.notes)
    title = {
        "text": _label(chart.title, longest=_LONGEST_SENTENCE), "font": {"size": 13}, "x": 0, "xref": "paper", "y": 1,
        "yref": "container", "yanchor": "top", "pad": {"t": 10}, "subtitle": {"text": notes, "font": {"size": 11}},
    }  # fmt: skip
    # In one call: each `update_layout` costs plotly tens of milliseconds.
    layout = {
        **_LOOKS,
        "title": title,
        "width": _WIDTH,
        "margin": {"l": 10, "r": 20, "t": _top(chart), "b": 44},
        "hoverlabel": {"align": "left", "namelength": -1},
        "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "xanchor": "left", "traceorder": "normal"},
        **more,
    }
    return ChartFigure(data=traces, layout=layout)


def _traces(chart: Chart) -> tuple[list[Any], dict[str, Any]]:
    """The traces, and their additions to the layout."""
    if chart.missing:
        return [], _nothing(chart.missing)
    match chart:
        case MatrixChart():
            return _cells(chart)
        case AreaChart():
            return _areas(chart)
        case ScatterChart():
            return _points(chart)
        case BarChart():
            return _bars(chart)


def _axis(title: str, *, near: bool = True, **more: Any) -> dict[str, Any]:
    """An axis with a light grid; `near` keeps its title close to it."""
    return {"title": {"text": title, **({"standoff": 4} if near else {})}, "gridcolor": _GRID, **more}


def _rows_axis(labels: Sequence[str]) -> dict[str, Any]:
    """An axis of labels, from top to bottom."""
    return {
        "type": "category", "categoryorder": "array", "categoryarray": labels, "autorange": "reversed",
        "automargin": True,
    }  # fmt: skip


def _top(chart: Chart) -> int:
    """Pixels above the figure: title, notes, legend."""
    rows = -(-len(chart.bands) // _LEGEND_ROW) if isinstance(chart, AreaChart) else int(_has_legend(chart))
    return 34 + 15 * len(chart.notes) + 24 * rows


def _has_legend(chart: Chart) -> bool:
    if isinstance(chart, BarChart):
        return any(len(row.parts) > 1 for row in chart.rows)
    return isinstance(chart, AreaChart | MatrixChart)


def _label(text: str, *, longest: int = 60) -> str:
    """A foreign string as plotly shows it unchanged: no tag, no entity, no TeX between dollar signs."""
    return escaped(text, longest=longest).replace("$", "&#36;")


def _labels(texts: Sequence[str]) -> list[str]:
    """The labels of rows, numbered where two are equal: plotly would merge these rows."""
    labels = [_label(text) for text in texts]
    if len(set(labels)) == len(labels):
        return labels
    return [f"{place}: {label}" for place, label in enumerate(labels)]


def _nothing(sentence: str) -> dict[str, Any]:
    text = _label(sentence, longest=_LONGEST_SENTENCE)
    note = {"xref": "paper", "yref": "paper", "showarrow": False, "x": 0, "y": 0.5, "xanchor": "left"}
    hidden = {"visible": False}
    return {"height": 110, "xaxis": hidden, "yaxis": hidden, "annotations": [{"text": text, **note}]}


# ---------------------------------------------------------------- bars


def _bars(chart: BarChart) -> tuple[list[Any], dict[str, Any]]:
    """The traces, and their additions to the layout."""
    names = legend_of(part for row in chart.rows for part in row.parts)
    labels = _labels([row.label for row in chart.rows])
    pieces = [(row, *one, label) for row, label in zip(chart.rows, labels, strict=True) for one in row.placed]
    traces = [_bar_trace(chart, name, [piece for piece in pieces if piece[1].name == name]) for name in names]
    along = {"xref": "x", "yref": "paper"}
    lines = [{"type": "line", **along, "x0": at, "x1": at, "y0": 0, "y1": 1,
              "line": {"dash": "dot", "width": 1, "color": LINE}} for _, at in chart.marks]  # fmt: skip
    notes = [{**along, "x": at, "y": 1, "yanchor": "bottom", "text": _label(name), "showarrow": False}
             for name, at in chart.marks]  # fmt: skip
    return traces, {
        "barmode": "overlay" if chart.is_timed else "stack",
        "bargap": 0.35,
        "showlegend": _has_legend(chart),
        "height": _top(chart) + 56 + 26 * len(chart.rows),
        "xaxis": _axis(f"{chart.unit} {chart.measure}", rangemode="tozero"),
        "yaxis": _rows_axis(labels),
        **({"shapes": lines, "annotations": notes} if chart.marks else {}),
    }


def _bar_trace(chart: BarChart, name: str, pieces: list[tuple[BarRow, BarPart, float, str]]) -> go.Bar:
    amounts = [amount_text(part.value, chart.unit) for _, part, *_ in pieces]
    place = {"base": [round(start, 6) for _, _, start, _ in pieces]} if chart.is_timed else {"text": amounts}
    return go.Bar(
        name=_label(name), orientation="h", y=[label for *_, label in pieces],
        x=[round(size_in(part.value, chart.unit), 6) for _, part, *_ in pieces],
        marker={"color": [part.color for _, part, *_ in pieces], "line": {"width": 0}},
        textposition="auto", cliponaxis=False,
        customdata=[_hover(part_words(row, part, chart.unit)) for row, part, *_ in pieces],
        hovertemplate="%{customdata}<extra></extra>", **place,
    )  # fmt: skip


def _hover(words: Sequence[str]) -> str:
    return "<br>".join(_label(word, longest=_LONGEST_SENTENCE) for word in words)


# ---------------------------------------------------------------- bands


def _areas(chart: AreaChart) -> tuple[list[Any], dict[str, Any]]:
    """The traces, and their additions to the layout."""
    kernels = [chart.places[0], max(chart.kernels, chart.places[0] + 1)]
    peak = {
        "x": chart.peak, "y": round(size_in(chart.peak_bytes, chart.unit), 6), "showarrow": True, "arrowhead": 2,
        "text": f"peak {amount_text(chart.peak_bytes, chart.unit)}", "ax": 0, "ay": -22,
    }  # fmt: skip
    return [_area_trace(chart, band) for band in chart.bands], {
        "height": _top(chart) + 300,
        "showlegend": True,
        "hovermode": "x unified",
        "xaxis": _axis("kernel, in XLA's order", zeroline=False, range=kernels),
        "yaxis": _axis(f"{chart.unit} {_label(chart.measure)}", near=False, rangemode="tozero", automargin=True),
        "annotations": [peak],
    }


def _area_trace(chart: AreaChart, band: AreaBand) -> go.Scatter:
    values = (*band.values, band.values[-1])  # the last kernel has a width, too
    return go.Scatter(
        name=_label(band.name), mode="lines", stackgroup="alive", fillcolor=band.color,
        x=[*chart.places, chart.kernels],
        y=[round(size_in(value, chart.unit), 6) for value in values],
        line={"shape": "hv", "width": 0, "color": band.color},
        customdata=[amount_text(value, chart.unit) for value in values], hovertemplate="%{customdata}",
    )  # fmt: skip


# ---------------------------------------------------------------- cells


def _cells(chart: MatrixChart) -> tuple[list[Any], dict[str, Any]]:
    """The traces, and their additions to the layout."""
    labels = _labels(chart.labels)
    traces: list[Any] = []
    for name, color in legend_of(chart.cells).items():
        cells = [cell for cell in chart.cells if cell.name == name]
        traces.append(_cell_trace(chart, name, color, cells, labels))
    side = {"type": "category", "categoryorder": "array", "categoryarray": labels, "showgrid": False,
            "automargin": True, "nticks": 24, "linecolor": _GRID, "mirror": True, "constrain": "domain"}  # fmt: skip
    what, first, last = _label(chart.stands_for), -0.5, len(labels) - 0.5
    return traces, {
        "height": _top(chart) + 440,
        "showlegend": True,
        "xaxis": _axis(f"to ({what})", **side, range=[first, last], constraintoward="left"),
        "yaxis": _axis(f"from ({what})", near=False, **side, range=[last, first], scaleanchor="x"),
    }


def _cell_trace(chart: MatrixChart, name: str, color: str, cells: list[MatrixCell], labels: list[str]) -> go.Heatmap:
    pairs = [(f"{chart.labels[cell.row]} -> {chart.labels[cell.column]}", cell) for cell in cells]
    words = [(f"{pair}: {amount_text(cell.size_bytes, chart.unit)}", cell.name) for pair, cell in pairs]
    return go.Heatmap(
        name=_label(name), x=[labels[cell.column] for cell in cells], y=[labels[cell.row] for cell in cells],
        z=[cell_strength(cell.size_bytes, chart.most_bytes) for cell in cells], zmin=0, zmax=1,
        colorscale=[[0, _faded(color)], [1, color]], showscale=False, showlegend=True, xgap=1, ygap=1,
        customdata=[_hover(word) for word in words], hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


# ---------------------------------------------------------------- points

_SYMBOLS = {"base": "square", "known": "circle", "least": "triangle-up-open", "misfit": "x", "other": "circle-open"}


def _points(chart: ScatterChart) -> tuple[list[Any], dict[str, Any]]:
    """The traces, and their additions to the layout."""
    scale, _ = scatter_scales(chart)
    front = _point_trace(chart, chart.front, mode="lines")
    front.update(line={"color": NEUTRAL, "width": 1.5, "shape": "hv"}, hoverinfo="skip", hovertemplate=None)
    along = {"type": "log"} if scale.is_log else {"rangemode": "tozero"}
    shapes, notes = [], []
    if chart.limit is not None:
        y = size_in(chart.limit[0], chart.y_unit)
        shapes = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
                   "line": {"color": NOTE, "dash": "dash", "width": 1.5}}]  # fmt: skip
        notes = [{"xref": "paper", "x": 1, "y": y, "text": _label(chart.limit[1]), "showarrow": False,
                  "yanchor": "bottom", "xanchor": "right", "font": {"color": NOTE}}]  # fmt: skip
    return [front, _point_trace(chart, chart.points, mode="markers+text")], {
        "height": _top(chart) + 380,
        "showlegend": False,
        "xaxis": {**_axis(f"{chart.x_measure}, {chart.x_unit}"), **along},
        "yaxis": _axis(f"{chart.y_measure}, {chart.y_unit}", rangemode="tozero", automargin=True),
        "shapes": shapes,
        "annotations": notes,
    }


def _point_trace(chart: ScatterChart, points: Sequence[ScatterPoint], *, mode: str) -> go.Scatter:
    return go.Scatter(
        mode=mode, x=[round(size_in(point.x, chart.x_unit), 6) for point in points],
        y=[round(size_in(point.y, chart.y_unit), 6) for point in points],
        text=[_label(point.label) for point in points], textposition="top center",
        marker={
            "symbol": [_SYMBOLS[point.kind] for point in points], "size": 9,
            "color": [NOTE if one.kind == "misfit" else NEUTRAL if one.is_best else LINE for one in points],
        },
        customdata=[_hover(point.words) for point in points], hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _faded(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0)"
