"""The inspector's rows of fused kernels: contents, reads, writes and savings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.record.kernels import KernelGroup, group_kernels
from pjit_inspect.view.record.times import time_data

_ROWS = 600
_INPUTS = 24
_MEMBERS = 400


def kernel_rows(
    report: RecordReport, tables: SharedTables, times: KernelTimes | None = None
) -> tuple[list[dict[str, Any]], str]:
    """Kinds of kernels, most memory traffic first, and words for those left out.

    A row has `time` and `time_us` when some of its kernels were measured.
    """
    if not report.fusions:
        return [], ""
    groups = group_kernels(report.fusions)
    more = groups[_ROWS:]
    count = sum(group.number for group in more)
    words = f"{plural(count, 'kernel')} in {plural(len(more), 'more kind')}; record.fusions has all"
    known = {row.instruction: row for row in times or ()}
    return [_row(group, tables, known) for group in groups[:_ROWS]], words if more else ""


def _row(group: KernelGroup, tables: SharedTables, times: Mapping[str, KernelTime]) -> dict[str, Any]:
    first, names = group.first, group.names
    traffic = [group.total(size) for size in (first.bytes_read, first.bytes_written)]
    target = f"{first.library} {first.routine}" if first.library else first.target
    spot = tables.spot(first.source)
    measured, time = time_data(names, times)
    return {
        "kind": name_data(first.sort),
        "target": name_data(target) if first.target and target else "",
        "what": name_data(group.what) or name_data(first.name),
        "number": group.number,
        "runs": count_text(group.runs),
        "contains": [[name_data(opcode), count] for opcode, count in first.instructions],
        "inputs": [name_data(shape) for shape in first.inputs[:_INPUTS]],
        "inputs_more": max(0, len(first.inputs) - _INPUTS),
        "outputs": [name_data(shape) for shape in first.outputs[:_INPUTS]],
        "numbers": _numbers(group, measured),
        **time,
        "traffic": bytes_text(total(traffic)),
        "bytes": float(sum(size or 0 for size in traffic)),
        "place": name_data(first.source[0].where) if first.source else "",
        "spots": [spot] if spot >= 0 else [],
        "names": [name_data(name) for name in names[:_MEMBERS]],
    }


def _numbers(group: KernelGroup, times: list[list[str]]) -> list[list[str]]:
    """Rows of label, figure, and how it is known."""
    first, runs = group.first, group.runs

    def row(label: str, size: int | None, how: str = "counted") -> list[str]:
        return [label, bytes_text(size), "unknown" if size is None else how]

    each = ["unknown", "loop of unknown length"] if runs is None else [f"\u00d7 {runs:,}", "counted"]
    return [
        row("reads, each", first.bytes_read),
        row("writes, each", first.bytes_written),
        *([row("workspace", first.workspace_bytes)] if first.workspace_bytes else []),
        row("saves, each", first.bytes_saved, "modelled: unfused program"),
        ["times per call", *each],
        *times,
        row("saves per call", group.total(first.bytes_saved), "modelled"),
    ]
