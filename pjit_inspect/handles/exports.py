"""Exports for objects that have a table but are none themselves: a log, a ledger.

Not its job: the rows (each says so by its `table`), the forms (`model.program.table`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.program.table import Table


class Exported:
    """Base of objects that have a `table`; they export as other tables do."""

    __slots__ = ()

    @property
    def table(self) -> Table[Any]:
        """The rows as a table."""
        raise NotImplementedError

    def to_csv(self) -> str:
        """`table` as comma-separated values, a line of names first; unknown values are empty."""
        return self.table.to_csv()

    def to_tsv(self) -> str:
        """As `to_csv`, separated by tabs, to paste into a spreadsheet."""
        return self.table.to_tsv()

    def to_markdown(self) -> str:
        """`table` in Markdown."""
        return self.table.to_markdown()

    def to_pandas(self) -> Any:
        """`table` as a `pandas.DataFrame`. Raises ImportError where there is no pandas."""
        return self.table.to_pandas()
