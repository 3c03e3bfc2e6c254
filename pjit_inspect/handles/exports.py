"""Exports for objects that have a table (a log, a ledger), and frozen data that know their record.

Not its job: the rows (each says so by its `table`), the forms (`model.program.table`).
"""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any, Self

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

    def to_json(self) -> str:
        """`table` as JSON: `schema` and `version` name the form, each row has the columns of `to_csv`."""
        return self.table.to_json()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """`table` for programs that take Arrow. Raises ImportError without pyarrow."""
        return self.table.__arrow_c_stream__(requested_schema)


class OfRecord:
    """The first base of a frozen dataclass whose last base is one of plain data, and which adds a way to the record.

    Except for its displays and checks it behaves as the plain data: equal to it, with the same hash, and pickled as it.
    """

    __slots__ = ()

    @classmethod
    def made_of(cls, plain: Any, **way: Any) -> Self:
        """The same data with a way to its record."""
        return cls(**_values(plain, type(plain)), **way)

    def __reduce__(self) -> tuple[partial[Any], tuple[()]]:
        kind = type(self).__bases__[-1]
        return partial(kind, **_values(self, kind)), ()

    def __copy__(self) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return _plain(self) == _plain(other)

    def __hash__(self) -> int:
        return hash(_plain(self))


def _plain(data: object) -> object:
    """The data without the way."""
    return data.__reduce__()[0]() if isinstance(data, OfRecord) else data


def _values(data: Any, kind: type) -> dict[str, Any]:
    return {field.name: getattr(data, field.name) for field in fields(kind)}
