"""The chart of memory over the schedule: a band for each purpose of buffers, kernel by kernel.

Not its job: finding it (`analyze.memory.memory_use`), drawing (`view.figures.chart_figure`, `view.svg.area_picture`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pjit_inspect.model.memory.memory_use import MemoryTimeline, MemoryUse
from pjit_inspect.view.document.chart import AreaBand, AreaChart
from pjit_inspect.view.document.colors import LINE, MEMORY_COLORS
from pjit_inspect.view.document.quantities import byte_unit, plural

MOST_PLACES = 600
"""The most kernels that a chart shows; each shown one is the kernel of its stretch with most bytes alive."""
_NAMELESS = "smaller buffers"


def memory_curve_chart(use: MemoryUse, timelines: Sequence[MemoryTimeline]) -> AreaChart:
    """Bytes alive on one device over the schedule of its main memory, by purpose."""
    title = f"memory of one device over the schedule ({use.source})"
    if use.at is None or not timelines:
        return AreaChart(
            title=title, missing=f"memory over the schedule unknown: {use.missing or 'its analysis failed'}"
        )
    timeline = timelines[0]
    total = np.array(timeline.curve.bytes, _integers(timeline))
    if not len(total):
        return AreaChart(title=title, missing="memory over the schedule unknown: no kernel of the program is there")
    places = _places(total)
    bands = _bands(timeline, total, places, use.at.kernel)
    return AreaChart(
        title=title,
        measure=f"alive on one device ({use.source})",
        unit=byte_unit(int(total.max(initial=0))),
        bands=tuple(bands),
        places=tuple(places.tolist()),
        kernels=len(total),
        peak=use.at.kernel,
        phases=tuple((timeline.phases[place] or "") for place in places) if timeline.phases else (),
        notes=_notes(timeline, len(places), len(total)),
    )


def _integers(timeline: MemoryTimeline) -> type:
    """The integer type for sums of bytes; `object` where they may not fit 64 bits (damaged programs)."""
    most = max(timeline.curve.bytes, default=0) + sum(one.value.bytes * len(one.spans) for one in timeline.values)
    return np.int64 if most < 2**63 else object


def _places(total: np.ndarray) -> np.ndarray:
    """The kernels to show: all, or of each stretch the one with most bytes alive."""
    count = min(len(total), MOST_PLACES)
    edges = [k * len(total) // count for k in range(count + 1)] if count else [0]
    pairs = pairwise(edges)
    return np.array([start + int(np.argmax(total[start:end])) for start, end in pairs], np.int64)


def _bands(timeline: MemoryTimeline, total: np.ndarray, places: np.ndarray, peak: int) -> list[AreaBand]:
    """A band for each kind present, bottom first; buffers without a name are the top band."""
    found, rest = [], total.copy()
    for kind, color in MEMORY_COLORS.items():
        change = np.zeros(len(total) + 1, total.dtype)
        for one in timeline.values:
            if one.value.kind == kind:
                for start, end in one.spans:
                    change[start] += one.value.bytes
                    change[end + 1] -= one.value.bytes
        values = np.cumsum(change)[:-1]
        rest -= values
        if values.any():
            found.append(_band(kind, color, values, places, peak))
    if rest.any():
        found.append(_band(_NAMELESS, LINE, rest, places, peak))
    return found


def _band(name: str, color: str, values: np.ndarray, places: np.ndarray, peak: int) -> AreaBand:
    return AreaBand(
        name=name,
        color=color,
        values=tuple(values[places].tolist()),
        at_peak=int(values[peak]),
        most=int(values.max(initial=0)),
    )


def _notes(timeline: MemoryTimeline, shown: int, kernels: int) -> tuple[str, ...]:
    order = f"{plural(kernels, 'kernel')} in XLA's order, not time"
    notes = [order if shown == kernels else f"{order}; {shown:,} are shown, each the one with most alive of those near"]
    if timeline.nameless:
        notes.append(f"{plural(timeline.nameless, 'smaller buffer')} without a name")
    return tuple(notes)
