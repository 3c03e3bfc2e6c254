"""Models the memory of an array on a TPU before anything is compiled for one: its tiles and padding.

Tiles are 128 elements along the most minor dimension and up to 8 along the one before it. For arguments without a
layout XLA chooses the smallest one. Not its job: arrays with a known layout (`Shape.padded_bytes`).

*Source*: layouts of arguments in programs compiled ahead of time (`scripts/memory_padding` checks them); JAX's
`TpuInfo.get_sublane_tiling`, whose larger tiles XLA uses only if they add no padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

_LANES, _ROWS, _MOST_FLAT, _WORD = 128, 8, 1024, 32


def tpu_bytes(shape: Sequence[int], bits: int, minor_to_major: Sequence[int]) -> int:
    """Bytes on one device for a layout given by `minor_to_major`.

    Args:
      shape: the lengths on one device.
      bits: bits of one element (8 for a boolean).
      minor_to_major: the dimensions, the one that varies fastest first.
    """
    lengths = [shape[dimension] for dimension in minor_to_major]
    if len(lengths) < 2:
        return _flat(lengths[0] if lengths else 1, bits) * bits // 8
    lanes, rows, *outer = lengths
    return _filled(lanes, _LANES) * _filled(rows, _rows(rows, bits)) * math.prod(outer) * bits // 8


def least_tpu_bytes(shape: Sequence[int], bits: int) -> int:
    """Bytes on one device in the smallest layout, which XLA gives to an argument by default."""
    if len(shape) < 2:
        return tpu_bytes(shape, bits, range(len(shape)))
    ways = permutations(range(len(shape)), 2)
    return min(tpu_bytes(shape, bits, [*way, *(d for d in range(len(shape)) if d not in way)]) for way in ways)


def _rows(length: int, bits: int) -> int:
    """Rows of a tile: few where the dimension is short, but as many as share a word of 32 bits."""
    return max(_WORD // min(bits, _WORD), min(_ROWS, _power(length)))


def _flat(length: int, bits: int) -> int:
    """Elements that an array of one dimension, or a scalar, takes."""
    least = _LANES * (_WORD // min(bits, _WORD))
    return _filled(length, min(_MOST_FLAT, max(least, _power(length))))


def _power(length: int) -> int:
    return 1 << max(0, length - 1).bit_length()


def _filled(length: int, tile: int) -> int:
    return -(-length // tile) * tile
