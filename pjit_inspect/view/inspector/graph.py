"""The inspector's graph as columns: rows, boxes, kernels, reads, arrows, folds and the schedule of one program.

`graph_data` writes a header and columns; `front/src/graph/data/columns.js` reads them, `matrix.js` beside it lays them
out. A row, a box, a kernel, a fold, a loop is its place in its columns. -1 means none or unknown. Sizes are bytes on
one device. `x.ends` holds, for each entry of the owner, where its run of entries of `x` ends (as everywhere in the
blob).

`header["graph"]`: `missing` (why there is no graph; "" when there is one; then nothing else is sure to be there),
`phases` (the four names, as columns number them), `columns` (which of them occur, left to right), `is_differentiated`,
`has_scopes` (False: rows are guessed from arguments), `arguments` (how many), `row_kinds`, `hows` (how a kernel found
its box), `kinds` (of collectives), `lanes` (axis sets, one per lane of the schedule), `is_scheduled` (False: XLA has
not fixed the order; it is that of the program's bytes), `first_matmul` (the first kernel with a matrix product),
`measured` (what was measured, in words; "" when nothing was: then there are no times).

Rows: `graph.row.parent`, `.kind` (in `row_kinds`), `.trips` (of a loop), `.fold` (which it is a member of),
`.shown_as` (the row that stands for it while folds are closed), `graph.row.children` + `.ends` (forward order),
strings `graph.row.labels`, `graph.row.holds`.
Folds: `graph.fold.shown` (row), `graph.fold.members` + `.ends` (rows), `graph.fold.likeness`, `graph.fold.essential`
(0 to 1, beside the members), strings `graph.fold.labels`.
Boxes: `graph.box.row`, `.phase`, `.kernels`, `.inferred` (how many of them are placed by inference), `.matmuls`,
`.flops`, `.flops_per_call`, `.iterations` (per call; more than 1: everything in the box is per iteration), `.bytes`,
`.is_list` (show its kernels as a list), `.time` (microseconds per call of its kernels, each on its slowest device,
added up; measured; -1 when none of them was).
Collective lines of a box, most bytes first: `graph.move.ends` (by box), `graph.move.kind` (in `kinds`), `.axes` (axis
set), `.runs`, `.bytes` (sent, each once), `graph.move.collectives` + `.ends` (collectives). Their number is the
count.
Collectives, by their place in the program's table: `graph.collective.row` (of the header's `collectives`, for
`store.select`), `.box`, `.kernel`, `.bytes` (payload).
Combined ones in another box: `graph.mention.ends` (by box), `graph.mention.collective`, `.operands`, `.bytes` (sent).
Kernels, in schedule order: strings `graph.kernel.names`; `graph.kernel.opcode` (of strings `graph.opcodes`), `.label`
(of strings `graph.labels`), `.box`, `.how`, `.loop`, `.runs`, `.bytes` (of its result), `.matmuls`, `.flops`, `.spot`
(in `spot_files`), `.entity` (collective row r as 2r, kernel row r as 2r + 1), `.line` (in `hlo.lines`), `.time`
(microseconds per call on the device where it took longest; measured; -1 when it was not).
Fusions of several scopes: `graph.mix.kernel`, `.row`, `.phase`, `.instructions`.
Reads, by kernel: `graph.read.ends`, `graph.read.source` (kernel k as k; argument a as -2 - a; -1 for neither),
`.operand`, `.element` (-1: all of the result), `.carried` (from the iteration before), `.bytes` (place in
`graph.sizes`).
Strings `graph.arguments`: names of arguments.
Arrows, nothing folded: `graph.arrow.source`, `.target` (boxes), `.values`, `.bytes`, `.carried` (bytes).
The schedule, runs in order: `graph.run.start` (kernel; a run ends where the next starts, the last with the last
kernel), `graph.run.row` (the layer, or the row under the program), `graph.run.phase`.
Events, by start: `graph.event.collective`, `.lane`, `.start`, `.end` (places between kernels: issued right after kernel
`start - 1`, waited for right before kernel `end`), `.first_use` (kernel; -1 for none), `.is_async`.
Places count kernels, not time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import (
    FlowNode,
    GraphBox,
    Mention,
    ProgramFlow,
    ProgramGraph,
    RowKind,
    ScheduleStrip,
)
from pjit_inspect.model.report.graph_columns import HOWS, PHASES
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.view.document.notation import array_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.inspector.blob import ends_of, lists_of, numbers_of, real_numbers, whole_numbers
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, spec_data
from pjit_inspect.view.record.collectives import group_collectives
from pjit_inspect.view.record.kernels import measured_words

_ROW_KINDS: tuple[str, ...] = get_args(RowKind)
_LONGEST_LABEL = 120

Columns = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLinks:
    """The links of the graph.

    Attributes:
      collectives: the program's collectives, in the graph's order.
      module: the program; None where it is not available.
      entities: instruction -> its row, as in `LinkedText.entities`.
      lines: instruction -> its line in the shown HLO text.
      times: measured times; None when there are none, or when they are not to be shown.
    """

    collectives: Sequence[Collective]
    module: HloModule | None = None
    entities: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    times: KernelTimes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphData:
    """The graph as `pack_blob` takes it: its part of the header, its columns, its tables of strings."""

    header: dict[str, Any]
    columns: Columns = field(default_factory=dict)
    strings: dict[str, Sequence[str]] = field(default_factory=dict)


def missing_graph(why: str) -> GraphData:
    """The data of a missing graph, with the reason."""
    return GraphData(header={"missing": name_data(why, longest=500)})


def graph_data(graph: ProgramGraph, links: GraphLinks, tables: SharedTables) -> GraphData:
    """The graph of one program, as columns."""
    kinds = sorted({row.kind for row in links.collectives})
    meshes = {one.axes: one.mesh for one in reversed(links.collectives)}
    header = {
        "missing": "",
        "measured": "" if links.times is None else measured_words(links.times),
        "phases": list(PHASES),
        "columns": list(graph.phases),
        "is_differentiated": graph.is_differentiated,
        "has_scopes": graph.has_scopes,
        "arguments": len(graph.arguments),
        "row_kinds": list(_ROW_KINDS),
        "hows": list(HOWS),
        "kinds": [name_data(kind) for kind in kinds],
        "lanes": [tables.axis_set(axes, meshes.get(axes, 0)) for axes in graph.strip.lanes],
        "is_scheduled": graph.strip.is_scheduled,
        "first_matmul": graph.strip.first_matmul,
    }
    columns = {
        **_row_columns(graph),
        **_box_columns(graph.boxes, links.collectives, kinds, tables),
        **_collective_columns(graph, links.collectives),
        **_kernel_columns(graph, links, tables),
        **_read_columns(graph),
        **_schedule_columns(graph.strip),
        **({} if links.times is None else _time_columns(graph, links.times)),
    }
    columns = {f"graph.{name}": values for name, values in columns.items()}
    return GraphData(header=header, columns=columns, strings=_strings(graph))


def _strings(graph: ProgramGraph) -> dict[str, Sequence[str]]:
    tables = {
        "row.labels": (row.label for row in graph.rows),
        "row.holds": (row.holds for row in graph.rows),
        "fold.labels": (fold.label for fold in graph.folds),
        "kernel.names": graph.kernels.names,
        "opcodes": graph.kernels.opcodes,
        "labels": graph.kernels.labels,
        "arguments": graph.arguments,
    }
    return {
        f"graph.{key}": [name_data(name, longest=_LONGEST_LABEL) for name in names] for key, names in tables.items()
    }


def _row_columns(graph: ProgramGraph) -> Columns:
    rows, folds = graph.rows, graph.folds
    return {
        **numbers_of("row", rows, whole="parent fold shown_as"),
        "row.kind": whole_numbers(_ROW_KINDS.index(row.kind) for row in rows),
        "row.trips": whole_numbers(-1 if row.loop_trips is None else min(row.loop_trips, 2**31 - 1) for row in rows),
        **lists_of("row.children", [row.children for row in rows]),
        **numbers_of("fold", folds, whole="shown"),
        "fold.likeness": real_numbers(value for fold in folds for value in fold.likeness),
        "fold.essential": real_numbers(value for fold in folds for value in fold.essential_likeness),
        **lists_of("fold.members", [fold.members for fold in folds]),
    }


def _box_columns(
    boxes: Sequence[GraphBox], collectives: Sequence[Collective], kinds: Sequence[str], tables: SharedTables
) -> Columns:
    """The columns of the boxes, their collectives, and their shares of combined collectives."""
    sent = [one.wire_bytes or 0 for one in collectives]
    moves = [move for box in boxes for move in box.collectives]
    mentions = [mention for box in boxes for mention in box.mentions]
    return {
        **numbers_of("box", boxes, whole="row phase kernels inferred matmuls", real="flops flops_per_call iterations"),
        "box.bytes": real_numbers(box.result_bytes for box in boxes),
        "box.is_list": np.array([box.is_list for box in boxes], np.uint8),
        "move.ends": ends_of(box.collectives for box in boxes),
        "move.kind": whole_numbers(kinds.index(move.kind) for move in moves),
        "move.axes": whole_numbers(tables.axis_set(move.axes, move.mesh) for move in moves),
        "move.runs": real_numbers(move.runs for move in moves),
        "move.bytes": real_numbers(sum(sent[one] for one in move.collectives) for move in moves),
        **lists_of("move.collectives", [move.collectives for move in moves]),
        "mention.ends": ends_of(box.mentions for box in boxes),
        **numbers_of("mention", mentions, whole="collective operands"),
        "mention.bytes": real_numbers(_share(mention, collectives[mention.collective]) for mention in mentions),
    }


def _share(mention: Mention, whole: Collective) -> float:
    """What a device sends for a part of a combined collective."""
    return (whole.wire_bytes or 0) * mention.payload_bytes / (whole.payload_bytes or 1)


def _collective_columns(graph: ProgramGraph, collectives: Sequence[Collective]) -> Columns:
    # In the list equal collectives share a row: members are the same objects, so identity tells them apart.
    rows = {id(one): row for row, group in enumerate(group_collectives(collectives)) for one in group.members}
    return {
        "collective.row": whole_numbers(rows.get(id(one), -1) for one in collectives),
        "collective.box": whole_numbers(graph.collective_boxes),
        "collective.kernel": whole_numbers(graph.collective_kernels),
        "collective.bytes": real_numbers(one.payload_bytes for one in collectives),
    }


def _kernel_columns(graph: ProgramGraph, links: GraphLinks, tables: SharedTables) -> Columns:
    kernels = graph.kernels
    return {
        **_cast("kernel", kernels, np.int32, "opcode label box loop matmuls"),
        **_cast("kernel", kernels, np.float64, "runs flops"),
        "kernel.how": kernels.how.astype(np.uint8),
        "kernel.bytes": kernels.result_bytes.astype(np.float64),
        "kernel.spot": _spots(graph, links.module, tables),
        "kernel.entity": whole_numbers(links.entities.get(name, -1) for name in kernels.names),
        "kernel.line": whole_numbers(links.lines.get(name, -1) for name in kernels.names),
        **_cast("mix", graph.mixes, np.int32, "kernel row phase instructions"),
        **_cast("arrow", graph.arrows, np.int32, "source target values"),
        **_cast("arrow", graph.arrows, np.float64, "bytes carried"),
    }


def _schedule_columns(strip: ScheduleStrip) -> Columns:
    return {
        **_cast("run", strip.runs, np.int32, "start row phase"),
        **numbers_of("event", strip.events, whole="collective lane start end first_use"),
        "event.is_async": np.array([event.is_async for event in strip.events], np.uint8),
    }


def _cast(name: str, columns: Any, kind: type, fields: str) -> Columns:
    """Some of an object's columns, with their type in the store."""
    return {f"{name}.{one}": getattr(columns, one).astype(kind) for one in fields.split()}


def _time_columns(graph: ProgramGraph, times: KernelTimes) -> Columns:
    known = {row.instruction: row.slowest_us for row in times}
    of_kernels = real_numbers(known.get(name) for name in graph.kernels.names)
    of_boxes = np.full(len(graph.boxes), -1.0)
    measured = (of_kernels >= 0) & (graph.kernels.box >= 0)
    boxes = graph.kernels.box[measured]
    of_boxes[boxes] = 0.0
    np.add.at(of_boxes, boxes, of_kernels[measured])
    return {"kernel.time": of_kernels, "box.time": of_boxes}


def _spots(graph: ProgramGraph, module: HloModule | None, tables: SharedTables) -> np.ndarray:
    """The user's line of source of each kernel."""
    rows = graph.kernels.instruction
    if module is None:
        return np.full(len(rows), -1, np.int32)
    frames = module.instructions.frame[rows]
    kinds, first, place = np.unique(frames, return_index=True, return_inverse=True)
    found = [tables.spot(module.instruction(int(rows[at])).frames) for at in first.tolist()]
    return np.array(found, np.int32)[place] if len(kinds) else np.zeros(0, np.int32)


def _read_columns(graph: ProgramGraph) -> Columns:
    reads = graph.reads
    order = np.argsort(reads.target, kind="stable")
    source = np.where(reads.source >= 0, reads.source, np.where(reads.argument >= 0, -2 - reads.argument, -1))
    sizes, size = np.unique(reads.bytes, return_inverse=True)
    counts = np.bincount(reads.target, minlength=len(graph.kernels))
    return {
        "read.ends": np.cumsum(counts).astype(np.uint32),
        "read.source": source[order].astype(np.int32),
        "read.operand": reads.operand[order].astype(np.int32),
        "read.element": reads.element[order].astype(np.int32),
        "read.carried": reads.carried[order].astype(np.uint8),
        "read.bytes": size[order].astype(np.int32),
        "sizes": sizes.astype(np.float64),
    }


# ---------------------------------------------------------------- the picture of a small program


def flow_data(flow: ProgramFlow | None, report: RecordReport) -> dict[str, Any] | None:
    """The words of the picture as JSON: `header["flow"]`; None for a program drawn as boxes.

    `nodes`, `edges` (pairs of places in `nodes`) and `copies` (how many layout copies are left out). A node: `kind`
    ("argument", "kernel", "collective", "result"), `kernel` (in the graph's columns; -1), `name` and `array` (of an
    argument or result: its path, which selects it), `value` (what leaves it on the arrow: dtype and shape of one
    device, spec as `spec_data` or null, bytes), `sent` (a collective).
    """
    if flow is None:
        return None
    results = sum(node.kind == "result" for node in flow.nodes)
    inputs = report.data.parameters
    outputs = report.data.outputs if len(report.data.outputs) == results else ()
    nodes = [_node(node, report, inputs, outputs) for node in flow.nodes]
    return {"nodes": nodes, "edges": [list(edge) for edge in flow.edges], "copies": flow.copies}


def _node(
    node: FlowNode, report: RecordReport, inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout]
) -> dict[str, Any]:
    if node.kind in ("argument", "result"):
        return _end(node, inputs if node.kind == "argument" else outputs)
    value = {"array": name_data(node.array), "spec": spec_data(node.spec)}
    sent = ""
    if node.kind == "collective" and report.collectives is not None:
        sent = bytes_text(report.collectives[node.number].wire_bytes)
    return {"kind": node.kind, "kernel": node.kernel, "value": value, "sent": sent}


def _end(node: FlowNode, layouts: Sequence[ArrayLayout]) -> dict[str, Any]:
    """An argument or a result; a program read from HLO has only its number."""
    if node.number >= len(layouts):
        words = f"{node.kind} {node.number}"
        return {
            "kind": node.kind,
            "kernel": -1,
            "name": words,
            "array": "",
            "local": "",
            "bytes": "",
            "value": {"spec": None},
        }
    layout = layouts[node.number]
    # The lists name equal arrays of equal layers by their common pattern.
    return {
        "kind": node.kind,
        "kernel": -1,
        "name": name_data(layout.path),
        "pattern": name_data(path_pattern(layout.path, keep_first=node.kind == "result")),
        "array": name_data(array_text(layout)),
        "shape": [min(length, 2**53 - 1) for length in layout.global_shape],
        "local": "" if layout.local_shape is None else shape_text(layout.local_shape),
        "copies": layout.replication or 1,
        "bytes": bytes_text(layout.bytes_per_device),
        "tiles": None if layout.sharding is None else list(layout.sharding.tiles),
        "value": {"spec": spec_data(layout.spec)},
    }
