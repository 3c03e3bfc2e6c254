"""The chart of what is sent over each mesh axis, and the chart of how long each stage of the compile took.

Not its job: computing totals (`analyze.collectives.traffic`), drawing (`view.figures.chart_figure`,
`view.svg.chart_picture`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import AxisTotal
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.axes import document_axes
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow
from pjit_inspect.view.document.colors import NEUTRAL, Palette
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural, share_unit
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.svg.timeline_picture import STAGE_COLORS

__all__ = ["no_collectives", "time_chart", "totals_chart"]

_ROWS = 16
_KINDS = 4
_SECONDS_FROM = 0.9995


def totals_chart(report: RecordReport) -> BarChart:
    """Bytes one device sends per call, a bar for each set of mesh axes (modelled: ring)."""
    title = "bytes sent by one device per call, over each mesh axis (modelled: ring)"
    axes = document_axes(report.data)
    missing = no_collectives(report)
    if missing:
        return BarChart(title=title, missing=missing, axes=axes)
    totals, palette = report.totals, Palette(axes)
    rows = [_axis_row(total, report, palette) for total in totals[:_ROWS]]
    return BarChart(
        title=title,
        measure="sent by one device per call (modelled: ring)",
        unit=share_unit(total.sent_bytes for total in totals),
        rows=tuple(rows),
        notes=_total_notes(totals),
        axes=axes,
    )


def no_collectives(report: RecordReport) -> str:
    """Why there is no communication to show; "" when there is some."""
    if report.collectives is None:
        reason = report.data.missing.get("hlo", "the record has no optimized HLO")
        return f"collectives unknown: {reason}"
    if report.collectives:
        return ""
    if len(report.data.devices) == 1:
        return "one device: nothing to communicate"
    return "no collectives: the devices do not communicate"


def _axis_row(total: AxisTotal, report: RecordReport, palette: Palette) -> BarRow:
    data = report.data
    label = "unknown" if total.axes is None and "mesh" in data.missing else axes_text(total.axes)
    if total.mesh and total.mesh < len(data.meshes):
        label += f" of mesh {data.meshes[total.mesh]}"
    color = palette.of(total.axes)
    runs = "" if total.runs == total.collectives else f", run {_runs(total)}"
    words = (
        f"{plural(total.collectives, 'collective')}{runs}",
        _kinds(total, report),
        f"payload {bytes_text(total.payload_bytes)} (counted)",
        *(("at most: some devices or calls send less",) if total.is_bound else ()),
    )
    part = BarPart(name="sent", value=total.sent_bytes, color=color, words=words)
    return BarRow(label=label, parts=(part,), color=color)


def _runs(total: AxisTotal) -> str:
    return "an unknown number of times" if total.runs is None else f"{count_text(total.runs)} times"


def _kinds(total: AxisTotal, report: RecordReport) -> str:
    """The kinds of collectives over these axes, the most frequent first."""
    rows = report.collectives or ()
    mine = Counter(row.kind for row in rows if row.axes == total.axes and (not row.axes or row.mesh == total.mesh))
    named = ", ".join(f"{shorten(printable(kind), 24)} x{number:,}" for kind, number in mine.most_common(_KINDS))
    return f"{named}, ..." if len(mine) > _KINDS else named


def _total_notes(totals: Sequence[AxisTotal]) -> tuple[str, ...]:
    notes = []
    if len(totals) > _ROWS:
        rest = totals[_ROWS:]
        size = bytes_text(sum(total.sent_bytes for total in rest))
        notes.append(f"{plural(len(rest), 'further set')} of axes, {size} together, not shown")
    if any(total.runs is None for total in totals):
        notes.append("collectives in loops of unknown length count once")
    return tuple(notes)


# ---------------------------------------------------------------- times


def time_chart(data: RecordData) -> BarChart:
    """Seconds of trace, lower and XLA (measured on this machine)."""
    title = "seconds of each stage of the compile (measured)"
    times = data.timings
    last = "from disk" if data.cached == "persistent" else "XLA"
    stages = (("trace", times.trace_s), ("lower", times.lower_s), (last, times.compile_s))
    known = [(name, seconds) for name, seconds in stages if seconds is not None]
    if not known:
        held = "JAX already held the executable" if data.cached == "memory" else "the record has none"
        return BarChart(title=title, missing=f"seconds unknown: {held}")
    unit = "s" if max(seconds for _, seconds in known) >= _SECONDS_FROM else "ms"
    unknown = [name for name, seconds in stages if seconds is None]
    return BarChart(
        title=title,
        measure="measured on the machine that compiled",
        unit=unit,
        rows=tuple(_time_row(name, seconds) for name, seconds in known),
        notes=(f"{' and '.join(unknown)} unknown: reused, or not seen",) if unknown else (),
    )


def _time_row(name: str, seconds: float) -> BarRow:
    part = BarPart(name=name, value=max(0.0, seconds), color=STAGE_COLORS[name])
    return BarRow(label=name, parts=(part,), color=NEUTRAL)
