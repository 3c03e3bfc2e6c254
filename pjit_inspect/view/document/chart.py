"""A chart before it is drawn: bars, a matrix, bands over places, or points, with their words.

One chart becomes a plotly figure (`view.figures.chart_figure`), a still picture (`view.svg.chart_picture`) and text
(`view.figures.figures`), so that the three cannot disagree.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Titled:
    """The words of a chart.

    Attributes:
      title: the subject and the source of the figures: "bytes ... (modelled: ring)".
      notes: facts that a reader needs, one sentence each.
      missing: the reason for an empty chart; "" for none.
      axes: every axis name of the program, in the order that gives them their colours.
    """

    title: str
    notes: tuple[str, ...] = ()
    missing: str = ""
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """One piece of a bar.

    Attributes:
      name: its name, the same in every row: "arguments"; "" for none in the legend.
      value: its length, in bytes or seconds; never negative.
      color: the colour it is drawn in.
      words: further facts, one short statement each.
      start: where it begins; None for where the piece before it ends.
      is_hatched: whether a still picture hatches it: nothing runs there.
    """

    name: str
    value: float
    color: str
    words: tuple[str, ...] = ()
    start: float | None = None
    is_hatched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """One bar: its label, and its pieces from left to right.

    Attributes:
      label: its meaning; may hold anything at all.
      parts: the pieces.
      color: the colour of the label's chip.
    """

    label: str
    parts: tuple[BarPart, ...]
    color: str

    @property
    def total(self) -> float:
        """Length of all pieces together."""
        return sum(part.value for part in self.parts)

    @property
    def placed(self) -> list[tuple[BarPart, float]]:
        """Each piece and where it begins."""
        ends = itertools.accumulate((part.value for part in self.parts), initial=0.0)
        return [(part, end if part.start is None else part.start) for part, end in zip(self.parts, ends, strict=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart(_Titled):
    """Bars, the most important first.

    Attributes:
      measure: the axis title without its unit: "sent by one device per call".
      unit: the unit of the axis ("MiB", "ms"); values are in bytes or seconds.
      rows: the bars.
      marks: names of values that the picture marks.
    """

    measure: str = ""
    unit: str = ""
    rows: tuple[BarRow, ...] = ()
    marks: tuple[tuple[str, float], ...] = ()

    @property
    def is_timed(self) -> bool:
        """True if the pieces have beginnings of their own, rather than one after the other."""
        return any(part.start is not None for row in self.rows for part in row.parts)

    @property
    def end(self) -> float:
        """The end of the last piece; 0 without pieces."""
        return max((start + part.value for row in self.rows for part, start in row.placed), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """The bytes that one row of a matrix sends to one column.

    Attributes:
      row, column: its place; 0 is the first.
      size_bytes: the bytes sent.
      name: the mesh axes in which the two differ, as words; cells of one name have one colour.
      color: the cell's colour.
    """

    row: int
    column: int
    size_bytes: float
    name: str
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixChart(_Titled):
    """Bytes from each sender (a row) to each receiver (a column).

    Attributes:
      unit: as in `BarChart`.
      labels: the meaning of each row and column; may hold anything at all.
      stands_for: the meaning of a label: "device", "devices of one index of data".
      cells: the pairs that send something; every other cell is empty.
    """

    unit: str = "B"
    labels: tuple[str, ...] = ()
    stands_for: str = ""
    cells: tuple[MatrixCell, ...] = ()

    @property
    def most_bytes(self) -> float:
        """The largest cell; 0 when there is none."""
        return max((cell.size_bytes for cell in self.cells), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaBand:
    """The values of one part of a sum, place by place.

    Attributes:
      name: its name.
      color: the colour it is drawn in.
      values: bytes at each place shown.
      at_peak: bytes where the sum is largest.
      most: the most bytes at any place, shown or not.
    """

    name: str
    color: str
    values: tuple[int, ...]
    at_peak: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaChart(_Titled):
    """Stacked bands over the places of a schedule.

    Attributes:
      measure, unit: as in `BarChart`.
      bands: the bands, bottom first.
      places: the kernels that are shown, ascending.
      kernels: the number of all kernels.
      peak: the kernel at which the sum is largest.
      phases: the training phase of each kernel shown, "" for unknown; () for a program without phases.
    """

    measure: str = ""
    unit: str = "B"
    bands: tuple[AreaBand, ...] = ()
    places: tuple[int, ...] = ()
    kernels: int = 0
    peak: int = 0
    phases: tuple[str, ...] = ()

    @property
    def peak_bytes(self) -> int:
        """The sum at the peak."""
        return sum(band.at_peak for band in self.bands)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPoint:
    """One thing measured in two ways.

    Attributes:
      label: its name beside the point, short; may hold anything at all.
      x, y: bytes or seconds; never negative.
      kind: its mark. base: the one to compare with. misfit: impossible. other: not compared with the chosen one.
        least: `y` is a lower bound.
      is_best: whether no comparable point is better in both.
      is_chosen: whether it is the selected one.
      words: lines shown on pointing at it.
    """

    label: str
    x: float
    y: float
    kind: Literal["base", "known", "least", "misfit", "other"] = "known"
    is_best: bool = False
    is_chosen: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChart(_Titled):
    """Points of two measures; less is better in both.

    Attributes:
      x_measure, y_measure: the axis titles, without the unit.
      x_unit, y_unit: the units of the axes; values are in bytes or seconds.
      points: the points.
      limit: the largest allowed `y`, and its name; None for no limit.
    """

    x_measure: str = ""
    y_measure: str = ""
    x_unit: str = "B"
    y_unit: str = "B"
    points: tuple[ScatterPoint, ...] = ()
    limit: tuple[float, str] | None = None

    @property
    def front(self) -> tuple[ScatterPoint, ...]:
        """The best points, from left to right."""
        return tuple(sorted((point for point in self.points if point.is_best), key=lambda point: (point.x, -point.y)))


Chart = AreaChart | BarChart | MatrixChart | ScatterChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through points.

    Attributes:
      name: its name in the legend.
      color: its colour.
      points: from left to right, in the units of the chart.
      is_dashed: whether it is only a comparison.
    """

    name: str
    color: str
    points: tuple[tuple[float, float], ...]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Disc:
    """One thing measured in two ways, and how much of it there is.

    Attributes:
      name: the kind of thing, for the legend.
      color: its colour.
      x, y: in the units of the chart.
      share: its share of all, which is its area.
      label: its name beside it; "" for none.
    """

    name: str
    color: str
    x: float
    y: float
    share: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChart(_Titled):
    """Curves and discs over two logarithmic axes; a still picture only.

    Attributes:
      x_measure, y_measure: the axis titles, with their units.
      curves: the lines; those that are not dashed have a mark at each point if `has_marks`.
      discs: the points.
      has_marks: whether the points of curves are marked, and are the ticks of the lower axis.
    """

    x_measure: str = ""
    y_measure: str = ""
    curves: tuple[Curve, ...] = ()
    discs: tuple[Disc, ...] = ()
    has_marks: bool = False


StillChart = Chart | CurveChart
