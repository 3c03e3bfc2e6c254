"""The picture of a mesh: devices in a grid, links as thick as the root of the bytes sent over them.

Rows are the first axis, columns the second; a single axis is a row that wraps; further axes are facets. Large meshes
show the first and last indices of an axis with dots between.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.view.document.colors import LINE, NEUTRAL, SELECTION, Palette
from pjit_inspect.view.document.document import MeshSubject
from pjit_inspect.view.document.printable import cell_width, pad, printable, shorten
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_SHOWN = 8
_GAP = -1
_FACETS = 8
_WHOLE = 64  # devices up to which a mesh of three or more axes is shown whole
_WIDTH = 640  # px after which facets continue below
_BOX, _ROW, _LINK = 24.0, 40.0, 22.0  # px: height of a box, distance between rows, length of a link


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshGrid:
    """The part of a mesh that a picture or a text shows.

    Attributes:
      facets: index along the leading axes (all but the last two); ((),) for one or two axes.
      rows, columns: indices along the last two axes; -1 for a gap. One axis has `rows` (0,).
      wrapped: one axis longer than a row: `rows` are lines of eight.
    """

    facets: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    wrapped: bool = False

    def position(self, mesh: Mesh, facet: tuple[int, ...], row: int, column: int) -> int | None:
        """The mesh position at a place of the grid; None for a gap or beyond the last device."""
        if _GAP in (*facet, row, column):
            return None
        if self.wrapped:
            index = row * _SHOWN + column
            return index if index < mesh.size else None
        where = (*facet, row, column)[-len(mesh.shape) :] if mesh.shape else ()
        position = 0
        for index, size in zip(where, mesh.shape, strict=True):
            position = position * size + index
        return position


def mesh_grid(mesh: Mesh) -> MeshGrid:
    """The devices of a mesh to show, and their places."""
    if len(mesh.shape) <= 1:
        if mesh.size <= _SHOWN or mesh.size > 4 * _SHOWN:
            return MeshGrid(facets=((),), rows=(0,), columns=_shown(mesh.size))
        lines = -(-mesh.size // _SHOWN)
        return MeshGrid(facets=((),), rows=tuple(range(lines)), columns=tuple(range(_SHOWN)), wrapped=True)
    leading = mesh.shape[:-2]
    few = math.prod(leading) <= _FACETS
    facets = itertools.product(*(tuple(range(size)) if few else _ends(size) for size in leading))
    small = mesh.size > _WHOLE and bool(leading)
    rows, columns = mesh.shape[-2:]
    return MeshGrid(
        facets=tuple(itertools.islice(facets, _FACETS)),
        rows=_ends(rows) if small else _shown(rows),
        columns=_ends(columns) if small else _shown(columns),
    )


def mesh_lines(mesh: Mesh) -> tuple[str, ...]:
    """The mesh in text: a row of device numbers per index of the first axis."""
    grid = mesh_grid(mesh)
    if len(mesh.shape) <= 1:
        return _row_lines(mesh, grid)
    lines: list[str] = []
    for facet in grid.facets:
        lines += _facet_lines(mesh, grid, facet)
    return tuple(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facet:
    """One grid of devices being drawn, its first box at (x, y)."""

    svg: Svg
    subject: MeshSubject
    palette: Palette
    grid: MeshGrid
    index: tuple[int, ...]
    x: float
    y: float
    box_width: float

    @property
    def step(self) -> float:
        """Pixels from one box to the next in a row."""
        return self.box_width + _LINK

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """The upper left corner of the box in a row and column of the grid."""
        return self.x + column * self.step, self.y + row * _ROW

    def position(self, row: int, column: int) -> int | None:
        """The mesh position of that box."""
        grid = self.grid
        return grid.position(self.subject.mesh, self.index, grid.rows[row], grid.columns[column])

    @property
    def right(self) -> float:
        """The right end of the last box."""
        return self.x + len(self.grid.columns) * self.step - _LINK


def draw_mesh(subject: MeshSubject, palette: Palette) -> Svg:
    """The picture of a mesh with its traffic."""
    mesh, svg = subject.mesh, Svg()
    grid = mesh_grid(mesh)
    labels = _labels(mesh, grid, along_rows=True)
    label_width = max((chip_width(label) for label in labels), default=-8.0)
    box_width = max(30.0, max(chip_width(str(number)) for number in mesh.device_ids) + 4)
    width = label_width + 8 + len(grid.columns) * (box_width + _LINK)
    per_row = max(1, int(_WIDTH // width))
    for number, index in enumerate(grid.facets):
        down, right = divmod(number, per_row)
        facet = _Facet(
            svg=svg,
            subject=subject,
            palette=palette,
            grid=grid,
            index=index,
            x=right * width + label_width + 8,
            y=46.0 + down * (len(grid.rows) * _ROW + 50),
            box_width=box_width,
        )
        if _GAP in index:
            svg.words(facet.x + 10, facet.y + 12, "...", color=LINE)
            continue
        _draw_facet(facet)
        for row, label in enumerate(labels):
            middle = facet.y + row * _ROW + _BOX / 2
            svg.chip(facet.x - 8 - label_width / 2, middle, label, color=palette.of(_row_axes(mesh)))
    return svg


def _shown(size: int) -> tuple[int, ...]:
    return tuple(range(size)) if size <= _SHOWN else (0, 1, 2, _GAP, size - 1)


def _ends(size: int) -> tuple[int, ...]:
    return tuple(range(size)) if size <= 4 else (0, 1, _GAP, size - 1)


def _row_lines(mesh: Mesh, grid: MeshGrid) -> tuple[str, ...]:
    name = _name(mesh.axis_names[0]) if mesh.axis_names else "mesh"
    heads = [name if row == 0 else " " * cell_width(name) for row in grid.rows]
    return tuple(f"{head}  {_devices(mesh, grid, (), row)}" for head, row in zip(heads, grid.rows, strict=True))


def _facet_lines(mesh: Mesh, grid: MeshGrid, facet: tuple[int, ...]) -> list[str]:
    row_name, column_name = (_name(axis) for axis in mesh.axis_names[-2:])
    heads = [f"{row_name} {_index(row)}" for row in grid.rows]
    width = max(cell_width(head) for head in heads)
    lead = " ".join(f"{_name(name)} {_index(i)}" for name, i in zip(mesh.axis_names, facet, strict=False))
    if _GAP in facet:
        return [lead]
    cell = _cell(mesh, grid)
    titles = " ".join(f"{_index(column):>{cell}}" for column in grid.columns)
    indent = " " * (cell_width(column_name) + 1)
    lines = [*([lead] if lead else []), f"{'':{width}}  {column_name} {titles}"]
    rows = [f"{pad(head, width)}  {indent}" for head in heads]
    return lines + [head + _devices(mesh, grid, facet, row) for head, row in zip(rows, grid.rows, strict=True)]


def _name(axis: str) -> str:
    return shorten(printable(axis), 20)


def _index(index: int) -> str:
    return "..." if index == _GAP else str(index)


def _cell(mesh: Mesh, grid: MeshGrid) -> int:
    """The width of a device number in columns."""
    return max(len(str(max(mesh.device_ids))), 3 if _GAP in (*grid.rows, *grid.columns) else 1)


def _devices(mesh: Mesh, grid: MeshGrid, facet: tuple[int, ...], row: int) -> str:
    cell = _cell(mesh, grid)
    positions = [grid.position(mesh, facet, row, column) for column in grid.columns]
    blank = "" if grid.wrapped else "..."
    numbers = [blank if position is None else str(mesh.device_ids[position]) for position in positions]
    return " ".join(f"{number:>{cell}}" for number in numbers).rstrip()


def _draw_facet(facet: _Facet) -> None:
    """Draws links first, boxes over them, then the labels above."""
    svg, mesh, grid = facet.svg, facet.subject.mesh, facet.grid
    _draw_links(facet)
    for row, column in itertools.product(range(len(grid.rows)), range(len(grid.columns))):
        x, y = facet.corner(row, column)
        position = facet.position(row, column)
        if position is not None:
            _draw_device(facet, position, x, y)
        elif not grid.wrapped:
            svg.words(x + facet.box_width / 2, y + _BOX / 2 + 3, "...", color=LINE)
    for column, label in enumerate(_labels(mesh, grid, along_rows=False)):
        middle = facet.corner(0, column)[0] + facet.box_width / 2
        svg.chip(middle, facet.y - 14, fit(label, facet.step), color=facet.palette.of(mesh.axis_names[-1:]))
    if facet.index:
        lead = " ".join(f"{fit(name, 70)} {index}" for name, index in zip(mesh.axis_names, facet.index, strict=False))
        color = facet.palette.of(mesh.axis_names[: len(facet.index)])
        svg.chip((facet.x + facet.right) / 2, facet.y - 34, lead, color=color)


def _row_axes(mesh: Mesh) -> tuple[str, ...]:
    return mesh.axis_names[-2:-1] if len(mesh.axis_names) > 1 else mesh.axis_names


def _labels(mesh: Mesh, grid: MeshGrid, *, along_rows: bool) -> list[str]:
    """The chips to the left of the rows or above the columns."""
    if not mesh.axis_names:
        return []
    if grid.wrapped:
        starts = [row * _SHOWN for row in grid.rows] if along_rows else []
        ranges = [f"{start}-{min(mesh.size, start + _SHOWN) - 1}" for start in starts]
        return [f"{fit(mesh.axis_names[0], 60)} {text}" for text in ranges]
    if along_rows and len(mesh.shape) < 2:
        return []
    name, indices = (mesh.axis_names[-2], grid.rows) if along_rows else (mesh.axis_names[-1], grid.columns)
    return [f"{fit(name, 70)} {index}" if index != _GAP else "..." for index in indices]


def _draw_links(facet: _Facet) -> None:
    """Draws lines between neighbours along the last axis and, downwards, along the one before."""
    mesh, grid = facet.subject.mesh, facet.grid
    across = mesh.axis_names[-1] if mesh.axis_names else ""
    down = mesh.axis_names[-2] if len(mesh.axis_names) > 1 else None
    for row, column in itertools.product(range(len(grid.rows)), range(len(grid.columns))):
        x, y = facet.corner(row, column)
        last = column + 1 == len(grid.columns) or (grid.wrapped and facet.position(row, column + 1) is None)
        if not last:
            _link(facet, across, (x + facet.box_width, y + _BOX / 2), (x + facet.step, y + _BOX / 2))
        if down is not None and row + 1 < len(grid.rows):
            middle = x + facet.box_width / 2
            _link(facet, down, (middle, y + _BOX), (middle, y + _ROW))


def _link(facet: _Facet, axis: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draws one link, as thick as the root of the axis' bytes; a thin grey line where nothing is sent."""
    sent = dict(facet.subject.sent)
    size = sent.get(axis, 0)
    if not size:
        facet.svg.line(*start, *end, stroke=LINE, stroke_opacity=0.55)
        return
    thick = 2 + 10 * math.sqrt(size / max(sent.values()))
    facet.svg.line(*start, *end, stroke=facet.palette.of((axis,)), stroke_width=thick)


def _draw_device(facet: _Facet, position: int, x: float, y: float) -> None:
    """Draws one box with its device number; in the selection's colour if a highlighted group contains it."""
    lit = any(position in group for group in facet.subject.groups)
    color = SELECTION if lit else NEUTRAL
    facet.svg.rect(x, y, facet.box_width, _BOX, fill=color, rx=4)
    number = str(facet.subject.mesh.device_ids[position])
    facet.svg.words(x + facet.box_width / 2, y + _BOX / 2 + 3.7, number, color="#fff")
