"""A chart before anybody decides how it is drawn: bars, a matrix, bands over places, or points, with their words.

One chart becomes a plotly figure (`view.figures.chart_figure`), a still picture (`view.svg.chart_picture`) and text
(`view.figures.chart_figure`), so that the three cannot disagree. Not its job: which charts there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """One piece of a bar.

    Attributes:
      name: what it is, the same in every row: "arguments".
      value: how long, in bytes or seconds; never negative.
      color: how it is drawn.
      words: further facts, one short statement each.
    """

    name: str
    value: float
    color: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """One bar: what it stands for, and its pieces from left to right.

    Attributes:
      label: what it stands for; may hold anything at all.
      parts: the pieces.
      color: of the label's chip.
    """

    label: str
    parts: tuple[BarPart, ...]
    color: str

    @property
    def total(self) -> float:
        """Length of the whole bar."""
        return sum(part.value for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Bars, the most important first.

    Attributes:
      title: what is shown and where the figures come from: "bytes ... (modelled: ring)".
      measure: what stands at the axis, without its unit: "sent by one device per call".
      unit: the unit of the axis ("MiB", "ms"); values are in bytes or seconds.
      rows: the bars.
      notes: what a reader has to know, one sentence each.
      missing: why there is nothing to show; "" when there is.
      axes: every axis name of the program, in the order that gives them their colours.
    """

    title: str
    measure: str = ""
    unit: str = ""
    rows: tuple[BarRow, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """What one row of a matrix sends one column.

    Attributes:
      row, column: which; 0 is the first.
      size_bytes: how much.
      name: which mesh axes the two differ in, as words; cells of one name have one colour.
      color: that colour.
    """

    row: int
    column: int
    size_bytes: float
    name: str
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixChart:
    """Who sends how much to whom: a row for each sender, a column for each receiver.

    Attributes:
      title, unit, notes, missing, axes: as in `BarChart`.
      labels: what each row and column stands for; may hold anything at all.
      stands_for: what one label is: "device", "devices of one index of data".
      cells: where something is sent; every other cell is empty.
    """

    title: str
    unit: str = "B"
    labels: tuple[str, ...] = ()
    stands_for: str = ""
    cells: tuple[MatrixCell, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""
    axes: tuple[str, ...] = ()

    @property
    def most_bytes(self) -> float:
        """The largest cell; 0 when there is none."""
        return max((cell.size_bytes for cell in self.cells), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaBand:
    """What one part of a sum is, place by place.

    Attributes:
      name: what it is.
      color: how it is drawn.
      values: how much at each place shown, in bytes.
      at_peak: how much where the sum is largest.
      most: the most of it anywhere, shown or not.
    """

    name: str
    color: str
    values: tuple[int, ...]
    at_peak: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaChart:
    """Bands on each other over the places of a schedule.

    Attributes:
      title, measure, unit, notes, missing, axes: as in `BarChart`.
      bands: from below.
      places: the kernels that are shown, ascending.
      kernels: how many there are in all.
      peak: the kernel at which the sum is largest.
      phases: the phase of training of each kernel shown, "" for unknown; () for a program without.
    """

    title: str
    measure: str = ""
    unit: str = "B"
    bands: tuple[AreaBand, ...] = ()
    places: tuple[int, ...] = ()
    kernels: int = 0
    peak: int = 0
    phases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""
    axes: tuple[str, ...] = ()

    @property
    def peak_bytes(self) -> int:
        """The sum at the peak."""
        return sum(band.at_peak for band in self.bands)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPoint:
    """One thing that was measured in two ways.

    Attributes:
      label: its name beside the point, short; may hold anything at all.
      x, y: bytes or seconds; never negative.
      kind: how it is drawn. base: what others are compared with. misfit: what cannot be had. other: what is not
        compared with the chosen one. least: `y` is what it is at least.
      is_best: whether none compared with it is better in both.
      is_chosen: whether it is looked at.
      words: what pointing at it tells, a line each.
    """

    label: str
    x: float
    y: float
    kind: Literal["base", "known", "least", "misfit", "other"] = "known"
    is_best: bool = False
    is_chosen: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChart:
    """Points of two measures; less is better in both.

    Attributes:
      title, notes, missing, axes: as in `BarChart`.
      x_measure, y_measure: what stands at the axes, without the unit.
      x_unit, y_unit: the units of the axes; values are in bytes or seconds.
      points: the points.
      limit: what `y` may be at most, and its name; None for no limit.
    """

    title: str
    x_measure: str = ""
    y_measure: str = ""
    x_unit: str = "B"
    y_unit: str = "B"
    points: tuple[ScatterPoint, ...] = ()
    limit: tuple[float, str] | None = None
    notes: tuple[str, ...] = ()
    missing: str = ""
    axes: tuple[str, ...] = ()

    @property
    def front(self) -> tuple[ScatterPoint, ...]:
        """The best points, from left to right."""
        return tuple(sorted((point for point in self.points if point.is_best), key=lambda point: (point.x, -point.y)))


Chart = AreaChart | BarChart | MatrixChart | ScatterChart
