"""The picture of one array: a block per distinct tile, with the devices that hold it.

The front face is the two largest split dimensions (or the largest ones); the others are depth. Copies are drawn as
hatching and outlines behind, partial sums with dashed outlines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.view.document.colors import HATCH, LINE, NEUTRAL, Palette
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.svg.svg import Svg, chip_width, fit

_MAX_BLOCKS = 8  # tiles along one dimension up to which each gets a block
_FOLDED_BLOCKS = 4  # blocks along a dimension with more tiles
_OUTLINES = 3
_PARTIAL_OUTLINES = 2
_DEPTH = 9.0

_Dims = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of the picture.

    Attributes:
      row, column: its place.
      devices: the devices that hold some of it, in order.
      tiles: the row-major tile numbers it covers; more than one when many tiles share a block.
    """

    row: int
    column: int
    devices: tuple[int, ...]
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardFace:
    """The parts of an array's picture: its front face and the dimensions behind.

    Attributes:
      row_dim, column_dim: the dimensions drawn down and across; None where the rank has none.
      rows, columns: the number of blocks each way.
      blocks: every block, row by row. The front face is tile 0 of the dimensions not drawn.
      depth_dims: the dimensions not drawn.
      per_block: tiles along (row, column) that share one block; 1 unless there are many.
    """

    row_dim: int | None
    column_dim: int | None
    rows: int
    columns: int
    blocks: tuple[Block, ...]
    depth_dims: tuple[int, ...]
    per_block: tuple[int, int]


def shard_face(layout: ArrayLayout) -> ShardFace | None:
    """The front face of an array's picture; None when its sharding is unknown."""
    if layout.sharding is None:
        return None
    tiles = layout.sharding.tiles
    dims = _drawn_dims(layout.global_shape, tiles)
    rows, columns = (1 if dim is None else tiles[dim] for dim in dims)
    per_block = 1, 1
    if max(rows, columns) > _MAX_BLOCKS:
        # With many tiles one way, blocks are few, and wide enough to label.
        per_block = -(-rows // _FOLDED_BLOCKS), -(-columns // _FOLDED_BLOCKS)
        rows, columns = -(-rows // per_block[0]), -(-columns // per_block[1])
    return ShardFace(
        row_dim=dims[0],
        column_dim=dims[1],
        rows=rows,
        columns=columns,
        blocks=_blocks(layout.sharding, dims, per_block, (rows, columns)),
        depth_dims=tuple(dim for dim in range(len(tiles)) if dim not in dims),
        per_block=per_block,
    )


def _blocks(sharding: Sharding, dims: _Dims, per_block: tuple[int, int], size: tuple[int, int]) -> tuple[Block, ...]:
    """The blocks of the front face, each with the devices and the tiles in it."""
    held: dict[tuple[int, int], list[tuple[int, int]]] = {}
    behind = [dim for dim in range(len(sharding.tiles)) if dim not in dims]
    for device, tile in zip(sharding.device_ids, sharding.tile_of, strict=True):
        index = _unravel(tile, sharding.tiles)
        if not any(index[dim] for dim in behind):
            row, column = (0 if dim is None else index[dim] // per for dim, per in zip(dims, per_block, strict=True))
            held.setdefault((row, column), []).append((device, tile))
    return tuple(
        Block(
            row=row,
            column=column,
            devices=tuple(sorted({device for device, _ in held.get((row, column), ())})),
            tiles=tuple(sorted({tile for _, tile in held.get((row, column), ())})),
        )
        for row in range(size[0])
        for column in range(size[1])
    )


def _unravel(tile: int, tiles: tuple[int, ...]) -> tuple[int, ...]:
    index: list[int] = []
    for count in reversed(tiles):
        tile, position = divmod(tile, count)
        index.append(position)
    return tuple(reversed(index))


def _drawn_dims(shape: tuple[int, ...], tiles: tuple[int, ...]) -> _Dims:
    """The dimensions drawn down and across: split ones first, then the longest, in the array's order."""
    ranked = sorted(range(len(tiles)), key=lambda dim: (tiles[dim] == 1, -shape[dim], dim))
    drawn = sorted(ranked[:2])
    if len(drawn) == 2:
        return drawn[0], drawn[1]
    return (None, drawn[0]) if drawn else (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """A picture being drawn: the array, its front face at (0, 0), and the colours."""

    svg: Svg
    layout: ArrayLayout
    sharding: Sharding
    face: ShardFace
    palette: Palette
    width: float = 0.0
    height: float = 0.0

    @property
    def depth(self) -> float:
        """Pixels by which undrawn dimensions extend back, up and to the right."""
        return _DEPTH if self.face.depth_dims else 0.0

    def axes(self, dim: int) -> tuple[str, ...] | None:
        """The axes a dimension is split over: () for a split without axes, None for no split."""
        if self.sharding.tiles[dim] == 1:
            return None
        entry: SpecEntry = self.sharding.spec[dim] if self.sharding.spec is not None else None
        return () if entry is None else (entry,) if isinstance(entry, str) else entry

    def ruler_text(self, dim: int) -> str:
        """Length and axes of a dimension."""
        axes, length = self.axes(dim), str(self.layout.global_shape[dim])
        if axes is None:
            return length
        return f"{length} {' '.join(axes)}" if axes else f"{length} / {self.sharding.tiles[dim]}"

    def size(self) -> tuple[float, float]:
        """Pixels of the front face: the array's proportions, damped, with room for a label in every block."""
        face, shape = self.face, self.layout.global_shape
        if face.column_dim is None:
            return 40.0, 28.0
        label = max(chip_width(ranges_text(block.devices, limit=2)) for block in face.blocks) + 8
        least_width = face.columns * min(66.0 if face.columns <= _FOLDED_BLOCKS else 34.0, label)
        if face.row_dim is None:
            return min(max(112.0, least_width), 260.0), 26.0
        least_height = face.rows * (20.0 if face.rows <= _FOLDED_BLOCKS else 16.5)
        least_height = max(least_height, min(chip_width(self.ruler_text(face.row_dim)), 84.0))
        ratio = (shape[face.column_dim] or 1) / (shape[face.row_dim] or 1)
        stretch = math.exp(max(-0.55, min(0.55, math.log(ratio) / 4)))
        return min(max(96.0 * stretch, least_width, 48.0), 300.0), max(64.0 / stretch, least_height)


def draw_shards(layout: ArrayLayout, palette: Palette) -> Svg:
    """The picture of one array; a dashed box with "unknown" for an unknown sharding."""
    face, sharding, svg = shard_face(layout), layout.sharding, Svg()
    if face is None or sharding is None:
        svg.rect(0, 0, 96, 40, stroke=LINE, stroke_dasharray="4 3")
        svg.chip(48, 20, "unknown", color=NEUTRAL)
        return svg
    drawing = _Drawing(svg=svg, layout=layout, sharding=sharding, face=face, palette=palette)
    width, height = drawing.size()
    drawing = replace(drawing, width=width, height=height)
    _draw_depth(drawing)
    _draw_copies(drawing)
    _draw_blocks(drawing)
    _draw_rulers(drawing)
    return svg


def _draw_depth(drawing: _Drawing) -> None:
    """Draws the top and the right side of a box."""
    depth, width, height = drawing.depth, drawing.width, drawing.height
    if not depth:
        return
    drawing.svg.rect(0, -depth, width + depth, height + depth)
    top = f"M0 0l{depth} -{depth}h{width:.1f}l-{depth} {depth}"
    side = f"M{width:.1f} {height:.1f}l{depth} -{depth}v-{height:.1f}"
    drawing.svg.path(top + side, stroke=LINE)


def _draw_copies(drawing: _Drawing) -> None:
    """Draws outlines behind the face: solid for copies, dashed in the axis' colour for partial sums."""
    sharding = drawing.sharding
    partial = drawing.palette.of(sharding.unreduced) if sharding.unreduced else None
    behind = _PARTIAL_OUTLINES if partial else min(_OUTLINES, sharding.replication - 1)
    for step in range(behind, 0, -1):
        x = drawing.depth + step * 3.5
        y, dashes = x - 2 * drawing.depth, "3 2" if partial else "none"
        drawing.svg.rect(x, y, drawing.width, drawing.height, stroke=partial or LINE, stroke_dasharray=dashes)


def _draw_blocks(drawing: _Drawing) -> None:
    """Draws the face: a fill per block in steps of the axis' colour, hatched for copies or partial sums; labels."""
    svg, face, sharding, palette = drawing.svg, drawing.face, drawing.sharding, drawing.palette
    drawn = [dim for dim in (face.row_dim, face.column_dim) if dim is not None]
    color = palette.of(tuple(axis for dim in drawn for axis in drawing.axes(dim) or ()))
    hatch = palette.of(sharding.unreduced) if sharding.unreduced else HATCH
    hatched = bool(sharding.unreduced) or sharding.replication > 1
    w, h, count = drawing.width / face.columns, drawing.height / face.rows, face.rows * face.columns
    for number, block in enumerate(face.blocks):
        x, y = block.column * w, block.row * h
        if not block.devices:
            svg.rect(x, y, w, h, stroke=LINE, stroke_dasharray="3 2")
            continue
        shade = 0.45 if count == 1 else 0.5 + 0.5 * number / (count - 1)
        svg.rect(x, y, w, h, fill=color, fill_opacity=shade, stroke=color)
        if hatched:
            svg.rect(x, y, w, h, fill=svg.hatch(hatch))
    # Light lines between blocks keep neighbours apart on either page colour.
    across = "".join(f"M0 {row * h:.1f}h{drawing.width:.1f}" for row in range(1, face.rows))
    down = "".join(f"M{column * w:.1f} 0v{drawing.height:.1f}" for column in range(1, face.columns))
    if across or down:
        svg.path(across + down, stroke="#fff", stroke_opacity=0.8)
    for block in face.blocks:
        if block.devices:
            label = _device_label(block.devices, w - 3)
            svg.chip((block.column + 0.5) * w, (block.row + 0.5) * h, label, color=NEUTRAL)


def _device_label(devices: tuple[int, ...], width: float) -> str:
    """The devices that fit: all runs, the first ones, or only the first device."""
    for limit in (None, 3, 2, 1):
        text = ranges_text(devices, limit=limit)
        if chip_width(text) <= width:
            return text
    # A number is never shortened: it would look like another device.
    first = str(devices[0])
    return f"{first} .." if len(devices) > 1 and chip_width(f"{first} ..") <= width else first


def _draw_rulers(drawing: _Drawing) -> None:
    """Draws a ruler with length and axes along each drawn dimension; only the length if it is not split."""
    svg, face, depth = drawing.svg, drawing.face, drawing.depth
    for dim, is_across in ((face.column_dim, True), (face.row_dim, False)):
        if dim is None:
            continue
        axes, text = drawing.axes(dim), drawing.ruler_text(dim)
        color = drawing.palette.of(axes)
        if axes is not None:
            # A line along one edge, broken at the block borders.
            length, parts = (drawing.width, face.columns) if is_across else (drawing.height, face.rows)
            step = length / parts
            bounds = [(part * step + 1.2, (part + 1) * step - 1.2) for part in range(parts)]
            lines = [f"M{a:.1f} {-depth - 4}H{b:.1f}" if is_across else f"M-4 {a:.1f}V{b:.1f}" for a, b in bounds]
            svg.path("".join(lines), stroke=color, stroke_width=2)
        if is_across:
            svg.chip((drawing.width + depth) / 2, -depth - 14, fit(text, 170), color=color)
        else:
            svg.chip(-14, drawing.height / 2, fit(text, max(drawing.height + 4, 60)), color=color, turned=True)
    if face.depth_dims:
        axes = tuple(axis for dim in face.depth_dims for axis in drawing.axes(dim) or ())
        text = fit(" x ".join(map(drawing.ruler_text, face.depth_dims)), 150)
        x = drawing.width + depth + 6 + chip_width(text) / 2
        svg.chip(x, 4 - depth, text, color=drawing.palette.of(axes))
