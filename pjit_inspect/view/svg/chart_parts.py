"""The parts that the pictures of charts share: scales with their ticks, an axis with its grid, legends.

The plotly figure and the playground's page take the scale of a scatter from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pjit_inspect.view.document.chart import ScatterChart
from pjit_inspect.view.document.colors import LINE, NEUTRAL
from pjit_inspect.view.svg.chart_words import size_in
from pjit_inspect.view.svg.svg import Svg, fit

_MANY_TIMES = 30
"""The ratio of the largest to the smallest value from which an axis is logarithmic."""
_ROOM = 1.1
_NEAR = 6
"""A limit further away than this many times the largest value is only named."""
_TICKS = 5
_STEPS = (1, 2, 5)

LABEL = 150.0
"""Pixels of the longest label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis, in its unit.

    Attributes:
      low, high: its ends.
      is_log: whether it is logarithmic.
      step: the distance of its ticks; None for a round one.
    """

    low: float
    high: float
    is_log: bool = False
    step: float | None = None

    def share(self, value: float) -> float:
        """The place of a value: 0 is the low end, 1 the high one; never outside."""
        if self.is_log:
            found = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            found = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, found))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The ticks along it: a share, and its figure."""
        values = self._log_values() if self.is_log else self._even_values()
        return tuple((self.share(value), f"{value:,.12g}") for value in values)

    def _log_values(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = _STEPS if len(powers) <= _TICKS else (1,)
        values = [step * 10.0**power for power in powers for step in steps]
        return [value for value in values if self.low <= value <= self.high]

    def _even_values(self) -> list[float]:
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = self.step or next(one * power for one in (*_STEPS, 10) if one * power >= rough)
        first = math.ceil(self.low / step)
        return [round(number * step, 12) for number in range(first, int(self.high / step) + 1)]


def scatter_scales(chart: ScatterChart) -> tuple[Scale, Scale]:
    """The axes of a chart: x, then y, which includes a near limit."""
    ys = [size_in(point.y, chart.y_unit) for point in chart.points]
    if chart.limit is not None and (limit := size_in(chart.limit[0], chart.y_unit)) <= _NEAR * max(ys, default=0):
        ys.append(limit)
    return _scale(size_in(point.x, chart.x_unit) for point in chart.points), _scale(ys, can_be_log=False)


def _scale(values: Iterable[float], *, can_be_log: bool = True) -> Scale:
    found = list(values)
    most = max(found, default=0.0) or 1.0
    least = min((one for one in found if one > 0), default=most)
    if can_be_log and min(found, default=0.0) > 0 and most / least >= _MANY_TIMES:
        return Scale(low=least / 1.5, high=most * 1.5, is_log=True)
    return Scale(low=0.0, high=most * _ROOM)


def binary_scale(most: float) -> Scale:
    """An axis for sizes: at most five ticks, a power of two apart, the last at or above `most`."""
    step = 1.0
    while step * _TICKS < most:
        step *= 2
    while step > 1 / 1024 and step * _TICKS / 2 >= most:
        step /= 2
    return Scale(low=0.0, high=step * -(-most // step), step=step)


def draw_grid(svg: Svg, scale: Scale, left: float, top: float, width: float, height: float, *, unit: str = "") -> None:
    """Draws the ticks of an upward axis: a line across the chart for each, and its figure to the left."""
    for share, figure in scale.ticks:
        y = top + height * (1 - share)
        svg.line(left, y, left + width, y, stroke=LINE, stroke_opacity=0.4)
        svg.chip(left - 6, y, f"{figure} {unit}".rstrip(), color=NEUTRAL, anchor="end")


def draw_legend(svg: Svg, names: Mapping[str, str], x: float, y: float) -> None:
    """Draws names, each on a chip in its colour, from x to the right."""
    for name, color in names.items():
        x += svg.chip(x, y, fit(name, LABEL), color=color, anchor="start") + 6
