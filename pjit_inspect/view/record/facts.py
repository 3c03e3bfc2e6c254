"""A record's facts as a short text: each array's spec and bytes, each collective's axes and bytes.

Only counted figures, or figures modelled from these, in a fixed order; no times, lines of source, kernels or names by
the compiler. Two layouts, or two versions of JAX, can so be compared.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import codes, numbers, sizes, table_of
from pjit_inspect.view.document.document import Block, Column, Document, dim, line
from pjit_inspect.view.document.notation import array_text, known_spec_text
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.record.answer import nothing_text
from pjit_inspect.view.record.arrays import ArrayGroup, donated_in_vain, fate_spans, group_arrays, local_text
from pjit_inspect.view.record.cause_groups import kinds_words


class _Facts(NamedTuple):
    """Facts of equal collectives; bytes are those of one run."""

    axes: str
    phase: str | None
    kind: str
    payload_bytes: int | None
    wire_bytes: int | None
    count: int | None
    cause: str


def facts_view(report: RecordReport) -> Document:
    """The arrays, the total, and the collectives; equal layers and equal collectives share a row."""
    return Document(axes=(), blocks=(_arrays(report), _total(report), *_collectives(report)))


def _arrays(report: RecordReport) -> Block:
    data = report.data
    groups = (
        *group_arrays(data.inputs, in_vain=donated_in_vain(data)),
        *group_arrays(data.outputs, keep_first=True),
    )
    return table_of(_ARRAYS, groups, unit="")


def _spec(group: ArrayGroup) -> str:
    return "unknown" if group.first.sharding is None else known_spec_text(group.first.spec)


_ARRAYS = (
    codes("array", lambda group: f"{group.name} x {n:,}" if (n := len(group.layouts)) > 1 else group.name),
    codes("shape", lambda group: array_text(group.first)),
    codes("spec", _spec),
    codes("per device", lambda group: local_text(group.first)),
    sizes("bytes", lambda group: group.each_bytes),
    numbers("copies", lambda group: group.first.replication),
    Column("", fate_spans),
)


def _total(report: RecordReport) -> Block:
    rows = report.collectives
    if rows is None:
        return line("collectives unknown")
    if not rows:
        return line(nothing_text(report, "collectives"))
    sent = [row.sent_bytes for row in rows]
    known = sum(size for size in sent if size is not None)
    # At the ends of a line of permutes devices send less; a loop of unknown length sends more.
    least = "at least " if None in sent else "at most " if any(total.is_bound for total in report.totals) else ""
    return line(f"{plural(len(rows), 'collective')}; each device sends {least}{known:,} bytes per call")


def _collectives(report: RecordReport) -> tuple[Block, ...]:
    rows = report.collectives
    if not rows:
        return ()
    alike = sorted(Counter(map(_facts, rows)).items(), key=_order)
    phases = len({row.phase for row in rows}) > 1
    columns = (
        numbers("n", lambda item: None if item[0].count is None else item[0].count * item[1]),
        Column("collective", lambda item: item[0].kind),
        Column("over", lambda item: item[0].axes),
        *((Column("phase", lambda item: item[0].phase or ""),) if phases else ()),
        sizes("puts in", lambda item: item[0].payload_bytes),
        sizes("sends", lambda item: item[0].wire_bytes),
        Column("because", lambda item: item[0].cause),
    )
    note = "bytes of one device and one run; put in: counted, sent: modelled (ring)"
    return table_of(columns, alike, unit=""), line(dim(note))


def _order(item: tuple[_Facts, int]) -> tuple[object, ...]:
    row = item[0]
    figures = (row.payload_bytes or 0, row.wire_bytes or 0, row.count or 0)
    return row.axes, row.phase or "", row.kind, *figures, row.cause


def _facts(row: Collective) -> _Facts:
    cause = "written" if row.implicit is False else kinds_words(row) or "unknown"
    return _Facts(row.axes_text, row.phase, row.kind, row.payload_bytes, row.wire_bytes, row.count, cause)
