"""The inspector's rows of collectives: equal ones in one row, with cause, numbers and places."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Code, Text
from pjit_inspect.view.document.notation import groups_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.inspector.moves import move_data
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, spans_data
from pjit_inspect.view.record.answer import axis_span
from pjit_inspect.view.record.cause_groups import (
    cause_frames,
    collective_marks,
    distinct_lines,
    finding_of,
    group_by_cause,
    kinds_words,
    place_words,
    schedule_words,
    share_text,
    written_words,
)
from pjit_inspect.view.record.collectives import LayerGroup, source_line
from pjit_inspect.view.record.times import time_data

_FRAMES = 6
_GROUPS = 12
_MEMBERS = 400

CollectiveRows = list[dict[str, Any]]


def collective_rows(
    report: RecordReport,
    tables: SharedTables,
    running: RunningInstructions | None,
    groups: Sequence[LayerGroup],
    times: KernelTimes | None = None,
) -> CollectiveRows:
    """One row for each group of equal collectives, in the order of `groups`; [] without collectives."""
    most = max((group.least_sent_bytes for group in groups), default=0) or 1
    known = {row.instruction: row for row in times or ()}

    def row(group: LayerGroup) -> dict[str, Any]:
        measured, time = time_data([name for member in group.members for name in member.instructions], known)
        numbers = _numbers(report, group)
        numbers[-1:-1] = measured  # the sum of bytes stays last
        return {
            **_row(report, tables, running, group),
            "numbers": numbers,
            "share": group.least_sent_bytes / most,
            **time,
        }

    return [row(group) for group in groups]


def _row(
    report: RecordReport, tables: SharedTables, running: RunningInstructions | None, group: LayerGroup
) -> dict[str, Any]:
    first = group.first
    kinds = dict.fromkeys(cause.kind for member in group.members for cause in member.causes)
    names = [name_data(member.instructions[0]) if member.instructions else "" for member in group.members[:_MEMBERS]]
    return {
        "kind": name_data(first.kind),
        "axes": tables.axis_set(first.axes, first.mesh),
        "groups": tables.group_set(first),
        "what": name_data(group.what) or "unknown",
        "name": _name(report, group),
        "number": len(group.members),
        "sent": bytes_text(group.sent_bytes),
        "sent_bytes": float(group.least_sent_bytes),
        "phase": first.phase or "",
        "cause": kinds_words(first),
        "causes": [kind.replace("_", " ") for kind in kinds],
        "place": name_data(place_words(first)),
        "chips": _chips(group),
        "title": spans_data((Code(first.kind, strong=True), Text(" over "), axis_span(first.axes, report.data))),
        "reasons": _reasons(report, group.members),
        "moves": name_data(f"{first.dtype}{shape_text(first.local_shape)}") + _more(first),
        "groups_words": groups_text(first.groups, limit=_GROUPS),
        "groups_count": len(first.groups),
        "lines": _lines(report, first.source),
        "spots": _spots(tables, group.members),
        "names": names,
        "beside": schedule_words(first),
        "picture": move_data(report, first, running),
    }


def _name(report: RecordReport, group: LayerGroup) -> str:
    """Row label: the assigned variable if the line assigns one, else the source text, else the end of the op's name."""
    reasons = next(iter(group_by_cause(group.members))).reasons
    cause = reasons[0].first if reasons else None
    written = written_words(cause)
    if cause is None or not written:
        return name_data(group.what.rpartition("/")[2] or "unknown", longest=80)
    assigned = _assigned(source_line(report.data, cause.source[:1]) or "", written)
    return name_data(("\u2202 " if cause.phase == "backward" else "") + (assigned or written), longest=80)


def _assigned(line: str, code: str) -> str:
    """Names that a line of source assigns a piece of code to, "q, k, v"; "" if the piece is not the whole value.

    A tuple of names may take the piece from a generator, once for each.
    """
    try:
        statement = ast.parse(line.strip()).body[0]
        # In the spaces and quotes of `ast.unparse`. A piece that was shortened is no code.
        piece = ast.unparse(ast.parse(code, mode="eval"))
    except (SyntaxError, ValueError, IndexError):
        return ""
    if not isinstance(statement, ast.Assign):
        return ""
    target, value = statement.targets[0], statement.value
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    if isinstance(value, ast.GeneratorExp) and len(names) > 1:
        value = value.elt
    if not all(isinstance(name, ast.Name) for name in names) or ast.unparse(value) != piece:
        return ""
    return ", ".join(map(ast.unparse, names))


def _chips(group: LayerGroup) -> list[str]:
    """Special features of the group, a word or two each."""
    first = group.first
    origin = {True: "inserted by the partitioner", False: "written in the program", None: ""}[first.implicit]
    cause = kinds_words(first)
    marks = [mark for mark in collective_marks(first) if not (_is_cut(first) and mark.endswith("combined"))]
    chips = [origin, *marks, "" if origin and cause == "written" else cause]
    return list(dict.fromkeys(chip for chip in chips if chip))


def _is_cut(row: Collective) -> bool:
    """Whether its operands are the pieces of one array, one per device."""
    return row.kind == "all-to-all" and row.operands == len(next(iter(row.groups), ()))


def _more(row: Collective) -> str:
    if _is_cut(row):
        return f" to each of {plural(row.operands, 'device')}"
    return f" and {plural(row.operands - 1, 'more array')}" if row.operands > 1 else ""


def _reasons(report: RecordReport, members: Sequence[Collective]) -> list[dict[str, Any]]:
    """The causes: sentences, then their proof."""
    found = [finding_of(report, reasons) for reasons in group_by_cause(members)]
    return [
        {"sentences": list(map(spans_data, one.sentences)), "facts": list(map(spans_data, one.facts))} for one in found
    ]


def _numbers(report: RecordReport, group: LayerGroup) -> list[list[str]]:
    """Rows of label, figure, and how it is known."""
    first = group.first
    runs = count_text(group.runs) if group.runs is not None else "unknown"
    least = group.least_runs
    times = runs if least in (None, group.runs) else f"{count_text(least)}-{runs}"
    share = share_text(group.sent_bytes, report.sent_bytes)
    return [
        ["payload, each", bytes_text(first.payload_bytes), "counted"],
        ["wire per device, each", bytes_text(first.wire_bytes), "modelled, ring"],
        ["times per call", f"\u00d7 {times}", "counted" if group.runs is not None else "loop of unknown length"],
        ["sent per call", bytes_text(group.sent_bytes), f"modelled{f', {share} of all' if share else ''}"],
    ]


def _lines(report: RecordReport, frames: Sequence[Frame]) -> list[list[str]]:
    """The place of each frame, with its line of source."""
    shown = distinct_lines(frames)[:_FRAMES]
    return [[name_data(frame.where), name_data(source_line(report.data, (frame,)) or "")] for frame in shown]


def _spots(tables: SharedTables, members: Sequence[Collective]) -> list[int]:
    """The lines of source that cause the collectives, and those they belong to."""
    frames = [chain for member in members for chain in (cause_frames(member), member.source) if chain]
    frames += [cause.source for member in members[:1] for cause in member.causes if cause.source]
    return list(dict.fromkeys(spot for chain in frames if (spot := tables.spot(chain)) >= 0))
