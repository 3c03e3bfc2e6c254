"""What an array takes in memory with the padding of its tiles.

Not its job: which layout a chip would choose (`analyze.memory.fits`).
"""

from __future__ import annotations

import math

from pjit_inspect.model.program.dtype import bits_of
from pjit_inspect.model.program.shape import COMBINED, UNBOUNDED, Layout, Shape

__all__ = ["padded_bytes"]


def padded_bytes(shape: Shape) -> int | None:
    """Bytes of an array on one device, its layout's tiles filled up; None when they are not known.

    The first tile of a layout covers the most minor dimensions, and each of these is filled up to a multiple of the
    tile's length. Further tiles lie within the first: they put its elements in another order.

    *Source*: XLA's "Tiled layout" (`xla/layout.h`), and `Layout.tiles`.
    """
    layout = shape.layout
    if layout is None or not layout.tiles or not shape.is_array:
        return shape.bytes
    bits = layout.element_bits or bits_of(shape.dtype)
    if bits is None or UNBOUNDED in shape.dimensions:
        return None
    if not layout.element_bits:
        bits = 8 * -(-bits // 8)
    elements = math.prod(_padded(shape.dimensions, layout))
    if layout.tail_padding > 1:
        elements = -(-elements // layout.tail_padding) * layout.tail_padding
    return -(-elements * bits // 8)


def _padded(dimensions: tuple[int, ...], layout: Layout) -> list[int]:
    """The lengths from the most minor on, filled up."""
    lengths = [dimensions[d] for d in layout.minor_to_major if 0 <= d < len(dimensions)] or [1]
    for tile in layout.tiles:
        lengths = _filled(lengths, tile)
    return lengths


def _filled(lengths: list[int], tile: tuple[int, ...]) -> list[int]:
    """Lengths, minor first, with a tile over the most minor ones: the tile's own, how many of it, and the rest."""
    lengths = lengths + [1] * (len(tile) - len(lengths))
    inside: list[int] = []
    counts: list[int] = []
    combined = 1
    for own, length in zip(tile, reversed(lengths[: len(tile)]), strict=True):
        if own == COMBINED:
            # The dimension is one with the next more minor one.
            combined *= length
            continue
        inside.append(own)
        counts.append(-(-length * combined // own))
        combined = 1
    return [*reversed(inside), *reversed(counts), *lengths[len(tile) :]]
