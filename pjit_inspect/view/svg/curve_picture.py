"""Curves and discs over two logarithmic axes as a still picture: a roofline, a step on more and more chips."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pjit_inspect.view.document.chart import CurveChart, Disc
from pjit_inspect.view.document.colors import NEUTRAL
from pjit_inspect.view.svg.chart_parts import Plot, Scale, circle, legend_of
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_WIDTH, _HEIGHT, _LEFT = 460.0, 230.0, 64.0
_ROOM = 1.25
_MOST_AREA = 700.0  # px of the largest disc
_LEAST = 2.5
_LONGEST = 220.0


def draw_curves(svg: Svg, chart: CurveChart) -> None:
    """Draws the chart."""
    places = [place for curve in chart.curves for place in curve.points] + [(disc.x, disc.y) for disc in chart.discs]
    marks = sorted({x for curve in chart.curves for x, _ in curve.points}) if chart.has_marks else []
    x = _scale([place[0] for place in places], marks)
    plot = Plot(
        svg=svg, left=_LEFT, top=0.0, width=_WIDTH, height=_HEIGHT, x=x, y=_scale([place[1] for place in places])
    )
    svg.rect(0, -24, plot.right + 24, plot.bottom + 64)
    plot.grid()
    plot.ticks_below()
    svg.chip(0, -14, chart.y_measure, color=NEUTRAL, anchor="start")
    svg.chip(plot.right, plot.bottom + 31, chart.x_measure, color=NEUTRAL, anchor="end")
    for curve in chart.curves:
        points = [(plot.at_x(x), plot.at_y(y)) for x, y in curve.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        svg.path(
            f"M{path}",
            stroke=curve.color,
            stroke_width=1.6 if curve.is_dashed else 2.2,
            stroke_dasharray="4 4" if curve.is_dashed else "none",
        )
        for at_x, at_y in points if chart.has_marks and not curve.is_dashed else ():
            svg.path(circle(at_x, at_y, 3.5), fill=curve.color)
    _draw_discs(plot, chart.discs)
    plot.legend(legend_of((*chart.discs, *chart.curves)), plot.bottom + 50)


def _scale(values: Sequence[float], marks: Sequence[float] = ()) -> Scale:
    least, most = min(values), max(values)
    return Scale(low=least / _ROOM, high=most * _ROOM, is_log=True, marks=tuple(marks))


def _draw_discs(plot: Plot, discs: Sequence[Disc]) -> None:
    """The largest first, so that none is hidden; each name once, where it hides no other."""
    taken: list[tuple[float, float, float]] = []
    ordered = sorted(discs, key=lambda one: -one.share)
    most = max((disc.share for disc in discs), default=1.0) or 1.0
    for disc in ordered:
        radius = max(_LEAST, math.sqrt(_MOST_AREA * disc.share / most / math.pi))
        path = circle(plot.at_x(disc.x), plot.at_y(disc.y), radius)
        plot.svg.path(path, fill=disc.color, fill_opacity=0.55, stroke=disc.color)
    for disc in {disc.label: disc for disc in reversed(ordered) if disc.label}.values():
        words = fit(disc.label, _LONGEST)
        half, y = chip_width(words) / 2, plot.at_y(disc.y) + 22
        x = min(plot.right - half, max(plot.left + half, plot.at_x(disc.x)))
        if all(abs(a - x) > half + other or abs(b - y) > 17 for a, b, other in taken) and y < plot.bottom - 8:
            taken.append((x, y, half))
            plot.svg.chip(x, y, words, color=NEUTRAL)
