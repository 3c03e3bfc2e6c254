"""The chart of bytes sent from device to device, folded where the mesh is large.

A mesh of 4,096 devices has 16,777,216 pairs, too many to see. Up to 64 devices get a row each; more are folded into at
most 64 blocks, and the chart says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import LinkTraffic
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.charts.totals import incomplete_notes, no_collectives
from pjit_inspect.view.document.chart import MatrixCell, MatrixChart
from pjit_inspect.view.document.colors import NEUTRAL, Palette, document_axes
from pjit_inspect.view.document.quantities import bytes_text, plural, share_unit
from pjit_inspect.view.document.text_spans import axes_text

MOST_BLOCKS = 64
"""The most rows and columns of a chart."""

_TITLE = "bytes sent from device to device per call (modelled: ring)"


def traffic_chart(report: RecordReport, traffic: LinkTraffic) -> MatrixChart:
    """Bytes each device sends each other per call, all collectives together (modelled: ring; permutes counted)."""
    data = report.data
    axes = document_axes(data)
    missing = no_collectives(report)
    if missing:
        return MatrixChart(title=_TITLE, missing=missing, axes=axes)
    notes = (*incomplete_notes(report), *_left_out(report, traffic))
    if not len(traffic.sources):
        missing = "; ".join(("no device sends another anything", *notes))
        return MatrixChart(title=_TITLE, missing=missing, axes=axes)
    blocks = _blocks(data, traffic)
    cells = _cells(blocks, traffic, Palette(axes))
    if blocks.size > 1:
        whole = bytes_text(round(sum(cell.size_bytes for cell in cells)))
        within = bytes_text(round(sum(cell.size_bytes for cell in cells if cell.row == cell.column)))
        folded = f"folded: a row or column stands for {blocks.stands_for}; a cell is the sum over its devices"
        notes = (folded, f"{within} of {whole} stay within a block, on the diagonal", *notes)
    return MatrixChart(
        title=_TITLE,
        unit=share_unit([int(max(cell.size_bytes for cell in cells))]),
        labels=blocks.labels,
        stands_for=blocks.stands_for,
        cells=cells,
        notes=notes,
        axes=axes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Blocks:
    """The folding of mesh positions into rows.

    Attributes:
      size: the number of positions in a row; the last may have fewer.
      labels: one label for each row.
      stands_for: the meaning of a label.
      mesh: the axes that the rows follow; None when they follow none.
      inner: the axes within a row; () where there are none, or the rows follow none.
    """

    size: int
    labels: tuple[str, ...]
    stands_for: str
    mesh: Mesh | None
    inner: tuple[str, ...] = ()


def _blocks(data: RecordData, traffic: LinkTraffic) -> _Blocks:
    mesh = data.meshes[0] if data.meshes else data.mesh
    largest = 1 + int(max(traffic.sources.max(), traffic.targets.max()))
    # A damaged file may name devices beyond the mesh: then its axes mean nothing.
    if mesh is None or mesh.size < largest:
        return _ranges(max(largest, len(data.devices)), None)
    if mesh.size <= MOST_BLOCKS:
        labels = tuple(str(device) for device in mesh.device_ids)
        return _Blocks(size=1, labels=labels, stands_for="device", mesh=mesh)
    return _along_axes(mesh) or _ranges(mesh.size, mesh)


def _ranges(devices: int, mesh: Mesh | None) -> _Blocks:
    """Runs of neighbouring positions."""
    size = -(-devices // MOST_BLOCKS)
    starts = range(0, devices, size)
    if size == 1:
        return _Blocks(size=1, labels=tuple(map(str, starts)), stands_for="partition", mesh=None)
    labels = tuple(f"{start}-{min(devices, start + size) - 1}" for start in starts)
    noun = "partitions" if mesh is None else "positions of the mesh"
    return _Blocks(size=size, labels=labels, stands_for=f"{size:,} neighbouring {noun}", mesh=None)


def _along_axes(mesh: Mesh) -> _Blocks | None:
    """One row for each index of the outer axes, as many of these as fit; None when the first alone is too long."""
    kept = [n for n in range(1, len(mesh.shape)) if 1 < math.prod(mesh.shape[:n]) <= MOST_BLOCKS]
    if not kept:
        return None
    number = kept[-1]
    names, shape = mesh.axis_names[:number], mesh.shape[:number]
    rows = math.prod(shape)
    indices = [np.unravel_index(row, shape) for row in range(rows)]
    labels = tuple(" ".join(f"{name} {at}" for name, at in zip(names, index, strict=True)) for index in indices)
    outer = Mesh(axis_names=names, shape=shape, device_ids=tuple(range(rows)))
    size = mesh.size // rows
    inner = tuple(
        name for name, length in zip(mesh.axis_names[number:], mesh.shape[number:], strict=True) if length > 1
    )
    stands_for = f"{size:,} devices of one index of {axes_text(names)}"
    return _Blocks(size=size, labels=labels, stands_for=stands_for, mesh=outer, inner=inner)


def _cells(blocks: _Blocks, traffic: LinkTraffic, palette: Palette) -> tuple[MatrixCell, ...]:
    number = len(blocks.labels)
    keys = (traffic.sources.astype(np.int64) // blocks.size) * number + traffic.targets // blocks.size
    pairs, of_pair = np.unique(keys, return_inverse=True)
    sums = np.bincount(of_pair.ravel(), weights=traffic.sent_bytes, minlength=len(pairs))
    cells = []
    for key, size in zip(pairs.tolist(), sums.tolist(), strict=True):
        row, column = divmod(key, number)
        name, color = _kind(blocks, row, column, palette)
        cells.append(MatrixCell(row=row, column=column, size_bytes=size, name=name, color=color))
    return tuple(cells)


def _kind(blocks: _Blocks, row: int, column: int, palette: Palette) -> tuple[str, str]:
    """The mesh axes in which two rows differ, and their colour."""
    if row == column and blocks.size > 1:
        name = f"{axes_text(blocks.inner)} within a block" if blocks.inner else "within a block"
        return name, palette.of(blocks.inner)
    if blocks.mesh is None:
        return "sent", NEUTRAL
    pair = (np.unravel_index(place, blocks.mesh.shape) for place in (row, column))
    axes = tuple(name for name, a, b in zip(blocks.mesh.axis_names, *pair, strict=True) if a != b)
    return axes_text(axes), palette.of(axes)


def _left_out(report: RecordReport, traffic: LinkTraffic) -> tuple[str, ...]:
    notes = []
    if traffic.left_out:
        number = plural(traffic.left_out, "collective")
        notes.append(f"{number} not shown: unknown groups, or too many pairs of devices")
    if any(row.count is None for row in report.collectives or ()):
        notes.append("collectives in loops of unknown length count once")
    return tuple(notes)
