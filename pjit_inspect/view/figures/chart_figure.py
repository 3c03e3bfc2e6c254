"""Plotly figures: a chart with its still twin.

This module imports plotly, so it is imported for the first figure only. A plain `go.Figure` with a tiny template:
plotly's own is 7 KB in every figure, and a `FigureWidget` brings 5 MB. plotly reads tags, entities and TeX in labels,
so every foreign name passes `_label`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from pjit_inspect.view.document.chart import AreaChart, BarChart, Chart, MatrixChart, ScatterChart, ScatterPoint
from pjit_inspect.view.document.colors import LINE, NEUTRAL, NOTE
from pjit_inspect.view.render.html import escaped
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
    notes = "<br>".join(_label(note, longest=_LONGEST_SENTENCE) for note in chart.notes)
    title = {
        "text": _label(chart.title, longest=_LONGEST_SENTENCE), "font": {"size": 13}, "x": 0, "xref": "paper", "y": 1,
        "yref": "container", "yanchor": "top", "pad": {"t": 10}, "subtitle": {"text": notes, "font": {"size": 11}},
    }  # fmt: skip
    traces, height, legend_rows, more = _drawn(chart)
    top = 34 + 15 * len(chart.notes) + 24 * legend_rows
    # In one call: each `update_layout` costs plotly tens of milliseconds.
    layout = {
        **_LOOKS,
        "title": title,
        "width": _WIDTH,
        "height": height if chart.missing else top + height,
        "margin": {"l": 10, "r": 20, "t": top, "b": 44},
        "hoverlabel": {"align": "left", "namelength": -1},
        "showlegend": legend_rows > 0,
        "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "xanchor": "left", "traceorder": "normal"},
        **more,
    }
    return ChartFigure(data=traces, layout=layout)


_Drawn = tuple[list[Any], int, int, dict[str, Any]]
"""The traces, the height of the plot, the rows of its legend, and what it adds to the layout."""


def _drawn(chart: Chart) -> _Drawn:
    if chart.missing:
        note = {"xref": "paper", "yref": "paper", "x": 0, "y": 0.5, "xanchor": "left", "showarrow": False}
        text = _label(chart.missing, longest=_LONGEST_SENTENCE)
        hidden = {"visible": False}
        return [], 110, 0, {"xaxis": hidden, "yaxis": hidden, "annotations": [{"text": text, **note}]}
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


def _categories(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of labels."""
    return {"type": "category", "categoryorder": "array", "categoryarray": labels, "automargin": True, **more}


def _label(text: str, *, longest: int = 60) -> str:
    """A foreign string as plotly shows it unchanged: no tag, no entity, no TeX between dollar signs."""
    return escaped(text, longest=longest).replace("$", "&#36;")


def _labels(texts: Sequence[str]) -> list[str]:
    """The labels of rows, numbered where two are equal: plotly would merge these rows."""
    labels = [_label(text) for text in texts]
    if len(set(labels)) == len(labels):
        return labels
    return [f"{place}: {label}" for place, label in enumerate(labels)]


def _hover(words: Iterable[Sequence[str]]) -> dict[str, Any]:
    """The words of each mark, shown on pointing at it: a line each."""
    lines = ["<br>".join(_label(word, longest=_LONGEST_SENTENCE) for word in one) for one in words]
    return {"customdata": lines, "hovertemplate": "%{customdata}<extra></extra>"}


def _sizes(values: Iterable[float], unit: str) -> list[float]:
    """Bytes or seconds in a unit, as plotly takes them."""
    return [round(size_in(value, unit), 6) for value in values]


def _bars(chart: BarChart) -> _Drawn:
    labels = _labels([row.label for row in chart.rows])
    pieces = [(row, *one, label) for row, label in zip(chart.rows, labels, strict=True) for one in row.placed]
    traces = []
    for name in legend_of(part for row in chart.rows for part in row.parts):
        rows, parts, starts, places = zip(*(piece for piece in pieces if piece[1].name == name), strict=True)
        amounts = [amount_text(part.value, chart.unit) for part in parts]
        where = {"base": _sizes(starts, chart.unit)} if chart.is_timed else {"text": amounts}
        words = (part_words(row, part, chart.unit) for row, part in zip(rows, parts, strict=True))
        traces.append(go.Bar(
            name=_label(name), orientation="h", y=places, x=_sizes((part.value for part in parts), chart.unit),
            marker={"color": [part.color for part in parts], "line": {"width": 0}},
            textposition="auto", cliponaxis=False, **where, **_hover(words),
        ))  # fmt: skip
    along = {"xref": "x", "yref": "paper"}
    dots = {"dash": "dot", "width": 1, "color": LINE}
    lines = [{**along, "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": dots} for _, at in chart.marks]
    above = {**along, "y": 1, "yanchor": "bottom", "showarrow": False}
    names = [{**above, "x": at, "text": _label(name)} for name, at in chart.marks]
    has_legend = any(len(row.parts) > 1 for row in chart.rows)
    return traces, 56 + 26 * len(chart.rows), int(has_legend), {
        "barmode": "overlay" if chart.is_timed else "stack",
        "bargap": 0.35,
        "xaxis": _axis(f"{chart.unit} {chart.measure}", rangemode="tozero"),
        "yaxis": _categories(labels, autorange="reversed"),
        "shapes": lines,
        "annotations": names,
    }  # fmt: skip


def _areas(chart: AreaChart) -> _Drawn:
    traces = []
    for band in chart.bands:
        values = (*band.values, band.values[-1])  # the last kernel has a width, too
        traces.append(go.Scatter(
            name=_label(band.name), mode="lines", stackgroup="alive", fillcolor=band.color,
            x=[*chart.places, chart.kernels], y=_sizes(values, chart.unit),
            line={"shape": "hv", "width": 0, "color": band.color},
            customdata=[amount_text(value, chart.unit) for value in values], hovertemplate="%{customdata}",
        ))  # fmt: skip
    (height,) = _sizes([chart.peak_bytes], chart.unit)
    peak = {
        "x": chart.peak, "y": height, "showarrow": True, "arrowhead": 2, "ax": 0, "ay": -22,
        "text": f"peak {amount_text(chart.peak_bytes, chart.unit)}",
    }  # fmt: skip
    kernels = [chart.places[0], max(chart.kernels, chart.places[0] + 1)]
    return traces, 300, -(-len(chart.bands) // _LEGEND_ROW), {
        "hovermode": "x unified",
        "xaxis": _axis("kernel, in XLA's order", zeroline=False, range=kernels),
        "yaxis": _axis(f"{chart.unit} {_label(chart.measure)}", near=False, rangemode="tozero", automargin=True),
        "annotations": [peak],
    }  # fmt: skip


def _cells(chart: MatrixChart) -> _Drawn:
    labels, traces = _labels(chart.labels), []
    for name, color in legend_of(chart.cells).items():
        cells = [cell for cell in chart.cells if cell.name == name]
        words = []
        for cell in cells:
            pair = f"{chart.labels[cell.row]} -> {chart.labels[cell.column]}"
            words.append((f"{pair}: {amount_text(cell.size_bytes, chart.unit)}", cell.name))
        red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
        traces.append(go.Heatmap(
            name=_label(name), x=[labels[cell.column] for cell in cells], y=[labels[cell.row] for cell in cells],
            z=[cell_strength(cell.size_bytes, chart.most_bytes) for cell in cells], zmin=0, zmax=1,
            colorscale=[[0, f"rgba({red},{green},{blue},0)"], [1, color]], showscale=False, showlegend=True,
            xgap=1, ygap=1, **_hover(words),
        ))  # fmt: skip
    look = {"showgrid": False, "nticks": 24, "linecolor": _GRID, "mirror": True, "constrain": "domain"}
    side = _categories(labels, **look)
    what, first, last = _label(chart.stands_for), -0.5, len(labels) - 0.5
    return traces, 440, 1, {
        "xaxis": _axis(f"to ({what})", **side, range=[first, last], constraintoward="left"),
        "yaxis": _axis(f"from ({what})", near=False, **side, range=[last, first], scaleanchor="x"),
    }  # fmt: skip


_SYMBOLS = {"base": "square", "known": "circle", "least": "triangle-up-open", "misfit": "x", "other": "circle-open"}


def _points(chart: ScatterChart) -> _Drawn:
    def places(points: Sequence[ScatterPoint]) -> dict[str, Any]:
        x, y = _sizes((one.x for one in points), chart.x_unit), _sizes((one.y for one in points), chart.y_unit)
        return {"x": x, "y": y}

    scale, _ = scatter_scales(chart)
    best = {"color": NEUTRAL, "width": 1.5, "shape": "hv"}
    colors = [NOTE if one.kind == "misfit" else NEUTRAL if one.is_best else LINE for one in chart.points]
    traces = [
        go.Scatter(mode="lines", line=best, hoverinfo="skip", **places(chart.front)),
        go.Scatter(
            mode="markers+text", text=[_label(one.label) for one in chart.points], textposition="top center",
            marker={"symbol": [_SYMBOLS[one.kind] for one in chart.points], "size": 9, "color": colors},
            **places(chart.points), **_hover(one.words for one in chart.points),
        ),
    ]  # fmt: skip
    lines, notes = [], []
    if chart.limit is not None:
        y, look = size_in(chart.limit[0], chart.y_unit), {"color": NOTE, "dash": "dash", "width": 1.5}
        lines = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": look}]
        notes = [{"xref": "paper", "x": 1, "y": y, "text": _label(chart.limit[1]), "showarrow": False,
                  "yanchor": "bottom", "xanchor": "right", "font": {"color": NOTE}}]  # fmt: skip
    along = {"type": "log"} if scale.is_log else {"rangemode": "tozero"}
    return traces, 380, 0, {
        "xaxis": {**_axis(f"{chart.x_measure}, {chart.x_unit}"), **along},
        "yaxis": _axis(f"{chart.y_measure}, {chart.y_unit}", rangemode="tozero", automargin=True),
        "shapes": lines,
        "annotations": notes,
    }  # fmt: skip
