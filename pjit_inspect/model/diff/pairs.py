"""Rows of two programs joined in pairs: added, removed and changed rows, and the number of equal ones.

Not its job: joining them (`analyze.diff`), the rows themselves (`model.report`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.table import Table, column_schemas
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.fusion import Fusion, FusionTable
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.words.sentence import Sentence

_OWN = ("status", "by", "changes", "reason")
"""The columns of a pair, before those of its row."""

Row = TypeVar("Row")

COMBINED = Sentence("XLA combines the same arrays differently")
"""Reason of a collective that was added, removed or changed, while the other program also moves each of its arrays."""

Status = Literal["added", "removed", "changed", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field in which the two rows of a pair differ.

    Attributes:
      name: the name of the row's field ("payload_bytes", "spec").
      before, after: its values.
    """

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Generic[Row]):
    """A row of the program before and the row of the program after that is the same thing.

    Attributes:
      before: the row before; None for one that was added.
      after: the row after; None for one that was removed.
      by: the properties both share, by which they are joined ("operation", "line", "value", "phase", "shape", ...); ()
        where there is one row only.
      changes: the fields in which they differ; () where they are the same.
      reason: why it was added, removed or changed, as the facts prove it; "" where no cause is known.
    """

    before: Row | None
    after: Row | None
    by: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    reason: Sentence = Sentence()  # noqa: RUF009  (frozen)

    def __post_init__(self) -> None:
        if self.before is None and self.after is None:
            raise ValueError("a pair has a row before, after, or both")

    @property
    def status(self) -> Status:
        """The fate of the row: added, removed, changed or the same."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "changed" if self.changes else "same"

    @property
    def row(self) -> Row:
        """The row after; where there is none, that before."""
        found = self.before if self.after is None else self.after
        if found is None:
            raise ValueError("a pair has a row before, after, or both")
        return found


@dataclass(frozen=True, slots=True)
class PairTable(Table[Pair[Any]], Generic[Row]):
    """All rows of both programs. A sequence of `Pair`; a slice is a table again.

    Rows are conserved: those removed, changed and the same are the rows before; those added, changed and the same are
    the rows after. Copies (`to_csv()`, ...) have a line for each pair: its status, the properties it is joined by, its
    changes and its reason, then the columns of the row after, or before where there is no other.

    Attributes:
      rows: the pairs: removed, added, changed, the same; within these in the order of the programs.
    """

    rows: tuple[Pair[Row], ...]

    @property
    def added(self) -> Sequence[Row]:
        """The rows after that no row before is the same as."""
        return self._added()

    @property
    def removed(self) -> Sequence[Row]:
        """The rows before that no row after is the same as."""
        return self._removed()

    @property
    def changed(self) -> tuple[Pair[Row], ...]:
        """The pairs whose rows differ, each with `before`, `after` and `changes`."""
        return tuple(pair for pair in self.rows if pair.status == "changed")

    @property
    def same(self) -> int:
        """The number of pairs without differences."""
        return sum(pair.status == "same" for pair in self.rows)

    @property
    def is_empty(self) -> bool:
        """True if nothing was added, removed or changed."""
        return self.same == len(self.rows)

    def _added(self) -> tuple[Row, ...]:
        return tuple(pair.after for pair in self.rows if pair.before is None and pair.after is not None)

    def _removed(self) -> tuple[Row, ...]:
        return tuple(pair.before for pair in self.rows if pair.after is None and pair.before is not None)

    @classmethod
    def column_schemas(cls) -> dict[str, dict[str, Any]]:
        """Those of a pair, then those of its row."""
        own = {name: {"type": "string"} for name in _OWN}
        return own | column_schemas(cls._row_kind(PairTable))

    @classmethod
    def _row_name(cls) -> str:
        """`PairOfCollective`, ..."""
        return f"PairOf{cls._row_kind(PairTable).__name__}"

    def _value(self, row: Pair[Any], name: str) -> Any:
        return _own_value(row, name) if name in _OWN else getattr(row.row, name)

    def __repr__(self) -> str:
        counts = f"{len(self._added())} added, {len(self._removed())} removed, {len(self.changed)} changed"
        return f"{type(self).__name__}({counts}, {self.same} same)"


def _own_value(pair: Pair[Any], name: str) -> str:
    if name == "changes":
        return "; ".join(f"{one.name}: {one.before} -> {one.after}" for one in pair.changes)
    return ", ".join(pair.by) if name == "by" else str(getattr(pair, name))


@dataclass(frozen=True, slots=True, repr=False)
class CollectiveDiff(PairTable[Collective]):
    """The collectives of both programs.

    Attributes:
      rows: the pairs, as in `PairTable`.
    """

    @property
    def added(self) -> CollectiveTable:
        """The collectives that are new."""
        return CollectiveTable(self._added())

    @property
    def removed(self) -> CollectiveTable:
        """The collectives that are gone."""
        return CollectiveTable(self._removed())


@dataclass(frozen=True, slots=True, repr=False)
class KernelDiff(PairTable[Fusion]):
    """The fused kernels of both programs.

    Attributes:
      rows: the pairs, as in `PairTable`.
    """

    @property
    def added(self) -> FusionTable:
        """The kernels that are new."""
        return FusionTable(self._added())

    @property
    def removed(self) -> FusionTable:
        """The kernels that are gone."""
        return FusionTable(self._removed())


@dataclass(frozen=True, slots=True, repr=False)
class ShardingDiff(PairTable[ValueSharding]):
    """The values of both programs before partitioning, with their shardings.

    Attributes:
      rows: the pairs, as in `PairTable`.
    """

    @property
    def added(self) -> ShardingTable:
        """The values that are new."""
        return ShardingTable(rows=self._added())

    @property
    def removed(self) -> ShardingTable:
        """The values that are gone."""
        return ShardingTable(rows=self._removed())


@dataclass(frozen=True, slots=True, repr=False)
class ArrayDiff(PairTable[ArrayLayout]):
    """The arguments of both programs, or the results.

    Attributes:
      rows: the pairs, as in `PairTable`.
    """


@dataclass(frozen=True, slots=True, repr=False)
class WarningDiff(PairTable[XlaWarning]):
    """XLA's warnings during the compiles of both programs.

    Attributes:
      rows: the pairs, as in `PairTable`.
    """
