"""A chart as a still picture, for places without scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pjit_inspect.view.document.chart import (
    AreaChart,
    BarChart,
    BarPart,
    CurveChart,
    MatrixChart,
    ScatterChart,
    ScatterPoint,
    StillChart,
)
from pjit_inspect.view.document.colors import LINE, NEUTRAL, NOTE, PHASE_COLORS, SELECTION
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.svg.chart_parts import (
    LABEL,
    Plot,
    Scale,
    amount_text,
    binary_scale,
    circle,
    legend_of,
    scatter_scales,
    size_in,
)
from pjit_inspect.view.svg.curve_picture import draw_curves
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_WIDTH, _TIMED_WIDTH, _ROW, _BAR = 460.0, 620.0, 22.0, 14.0
_MOST_BARS = 4_000
_MOST_MARKS = 24
_SIDE, _MATRIX = 20.0, 420.0  # px: the largest side of a cell, the largest side of a matrix
_STEPS = 6
_EACH_LABEL = 16  # rows up to which every row of a matrix shows its label
_STRIP = 5.0
_LEAST_WORDS = 64.0  # px of the shortest stretch that shows its name
_DOT = 4.5
_AWAY = ((0, -14), (0, 14), (16, -6), (-16, -6), (16, 8), (-16, 8), (0, -24), (0, 24))
_CHIP = 15.0

_Place = tuple[float, float]


def draw_chart(chart: StillChart) -> Svg:
    """The picture; empty for an empty chart."""
    svg = Svg()
    match chart:
        case AreaChart() if chart.places and chart.peak_bytes:
            _draw_areas(svg, chart)
        case ScatterChart() if chart.points:
            _draw_scatter(svg, chart)
        case MatrixChart() if chart.labels:
            _draw_matrix(svg, chart)
        case BarChart() if chart.rows:
            _draw_bars(svg, chart)
        case CurveChart() if chart.curves or chart.discs:
            draw_curves(svg, chart)
    return svg


def cell_strength(size_bytes: float, most_bytes: float) -> float:
    """The strength of a cell's colour, in six steps up to 1: the root of its share, so that small ones are visible."""
    share = math.sqrt(size_bytes / most_bytes) if most_bytes > 0 else 0.0
    return max(1, math.ceil(round(share * _STEPS, 6))) / _STEPS


# ---------------------------------------------------------------- bars


def _draw_bars(svg: Svg, chart: BarChart) -> None:
    scale, top = Scale(low=0.0, high=size_in(chart.end, chart.unit) or 1.0), 24.0 if chart.marks else 0.0
    width, height = _TIMED_WIDTH if chart.is_timed else _WIDTH, _ROW * len(chart.rows)
    plot = Plot(svg=svg, left=LABEL, top=top, width=width, height=height, x=scale, y=scale)
    _draw_moments(plot, chart)
    bars: list[tuple[float, float, float, str]] = []

    def fill_of(part: BarPart) -> str:
        return svg.hatch(part.color) if part.is_hatched else part.color

    for number, row in enumerate(chart.rows):
        y = top + _ROW * number
        plot.row_label(y + _BAR / 2, row.label, row.color)
        bars += [(part.value, start, y, fill_of(part)) for part, start in row.placed if part.value > 0]
        if not chart.is_timed:
            end = plot.at_x(size_in(row.total, chart.unit)) + 6
            svg.chip(end, y + _BAR / 2, amount_text(row.total, chart.unit), color=NEUTRAL, anchor="start")
    for value, start, y, color in sorted(bars, key=lambda bar: -bar[0])[:_MOST_BARS]:
        x = plot.at_x(size_in(start, chart.unit))
        width_of = plot.at_x(size_in(start + value, chart.unit)) - x
        svg.rect(x, y, max(1.0, width_of), _BAR, fill=color)
    if chart.is_timed:
        plot.ticks_below(chart.unit)
    if any(len(row.parts) > 1 for row in chart.rows):
        below = plot.bottom + _BAR / 2 + (28 if chart.is_timed else 4)
        parts = (replace(part, color=fill_of(part)) for row in chart.rows for part in row.parts)
        plot.legend(legend_of(parts), below)


def _draw_moments(plot: Plot, chart: BarChart) -> None:
    free = 0.0
    for name, at in chart.marks[:_MOST_MARKS]:
        x = plot.at_x(size_in(at, chart.unit))
        plot.svg.line(x, 16, x, plot.bottom, stroke=LINE, stroke_dasharray="2 3")
        if x >= free:
            free = x + plot.svg.chip(x, 8, name, color=LINE) + 4


# ---------------------------------------------------------------- cells


def _draw_matrix(svg: Svg, chart: MatrixChart) -> None:
    number = len(chart.labels)
    side = min(_SIDE, _MATRIX / number)
    every = 1 if number <= _EACH_LABEL else -(-number // _EACH_LABEL)
    left = max(chip_width(fit(label, LABEL - 8)) for label in chart.labels[::every]) + 8
    turned = max(chip_width(label) for label in chart.labels[::every]) > side
    top = (min(LABEL, left) if turned else 15.0) + 24
    scale, whole = Scale(low=0, high=number), number * side
    plot = Plot(svg=svg, left=left, top=top, width=whole, height=whole, x=scale, y=scale)
    svg.chip(left + whole / 2, 8, "to", color=LINE)
    svg.rect(left, top, whole, whole, stroke=LINE, stroke_opacity=0.6)
    _draw_cells(plot, chart, side)
    for place in range(0, number, every):
        label, middle = fit(chart.labels[place], LABEL - 8), place * side + side / 2
        plot.row_label(top + middle, label)
        rise = chip_width(label) / 2 if turned else 7.5
        svg.chip(left + middle, top - 4 - rise, label, color=NEUTRAL, turned=turned)
    plot.legend(legend_of(chart.cells), plot.bottom + 14)
    most = f"strongest: {amount_text(chart.most_bytes, chart.unit)}"
    svg.chip(left, plot.bottom + 33, most, color=NEUTRAL, anchor="start")


def _draw_cells(plot: Plot, chart: MatrixChart, side: float) -> None:
    """One path for all cells of equal looks: a picture of 4,096 cells stays small."""
    alike = grouped(chart.cells, lambda cell: (cell.color, cell_strength(cell.size_bytes, chart.most_bytes)))
    box = round(side - (1 if side > 8 else 0.3), 1)
    for (color, strength), cells in sorted(alike.items()):
        corners = ((plot.left + cell.column * side, plot.top + cell.row * side) for cell in cells)
        path = "".join(f"M{x:.1f} {y:.1f}h{box}v{box}h-{box}z" for x, y in corners)
        plot.svg.path(path, fill=color, fill_opacity=strength)


# ---------------------------------------------------------------- bands


def _draw_areas(svg: Svg, chart: AreaChart) -> None:
    columns = Scale(low=0, high=len(chart.places))
    peak = size_in(chart.peak_bytes, chart.unit)
    plot = Plot(svg=svg, left=62.0, top=22.0, width=620.0, height=160.0, x=columns, y=binary_scale(peak))
    svg.rect(plot.left, plot.top, plot.width, plot.height, stroke="none")
    plot.grid(chart.unit)
    below = [0.0] * len(chart.places)
    for band in chart.bands:
        above = [low + size_in(value, chart.unit) for low, value in zip(below, band.values, strict=True)]
        corners = (*_steps(plot, above), *reversed(_steps(plot, below)))
        svg.path(f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in corners)}z", fill=band.color)
        below = above
    at = max((place, column) for column, place in enumerate(chart.places) if place <= chart.peak or not column)[1]
    words = f"peak {amount_text(chart.peak_bytes, chart.unit)}, kernel {chart.peak:,}"
    plot.mark(plot.at_x(at + 0.5), words, SELECTION, top=14, chip=min(plot.at_y(peak) - 10, 8))
    _draw_phases(plot, chart.phases)
    plot.legend(legend_of(chart.bands), plot.bottom + (38 if chart.phases else 18))


def _steps(plot: Plot, heights: Sequence[float]) -> list[_Place]:
    """The corners of a line that is level over each place; places as high as the one before have no corners."""
    points: list[_Place] = []
    last = None
    for column, height in enumerate(heights):
        y = round(plot.at_y(height), 1)
        if y != last:
            x = plot.at_x(column)
            points += [(x, y)] if last is None else [(x, last), (x, y)]
            last = y
    return [*points, (plot.right, last or 0.0)]


def _draw_phases(plot: Plot, phases: Sequence[str]) -> None:
    """A strip in the colours of the phases; the first long stretch of each shows its name."""
    start, named = 0, set[str]()
    for phase, same in groupby(phases):
        end = start + len(list(same))
        x, width = plot.at_x(start), plot.at_x(end) - plot.at_x(start)
        start = end
        if not phase:
            continue
        plot.svg.rect(x, plot.bottom + 4, width, _STRIP, fill=PHASE_COLORS[phase])
        if width >= _LEAST_WORDS and phase not in named:
            plot.svg.chip(x, plot.bottom + 19, phase, color=PHASE_COLORS[phase], anchor="start")
            named.add(phase)


# ---------------------------------------------------------------- points


def _draw_scatter(svg: Svg, chart: ScatterChart) -> None:
    x, y = scatter_scales(chart)
    plot = Plot(svg=svg, left=52.0, top=0.0, width=440.0, height=240.0, x=x, y=y)
    svg.rect(0, -24, plot.right + 16, plot.bottom + 64)
    plot.grid()
    plot.ticks_below()
    svg.chip(plot.left, -14, f"{chart.y_measure}, {chart.y_unit}", color=NEUTRAL, anchor="start")
    along = f"{chart.x_measure}, {chart.x_unit}{' (log)' if x.is_log else ''}"
    svg.chip(plot.right, plot.bottom + 32, along, color=NEUTRAL, anchor="end")
    if chart.limit is not None:
        _draw_limit(plot, *chart.limit, chart.y_unit)
    places = [(plot.at_x(size_in(p.x, chart.x_unit)), plot.at_y(size_in(p.y, chart.y_unit))) for p in chart.points]
    (start, *rest) = [places[chart.points.index(point)] for point in chart.front] or [(0.0, 0.0)]
    if rest:
        path = f"M{start[0]:.1f} {start[1]:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in rest)
        svg.path(path, stroke=NEUTRAL, stroke_width=1.5)
    for point, place in zip(chart.points, places, strict=True):
        _draw_point(svg, point, *place)
    _draw_names(plot, chart.points, places)


def _draw_limit(plot: Plot, most: float, words: str, unit: str) -> None:
    value = size_in(most, unit)
    if value > plot.y.high:
        plot.svg.chip(plot.right, -14, f"{words}, far above", color=NOTE, anchor="end")
        return
    y = plot.at_y(value)
    plot.svg.line(plot.left, y, plot.right, y, stroke=NOTE, stroke_dasharray="4 3")
    plot.svg.chip(plot.right, y - 9, words, color=NOTE, anchor="end")


def _draw_point(svg: Svg, point: ScatterPoint, x: float, y: float) -> None:
    if point.is_chosen:
        svg.path(circle(x, y, 2 * _DOT), stroke=SELECTION, stroke_width=2)
    color = NEUTRAL if point.is_best or point.kind == "base" else LINE
    match point.kind:
        case "base":
            svg.path(f"M{x - _DOT:.1f} {y - _DOT:.1f}h9v9h-9z", fill=color)
        case "misfit":
            svg.path(f"M{x:.1f} {y - 5.5:.1f}l5.2 9.4h-10.4z", fill=NOTE)
        case "other":
            svg.path(circle(x, y, _DOT), stroke=LINE, stroke_width=2)
        case _:
            svg.path(circle(x, y, _DOT), fill=color)
    if point.kind == "least":
        svg.path(f"M{x:.1f} {y - 6:.1f}v-11m-3 3.5l3 -3.5 3 3.5", stroke=LINE, stroke_width=1.3)


def _draw_names(plot: Plot, points: Sequence[ScatterPoint], places: Sequence[_Place]) -> None:
    """Draws each label, the chosen one's first, where it hides no point and no other label; none if nowhere."""
    taken: list[tuple[float, float, float]] = []

    def is_free(x: float, y: float, half: float) -> bool:
        hidden = any(abs(a - x) < half + _DOT and abs(b - y) < _CHIP / 2 + _DOT for a, b in places)
        met = any(abs(a - x) < half + other + 1 and abs(b - y) < _CHIP + 1 for a, b, other in taken)
        inside = x - half > plot.left and x + half < plot.right + 8 and -20 < y < plot.bottom
        return inside and not hidden and not met

    def around(place: _Place, half: float) -> Iterator[_Place]:
        for dx, dy in _AWAY:
            yield place[0] + dx * (1 + half / 40), place[1] + dy

    for point, place in sorted(zip(points, places, strict=True), key=lambda one: not one[0].is_chosen):
        half = chip_width(point.label) / 2
        found = next((one for one in around(place, half) if is_free(*one, half)), None)
        if found is not None:
            taken.append((*found, half))
            plot.svg.chip(*found, point.label, color=SELECTION if point.is_chosen else NEUTRAL)
