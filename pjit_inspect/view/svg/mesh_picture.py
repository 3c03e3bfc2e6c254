"""The picture of a mesh: devices in a grid, links as thick as the root of the bytes sent over them.

Rows are the first axis, columns the second; a single axis is a row that wraps; further axes are facets. Large meshes
show the first and last indices of an axis with dots between.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
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
    has_gap = _GAP in (*grid.rows, *grid.columns)
    width = max(len(str(max(mesh.device_ids))), 3 if has_gap else 1)

    def devices(facet: tuple[int, ...], row: int) -> str:
        positions = [grid.position(mesh, facet, row, column) for column in grid.columns]
        blank = "" if grid.wrapped else "..."
        numbers = [blank if position is None else str(mesh.device_ids[position]) for position in positions]
        return " ".join(f"{number:>{width}}" for number in numbers).rstrip()

    names = [shorten(printable(axis), 20) for axis in mesh.axis_names]
    if len(mesh.shape) <= 1:
        head = names[0] if names else "mesh"
        return tuple(f"{' ' * cell_width(head) if row else head}  {devices((), row)}" for row in grid.rows)
    lines: list[str] = []
    heads = [f"{names[-2]} {_index(row)}" for row in grid.rows]
    margin = max(map(cell_width, heads))
    titles = " ".join(f"{_index(column):>{width}}" for column in grid.columns)
    indent = " " * (cell_width(names[-1]) + 1)
    for facet in grid.facets:
        lead = " ".join(f"{name} {_index(i)}" for name, i in zip(names, facet, strict=False))
        lines += [lead] if lead else []
        if _GAP not in facet:
            lines.append(f"{'':{margin}}  {names[-1]} {titles}")
            rows = zip(heads, grid.rows, strict=True)
            lines += [f"{pad(head, margin)}  {indent}{devices(facet, row)}" for head, row in rows]
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

    def places(self) -> Iterator[tuple[int, int, float, float]]:
        """Row and column of each box, and its upper left corner."""
        for row, column in itertools.product(range(len(self.grid.rows)), range(len(self.grid.columns))):
            yield row, column, self.x + column * self.step, self.y + row * _ROW

    def position(self, row: int, column: int) -> int | None:
        """The mesh position of a box."""
        grid = self.grid
        return grid.position(self.subject.mesh, self.index, grid.rows[row], grid.columns[column])


def draw_mesh(subject: MeshSubject, palette: Palette) -> Svg:
    """The picture of a mesh with its traffic."""
    mesh, svg = subject.mesh, Svg()
    grid = mesh_grid(mesh)
    labels = _row_labels(mesh, grid)
    label_width = max((chip_width(label) for label in labels), default=-8.0)
    box_width = max(30.0, max(chip_width(str(number)) for number in mesh.device_ids) + 4)
    width = label_width + 8 + len(grid.columns) * (box_width + _LINK)
    per_row = max(1, int(_WIDTH // width))
    row_color = palette.of(mesh.axis_names[-2:-1] or mesh.axis_names)
    for number, index in enumerate(grid.facets):
        down, right = divmod(number, per_row)
        x, y = right * width + label_width + 8, 46.0 + down * (len(grid.rows) * _ROW + 50)
        if _GAP in index:
            svg.words(x + 10, y + 12, "...", color=LINE)
            continue
        _draw_facet(
            _Facet(svg=svg, subject=subject, palette=palette, grid=grid, index=index, x=x, y=y, box_width=box_width)
        )
        for row, label in enumerate(labels):
            svg.chip(x - 8 - label_width / 2, y + row * _ROW + _BOX / 2, label, color=row_color)
    return svg


def _shown(size: int) -> tuple[int, ...]:
    return tuple(range(size)) if size <= _SHOWN else (0, 1, 2, _GAP, size - 1)


def _ends(size: int) -> tuple[int, ...]:
    return tuple(range(size)) if size <= 4 else (0, 1, _GAP, size - 1)


def _index(index: int) -> str:
    return "..." if index == _GAP else str(index)


def _row_labels(mesh: Mesh, grid: MeshGrid) -> list[str]:
    """The chips to the left of the rows."""
    if grid.wrapped:
        ranges = [(row * _SHOWN, min(mesh.size, (row + 1) * _SHOWN) - 1) for row in grid.rows]
        return [f"{fit(mesh.axis_names[0], 60)} {start}-{end}" for start, end in ranges]
    return _axis_labels(mesh.axis_names[-2], grid.rows) if len(mesh.shape) > 1 else []


def _axis_labels(name: str, indices: tuple[int, ...]) -> list[str]:
    return [f"{fit(name, 70)} {index}" if index != _GAP else "..." for index in indices]


def _draw_facet(facet: _Facet) -> None:
    """Draws links first, boxes over them, then the labels above."""
    svg, mesh, grid = facet.svg, facet.subject.mesh, facet.grid
    _draw_links(facet)
    for row, column, x, y in facet.places():
        position = facet.position(row, column)
        middle = x + facet.box_width / 2
        if position is not None:
            # In the selection's colour if a highlighted group contains it.
            is_lit = any(position in group for group in facet.subject.groups)
            svg.rect(x, y, facet.box_width, _BOX, fill=SELECTION if is_lit else NEUTRAL, rx=4)
            svg.words(middle, y + _BOX / 2 + 3.7, str(mesh.device_ids[position]), color="#fff")
        elif not grid.wrapped:
            svg.words(middle, y + _BOX / 2 + 3, "...", color=LINE)
    above = [] if grid.wrapped or not mesh.axis_names else _axis_labels(mesh.axis_names[-1], grid.columns)
    for column, label in enumerate(above):
        middle = facet.x + column * facet.step + facet.box_width / 2
        svg.chip(middle, facet.y - 14, fit(label, facet.step), color=facet.palette.of(mesh.axis_names[-1:]))
    if facet.index:
        lead = " ".join(f"{fit(name, 70)} {index}" for name, index in zip(mesh.axis_names, facet.index, strict=False))
        middle = facet.x + (len(grid.columns) * facet.step - _LINK) / 2
        svg.chip(middle, facet.y - 34, lead, color=facet.palette.of(mesh.axis_names[: len(facet.index)]))


def _draw_links(facet: _Facet) -> None:
    """Draws lines between neighbours along the last axis and, downwards, along the one before.

    A line is as thick as the root of the axis' bytes; thin and grey where nothing is sent.
    """
    mesh, grid, sent = facet.subject.mesh, facet.grid, dict(facet.subject.sent)
    across = mesh.axis_names[-1] if mesh.axis_names else ""
    links: list[tuple[str, tuple[float, float, float, float]]] = []
    for row, column, x, y in facet.places():
        is_last = column + 1 == len(grid.columns) or (grid.wrapped and facet.position(row, column + 1) is None)
        if not is_last:
            links.append((across, (x + facet.box_width, y + _BOX / 2, x + facet.step, y + _BOX / 2)))
        if len(mesh.axis_names) > 1 and row + 1 < len(grid.rows):
            middle = x + facet.box_width / 2
            links.append((mesh.axis_names[-2], (middle, y + _BOX, middle, y + _ROW)))
    for axis, ends in links:
        if size := sent.get(axis, 0):
            thick = 2 + 10 * math.sqrt(size / max(sent.values()))
            facet.svg.line(*ends, stroke=facet.palette.of((axis,)), stroke_width=thick)
        else:
            facet.svg.line(*ends, stroke=LINE, stroke_opacity=0.55)
