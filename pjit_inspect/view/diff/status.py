"""What became of a thing, in one word, and its bytes before and after in words.

Not its job: which thing is which (`analyze.diff`).
"""

from __future__ import annotations

from typing import Literal

from pjit_inspect.view.document.quantities import bytes_in

__all__ = ["Both", "Status", "both_words", "difference_words", "side_words", "status_of"]

Status = Literal["removed", "added", "less", "more", "changed", "same"]
"""`less` and `more` are bytes of what is in both programs; `changed` is otherwise with as many bytes."""

Both = tuple[int | None, int | None]
"""Bytes before and after; None for unknown."""


def status_of(is_before: bool, is_after: bool, sizes: Both, *, is_same: bool) -> Status:
    """What became of it; `is_same` says whether all that has no size is equal."""
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
    """What was added or taken away, with its sign: "+0.13", "\u22122.00", "0"; "unknown" where a size is."""
    before, after = sizes
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "0"
    return f"{'+' if after > before else chr(0x2212)}{bytes_in(abs(after - before), unit)}"


def both_words(sizes: Both, unit: str) -> str:
    """Both sizes, with an arrow between them where they differ."""
    first, second = ("0" if size == 0 else bytes_in(size, unit) for size in sizes)
    return second if sizes[0] == sizes[1] else f"{first} \u2192 {second}"
