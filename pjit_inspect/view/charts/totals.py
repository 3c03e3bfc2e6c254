"""The bar charts: bytes over each mesh axis, bytes on each device, seconds of each stage, the timeline of compiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import AxisTotal
from pjit_inspect.model.report.report import DeviceMemory, MemoryPart, RecordReport
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow
from pjit_inspect.view.document.colors import NEUTRAL, STAGE_COLORS, Palette, document_axes
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, count_text, least_text, plural, share_unit
from pjit_inspect.view.document.text_spans import axes_text

_ROWS = 16
_KINDS = 4
_SECONDS_FROM = 0.9995


def totals_chart(report: RecordReport) -> BarChart:
    """Bytes one device sends per call, a bar for each set of mesh axes (modelled: ring)."""
    title = "bytes that one device sends per call, over each mesh axis (modelled: ring)"
    axes = document_axes(report.data)
    missing = no_collectives(report)
    if missing:
        return BarChart(title=title, missing=missing, axes=axes)
    totals, palette = report.totals, Palette(axes)
    rows = [_axis_row(total, report, palette) for total in totals[:_ROWS]]
    return BarChart(
        title=title,
        measure="one device sends per call (modelled: ring)",
        unit=share_unit(total.sent_bytes for total in totals),
        rows=tuple(rows),
        notes=(*incomplete_notes(report), *_total_notes(totals)),
        axes=axes,
    )


def no_collectives(report: RecordReport) -> str:
    """The reason why there is no communication to show; "" when there is some."""
    return "" if report.collectives else report.silence


def incomplete_notes(report: RecordReport) -> tuple[str, ...]:
    """Notes that there may be more than the chart shows."""
    notes = (f"incomplete program: {report.incomplete}; there may be more",) if report.incomplete else ()
    return (*notes, *((f"without {report.beside}",) if report.others else ()))


def _axis_row(total: AxisTotal, report: RecordReport, palette: Palette) -> BarRow:
    data = report.data
    label = "unknown" if total.axes is None and "mesh" in data.missing else axes_text(total.axes)
    if total.mesh and total.mesh < len(data.meshes):
        label += f" of mesh {data.meshes[total.mesh]}"
    color = palette.of(total.axes)
    runs = ""
    if total.runs != total.collectives:
        times = "an unknown number of times" if total.runs is None else f"{count_text(total.runs)} times"
        runs = f", run {times}"
    # The kinds of collectives over these axes, most frequent first.
    rows = report.collectives or ()
    mine = Counter(row.kind for row in rows if row.axes == total.axes and (not row.axes or row.mesh == total.mesh))
    kinds = ", ".join(f"{shorten(printable(kind), 24)} x{number:,}" for kind, number in mine.most_common(_KINDS))
    arrays = least_text(bytes_text(total.payload_bytes), total.payload_bytes, total.is_payload_least)
    words = (
        f"{plural(total.collectives, 'collective')}{runs}",
        f"{kinds}, ..." if len(mine) > _KINDS else kinds,
        f"arrays on a device {arrays} (counted)",
        *(("at least: the bytes of some are unknown",) if total.is_sent_least else ()),
        *(("at most: some devices or calls send less",) if total.is_bound else ()),
    )
    part = BarPart(name="sends", value=total.sent_bytes, color=color, words=words)
    return BarRow(label=label, parts=(part,), color=color)


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
    unknown = [name for name, seconds in stages if seconds is None]
    parts = [BarPart(name=name, value=max(0.0, seconds), color=STAGE_COLORS[name]) for name, seconds in known]
    return BarChart(
        title=title,
        measure="measured on the machine that compiled",
        unit="s" if max(seconds for _, seconds in known) >= _SECONDS_FROM else "ms",
        rows=tuple(BarRow(label=part.name, parts=(part,), color=NEUTRAL) for part in parts),
        notes=(f"{' and '.join(unknown)} unknown: reused, or not seen",) if unknown else (),
    )


_PART_COLORS = {"arguments": "#3b6fb6", "outputs": "#7a5aa6", "temporaries": "#b04a06"}
"""One colour per part: mid tones for light and dark pages. No mesh axis is shown beside them."""

_MEMORY_ROWS = 16
_NAME = 40
_MEMORY_TITLE = "bytes on each device: arguments and outputs (counted from shapes), temporaries (counted by XLA)"


def memory_chart(data: RecordData, held: DeviceMemory) -> BarChart:
    """Bytes of arguments, outputs and temporaries; devices with equal bytes share a bar."""
    axes = document_axes(data)
    if not held.devices or not (data.inputs or data.outputs):
        return _as_xla_counts(data, axes)
    rows, left_out = _memory_rows(data, held)
    most = max((row.total for row in rows), default=0)
    notes = _memory_notes(data, held)
    notes += [f"{plural(left_out, 'device')} not shown: they hold less"] if left_out else []
    if not most and held.unknown:
        return BarChart(title=_MEMORY_TITLE, missing="; ".join(notes), axes=axes)
    unit = share_unit([int(most)])
    measure = "on a device (counted)"
    return BarChart(title=_MEMORY_TITLE, measure=measure, unit=unit, rows=rows, notes=tuple(notes), axes=axes)


def _as_xla_counts(data: RecordData, axes: tuple[str, ...]) -> BarChart:
    """The chart of a record without its arrays: XLA's figures for one device."""
    memory = data.memory
    if memory is None:
        reason = data.missing.get("memory", "the record tells neither its arrays nor XLA's memory figures")
        return BarChart(title=_MEMORY_TITLE, missing=f"bytes unknown: {reason}", axes=axes)
    outputs = None if memory.output_bytes is None else memory.output_bytes - (memory.alias_bytes or 0)
    sizes = {"arguments": memory.argument_bytes, "outputs": outputs, "temporaries": memory.temporary_bytes}
    known = {name: max(0, size) for name, size in sizes.items() if size is not None}
    parts = tuple(BarPart(name=name, value=size, color=_PART_COLORS[name]) for name, size in known.items())
    return BarChart(
        title=_MEMORY_TITLE,
        measure="on a device (counted by XLA)",
        unit=share_unit([sum(known.values())]),
        rows=(BarRow(label="each device", parts=parts, color=NEUTRAL),),
        notes=tuple(f"{name} unknown" for name, size in sizes.items() if size is None),
        axes=axes,
    )


def _memory_rows(data: RecordData, held: DeviceMemory) -> tuple[tuple[BarRow, ...], int]:
    """Bars, fullest first (devices with equal bytes share one), and the number of devices left out."""
    both = np.stack([held.arguments.bytes, held.outputs.bytes], axis=1)
    kinds, of_device = np.unique(both, axis=0, return_inverse=True)
    order = np.argsort(-kinds.sum(axis=1), kind="stable")
    temporary = data.memory.temporary_bytes if data.memory else None
    largest = {"arguments": _largest(held.arguments), "outputs": _largest(held.outputs)}

    def row(kind: int) -> BarRow:
        parts = []
        for (name, words), size in zip(largest.items(), kinds[kind].tolist(), strict=True):
            facts = (f"counted from shapes; largest: {words}",) if words and size else ()
            parts.append(BarPart(name=name, value=size, color=_PART_COLORS[name], words=facts))
        if temporary is not None:
            facts = ("as XLA counts them, the same on every device",)
            name = "temporaries"
            parts.append(BarPart(name=name, value=max(0, temporary), color=_PART_COLORS[name], words=facts))
        ids = [held.devices[place] for place in np.flatnonzero(of_device.ravel() == kind)]
        label = f"device{'s' * (len(ids) != 1)} {ranges_text(ids, limit=6)}"
        return BarRow(label=label, parts=tuple(parts), color=NEUTRAL)

    left_out = int(np.isin(of_device.ravel(), order[_MEMORY_ROWS:]).sum())
    return tuple(map(row, order[:_MEMORY_ROWS])), left_out


def _memory_notes(data: RecordData, held: DeviceMemory) -> list[str]:
    """Notes: the largest arrays, everything that the bars leave out, and where XLA counts differently."""
    both = {"arguments": _largest(held.arguments), "outputs": _largest(held.outputs)}
    notes = [f"largest {name}: {largest}" for name, largest in both.items() if largest]
    if held.reused:
        number = plural(held.reused, "output")
        notes.append(f"{number} in the buffers of donated arguments: counted there, not again")
    if held.unknown:
        notes.append(f"{plural(held.unknown, 'array')} of unknown sharding or element type not counted")
    if held.elsewhere:
        notes.append(f"{plural(held.elsewhere, 'array')} in host memory not counted")
    if data.memory is None or data.memory.temporary_bytes is None:
        notes.append("temporaries unknown: XLA's memory figures are not in the record")
    size = data.memory.argument_bytes if data.memory else None
    counted = round(max(held.arguments.bytes, default=0))
    # XLA pads arrays on some hardware.
    if size is not None and not held.unknown and bytes_text(counted) != bytes_text(size):
        notes.append(f"XLA itself counts {bytes_text(size)} of arguments on a device")
    return notes


def _largest(part: MemoryPart) -> str:
    return ", ".join(f"{shorten(printable(path), _NAME)} {bytes_text(size)}" for path, size in part.largest)


# ---------------------------------------------------------------- timeline

_FUNCTIONS = 12
_OTHERS = "others"
_LONGEST_REASON = 160


def timeline_chart(ledger: LedgerData) -> BarChart:
    """A row for each function, most expensive first, a bar for each stage with known times, a mark for each cell.

    Of many functions, the last row has all "others".
    """
    stages = [(entry, *stage) for entry in ledger.entries for stage in _stages(entry)]
    title = f"when each of {plural(ledger.compiles, 'compile')} was traced, lowered and compiled (measured)"
    if not stages:
        return BarChart(title=title, missing="no seconds are known")
    spent: dict[str, float] = {}
    for entry, _, _, seconds in stages:
        spent[printable(entry.name)] = spent.get(printable(entry.name), 0.0) + seconds
    named = sorted(spent, key=lambda name: -spent[name])
    shown = named if len(named) <= _FUNCTIONS else [*named[: _FUNCTIONS - 1], _OTHERS]
    start = min(began for _, _, began, _ in stages)
    parts: dict[str, list[BarPart]] = {name: [] for name in shown}
    cells: dict[str, float] = {}
    for entry, stage, began, seconds in sorted(stages, key=lambda stage: stage[2]):
        words = (f"compile #{entry.index} of {printable(entry.name)}", entry.reason.sentence[:_LONGEST_REASON])
        part = BarPart(name=stage, value=seconds, color=STAGE_COLORS[stage], words=words, start=began - start)
        parts[name if (name := printable(entry.name)) in parts else _OTHERS].append(part)
        if entry.cell is not None:
            cells.setdefault(entry.cell, began - start)
    return BarChart(
        title=title,
        measure="since the first compile (measured)",
        unit="s",
        rows=tuple(BarRow(label=name, parts=tuple(own), color=NEUTRAL) for name, own in parts.items()),
        marks=tuple(cells.items()),
    )


def _stages(entry: LedgerEntry) -> list[tuple[str, float, float]]:
    """The stages with known times: name, beginning, seconds."""
    times = entry.timings
    stages = (
        ("trace", times.trace_began_s, times.trace_s),
        ("lower", times.lower_began_s, times.lower_s),
        # The compilation cache on disk replaces XLA.
        ("from disk" if entry.disk else "XLA", times.compile_began_s, times.compile_s),
    )
    return [(name, began, seconds) for name, began, seconds in stages if began is not None and seconds is not None]
