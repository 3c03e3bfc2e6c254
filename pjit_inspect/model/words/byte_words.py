"""Bytes in words for sentences: "1.5 GiB".

Not its job: figures in tables, which share a unit (`view.document.quantities`).
"""

from __future__ import annotations

from collections.abc import Sequence

ONE_TURN = "if each loop of unknown length takes one turn"
"""The condition under which one figure holds for a program with loops of unknown length."""

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def bytes_in_words(size_bytes: int, digits: int = 3) -> str:
    """A size with `digits` digits: "1.5 GiB", "512 B"."""
    for unit, width in _UNITS:
        if size_bytes >= width:
            value = size_bytes / width
            # Not 1.02e+03.
            return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.{digits}g} {unit}"
    return f"{size_bytes:,} B"


def bytes_in_one_unit(sizes: Sequence[float | None]) -> tuple[list[str], str]:
    """Sizes that are compared, all in the unit of the largest: (["4.13", "1.72"], "MiB"); None is "unknown"."""
    largest = max((size for size in sizes if size is not None), default=0)
    unit, width = next(((unit, width) for unit, width in _UNITS if largest >= width), ("B", 1))
    return ["unknown" if size is None else _hundredths(size, width) for size in sizes], unit


def _hundredths(size: float, width: int) -> str:
    if width == 1 or not size:
        return f"{size:,.0f}"
    return "<0.01" if 0 < size / width < 0.005 else f"{size / width:,.2f}"
