"""The one layer that draws all charts: scales with their ticks, axes with a grid, labels, legends; amounts in words.

The plotly figure and the playground's page take the scale of a scatter from here. Labels are on chips, so that one
picture serves light and dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.view.document.chart import (
    AreaBand,
    AreaChart,
    BarPart,
    BarRow,
    Curve,
    CurveChart,
    Disc,
    MatrixCell,
    MatrixChart,
    ScatterChart,
    StillChart,
)
from pjit_inspect.view.document.colors import LINE, NEUTRAL
from pjit_inspect.view.document.quantities import bytes_in, plural
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

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
      marks: the ticks; () for round ones.
    """

    low: float
    high: float
    is_log: bool = False
    step: float | None = None
    marks: tuple[float, ...] = ()

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
        values = self.marks or (self._log_values() if self.is_log else self._even_values())
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart being drawn: its frame in pixels, and the scales of both directions."""

    svg: Svg
    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def bottom(self) -> float:
        """The lower edge of the frame."""
        return self.top + self.height

    @property
    def right(self) -> float:
        """The right edge of the frame."""
        return self.left + self.width

    def at_x(self, value: float) -> float:
        """The pixel of a value along the frame."""
        return self.left + self.width * self.x.share(value)

    def at_y(self, value: float) -> float:
        """The pixel of a value; the scale rises upward."""
        return self.bottom - self.height * self.y.share(value)

    def grid(self, unit: str = "") -> None:
        """Draws the ticks of the upward axis: a line across the frame for each, and its figure to the left."""
        for share, figure in self.y.ticks:
            y = self.bottom - self.height * share
            self.svg.line(self.left, y, self.right, y, stroke=LINE, stroke_opacity=0.4)
            self.svg.chip(self.left - 6, y, f"{figure} {unit}".rstrip(), color=NEUTRAL, anchor="end")

    def ticks_below(self, unit: str = "") -> None:
        """Draws the ticks of the axis along the frame, their figures below; the last has the unit."""
        ticks = self.x.ticks
        for number, (share, figure) in enumerate(ticks):
            x = self.left + self.width * share
            words = f"{figure} {unit}" if unit and number == len(ticks) - 1 else figure
            self.svg.line(x, self.bottom, x, self.bottom + 4, stroke=LINE)
            self.svg.chip(x, self.bottom + 13, words, color=NEUTRAL)

    def row_label(self, y: float, label: str, color: str = NEUTRAL) -> None:
        """Draws the label of a row, to the left of the frame."""
        self.svg.chip(self.left - 6, y, fit(label, LABEL - 8), color=color, anchor="end")

    def mark(self, x: float, words: str, color: str, *, top: float, chip: float) -> None:
        """Draws a dashed line down the frame from `top`, and words on a chip within the frame, its middle at `chip`."""
        self.svg.line(x, top, x, self.bottom, stroke=color, stroke_dasharray="3 2")
        half = chip_width(words) / 2
        self.svg.chip(min(self.right - half, max(self.left + half, x)), chip, words, color=color)

    def legend(self, names: Mapping[str, str], y: float) -> None:
        """Draws names in rows, each beside its colour: not every colour is dark enough for white letters."""
        x = self.left
        for name, color in names.items():
            words = fit(name, LABEL)
            if x > self.left and x + 14 + chip_width(words) > self.right:
                x, y = self.left, y + 19
            self.svg.rect(x, y - 5.5, 11, 11, fill=color)
            x += self.svg.chip(x + 14, y, words, color=NEUTRAL, anchor="start") + 22


def circle(x: float, y: float, r: float) -> str:
    """The path of a circle."""
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"


# ---------------------------------------------------------------- words

_FACTORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_FACTORS |= {"s": 1, "ms": 1e-3, "\u00b5s": 1e-6}
_SECONDS = {"s": 2, "ms": 1, "\u00b5s": 0}  # unit -> decimals


def size_in(value: float, unit: str) -> float:
    """Bytes or seconds in a chart's unit."""
    return value / _FACTORS[unit]


def amount_in(value: float, unit: str) -> str:
    """The same as a figure in words, without the unit."""
    if unit in _SECONDS:
        return f"{size_in(value, unit):,.{_SECONDS[unit]}f}"
    return bytes_in(round(value), unit)


def amount_text(value: float, unit: str) -> str:
    """The same with its unit."""
    return f"{amount_in(value, unit)} {unit}"


def legend_of(items: Iterable[AreaBand | BarPart | Curve | Disc | MatrixCell]) -> dict[str, str]:
    """The names of some pieces, in order of appearance -> colour."""
    legend: dict[str, str] = {}
    for item in items:
        if item.name:
            legend.setdefault(item.name, item.color)
    return legend


def part_words(row: BarRow, part: BarPart, unit: str) -> tuple[str, ...]:
    """The tooltip of a piece of a bar, a line each."""
    name = f"{row.label}: " if row.label != part.name else ""
    return (f"{name}{part.name} {amount_text(part.value, unit)}", *part.words)


def chart_sentence(chart: StillChart) -> str:
    """The chart in one sentence, for readers who do not see it."""
    if chart.missing:
        return chart.missing
    if isinstance(chart, CurveChart):
        named = [curve.name for curve in chart.curves] + [disc.label for disc in chart.discs if disc.label]
        return f"{chart.title}: {chart.y_measure} over {chart.x_measure}; {', '.join(named)}"
    if isinstance(chart, ScatterChart):
        best = ", ".join(point.label for point in chart.front)
        return f"{chart.title}: {plural(len(chart.points), 'point')}{f'; best {best}' if best else ''}"
    if isinstance(chart, MatrixChart):
        return f"{chart.title}: {_matrix_sentence(chart.cells, len(chart.labels), chart.unit)}"
    if isinstance(chart, AreaChart):
        parts = ", ".join(f"{band.name} {amount_text(band.at_peak, chart.unit)}" for band in reversed(chart.bands))
        where = f"at its peak, kernel {chart.peak:,} of {chart.kernels:,}"
        return f"{chart.title}: {amount_text(chart.peak_bytes, chart.unit)} {where}: {parts}"
    bars = ", ".join(f"{row.label} {amount_text(row.total, chart.unit)}" for row in chart.rows)
    return f"{chart.title}: {bars}"


def _matrix_sentence(cells: Sequence[MatrixCell], rows: int, unit: str) -> str:
    most = max((cell.size_bytes for cell in cells), default=0.0)
    return f"{rows:,} rows and columns, {plural(len(cells), 'cell')}, at most {amount_text(most, unit)}"
