"""The spelling of bytes, seconds and counts.

Sizes use powers of 1024 and say so (KiB, MiB, ...). One table keeps one unit, so that its figures compare at a glance.
Not its job: computing them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pjit_inspect.view.document.document import Number, Provenance

_MOST_BYTES = 2**63
_MOST = 10**18
"""No program counts this far. A damaged file may, with more digits than Python prints."""

_MICROSECONDS = {"\u00b5s": 1.0, "ms": 1e3, "s": 1e6}
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


def byte_unit(size_bytes: int) -> str:
    """The most readable unit of a size. MiB are kept up to 10,240: 1,399 MiB compares better than 1.37 GiB."""
    if size_bytes < 2**10:
        return "B"
    if size_bytes < 2**20:
        return "KiB"
    for unit, limit in (("MiB", 10 * 2**30), ("GiB", 10 * 2**40), ("TiB", 10 * 2**50)):
        if size_bytes < limit:
            return unit
    return "PiB"


def share_unit(sizes: Iterable[int | None]) -> str:
    """The one unit for a column of sizes: the largest size's."""
    return byte_unit(max((size for size in sizes if size is not None), default=0))


def bytes_in(size_bytes: int | None, unit: str) -> str:
    """A size in a column's unit, two decimals; "<0.01" for sizes that round to zero; "unknown" for None."""
    if size_bytes is None:
        return "unknown"
    if abs(size_bytes) > _MOST_BYTES:
        return ("over " if size_bytes > 0 else "under -") + f"{_MOST_BYTES // _UNITS[unit]:,}"
    if unit == "B":
        return f"{size_bytes:,}"
    value = size_bytes / _UNITS[unit]
    return "<0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def bytes_text(size_bytes: int | None) -> str:
    """A size on its own, three digits: "1,399 MiB", "79.3 MiB", "2 KiB"; "unknown" for None."""
    if size_bytes is None:
        return "unknown"
    figure, unit = _figure(size_bytes)
    return f"{figure} {unit}"


def least_text(text: str, size_bytes: int, is_least: bool) -> str:
    """'at least <text>' when some parts of a sum are unknown, 'unknown' when all are."""
    if not is_least:
        return text
    return f"at least {text}" if size_bytes else "unknown"


def bytes_number(size_bytes: int | None, provenance: Provenance = "counted", *, strong: bool = False) -> Number:
    """`bytes_text` as a span with its provenance."""
    if size_bytes is None:
        return Number("unknown", provenance="unknown", strong=strong)
    figure, unit = _figure(size_bytes)
    return Number(figure, unit, provenance, strong)


def seconds_text(seconds: float | None) -> str:
    """A duration, two digits: "1.7 s", "35 ms"; "unknown" for None."""
    if seconds is None:
        return "unknown"
    if seconds >= 9.95:
        return f"{seconds:,.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.00095 else f"{seconds * 1e3:.1f} ms"


def time_unit(longest_us: float) -> str:
    """The one unit for a column of short times, from the longest. Microseconds are kept up to 10,000."""
    return "\u00b5s" if longest_us < 1e4 else "ms" if longest_us < 1e7 else "s"


def time_in(time_us: float, unit: str) -> str:
    """A time in a column's unit, two decimals; "<0.01" for times that round to zero."""
    value = time_us / _MICROSECONDS[unit]
    return "<0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def time_text(time_us: float) -> str:
    """A time on its own, three digits: "41.2 ms", "812 \u00b5s", "1,310 s"."""
    unit = "\u00b5s" if time_us < 999.5 else "ms" if time_us < 999.5e3 else "s"
    value = time_us / _MICROSECONDS[unit]
    return f"{value:,.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def count_text(count: int | None) -> str:
    """A count with thousands separated; "unknown" for None, "over 10^18" for impossible counts."""
    if count is None:
        return "unknown"
    if abs(count) > _MOST:
        return "over 10^18" if count > 0 else "under -10^18"
    return f"{count:,}"


def plural(count: int, noun: str) -> str:
    """A count and its noun: "1 collective", "1,024 devices"."""
    return f"{count_text(count)} {noun}" if count == 1 else f"{count_text(count)} {noun}s"


def change_words(before: float | None, after: float | None) -> str:
    """The change of a figure, short enough for a column."""
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    if not before:
        return "new"
    if not after:
        return "gone"
    share = (after / before - 1) * 100
    return f"x {after / before:.1f}" if share >= 300 else f"{share:+.0f} %" if abs(share) >= 0.5 else "~ 0 %"


def _figure(size_bytes: int) -> tuple[str, str]:
    if abs(size_bytes) > _MOST_BYTES:
        return ("over 8" if size_bytes > 0 else "under -8"), "EiB"
    unit = byte_unit(size_bytes)
    value = size_bytes / _UNITS[unit]
    if value == int(value) or value >= 99.95:
        return f"{value:,.0f}", unit
    return (f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"), unit
