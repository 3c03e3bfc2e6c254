"""A chart as a still picture, for places without scripts.

Labels are on chips, so that one picture serves light and dark pages.
"""

from __future__ import annotations

import math

from pjit_inspect.view.document.chart import AreaChart, BarChart, BarRow, Chart, MatrixChart, ScatterChart
from pjit_inspect.view.document.colors import LINE, NEUTRAL
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.svg.area_picture import draw_areas
from pjit_inspect.view.svg.chart_parts import LABEL, draw_legend
from pjit_inspect.view.svg.chart_words import amount_text, legend_of
from pjit_inspect.view.svg.scatter_picture import draw_scatter
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_WIDTH, _ROW, _BAR = 460.0, 22.0, 14.0
_SIDE, _MATRIX = 20.0, 420.0  # px: the largest side of a cell, the largest side of a matrix
_STEPS = 6
_EACH_LABEL = 16  # rows up to which every row of a matrix shows its label


def draw_chart(chart: Chart) -> Svg:
    """The picture; empty for an empty chart."""
    if isinstance(chart, AreaChart):
        return draw_areas(chart)
    svg = Svg()
    if isinstance(chart, ScatterChart):
        draw_scatter(svg, chart)
    elif isinstance(chart, MatrixChart):
        _draw_matrix(svg, chart)
    elif chart.rows:
        _draw_bars(svg, chart)
    return svg


def cell_strength(size_bytes: float, most_bytes: float) -> float:
    """The strength of a cell's colour, in six steps up to 1: the root of its share, so that small ones are visible."""
    share = math.sqrt(size_bytes / most_bytes) if most_bytes > 0 else 0.0
    return max(1, math.ceil(round(share * _STEPS, 6))) / _STEPS


# ---------------------------------------------------------------- bars


def _draw_bars(svg: Svg, chart: BarChart) -> None:
    most = max(row.total for row in chart.rows) or 1.0
    for number, row in enumerate(chart.rows):
        _draw_bar(svg, chart, row, most, _ROW * number)
    names = legend_of(part for row in chart.rows for part in row.parts)
    if any(len(row.parts) > 1 for row in chart.rows):
        draw_legend(svg, names, LABEL, _ROW * len(chart.rows) + _BAR / 2 + 4)


def _draw_bar(svg: Svg, chart: BarChart, row: BarRow, most: float, y: float) -> None:
    svg.chip(LABEL - 6, y + _BAR / 2, fit(row.label, LABEL - 8), color=row.color, anchor="end")
    x = LABEL
    for part in row.parts:
        width = _WIDTH * part.value / most
        if width > 0:
            svg.rect(x, y, max(1.0, width), _BAR, fill=part.color)
        x += width
    svg.chip(x + 6, y + _BAR / 2, amount_text(row.total, chart.unit), color=NEUTRAL, anchor="start")


# ---------------------------------------------------------------- cells


def _draw_matrix(svg: Svg, chart: MatrixChart) -> None:
    number = len(chart.labels)
    if not number:
        return
    side = min(_SIDE, _MATRIX / number)
    every = 1 if number <= _EACH_LABEL else -(-number // _EACH_LABEL)
    left = max(chip_width(fit(label, LABEL - 8)) for label in chart.labels[::every]) + 8
    turned = max(chip_width(label) for label in chart.labels[::every]) > side
    top = (min(LABEL, left) if turned else 15.0) + 24
    svg.chip(left + number * side / 2, 8, "to", color=LINE)
    svg.rect(left, top, number * side, number * side, stroke=LINE, stroke_opacity=0.6)
    _draw_cells(svg, chart, left, top, side)
    for place in range(0, number, every):
        label, middle = fit(chart.labels[place], LABEL - 8), place * side + side / 2
        svg.chip(left - 6, top + middle, label, color=NEUTRAL, anchor="end")
        rise = chip_width(label) / 2 if turned else 7.5
        svg.chip(left + middle, top - 4 - rise, label, color=NEUTRAL, turned=turned)
    bottom = top + number * side + 14
    draw_legend(svg, legend_of(chart.cells), left, bottom)
    most = f"strongest: {amount_text(chart.most_bytes, chart.unit)}"
    svg.chip(left, bottom + 19, most, color=NEUTRAL, anchor="start")


def _draw_cells(svg: Svg, chart: MatrixChart, left: float, top: float, side: float) -> None:
    """One path for all cells of equal looks: a picture of 4,096 cells stays small."""
    alike = grouped(chart.cells, lambda cell: (cell.color, cell_strength(cell.size_bytes, chart.most_bytes)))
    box = round(side - (1 if side > 8 else 0.3), 1)
    for (color, strength), cells in sorted(alike.items()):
        path = "".join(
            f"M{left + cell.column * side:.1f} {top + cell.row * side:.1f}h{box}v{box}h-{box}z" for cell in cells
        )
        svg.path(path, fill=color, fill_opacity=strength)
