"""Calls back into Python: the line of a display, and their table."""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.report.host_callback import HostCallback
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, table_of
from pjit_inspect.view.document.document import Block, Column, Line, Span, Text, line, strong
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.record.answer import place_spans

_NAMED = 3
_ROWS = 200


def callback_lines(report: RecordReport) -> list[Block]:
    """The number and the places of calls back into Python; [] without callbacks."""
    rows = report.callbacks
    if not rows:
        return []
    spans: list[Span] = [strong(plural(len(rows), "host callback")), Text(": ")]
    for position, row in enumerate(rows[:_NAMED]):
        spans += [Text("; ")] if position else []
        spans += [Text(_kind_words(row)), Text(f", {_runs_words(row)}, {bytes_text(row.operand_bytes)} to Python")]
        spans += [Text(" at "), *place_spans(row.source)] if row.source else []
    if len(rows) > _NAMED:
        spans.append(Text(f"; {len(rows) - _NAMED:,} more in record.callbacks"))
    return [Line(tuple(spans))]


def callback_blocks(rows: Sequence[HostCallback]) -> list[Block]:
    """The table of callbacks; [] without callbacks."""
    if not rows:
        return []
    table = table_of(_COLUMNS, rows[:_ROWS])
    rest = [line(f"and {len(rows) - _ROWS:,} more")] if len(rows) > _ROWS else []
    return [table, *rest]


def _kind_words(row: HostCallback) -> str:
    return f"{row.kind or 'unknown'}{', ordered' if row.ordered else ''}"


def _count_words(row: HostCallback) -> str:
    count = count_text(row.count)
    return count if row.count == row.count_min else f"up to {count}"


def _runs_words(row: HostCallback) -> str:
    if row.count is None:
        return "an unknown number of times per call"
    most = "" if row.count == row.count_min else "at most "
    return f"{most}once per call" if row.count == 1 else f"{most}{row.count:,} times per call"


_COLUMNS = (
    Column("kind", _kind_words),
    numbers("n", _count_words),
    sizes("to Python {unit}", lambda row: row.operand_bytes),
    sizes("back {unit}", lambda row: row.result_bytes),
    codes("what", lambda row: operation_text(row.op_name), shrink=True, optional=True),
    places("where", lambda row: row.source),
)
