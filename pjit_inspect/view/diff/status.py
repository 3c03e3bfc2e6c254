"""A change in one word, and bytes before and after, as numbers and in words.

Not its job: matching the things (`analyze.diff`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from pjit_inspect.model.diff.pairs import Pair
from pjit_inspect.model.program.shape import total
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.view.document.quantities import bytes_in

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
    """Whether a collective or a kernel in these tables is in a loop of unknown length."""
    rows = (row for table in tables for pair in table for row in (pair.before, pair.after))
    return any(row is not None and row.count is None for row in rows)


def both_sizes(pairs: Sequence[Pair[Any]], size: Callable[[Any], int | None]) -> Both:
    """Bytes of all rows before and after, by `size`; None where one is unknown, 0 where there are none."""
    before, after = ([getattr(pair, side) for pair in pairs] for side in ("before", "after"))
    return total(size(row) for row in before if row is not None), total(size(row) for row in after if row is not None)


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
