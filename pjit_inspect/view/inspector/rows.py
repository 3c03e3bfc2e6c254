"""The inspector's rows: collectives, fused kernels and arrays; equal ones share a row."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.program.shape import total
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.laid import laid
from pjit_inspect.model.words.sentence import axis, say
from pjit_inspect.view.document.document import Quote, Text
from pjit_inspect.view.document.notation import array_text, groups_text, known_spec_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.inspector.moves import move_data
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
from pjit_inspect.view.record.answer import axis_span
from pjit_inspect.view.record.arrays import ArrayGroup, donated_in_vain, fate_words, group_arrays, spec_words
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
from pjit_inspect.view.record.kernels import KernelGroup, group_kernels, time_data

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
        "title": spans_data((Quote(first.kind, strong=True), Text(" over "), axis_span(first.axes, report.data))),
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
    """True if its operands are the pieces of one array, one per device."""
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
    each, sent = bytes_text(first.wire_bytes), bytes_text(group.sent_bytes)
    array = ["array on a device, each", bytes_text(first.payload_bytes), "counted"]
    how = f"modelled{f', {share} of all' if share else ''}"
    if group.runs is not None and group.runs == least and group.runs > 1:
        hops = " hops" if first.kind == "collective-permute" else ""
        return [["array on a device", *array[1:]], ["sends per call", f"{runs}{hops} \u00d7 {each} = {sent}", how]]
    return [
        array,
        ["sends, each", each, "modelled, ring"],
        ["times per call", f"\u00d7 {times}", "counted" if group.runs is not None else "loop of unknown length"],
        ["sends per call", sent, how],
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


# ---------------------------------------------------------------- kernels

_ROWS = 600
_INPUTS = 24


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
    return [_kernel_row(group, tables, known) for group in groups[:_ROWS]], words if more else ""


def _kernel_row(group: KernelGroup, tables: SharedTables, times: Mapping[str, KernelTime]) -> dict[str, Any]:
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
        "numbers": _kernel_numbers(group, measured),
        **time,
        "traffic": bytes_text(total(traffic)),
        "bytes": float(sum(size or 0 for size in traffic)),
        "place": name_data(first.source[0].where) if first.source else "",
        "spots": [spot] if spot >= 0 else [],
        "names": [name_data(name) for name in names[:_MEMBERS]],
    }


def _kernel_numbers(group: KernelGroup, times: list[list[str]]) -> list[list[str]]:
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


# ---------------------------------------------------------------- arrays

_VALUES = 400


def array_groups(data: RecordData) -> list[tuple[str, ArrayGroup]]:
    """Role and arrays of each row: inputs, then outputs; equal arrays of equal layers share a row."""
    inputs = [("input", group) for group in group_arrays(data.inputs, in_vain=donated_in_vain(data))]
    return inputs + [("output", group) for group in group_arrays(data.outputs, keep_first=True)]


def array_rows(groups: Sequence[tuple[str, ArrayGroup]], tables: SharedTables) -> list[dict[str, Any]]:
    """One row for each group."""
    return [_array_row(role, group, tables) for role, group in groups]


def _array_row(role: str, group: ArrayGroup, tables: SharedTables) -> dict[str, Any]:
    layout = group.first
    return {
        **_entry(role, group.name, layout, layout.sharding, tables),
        "number": len(group.layouts),
        "array": name_data(array_text(layout)),
        "spec": name_data(spec_words(layout)),
        "all": bytes_text(group.bytes_per_device if layout.bytes_per_device is not None else None),
        "bytes": float(group.bytes_per_device),
        "fate": list(map(sentence_data, [*fate_words(group), *([f"sharding: {group.asked}"] if group.asked else [])])),
        "names": [name_data(one.path) for one in group.layouts[:100]] if len(group.layouts) > 1 else [],
    }


def _entry(
    role: str,
    name: str,
    row: ArrayLayout | ValueSharding,
    sharding: Sharding | None,
    tables: SharedTables,
    number: int = 1,
) -> dict[str, Any]:
    """The fields that arrays and values share; a row stands for `number` equal ones."""
    each = row.bytes_per_device
    every = None if each is None else each * number
    return {
        "role": role,
        "name": name_data(name),
        "number": number,
        "array": name_data(f"{row.dtype}{shape_text(row.global_shape)}"),
        # JavaScript cannot hold longer lengths; a damaged file may have any.
        "shape": [min(length, 2**53 - 1) for length in row.global_shape],
        "sharding": -1 if sharding is None else tables.sharding(sharding),
        "spec": name_data(known_spec_text(row.spec)),
        "local": "unknown" if row.local_shape is None else shape_text(row.local_shape),
        "each": bytes_text(each),
        "all": bytes_text(every),
        "bytes": float(every or 0),
        "copies": row.replication,
        "names": [],
        "spots": [],
    }


def inner_values(table: ShardingTable | None) -> list[ValueSharding]:
    """Values that are neither arguments nor results; [] before anybody asked for their shardings."""
    return [] if table is None else [row for row in table.rows if row.op]


def value_rows(data: RecordData, table: ShardingTable | None, tables: SharedTables) -> tuple[list[dict[str, Any]], str]:
    """Values inside the program, equal ones as one row, most wasted bytes first; and words for those left out."""
    if table is None or not table.rows:
        return [], "" if table is None else table.missing
    alike: dict[Any, list[ValueSharding]] = {}
    for row in inner_values(table):
        key = (row.name, row.dtype, row.global_shape, row.spec, row.is_per_shard, row.phase, row.source[:1])
        alike.setdefault((key, tuple(row.origins.items())), []).append(row)
    groups = list(alike.values())
    rows = [_value(group, tables, data.mesh) for group in groups[:_VALUES]]
    more = sum(map(len, groups[_VALUES:]))
    return rows, f"{plural(more, 'more value')}; record.shardings has all" if more else ""


def _value(alike: Sequence[ValueSharding], tables: SharedTables, mesh: Mesh | None) -> dict[str, Any]:
    row = alike[0]
    sharding = None if row.is_per_shard else value_sharding(row.spec, mesh)
    spot = tables.spot(row.source)
    words = ["one shard of a shard_map"] if row.is_per_shard else []
    words += [say("{} from {}", axis(name), origin) for name, origin in row.origins.items()]
    return {
        **_entry("value", row.name, row, sharding, tables, len(alike)),
        "fate": list(map(sentence_data, words)),
        "place": name_data(row.source[0].where) if row.source else "",
        "phase": row.phase or "",
        "spots": [spot] if spot >= 0 else [],
    }


def value_sharding(spec: PartitionSpec, mesh: Mesh | None) -> Sharding | None:
    """The spec of a value as a sharding over a mesh; None where the mesh is unknown or lacks an axis."""
    try:
        return None if mesh is None else laid(mesh, spec)
    except ValueError:
        return None
