"""The figures of one record: plotly in a trusted notebook, a still picture and text everywhere else.

plotly is imported for the first figure; it is an extra, `pip install 'pjit_inspect[figures]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pjit_inspect.model.memory.memory_use import MemoryTimeline, MemoryUse
from pjit_inspect.model.report.collective import LinkTraffic
from pjit_inspect.model.report.report import DeviceMemory, RecordReport
from pjit_inspect.view.charts.memory_curve import memory_curve_chart
from pjit_inspect.view.charts.totals import memory_chart, time_chart, totals_chart
from pjit_inspect.view.charts.traffic import traffic_chart
from pjit_inspect.view.document.chart import Chart
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.figures.chart_document import chart_blocks
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn


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
    """A chart as a plotly figure. Raises ImportError, with the command that installs it, where there is no plotly."""
    try:
        from pjit_inspect.view.figures.chart_figure import chart_figure
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "plotly":
            raise
        raise ImportError("a figure needs plotly: pip install 'pjit_inspect[figures]'") from error
    return chart_figure(chart)
