"""Figures, bytes and changes before and after: as numbers, in words, and in one word.

Not its job: matching the things (`analyze.diff`), laying them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from pjit_inspect.model.diff.diff import Figure
from pjit_inspect.model.diff.pairs import Pair
from pjit_inspect.model.program.shape import total
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.view.document.quantities import bytes_in, count_text, seconds_text, share_unit

Status = Literal["removed", "added", "less", "more", "changed", "same"]
"""`less` and `more` compare bytes of things in both programs; `changed` differs with as many bytes."""

Both = tuple[int | None, int | None]
"""Bytes before and after; None for unknown."""


def sent_once(row: Collective) -> int | None:
    """Bytes the busiest device sends for it per call; in a loop of unknown length, for one turn. None when unknown."""
    return None if row.is_unsized else row.least_sent_bytes


def touched_once(row: Fusion) -> int | None:
    """Bytes a kernel reads and writes per call; in a loop of unknown length, in one turn. None when unknown."""
    if row.bytes_read is None or row.bytes_written is None:
        return None
    return (row.bytes_read + row.bytes_written) * (1 if row.count is None else row.count)


def counts_once(*tables: Iterable[Pair[Any]]) -> bool:
    """True if a collective or a kernel in these tables is in a loop of unknown length."""
    rows = (row for table in tables for pair in table for row in (pair.before, pair.after))
    return any(row is not None and row.count is None for row in rows)


def rows_of(pairs: Sequence[Pair[Any]]) -> tuple[list[Any], list[Any]]:
    """The rows before, and those after."""
    before, after = (
        [row for pair in pairs if (row := getattr(pair, side)) is not None] for side in ("before", "after")
    )
    return before, after


def both_sizes(pairs: Sequence[Pair[Any]], size: Callable[[Any], int | None]) -> Both:
    """Bytes of all rows before and after, by `size`; None where one is unknown, 0 where there are none."""
    before, after = rows_of(pairs)
    return total(map(size, before)), total(map(size, after))


def status_of(is_before: bool, is_after: bool, sizes: Both, *, is_same: bool) -> Status:
    """The change in one word; `is_same` says whether everything but the size is equal."""
    if is_before != is_after:
        return "added" if is_after else "removed"
    before, after = sizes
    if before is None or after is None or before == after:
        return "same" if is_same and before == after else "changed"
    return "less" if after < before else "more"


def side_words(size: int | None, is_there: bool, unit: str) -> str:
    """The size of one side in a column's unit; a dash where the thing is not there."""
    return bytes_in(size, unit) if is_there else "\u2013"


def difference_words(sizes: Both, unit: str) -> str:
    """The difference with its sign: "+0.13", "\u22122.00", "0"; "unknown" where a size is."""
    before, after = sizes
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "0"
    return f"{'+' if after > before else chr(0x2212)}{bytes_in(abs(after - before), unit)}"


def both_words(sizes: Both, unit: str) -> str:
    """Both sizes with an arrow between them, or one where they are equal."""
    first, second = ("0" if size == 0 else bytes_in(size, unit) for size in sizes)
    return second if sizes[0] == sizes[1] else f"{first} \u2192 {second}"


def figure_words(figure: Figure) -> tuple[str, str, str]:
    """The figure's name with its unit, and its values before and after."""
    unit = ""
    if figure.unit == "bytes":
        unit = share_unit(int(value) for value in (figure.before, figure.after) if value is not None)
    elif figure.unit == "FLOP":
        unit = "MFLOP"
    sides = zip((figure.before, figure.after), figure.at_least, strict=True)
    before, after = (f"{'at least ' * is_least}{_value(value, figure, unit)}" for value, is_least in sides)
    name = "sends" if figure.name == "sent" else figure.name
    return f"{name} {unit}".rstrip(), before, after


def _value(value: float | None, figure: Figure, unit: str) -> str:
    if value is None:
        return "unknown"
    match figure.unit:
        case "bytes":
            return bytes_in(int(value), unit)
        case "s":
            return seconds_text(value)
        case "FLOP":
            return f"{value / 1e6:,.1f}" if value >= 1e5 or not value else f"{value / 1e6:.2g}"
        case _:
            return count_text(int(value))
