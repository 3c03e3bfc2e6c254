"""The picture of one array: a block per distinct tile, with the devices that hold it.

The front face is the two largest split dimensions (or the largest ones); the others are depth. Copies are drawn as
hatching and outlines behind, partial sums with dashed outlines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    row_dim, column_dim = _drawn_dims(layout.global_shape, tiles)
    row_tiles = 1 if row_dim is None else tiles[row_dim]
    column_tiles = 1 if column_dim is None else tiles[column_dim]
    per_block = _tiles_per_block(row_tiles, column_tiles)
    rows, columns = -(-row_tiles // per_block[0]), -(-column_tiles // per_block[1])
    held = _held(layout.sharding, (row_dim, column_dim), per_block)
    return ShardFace(
        row_dim=row_dim,
        column_dim=column_dim,
        rows=rows,
        columns=columns,
        blocks=tuple(_block(r, c, held.get((r, c), [])) for r in range(rows) for c in range(columns)),
        depth_dims=tuple(dim for dim in range(len(tiles)) if dim not in (row_dim, column_dim)),
        per_block=per_block,
    )


def _held(
    sharding: Sharding, dims: tuple[int | None, int | None], per_block: tuple[int, int]
) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """(row, column) of a block -> the (device, tile) pairs in it, of the front face only."""
    held: dict[tuple[int, int], list[tuple[int, int]]] = {}
    behind = [dim for dim in range(len(sharding.tiles)) if dim not in dims]
    for device, tile in zip(sharding.device_ids, sharding.tile_of, strict=True):
        index = _unravel(tile, sharding.tiles)
        if any(index[dim] for dim in behind):
            continue
        row, column = (0 if dim is None else index[dim] // per for dim, per in zip(dims, per_block, strict=True))
        held.setdefault((row, column), []).append((device, tile))
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawing:
    """A picture being drawn: the array, its front face at (0, 0), and the colours."""

    svg: Svg
    layout: ArrayLayout
    sharding: Sharding
    face: ShardFace
    palette: Palette
    width: float
    height: float

    @property
    def depth(self) -> float:
        """Pixels by which undrawn dimensions extend back, up and to the right."""
        return _DEPTH if self.face.depth_dims else 0.0

    def axes(self, dim: int) -> tuple[str, ...] | None:
        """The axes a dimension is split over: () for a split without axes, None for no split."""
        return _split_axes(self.sharding, dim)


def draw_shards(layout: ArrayLayout, palette: Palette) -> Svg:
    """The picture of one array; a dashed box with "unknown" for an unknown sharding."""
    face, sharding, svg = shard_face(layout), layout.sharding, Svg()
    if face is None or sharding is None:
        svg.rect(0, 0, 96, 40, stroke=LINE, stroke_dasharray="4 3")
        svg.chip(48, 20, "unknown", color=NEUTRAL)
        return svg
    width, height = _face_size(layout, sharding, face)
    drawing = _Drawing(
        svg=svg, layout=layout, sharding=sharding, face=face, palette=palette, width=width, height=height
    )
    _draw_depth(drawing)
    _draw_copies(drawing)
    _draw_blocks(drawing)
    _draw_labels(drawing)
    _draw_rulers(drawing)
    return svg


def _drawn_dims(shape: tuple[int, ...], tiles: tuple[int, ...]) -> tuple[int | None, int | None]:
    """The dimensions drawn down and across: split ones first, then the longest, in the array's order."""
    ranked = sorted(range(len(tiles)), key=lambda dim: (tiles[dim] == 1, -shape[dim], dim))
    drawn = sorted(ranked[:2])
    if len(drawn) == 2:
        return drawn[0], drawn[1]
    return (None, drawn[0]) if drawn else (None, None)


def _tiles_per_block(rows: int, columns: int) -> tuple[int, int]:
    """Tiles per block each way: with many tiles one way, blocks are few, and wide enough to label."""
    if max(rows, columns) <= _MAX_BLOCKS:
        return 1, 1
    return -(-rows // _FOLDED_BLOCKS), -(-columns // _FOLDED_BLOCKS)


def _unravel(tile: int, tiles: tuple[int, ...]) -> tuple[int, ...]:
    index: list[int] = []
    for count in reversed(tiles):
        tile, position = divmod(tile, count)
        index.append(position)
    return tuple(reversed(index))


def _block(row: int, column: int, held: list[tuple[int, int]]) -> Block:
    devices = tuple(sorted({device for device, _ in held}))
    return Block(row=row, column=column, devices=devices, tiles=tuple(sorted({tile for _, tile in held})))


def _face_size(layout: ArrayLayout, sharding: Sharding, face: ShardFace) -> tuple[float, float]:
    """Pixels of the front face: the array's proportions, damped, with room for a label in every block."""
    if face.column_dim is None:
        return 40.0, 28.0
    label = max(chip_width(ranges_text(block.devices, limit=2)) for block in face.blocks) + 8
    least_width = face.columns * min(66.0 if face.columns <= _FOLDED_BLOCKS else 34.0, label)
    if face.row_dim is None:
        return min(max(112.0, least_width), 260.0), 26.0
    least_height = face.rows * (20.0 if face.rows <= _FOLDED_BLOCKS else 16.5)
    least_height = max(least_height, min(chip_width(_ruler_text(layout, sharding, face.row_dim)), 84.0))
    ratio = (layout.global_shape[face.column_dim] or 1) / (layout.global_shape[face.row_dim] or 1)
    stretch = math.exp(max(-0.55, min(0.55, math.log(ratio) / 4)))
    return min(max(96.0 * stretch, least_width, 48.0), 300.0), max(64.0 / stretch, least_height)


def _split_axes(sharding: Sharding, dim: int) -> tuple[str, ...] | None:
    if sharding.tiles[dim] == 1:
        return None
    entry: SpecEntry = sharding.spec[dim] if sharding.spec is not None else None
    if entry is None:
        return ()
    return (entry,) if isinstance(entry, str) else entry


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
    """Draws the face: a fill per block in steps of the axis' colour, hatched for copies or partial sums."""
    svg, face, sharding = drawing.svg, drawing.face, drawing.sharding
    color = _fill(drawing)
    hatch = drawing.palette.of(sharding.unreduced) if sharding.unreduced else HATCH
    hatched = bool(sharding.unreduced) or sharding.replication > 1
    w, h = drawing.width / face.columns, drawing.height / face.rows
    for block in face.blocks:
        x, y = block.column * w, block.row * h
        if not block.devices:
            svg.rect(x, y, w, h, stroke=LINE, stroke_dasharray="3 2")
            continue
        svg.rect(x, y, w, h, fill=color, fill_opacity=_shade(block, face), stroke=color)
        if hatched:
            svg.rect(x, y, w, h, fill=svg.hatch(hatch))
    _draw_seams(drawing)


def _fill(drawing: _Drawing) -> str:
    drawn = [dim for dim in (drawing.face.row_dim, drawing.face.column_dim) if dim is not None]
    return drawing.palette.of(tuple(axis for dim in drawn for axis in drawing.axes(dim) or ()))


def _shade(block: Block, face: ShardFace) -> float:
    count = face.rows * face.columns
    if count == 1:
        return 0.45
    return 0.5 + 0.5 * (block.row * face.columns + block.column) / (count - 1)


def _draw_seams(drawing: _Drawing) -> None:
    """Draws light lines between blocks, so that neighbours stay apart on either page colour."""
    face, width, height = drawing.face, drawing.width, drawing.height
    across = "".join(f"M0 {row * height / face.rows:.1f}h{width:.1f}" for row in range(1, face.rows))
    down = "".join(f"M{column * width / face.columns:.1f} 0v{height:.1f}" for column in range(1, face.columns))
    if across or down:
        drawing.svg.path(across + down, stroke="#fff", stroke_opacity=0.8)


def _draw_labels(drawing: _Drawing) -> None:
    """Draws the devices of each block."""
    w, h = drawing.width / drawing.face.columns, drawing.height / drawing.face.rows
    for block in drawing.face.blocks:
        if block.devices:
            x, y = (block.column + 0.5) * w, (block.row + 0.5) * h
            drawing.svg.chip(x, y, _device_label(block.devices, w - 3), color=NEUTRAL)


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
    if face.column_dim is not None:
        axes, text = drawing.axes(face.column_dim), _ruler_text(drawing.layout, drawing.sharding, face.column_dim)
        if axes is not None:
            _ruler(drawing, axes, across=True)
        svg.chip((drawing.width + depth) / 2, -depth - 14, fit(text, 170), color=drawing.palette.of(axes))
    if face.row_dim is not None:
        axes, text = drawing.axes(face.row_dim), _ruler_text(drawing.layout, drawing.sharding, face.row_dim)
        if axes is not None:
            _ruler(drawing, axes, across=False)
        text = fit(text, max(drawing.height + 4, 60))
        svg.chip(-14, drawing.height / 2, text, color=drawing.palette.of(axes), turned=True)
    if face.depth_dims:
        _label_depth(drawing)


def _ruler(drawing: _Drawing, axes: tuple[str, ...], *, across: bool) -> None:
    """Draws a line along one edge, broken at the block borders."""
    length, parts = (drawing.width, drawing.face.columns) if across else (drawing.height, drawing.face.rows)
    step = length / parts
    bounds = [(part * step + 1.2, (part + 1) * step - 1.2) for part in range(parts)]
    y = -drawing.depth - 4
    lines = [f"M{a:.1f} {y}H{b:.1f}" if across else f"M-4 {a:.1f}V{b:.1f}" for a, b in bounds]
    drawing.svg.path("".join(lines), stroke=drawing.palette.of(axes), stroke_width=2)


def _label_depth(drawing: _Drawing) -> None:
    dims = drawing.face.depth_dims
    axes = tuple(axis for dim in dims for axis in drawing.axes(dim) or ())
    text = fit(" x ".join(_ruler_text(drawing.layout, drawing.sharding, dim) for dim in dims), 150)
    x = drawing.width + drawing.depth + 6 + chip_width(text) / 2
    drawing.svg.chip(x, 4 - drawing.depth, text, color=drawing.palette.of(axes))


def _ruler_text(layout: ArrayLayout, sharding: Sharding, dim: int) -> str:
    axes, length = _split_axes(sharding, dim), str(layout.global_shape[dim])
    if axes is None:
        return length
    return f"{length} {' '.join(axes)}" if axes else f"{length} / {sharding.tiles[dim]}"
