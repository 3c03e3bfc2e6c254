"""The chart of the bytes on each device: arguments, outputs, temporaries.

Arguments and outputs are counted from shapes and shardings, device by device; temporaries are XLA's own count, the same
for every device. Not its job: drawing (`view.figures.chart_figure`, `view.svg.chart_picture`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pjit_inspect.model.program.dtype import bits_of
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow
from pjit_inspect.view.document.colors import NEUTRAL
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, plural, share_unit
from pjit_inspect.view.record.record import document_axes

__all__ = ["PART_COLORS", "memory_chart"]

PART_COLORS = {"arguments": "#3b6fb6", "outputs": "#7a5aa6", "temporaries": "#b04a06"}
"""One colour for each part, mid tones for light and dark pages; no mesh axis appears beside them."""

_ROWS = 16
_LARGEST = 3
_NAME = 40
_DEVICE_MEMORY = (None, "device", "unpinned_host")
_TITLE = "bytes on each device: arguments and outputs (counted from shapes), temporaries (counted by XLA)"


def memory_chart(data: RecordData) -> BarChart:
    """Bytes of arguments, outputs and temporaries, a bar for all devices that hold as much."""
    counter = _Counter(data)
    if not counter.devices or not (data.inputs or data.outputs):
        return _as_xla_counts(data)
    rows, left_out = counter.rows()
    most = max((row.total for row in rows), default=0)
    notes = (*counter.notes(), *_xla_notes(data, counter))
    if left_out:
        notes = (*notes, f"{plural(left_out, 'device')} not shown: they hold less")
    if not any(row.total for row in rows) and counter.unknown:
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


class _Counter:
    """Adds up what every device of a program holds."""

    def __init__(self, data: RecordData) -> None:
        self._memory = data.memory
        self.devices = _devices(data)
        self._place = {device: place for place, device in enumerate(self.devices)}
        self._places: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.unknown = self._elsewhere = 0
        arguments = [layout for layout in data.inputs if layout.kept]
        outputs = [layout for layout in data.outputs if layout.aliases is None]
        self._reused = len(data.outputs) - len(outputs)
        self.sums = {"arguments": self._sum(arguments), "outputs": self._sum(outputs)}
        self._largest = {"arguments": _largest(arguments), "outputs": _largest(outputs)}

    def _sum(self, layouts: Sequence[ArrayLayout]) -> np.ndarray:
        total = np.zeros(len(self.devices), np.float64)
        for layout in layouts:
            bits = bits_of(layout.dtype)
            if layout.sharding is None or bits is None:
                self.unknown += 1
            elif layout.sharding.memory_kind not in _DEVICE_MEMORY:
                self._elsewhere += 1
            else:
                places, tiles = self._where(layout.sharding)
                np.add.at(total, places, np.ceil(_tile_elements(layout, tiles) * bits / 8))
        return total

    def _where(self, sharding: Sharding) -> tuple[np.ndarray, np.ndarray]:
        """The places of a sharding's devices, and the tile at each; arrays share shardings."""
        if id(sharding) not in self._places:
            places = [self._place.get(device, -1) for device in sharding.device_ids]
            held = np.array([place >= 0 for place in places], bool)
            found = np.array(places, np.int64)[held], np.array(sharding.tile_of, np.int64)[held]
            self._places[id(sharding)] = found
        return self._places[id(sharding)]

    def rows(self) -> tuple[tuple[BarRow, ...], int]:
        """A bar for all devices that hold as much, the fullest first, and how many devices are left out."""
        both = np.stack([self.sums["arguments"], self.sums["outputs"]], axis=1)
        kinds, of_device = np.unique(both, axis=0, return_inverse=True)
        order = np.argsort(-kinds.sum(axis=1), kind="stable")
        shown = order[:_ROWS]
        rows = [self._row(kinds[kind], np.flatnonzero(of_device.ravel() == kind)) for kind in shown]
        return tuple(rows), int(np.isin(of_device.ravel(), order[_ROWS:]).sum())

    def _row(self, sizes: np.ndarray, places: np.ndarray) -> BarRow:
        parts = [self._part(name, float(size)) for name, size in zip(self.sums, sizes, strict=True)]
        temporary = self._memory.temporary_bytes if self._memory else None
        if temporary is not None:
            words = ("as XLA counts them, the same on every device",)
            color = PART_COLORS["temporaries"]
            parts.append(BarPart(name="temporaries", value=max(0, temporary), color=color, words=words))
        ids = [self.devices[place] for place in places]
        label = f"device{'s' * (len(ids) != 1)} {ranges_text(ids, limit=6)}"
        return BarRow(label=label, parts=tuple(parts), color=NEUTRAL)

    def _part(self, name: str, size: float) -> BarPart:
        largest = self._largest[name]
        words = (f"counted from shapes; largest: {largest}",) if largest and size else ()
        return BarPart(name=name, value=size, color=PART_COLORS[name], words=words)

    def notes(self) -> tuple[str, ...]:
        """The largest arrays, and what is not in the bars."""
        notes = [f"largest {name}: {largest}" for name, largest in self._largest.items() if largest]
        if self._reused:
            number = plural(self._reused, "output")
            notes.append(f"{number} in the buffers of donated arguments: counted there, not again")
        if self.unknown:
            notes.append(f"{plural(self.unknown, 'array')} of unknown sharding or element type not counted")
        if self._elsewhere:
            notes.append(f"{plural(self._elsewhere, 'array')} in host memory not counted")
        if self._memory is None or self._memory.temporary_bytes is None:
            notes.append("temporaries unknown: XLA's memory figures are not in the record")
        return tuple(notes)


def _devices(data: RecordData) -> tuple[int, ...]:
    """The ids of all devices of the program."""
    if data.devices:
        return tuple(device.id for device in data.devices)
    held = (layout.sharding.device_ids for layout in (*data.inputs, *data.outputs) if layout.sharding is not None)
    mesh = data.mesh.device_ids if data.mesh else ()
    return tuple(sorted({*mesh, *(device for ids in held for device in ids)}))


def _tile_elements(layout: ArrayLayout, tiles: np.ndarray) -> np.ndarray:
    """Elements in each of some tiles; the last of an uneven cut are smaller, or empty."""
    cuts = layout.sharding.tiles if layout.sharding else ()
    count = np.ones(len(tiles), np.float64)
    rest = tiles
    for length, number in zip(reversed(layout.global_shape), reversed(cuts), strict=True):
        rest, index = np.divmod(rest, number)
        step = -(-length // number)
        count *= np.clip(length - index.astype(np.float64) * step, 0, step)
    return count


def _largest(layouts: Sequence[ArrayLayout]) -> str:
    sized = [(layout.bytes_per_device or 0, layout.path) for layout in layouts]
    first = sorted(sized, key=lambda pair: -pair[0])[:_LARGEST]
    return ", ".join(f"{shorten(printable(path), _NAME)} {bytes_text(size)}" for size, path in first if size)


def _xla_notes(data: RecordData, counter: _Counter) -> tuple[str, ...]:
    """XLA's own count of the arguments, where it is another: it pads arrays on some hardware."""
    size = data.memory.argument_bytes if data.memory else None
    counted = round(max(counter.sums["arguments"], default=0))
    if size is None or counter.unknown or bytes_text(counted) == bytes_text(size):
        return ()
    return (f"XLA itself counts {bytes_text(size)} of arguments on a device",)
