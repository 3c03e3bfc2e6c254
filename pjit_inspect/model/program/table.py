"""Rows of one program as a sequence whose slices are tables again.

Not its job: what the rows are (the modules that derive from it), or how a table shows itself (`handles.tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar, cast, overload

__all__ = ["Table"]

Row = TypeVar("Row")


class Table(Sequence[Row], Generic[Row]):
    """The base of frozen dataclasses with a field `rows`; whatever else they hold stays with every part of them."""

    __slots__ = ()

    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Row | Self:
        if isinstance(index, slice):
            return self._of_rows(self.rows[index])
        if isinstance(index, str):
            raise TypeError(f"a table is indexed by number or slice, not by {index!r}{self._hint(index)}")
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _of_rows(self, rows: tuple[Row, ...], **changes: Any) -> Self:
        """The same table with these rows only."""
        return cast("Self", replace(cast("Any", self), rows=rows, **changes))

    def _hint(self, name: str) -> str:
        """How rows are chosen by a name, after a semicolon; "" where they are not."""
        return ""
