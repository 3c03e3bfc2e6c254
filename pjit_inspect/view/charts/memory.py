"""The chart of the bytes on each device: arguments, outputs, temporaries.

Arguments and outputs are counted from shapes and shardings, device by device; temporaries are XLA's own count, the same
for every device. Not its job: counting (`analyze.program.device_memory`), drawing (`view.figures.chart_figure`,
`view.svg.chart_picture`).
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.device_memory import DeviceMemory, MemoryPart
from pjit_inspect.view.document.axes import document_axes
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow
from pjit_inspect.view.document.colors import NEUTRAL
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, plural, share_unit

__all__ = ["PART_COLORS", "memory_chart"]

PART_COLORS = {"arguments": "#3b6fb6", "outputs": "#7a5aa6", "temporaries": "#b04a06"}
"""One colour for each part, mid tones for light and dark pages; no mesh axis appears beside them."""

_ROWS = 16
_NAME = 40
_TITLE = "bytes on each device: arguments and outputs (counted from shapes), temporaries (counted by XLA)"


def memory_chart(data: RecordData, held: DeviceMemory) -> BarChart:
    """Bytes of arguments, outputs and temporaries, a bar for all devices that hold as much."""
    if not held.devices or not (data.inputs or data.outputs):
        return _as_xla_counts(data)
    rows, left_out = _rows(data, held)
    most = max((row.total for row in rows), default=0)
    notes = (*_notes(data, held), *_xla_notes(data, held))
    if left_out:
        notes = (*notes, f"{plural(left_out, 'device')} not shown: they hold less")
    if not any(row.total for row in rows) and held.unknown:
        return BarChart(title=_TITLE, missing="; ".join(notes), axes=document_axes(data))
    return BarChart(
        title=_TITLE,
        measure="on a device (counted)",
        unit=share_unit([int(most)]),
        rows=rows,
        notes=notes,
        axes=document_axes(data),
    )


def _as_xla_counts(data: RecordData) -> BarChart:
    """The chart of a record that does not tell its arrays: XLA's figures for one device."""
    memory = data.memory
    if memory is None:
        reason = data.missing.get("memory", "the record tells neither its arrays nor XLA's memory figures")
        return BarChart(title=_TITLE, missing=f"bytes unknown: {reason}", axes=document_axes(data))
    outputs = None if memory.output_bytes is None else memory.output_bytes - (memory.alias_bytes or 0)
    sizes = {"arguments": memory.argument_bytes, "outputs": outputs, "temporaries": memory.temporary_bytes}
    known = {name: max(0, size) for name, size in sizes.items() if size is not None}
    parts = tuple(BarPart(name=name, value=size, color=PART_COLORS[name]) for name, size in known.items())
    return BarChart(
        title=_TITLE,
        measure="on a device (counted by XLA)",
        unit=share_unit([sum(known.values())]),
        rows=(BarRow(label="each device", parts=parts, color=NEUTRAL),),
        notes=tuple(f"{name} unknown" for name, size in sizes.items() if size is None),
        axes=document_axes(data),
    )


def _rows(data: RecordData, held: DeviceMemory) -> tuple[tuple[BarRow, ...], int]:
    """A bar for all devices that hold as much, the fullest first, and how many devices are left out."""
    both = np.stack([held.arguments.bytes, held.outputs.bytes], axis=1)
    kinds, of_device = np.unique(both, axis=0, return_inverse=True)
    order = np.argsort(-kinds.sum(axis=1), kind="stable")
    shown = order[:_ROWS]
    rows = [_row(data, held, kinds[kind], np.flatnonzero(of_device.ravel() == kind)) for kind in shown]
    return tuple(rows), int(np.isin(of_device.ravel(), order[_ROWS:]).sum())


def _row(data: RecordData, held: DeviceMemory, sizes: np.ndarray, places: np.ndarray) -> BarRow:
    largest = (_largest(held.arguments), _largest(held.outputs))
    parts = [_part(*of) for of in zip(("arguments", "outputs"), sizes.tolist(), largest, strict=True)]
    temporary = data.memory.temporary_bytes if data.memory else None
    if temporary is not None:
        words = ("as XLA counts them, the same on every device",)
        color = PART_COLORS["temporaries"]
        parts.append(BarPart(name="temporaries", value=max(0, temporary), color=color, words=words))
    ids = [held.devices[place] for place in places]
    label = f"device{'s' * (len(ids) != 1)} {ranges_text(ids, limit=6)}"
    return BarRow(label=label, parts=tuple(parts), color=NEUTRAL)


def _part(name: str, size: float, largest: str) -> BarPart:
    words = (f"counted from shapes; largest: {largest}",) if largest and size else ()
    return BarPart(name=name, value=size, color=PART_COLORS[name], words=words)


def _notes(data: RecordData, held: DeviceMemory) -> tuple[str, ...]:
    """The largest arrays, and what is not in the bars."""
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
    return tuple(notes)


def _largest(part: MemoryPart) -> str:
    return ", ".join(f"{shorten(printable(path), _NAME)} {bytes_text(size)}" for path, size in part.largest)


def _xla_notes(data: RecordData, held: DeviceMemory) -> tuple[str, ...]:
    """XLA's own count of the arguments, where it is another: it pads arrays on some hardware."""
    size = data.memory.argument_bytes if data.memory else None
    counted = round(max(held.arguments.bytes, default=0))
    if size is None or held.unknown or bytes_text(counted) == bytes_text(size):
        return ()
    return (f"XLA itself counts {bytes_text(size)} of arguments on a device",)
