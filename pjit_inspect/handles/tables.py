"""The reports of a record as tables, for the command line and other programs: what each has, and its units.

Not its job: the rows (the analyses), choosing among them (`cli.query`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.memory.memory_use import LiveTable
from pjit_inspect.model.program.layout import ArrayTable
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """One report of a record.

    Attributes:
      prefix: the first letter of its rows' ids: row 3 of all is "c3".
      kind: the type of its table.
      columns: the columns for a reader; all others can be asked for by name.
      rows: makes the table.
      missing: why its rows are unknown, or not all known; "" where all are known.
    """

    prefix: str
    kind: type[Table[Any]]
    columns: tuple[str, ...]
    rows: Callable[[CompileRecord], Table[Any]]
    missing: Callable[[CompileRecord], str]

    @property
    def all_columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        return tuple(self.kind.column_schemas())


def _unread(record: CompileRecord) -> str:
    report = record.report
    if report.collectives is None:
        return report.data.missing.get("hlo", "the record has no optimized program")
    return report.incomplete and f"the program is incomplete: {report.incomplete}"


def _uncounted(record: CompileRecord) -> str:
    """Why more than the known collectives may communicate."""
    return _unread(record) or record.report.beside


def _no_memory(record: CompileRecord) -> str:
    return record.memory_use.missing


def _no_advice(record: CompileRecord) -> str:
    found = record.state.analyses.advice_where_asked
    return found.missing or found.untried


def _advice(record: CompileRecord) -> AdviceTable:
    from pjit_inspect.handles.displays import RecordAdviceTable

    return RecordAdviceTable.made_of(record.state.analyses.advice_where_asked, _state=record.state)


_ARRAY = (
    "path", "dtype", "global_shape", "local_shape", "spec", "bytes_per_device", "replication", "asked", "donated",
    "kept", "aliases",
)  # fmt: skip

REPORTS: dict[str, ReportTable] = {
    "collectives": ReportTable(
        prefix="c",
        kind=CollectiveTable,
        columns=(
            "kind", "axes", "count", "payload_bytes", "sent_bytes", "dtype", "local_shape", "phase", "implicit",
            "source", "causes", "why",
        ),
        rows=lambda record: record.collectives,
        missing=_uncounted,
    ),
    "kernels": ReportTable(
        prefix="k",
        kind=FusionTable,
        columns=("kind", "name", "count", "bytes_read", "bytes_written", "bytes_saved", "library", "op_name", "source"),
        rows=lambda record: record.fusions,
        missing=_unread,
    ),
    "arguments": ReportTable(
        prefix="a",
        kind=ArrayTable,
        columns=_ARRAY,
        rows=lambda record: ArrayTable(rows=record.inputs),
        missing=lambda record: record.data.missing.get("inputs", ""),
    ),
    "results": ReportTable(
        prefix="r",
        kind=ArrayTable,
        columns=_ARRAY,
        rows=lambda record: ArrayTable(rows=record.outputs),
        missing=lambda record: record.data.missing.get("outputs", ""),
    ),
    "memory": ReportTable(
        prefix="m",
        kind=LiveTable,
        columns=("name", "bytes", "kind", "spec", "dtype", "local_shape", "phase", "source"),
        rows=lambda record: record.memory_use.live,
        missing=_no_memory,
    ),
    "advice": ReportTable(
        prefix="d",
        kind=AdviceTable,
        columns=("kind", "sentence", "change", "sent", "memory", "costs", "state", "cost_bytes", "unit", "source"),
        rows=_advice,
        missing=_no_advice,
    ),
    "why": ReportTable(
        prefix="c",
        kind=CollectiveTable,
        columns=("kind", "axes", "sent_bytes", "causes", "why", "source"),
        rows=lambda record: record.collectives,
        missing=_uncounted,
    ),
}  # fmt: skip
"""The reports by name; "why" has the rows of "collectives" with less beside the reason."""

UNITS: dict[str, tuple[str, str]] = {
    "count": ("runs per call", "counted"),
    "payload_bytes": ("bytes per device and run", "counted"),
    "wire_bytes": ("bytes of the busiest device per run", "modelled, ring"),
    "sent_bytes": ("bytes of the busiest device per call", "modelled, ring"),
    "global_bytes": ("bytes of all devices", "counted from shapes; of collectives modelled, ring, per call"),
    "bytes_per_device": ("bytes per device", "counted"),
    "bytes_read": ("bytes per device and run", "counted"),
    "bytes_written": ("bytes per device and run", "counted"),
    "bytes_saved": ("bytes per device and run", "modelled"),
    "replication": ("devices that hold each element", "counted"),
    "bytes": ("bytes per device at the peak", "by the record's memory report"),
    "sent": ("bytes of the busiest device per call, before and after", "modelled, ring"),
    "memory": ("bytes of arguments and results per device, before and after", "counted"),
    "cost_bytes": ("bytes, of what `unit` says", "counted or modelled"),
}
"""Column -> its unit, and how its figures are known."""
