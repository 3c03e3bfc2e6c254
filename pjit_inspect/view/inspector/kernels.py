"""The inspector's rows of fused kernels: contents, reads, writes and savings.

Not its job: finding them (`analyze.program.fusions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.quantities import bytes_text, plural, time_text
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.record.kernels import KernelGroup, group_kernels
from pjit_inspect.view.record.times import added_us, time_numbers

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
    first = group.first
    traffic = [group.total(size) for size in (first.bytes_read, first.bytes_written)]
    spot = tables.spot(first.source)
    names = group.names
    return {
        "kind": name_data(first.sort),
        "target": name_data(f"{first.library} {first.routine}" if first.library else first.target or "")
        if first.target
        else "",
        "what": name_data(group.what) or name_data(first.name),
        "number": group.number,
        "runs": "unknown" if group.runs is None else f"{group.runs:,}",
        "contains": [[name_data(opcode), times] for opcode, times in first.instructions],
        "inputs": [name_data(shape) for shape in first.inputs[:_INPUTS]],
        "inputs_more": max(0, len(first.inputs) - _INPUTS),
        "outputs": [name_data(shape) for shape in first.outputs[:_INPUTS]],
        "numbers": _numbers(group, time_numbers(names, times)),
        **_time(names, times),
        "traffic": bytes_text(None if None in traffic else sum(size or 0 for size in traffic)),
        "bytes": float(sum(size or 0 for size in traffic)),
        "place": name_data(first.source[0].where) if first.source else "",
        "spots": [spot] if spot >= 0 else [],
        "names": [name_data(name) for name in names[:_MEMBERS]],
    }


def _numbers(group: KernelGroup, times: list[list[str]]) -> list[list[str]]:
    """Rows of label, figure, and how it is known."""
    first = group.first
    runs = group.runs
    return [
        ["reads, each", bytes_text(first.bytes_read), _how(first.bytes_read, "counted")],
        ["writes, each", bytes_text(first.bytes_written), _how(first.bytes_written, "counted")],
        *([["workspace", bytes_text(first.workspace_bytes), "counted"]] if first.workspace_bytes else []),
        ["saves, each", bytes_text(first.bytes_saved), _how(first.bytes_saved, "modelled: unfused program")],
        [
            "times per call",
            "unknown" if runs is None else f"\u00d7 {runs:,}",
            "loop of unknown length" if runs is None else "counted",
        ],
        *times,
        ["saves per call", bytes_text(group.total(first.bytes_saved)), _how(first.bytes_saved, "modelled")],
    ]


def _time(names: Sequence[str], times: Mapping[str, KernelTime]) -> dict[str, Any]:
    time_us = added_us(names, times)
    return {} if time_us is None else {"time": time_text(time_us), "time_us": time_us}


def _how(size: int | None, words: str) -> str:
    return "unknown" if size is None else words
