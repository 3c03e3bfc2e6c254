"""Live ranges of buffers in kernels, for a picture of memory over the schedule.

A kernel represents the moment of most live bytes from its beginning to the next kernel's. The buffers alive at that
moment add up exactly to the curve. Not its job: finding buffers (`analyze.memory.occupancy`), their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy
from pjit_inspect.model.memory.memory_use import MemoryCurve
from pjit_inspect.model.memory.timeline import MemoryTimeline, TimedValue
from pjit_inspect.model.report.collective import Phase

MOST_NAMED = 2000
"""Most named buffers of a timeline, the largest ones. More would take longer than the rest of a display."""


def moments(total: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """For each kernel, the position of the schedule with most live bytes before the next kernel begins.

    Args:
      total: bytes alive at each position.
      starts: the position of each kernel, ascending. Earlier positions belong to the first kernel.
    """
    if not starts:
        return np.zeros(0, np.int64)
    edges = np.array([0, *starts[1:]])
    kernel = np.repeat(np.arange(len(edges)), np.diff(edges, append=len(total)))
    highest = np.flatnonzero(total == np.maximum.reduceat(total, edges)[kernel])
    _, first = np.unique(kernel[highest], return_index=True)
    return highest[first]


def find_timeline(
    occupancy: Occupancy,
    curve: MemoryCurve,
    starts: Sequence[int],
    timed: Callable[[Buffer, tuple[tuple[int, int], ...]], TimedValue],
    phases: tuple[Phase, ...] = (),
) -> MemoryTimeline:
    """One memory over the schedule.

    Args:
      occupancy: all buffers.
      curve: the bytes of this memory.
      starts: the place of each kernel.
      timed: describes a buffer that is alive at these kernels.
      phases: the phase of training of each kernel; () for none.
    """
    own = [one for one in occupancy.buffers if one.space == curve.space and one.bytes and one.spans]
    own.sort(key=lambda one: -one.bytes)
    places = moments(occupancy.curve(lambda one: one.space == curve.space), starts)
    found = [timed(buffer, _in_kernels(buffer.spans, places)) for buffer in own[:MOST_NAMED]]
    found.sort(key=lambda one: (-one.value.bytes, one.value.begins, one.value.name))
    return MemoryTimeline(curve=curve, values=tuple(found), nameless=max(0, len(own) - MOST_NAMED), phases=phases)


def _in_kernels(spans: Sequence[tuple[int, int]], places: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Converts spans of positions to spans of kernels whose moments are in them; adjacent spans are merged."""
    found: list[tuple[int, int]] = []
    for begins, ends in spans:
        first = int(np.searchsorted(places, begins, "left"))
        last = int(np.searchsorted(places, ends, "right")) - 1
        if last < first:
            continue
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return tuple(found)
