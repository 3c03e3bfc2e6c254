"""A record's facts as a short text: each array's spec and bytes, each collective's axes and bytes.

Only counted figures, or figures modelled from these, in a fixed order; no times, lines of source, kernels or names by
the compiler. Two layouts, or two versions of JAX, can so be compared. Not its job: causes, or places (`explain`,
`tree`).
"""

from __future__ import annotations

from collections import Counter

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Block, Code, Column, Document, Line, Row, Spans, Table, Text
from pjit_inspect.view.document.notation import array_text, known_spec_text, shape_text
from pjit_inspect.view.document.quantities import count_text, plural
from pjit_inspect.view.record.arrays import ArrayGroup, donated_in_vain, fate_spans, group_arrays
from pjit_inspect.view.record.cause_groups import kinds_words
from pjit_inspect.view.record.incomplete import nothing_text

_Facts = tuple[str, "str | None", str, "int | None", "int | None", "int | None", str]
"""Axes, phase, kind, bytes put in and sent in one run, number of runs, cause."""


def facts_view(report: RecordReport) -> Document:
    """The arrays, the total, and the collectives; equal layers and equal collectives share a row."""
    return Document(axes=(), blocks=(_arrays(report), _total(report), *_collectives(report)))


def _arrays(report: RecordReport) -> Block:
    data = report.data
    groups = (
        *group_arrays(data.inputs, in_vain=donated_in_vain(data)),
        *group_arrays(data.outputs, keep_first=True),
    )
    columns = (
        Column(title="array"),
        Column(title="shape"),
        Column(title="spec"),
        Column(title="per device"),
        Column(title="bytes", align="right"),
        Column(title="copies", align="right"),
        Column(title=""),
    )
    return Table(columns=columns, rows=tuple(Row(cells=_array_cells(group)) for group in groups))


def _array_cells(group: ArrayGroup) -> tuple[Spans, ...]:
    layout, number = group.first, len(group.layouts)
    local, size, copies = layout.local_shape, group.each_bytes, layout.replication
    return (
        (Code(f"{group.name} x {number:,}" if number > 1 else group.name),),
        (Code(array_text(layout)),),
        (Code("unknown" if layout.sharding is None else known_spec_text(layout.spec)),),
        (Code("unknown" if local is None else shape_text(local)),),
        (Text("unknown" if size is None else f"{size:,}"),),
        (Text("unknown" if copies is None else f"{copies:,}"),),
        fate_spans(group),
    )


def _total(report: RecordReport) -> Block:
    rows = report.collectives
    if rows is None:
        return Line((Text("collectives unknown"),))
    if not rows:
        return Line((Text(nothing_text(report, "collectives")),))
    sent = [row.sent_bytes for row in rows]
    known = sum(size for size in sent if size is not None)
    # At the ends of a line of permutes devices send less; a loop of unknown length sends more.
    least = "at least " if None in sent else "at most " if any(total.is_bound for total in report.totals) else ""
    return Line((Text(f"{plural(len(rows), 'collective')}; each device sends {least}{known:,} bytes per call"),))


def _collectives(report: RecordReport) -> tuple[Block, ...]:
    rows = report.collectives
    if not rows:
        return ()
    alike = Counter(map(_facts, rows))
    phases = len({row.phase for row in rows}) > 1
    columns = (
        Column(title="n", align="right"),
        Column(title="collective"),
        Column(title="over"),
        *((Column(title="phase"),) if phases else ()),
        Column(title="puts in", align="right"),
        Column(title="sends", align="right"),
        Column(title="because"),
    )
    lines = []
    for (axes, phase, kind, payload, wire, count, cause), number in sorted(alike.items(), key=_order):
        times = count_text(None if count is None else count * number)
        cells = (times, kind, axes, *((phase or "",) if phases else ()), _exact(payload), _exact(wire), cause)
        lines.append(Row(cells=tuple((Text(cell),) for cell in cells)))
    note = "bytes of one device and one run; put in: counted, sent: modelled (ring)"
    return Table(columns=columns, rows=tuple(lines)), Line((Text(note, "dim"),))


def _exact(size: int | None) -> str:
    return "unknown" if size is None else f"{size:,}"


def _order(item: tuple[_Facts, int]) -> tuple[object, ...]:
    (axes, phase, kind, payload, wire, count, cause), _ = item
    return axes, phase or "", kind, payload or 0, wire or 0, count or 0, cause


def _facts(row: Collective) -> _Facts:
    cause = "written" if row.implicit is False else kinds_words(row) or "unknown"
    return row.axes_text, row.phase, row.kind, row.payload_bytes, row.wire_bytes, row.count, cause
