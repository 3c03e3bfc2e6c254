"""The places of a scatter's points along an axis, and the axis's ticks.

The still picture, the plotly figure and the page share it. Not its job: drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pjit_inspect.view.document.chart import ScatterChart
from pjit_inspect.view.svg.chart_words import size_in

_MANY_TIMES = 30
"""The ratio of the largest to the smallest value from which an axis is logarithmic."""
_ROOM = 1.1
_NEAR = 6
"""A limit further away than this many times the largest value is only named."""
_TICKS = 5
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis, in its unit.

    Attributes:
      low, high: its ends.
      is_log: whether it is logarithmic.
    """

    low: float
    high: float
    is_log: bool = False

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
        step = next(one * power for one in (*_STEPS, 10) if one * power >= rough)
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
