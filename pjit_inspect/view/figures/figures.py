"""The figures of one record: plotly in a trusted notebook, a still picture with a table and text everywhere else.

plotly is imported for the first figure; it is an extra, `pip install 'pjit_inspect[figures]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.model.memory.memory_use import MemoryTimeline, MemoryUse
from pjit_inspect.model.report.collective import LinkTraffic
from pjit_inspect.model.report.report import DeviceMemory, RecordReport
from pjit_inspect.view.charts.memory_curve import memory_curve_chart
from pjit_inspect.view.charts.totals import memory_chart, time_chart, totals_chart
from pjit_inspect.view.charts.traffic import traffic_chart
from pjit_inspect.view.document.chart import (
    AreaChart,
    BarChart,
    BarRow,
    Chart,
    MatrixCell,
    MatrixChart,
    ScatterChart,
    ScatterPoint,
)
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import numbers, table_of
from pjit_inspect.view.document.document import (
    Block,
    ChartSubject,
    Column,
    Document,
    Picture,
    Quote,
    Spans,
    TableBlock,
    Text,
    line,
    strong,
)
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.svg.chart_parts import amount_in, chart_sentence, legend_of


class Figures(Displayable):
    """Plotly figures of the bytes a record sends and holds, and of its compile times.

    Each figure is a `plotly.graph_objects.Figure` to change, save or show as any other. Untrusted notebooks, pages made
    of notebooks and terminals show its still twin (picture, table, text).
    """

    __slots__ = ("_alive", "_memory", "_report", "_traffic")

    def __init__(
        self,
        report: RecordReport,
        traffic: LinkTraffic,
        memory: DeviceMemory,
        alive: Callable[[], tuple[MemoryUse, Sequence[MemoryTimeline]]],
    ) -> None:
        self._report, self._traffic, self._memory, self._alive = report, traffic, memory, alive

    @property
    def axis_totals(self) -> Any:
        """Bytes one device sends per call over each mesh axis (modelled: ring), in the axes' colours."""
        return plotly_figure(totals_chart(self._report))

    @property
    def traffic(self) -> Any:
        """Bytes each device sends each other per call (modelled: ring; permutes counted), as a heat map.

        Colour is the mesh axis in which the two devices differ; strength is the root of the share of the largest. More
        than 64 devices are folded into at most 64 blocks, and the figure says so.
        """
        return plotly_figure(traffic_chart(self._report, self._traffic))

    @property
    def bytes_per_device(self) -> Any:
        """Bytes of arguments and outputs (counted from shapes) and temporaries (counted by XLA) on each device.

        Devices with equal bytes share a bar.
        """
        return plotly_figure(memory_chart(self._report.data, self._memory))

    @property
    def memory(self) -> Any:
        """Bytes alive on one device over the schedule, by purpose, as stacked bands.

        Counted, or modelled from the schedule, as in `record.memory_use`. Of more than 600 kernels, only the one with
        most bytes alive in each stretch is shown, and the figure says so.
        """
        return plotly_figure(memory_curve_chart(*self._alive()))

    @property
    def compile_times(self) -> Any:
        """Seconds of trace, lower and XLA (measured). They differ from run to run."""
        return plotly_figure(time_chart(self._report.data))

    def show(self, *, times: bool = True) -> Shown:
        """All figures as still pictures with their tables; with `times=False` no measured ones."""
        data = self._report.data
        charts = [
            totals_chart(self._report),
            traffic_chart(self._report, self._traffic),
            memory_chart(data, self._memory),
            memory_curve_chart(*self._alive()),
        ]
        charts += [time_chart(data)] if times else []
        blocks = tuple(block for chart in charts for block in chart_blocks(chart))
        return Shown(drawn(Document(axes=document_axes(data), blocks=blocks)))

    def __repr__(self) -> str:
        return "<Figures: axis_totals, traffic, bytes_per_device, memory, compile_times>"


def plotly_figure(chart: Chart) -> Any:
    """A chart as a plotly figure with its still twin.

    Raises ImportError, with the command that installs it, where there is no plotly.
    """
    try:
        from pjit_inspect.view.figures.chart_figure import chart_figure
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "plotly":
            raise
        raise ImportError("a figure needs plotly: pip install 'pjit_inspect[figures]'") from error
    return chart_figure(chart).with_still(drawn(chart_document(chart)))


# ---------------------------------------------------------------- the still twin

_AMOUNTS = 16
_PAIRS = 8


def chart_document(chart: Chart) -> Document:
    """The display of one chart."""
    return Document(axes=chart.axes, blocks=tuple(chart_blocks(chart)))


def chart_blocks(chart: Chart) -> list[Block]:
    """The title, the picture and its table; one sentence for an empty chart."""
    title = line(strong(chart.title))
    if chart.missing:
        return [title, line(chart.missing)]
    table = _table(chart)
    picture = Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart))
    return [title, picture, table, *(line(note, role="footer") for note in chart.notes)]


def _table(chart: Chart) -> TableBlock:
    match chart:
        case MatrixChart():
            return _matrix_table(chart)
        case AreaChart():
            return _area_table(chart)
        case ScatterChart():
            return _scatter_table(chart)
        case BarChart():
            return _bar_table(chart)


def _amounts(title: str, get: Callable[[Any], float | None], unit: str, **layout: Any) -> Column:
    """A column of bytes or seconds; nothing for None."""
    return numbers(title, lambda item: "" if (value := get(item)) is None else amount_in(value, unit), **layout)


def _bar_table(chart: BarChart) -> TableBlock:
    """A row for each bar, with its pieces."""
    names = legend_of(part for row in chart.rows for part in row.parts)
    single = all(len(row.parts) == 1 for row in chart.rows)

    def piece(name: str) -> Callable[[BarRow], float | None]:
        def value(row: BarRow) -> float | None:
            found = [part.value for part in row.parts if part.name == name]
            return sum(found) if found else None

        return value

    def words(row: BarRow) -> tuple[Spans, ...]:
        return tuple((Text(word),) for part in row.parts for word in part.words) if single else ()

    columns = (
        Column("", lambda row: Quote(row.label), shrink=True),
        *(() if single else (_amounts(f"{name} {chart.unit}", piece(name), chart.unit) for name in names)),
        _amounts(chart.unit if single else f"total {chart.unit}", lambda row: row.total, chart.unit),
    )
    return table_of(columns, chart.rows, under=words)


def _area_table(chart: AreaChart) -> TableBlock:
    """A row for each band, top first, and one for all."""
    rows = [(band.name, band.at_peak, band.most) for band in reversed(chart.bands)]
    columns = (
        Column("", lambda row: row[0], shrink=True),
        _amounts(f"at kernel {chart.peak:,} of {chart.kernels:,}, {chart.unit}", lambda row: row[1], chart.unit),
        _amounts(f"at most {chart.unit}", lambda row: row[2], chart.unit),
    )
    return table_of(columns, [*rows, ("all", chart.peak_bytes, chart.peak_bytes)])


def _matrix_table(chart: MatrixChart) -> TableBlock:
    """A row for each amount; pairs that send the same share a row."""
    ranked = sorted(chart.cells, key=lambda cell: -cell.size_bytes)
    groups = grouped(ranked, lambda cell: (amount_in(cell.size_bytes, chart.unit), cell.name))

    def pairs(cells: Sequence[MatrixCell]) -> Quote:
        shown = sorted(cells, key=lambda cell: (cell.row, cell.column))[:_PAIRS]
        words = ", ".join(f"{chart.labels[cell.row]} -> {chart.labels[cell.column]}" for cell in shown)
        return Quote(words + (", ..." if len(cells) > len(shown) else ""))

    columns = (
        _amounts(f"each {chart.unit}", lambda cells: cells[0].size_bytes, chart.unit),
        numbers("pairs", len),
        Column("over", lambda cells: Quote(cells[0].name)),
        Column(f"from -> to ({chart.stands_for})", pairs, shrink=True, comfort=40),
    )
    rows = list(groups.values())
    rest = sum(map(len, rows[_AMOUNTS:]))
    words = (Text(f"... and {plural(rest, 'further pair')}, each sends less"),) if rest else ()
    return replace(table_of(columns, rows[:_AMOUNTS]), text_rest=words)


def _scatter_table(chart: ScatterChart) -> TableBlock:
    """A row for each point, the best marked."""

    def y(point: ScatterPoint) -> str:
        return f"{'at least ' if point.kind == 'least' else ''}{amount_in(point.y, chart.y_unit)}"

    columns = (
        Column("", lambda point: Quote(point.label), align="right"),
        Column("", lambda point: point.words[0] if point.words else "", shrink=True),
        _amounts(f"{chart.x_measure}, {chart.x_unit}", lambda point: point.x, chart.x_unit),
        numbers(f"{chart.y_measure}, {chart.y_unit}", y),
        Column("", lambda point: "does not fit" if point.kind == "misfit" else "best" if point.is_best else ""),
    )
    return table_of(columns, chart.points)
