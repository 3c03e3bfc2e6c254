"""Bytes in words for sentences: "1.5 GiB".

Not its job: figures in tables, which share a unit (`view.document.quantities`).
"""

from __future__ import annotations

__all__ = ["bytes_in_words"]

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def bytes_in_words(size_bytes: int, digits: int = 3) -> str:
    """A size in so many digits: "1.5 GiB", "512 B"."""
    for unit, width in _UNITS:
        if size_bytes >= width:
            value = size_bytes / width
            # Not 1.02e+03.
            return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.{digits}g} {unit}"
    return f"{size_bytes:,} B"
