"""Bands over the places of a schedule as a still picture, for places without scripts.

Words are on chips, so that one picture serves light and dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.view.document.chart import AreaBand, AreaChart
from pjit_inspect.view.document.colors import NEUTRAL, PHASE_COLORS, SELECTION
from pjit_inspect.view.svg.chart_parts import LABEL, binary_scale, draw_grid
from pjit_inspect.view.svg.chart_words import amount_text, legend_of, size_in
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_LEFT, _TOP, _WIDTH, _HEIGHT = 62.0, 22.0, 620.0, 160.0
_STRIP = 5.0
_LEAST_WORDS = 64.0  # px of the shortest stretch that shows its name


def draw_areas(chart: AreaChart) -> Svg:
    """The picture; empty for an empty chart."""
    svg = Svg()
    if not chart.places or not chart.peak_bytes:
        return svg
    axis = binary_scale(size_in(chart.peak_bytes, chart.unit))
    scale = _HEIGHT / axis.high
    svg.rect(_LEFT, _TOP, _WIDTH, _HEIGHT, stroke="none")
    draw_grid(svg, axis, _LEFT, _TOP, _WIDTH, _HEIGHT, unit=chart.unit)
    _draw_bands(svg, chart, scale)
    _draw_peak(svg, chart, scale)
    _draw_phases(svg, chart)
    _draw_legend(svg, chart.bands, _TOP + _HEIGHT + (38 if chart.phases else 18))
    return svg


def _x(chart: AreaChart, column: int) -> float:
    return _LEFT + _WIDTH * column / len(chart.places)


def _draw_bands(svg: Svg, chart: AreaChart, scale: float) -> None:
    below = [0.0] * len(chart.places)
    for band in chart.bands:
        above = [low + size_in(value, chart.unit) * scale for low, value in zip(below, band.values, strict=True)]
        up, down = _steps(chart, above), _steps(chart, below)
        path = "".join(f"{x:.1f} {y:.1f}L" for x, y in (*up, *reversed(down)))
        svg.path(f"M{path.removesuffix('L')}z", fill=band.color)
        below = above


def _steps(chart: AreaChart, heights: Sequence[float]) -> list[tuple[float, float]]:
    """The corners of a line that is level over each place; places as high as the one before have no corners."""
    points: list[tuple[float, float]] = []
    last = None
    for column, height in enumerate(heights):
        y = round(_TOP + _HEIGHT - height, 1)
        if y == last:
            continue
        x = _x(chart, column)
        if last is not None:
            points.append((x, last))
        points.append((x, y))
        last = y
    return [*points, (_LEFT + _WIDTH, last or 0.0)]


def _draw_peak(svg: Svg, chart: AreaChart, scale: float) -> None:
    column = max((place, at) for at, place in enumerate(chart.places) if place <= chart.peak or not at)[1]
    x = _x(chart, column) + _WIDTH / len(chart.places) / 2
    y = _TOP + _HEIGHT - size_in(chart.peak_bytes, chart.unit) * scale
    svg.line(x, 14, x, _TOP + _HEIGHT, stroke=SELECTION, stroke_dasharray="3 2")
    words = f"peak {amount_text(chart.peak_bytes, chart.unit)}, kernel {chart.peak:,}"
    half = chip_width(words) / 2
    svg.chip(min(_LEFT + _WIDTH - half, max(_LEFT + half, x)), min(y - 10, 8), words, color=SELECTION)


def _draw_phases(svg: Svg, chart: AreaChart) -> None:
    """A strip in the colours of the phases; long stretches show their names."""
    y, start = _TOP + _HEIGHT + 4, 0
    named: set[str] = set()
    for column in range(1, len(chart.phases) + 1):
        phase = chart.phases[start]
        if column < len(chart.phases) and chart.phases[column] == phase:
            continue
        x, width = _x(chart, start), _x(chart, column) - _x(chart, start)
        if phase:
            svg.rect(x, y, width, _STRIP, fill=PHASE_COLORS[phase])
            if width >= _LEAST_WORDS and phase not in named:
                svg.chip(x, y + 15, phase, color=PHASE_COLORS[phase], anchor="start")
                named.add(phase)
        start = column


def _draw_legend(svg: Svg, bands: Sequence[AreaBand], y: float) -> None:
    x = _LEFT
    for name, color in legend_of(bands).items():
        svg.rect(x, y - 5.5, 11, 11, fill=color)
        x += svg.chip(x + 14, y, fit(name, LABEL), color=NEUTRAL, anchor="start") + 22
