"""How much memory buffers take that are placed as XLA places them: one after another, each in the smallest gap it fits.

Buffers of different length leave gaps, so the memory that XLA reserves is more than what is ever alive in it. Not its
job: which buffers there are (`analyze.memory.occupancy`).

*Source*: XLA's `GlobalDecreasingSizeBestFitHeap`, by size and by length; the better of the two. Of equal size comes first
what is there longer itself; by length counts all that lies in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Chunk", "packed_bytes"]

_MOST = 1500
"""Chunks that are placed: the largest. What is smaller than all these fits in the gaps they leave."""
_ENDLESS = 2**61


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What needs one place.

    Attributes:
      bytes: its size.
      spans: from when to when it is taken, ends included.
    """

    bytes: int
    spans: tuple[tuple[int, int], ...]

    @property
    def begins(self) -> int:
        """When it is taken first."""
        return self.spans[0][0]

    @property
    def length(self) -> int:
        """From its beginning to its end."""
        return max(end for _, end in self.spans) - self.begins

    @property
    def own_length(self) -> int:
        """Of the first that lies there, without what takes its place over."""
        return self.spans[0][1] - self.begins


def packed_bytes(chunks: Sequence[Chunk], alignment: int = 1) -> int:
    """The memory that XLA would reserve for all of them; each begins at a multiple of `alignment`."""
    largest = sorted((chunk for chunk in chunks if chunk.bytes and chunk.spans), key=lambda chunk: -chunk.bytes)[:_MOST]
    return min(_placed(largest, _by_size, alignment), _placed(largest, _by_length, alignment))


def _by_size(chunk: Chunk) -> tuple[int, int, int]:
    return -chunk.bytes, -chunk.own_length, chunk.begins


def _by_length(chunk: Chunk) -> tuple[int, int, int]:
    return -chunk.length, -chunk.bytes, chunk.begins


def _placed(chunks: Sequence[Chunk], order: Callable[[Chunk], tuple[int, int, int]], alignment: int) -> int:
    """The end of the last when they are placed in an order."""
    count = sum(len(chunk.spans) for chunk in chunks)
    begins, ends, low, high = (np.zeros(count, np.int64) for _ in range(4))
    used = height = 0
    for chunk in sorted(chunks, key=order):
        taken = np.zeros(used, bool)
        for begin, end in chunk.spans:
            taken |= (begins[:used] <= end) & (ends[:used] >= begin)
        offset = _best_gap(low[:used][taken], high[:used][taken], chunk.bytes, alignment)
        height = max(height, offset + chunk.bytes)
        for begin, end in chunk.spans:
            begins[used], ends[used], low[used], high[used] = begin, end, offset, offset + chunk.bytes
            used += 1
    return height


def _best_gap(low: np.ndarray, high: np.ndarray, size: int, alignment: int) -> int:
    """Where the smallest gap begins that has room, between what lies from `low` to `high`; else the end of all."""
    if not len(low):
        return 0
    order = np.argsort(low)
    low, reach = low[order], np.maximum.accumulate(high[order])
    starts = -(-np.concatenate(([0], reach)) // alignment) * alignment
    gaps = np.concatenate((low, [_ENDLESS])) - starts
    return int(starts[np.argmin(np.where(gaps >= size, gaps, 2 * _ENDLESS))])
