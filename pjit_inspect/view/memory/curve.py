"""Memory over the schedule as lines of text: a column for each run of kernels, showing their maximum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pjit_inspect.model.memory.memory_use import MemoryCurve
from pjit_inspect.view.document.quantities import byte_unit, bytes_in

_COLUMNS, _ROWS = 72, 5


def curve_lines(curve: MemoryCurve, peak: int) -> list[str]:
    """The curve, with its scale on the left and a mark under the peak; [] if it is empty.

    Args:
      curve: the curve.
      peak: the kernel of the peak.
    """
    columns = _columns(curve.bytes)
    top = max(columns, default=0)
    if not top:
        return []
    unit = byte_unit(top)
    scale = [bytes_in(top * row // _ROWS, unit).rjust(9) for row in range(_ROWS, 0, -1)]
    lines = [
        f"{figure} {''.join(_cell(value, top, row) for value in columns)}".rstrip()
        for figure, row in zip(scale, range(_ROWS, 0, -1), strict=True)
    ]
    at = min(len(columns) - 1, peak * len(columns) // max(1, len(curve.bytes)))
    return [*lines, f"{unit.rjust(9)} {' ' * at}^ kernel {peak:,}"]


def _columns(values: Sequence[int]) -> list[int]:
    """At most `_COLUMNS` columns, each with the most bytes of its kernels."""
    count = min(_COLUMNS, len(values))
    edges = [k * len(values) // count for k in range(count + 1)] if count else []
    return [max(values[start:end]) for start, end in pairwise(edges)]


def _cell(value: int, top: int, row: int) -> str:
    """A full, partly filled or empty cell at this height."""
    height = value / top * _ROWS
    return "#" if height >= row - 0.25 else "." if height > row - 1 else " "
