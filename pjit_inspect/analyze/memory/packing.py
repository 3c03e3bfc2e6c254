"""How much memory buffers take that are placed as XLA places them: one after another, each in the smallest gap it fits.

Buffers of different length leave gaps, so the memory that XLA reserves is more than what is ever alive in it. Not its
job: which buffers there are (`analyze.memory.occupancy`).

*Source*: XLA's `GlobalDecreasingSizeBestFitHeap`, by size and by length; the better of the two. Of equal size
comes first what is there longer itself; a length is that of all that lies in one place.
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
    by_size = _placed(largest, _by_size, alignment, _ENDLESS)
    return _placed(largest, _by_length, alignment, by_size)


def _by_size(chunk: Chunk) -> tuple[int, int, int]:
    return -chunk.bytes, -chunk.own_length, chunk.begins


def _by_length(chunk: Chunk) -> tuple[int, int, int]:
    return -chunk.length, -chunk.bytes, chunk.begins


def _placed(chunks: Sequence[Chunk], order: Callable[[Chunk], tuple[int, int, int]], alignment: int, most: int) -> int:
    """The end of the last when they are placed in an order; `most` if it is not before that."""
    # Begin and end in time, begin and aligned end in memory, ascending in memory.
    placed = np.zeros((4, sum(len(chunk.spans) for chunk in chunks)), np.int64)
    used = height = 0
    for chunk in sorted(chunks, key=order):
        begins, ends, low, high = placed[:, :used]
        begin, end = chunk.spans[0]
        taken = (begins <= end) & (ends >= begin)
        for begin, end in chunk.spans[1:]:
            taken |= (begins <= end) & (ends >= begin)
        offset = _best_gap(low[taken], high[taken], chunk.bytes)
        height = max(height, offset + chunk.bytes)
        if height >= most:
            return most
        at, count = int(low.searchsorted(offset)), len(chunk.spans)
        placed[:, at + count : used + count] = placed[:, at:used].copy()
        placed[:2, at : at + count] = np.array(chunk.spans).T
        placed[2, at : at + count] = offset
        placed[3, at : at + count] = -(-(offset + chunk.bytes) // alignment) * alignment
        used += count
    return height


def _best_gap(low: np.ndarray, high: np.ndarray, size: int) -> int:
    """Where the smallest gap begins that has room, between what lies from `low`, ascending, to `high`; else the end."""
    if not len(low):
        return 0
    starts, gaps = np.zeros(len(low) + 1, np.int64), np.empty(len(low) + 1, np.int64)
    np.maximum.accumulate(high, out=starts[1:])
    np.subtract(low, starts[:-1], out=gaps[:-1])
    gaps[-1] = _ENDLESS
    gaps[gaps < size] = 2 * _ENDLESS
    return int(starts[gaps.argmin()])
