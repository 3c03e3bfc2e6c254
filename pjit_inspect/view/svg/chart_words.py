"""The words of a chart's pieces: amounts in the chart's unit, legends, tooltips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pjit_inspect.view.document.chart import (
    AreaBand,
    AreaChart,
    BarPart,
    BarRow,
    Chart,
    MatrixCell,
    MatrixChart,
    ScatterChart,
)
from pjit_inspect.view.document.quantities import bytes_in, plural

_FACTORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "s": 1, "ms": 1e-3}
_SECONDS = {"s": 2, "ms": 1}  # unit -> decimals


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


def legend_of(items: Iterable[AreaBand | BarPart | MatrixCell]) -> dict[str, str]:
    """The names of some pieces, in order of appearance -> colour."""
    legend: dict[str, str] = {}
    for item in items:
        legend.setdefault(item.name, item.color)
    return legend


def part_words(row: BarRow, part: BarPart, unit: str) -> tuple[str, ...]:
    """The tooltip of a piece of a bar, a line each."""
    name = f"{row.label}: " if row.label != part.name else ""
    return (f"{name}{part.name} {amount_text(part.value, unit)}", *part.words)


def chart_sentence(chart: Chart) -> str:
    """The chart in one sentence, for readers who do not see it."""
    if chart.missing:
        return chart.missing
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
