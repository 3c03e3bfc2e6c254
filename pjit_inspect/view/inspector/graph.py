"""The inspector's graph as columns: rows, boxes, kernels, reads, arrows, folds and the schedule of one program.

`graph_data` writes a header and columns; `front/src/graph/data/columns.js` reads them, `matrix.js` beside it lays them
out. A row, a box, a kernel, a fold, a loop is its place in its columns. -1 means none or unknown. Sizes are bytes on
one device. `x.ends` holds, for each entry of the owner, where its run of entries of `x` ends (as everywhere in the
blob).

`header["graph"]`: `missing` (why there is no graph; "" when there is one; then nothing else is sure to be there),
`phases` (the four names, as columns number them), `columns` (which of them occur, left to right), `is_differentiated`,
`has_scopes` (False: rows are guessed from arguments), `arguments` (how many), `row_kinds`, `hows` (how a kernel found
its box), `kinds` (of collectives), `lanes` (axis sets, one per lane of the schedule), `is_scheduled`, `first_matmul`
(kernel), `measured` (what was measured, in words; "" when nothing was: then there are no times).

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
set), `.runs`, `.bytes` (payload, each once), `graph.move.collectives` + `.ends` (collectives). Their number is the
count.
Collectives, by their place in the program's table: `graph.collective.row` (of the header's `collectives`, for
`store.select`), `.box`, `.kernel`, `.bytes` (payload).
Combined ones in another box: `graph.mention.ends` (by box), `graph.mention.collective`, `.operands`, `.bytes`.
Differences of other members: `graph.deviation.fold`, `.member` (place in the fold), `.box` (shown), `.kind`,
`.axes`, `.count`, `.bytes`, `.times`.
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
Loops: `graph.loop.parent`, `.trips`, strings `graph.loop.names`.
The schedule: `view.inspector.schedule`.

Not its job: building the graph (`analyze.graph.build`), drawing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import GraphBox, GraphRow, ProgramGraph, RowKind
from pjit_inspect.model.report.graph_columns import HOWS, PHASES
from pjit_inspect.view.inspector.blob import whole_numbers
from pjit_inspect.view.inspector.schedule import schedule_columns, schedule_header
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.record.collectives import group_collectives
from pjit_inspect.view.record.times import measured_words

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
    boxes = _Boxes(graph.boxes, kinds, tables)
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
        **schedule_header(graph.strip, links.collectives, tables),
    }
    parts = (
        _row_columns(graph.rows),
        _fold_columns(graph),
        boxes.columns(),
        _deviation_columns(graph, kinds, tables),
        _collective_columns(graph, links.collectives),
        _kernel_columns(graph, links, tables),
        _read_columns(graph),
        _flow_columns(graph),
        schedule_columns(graph.strip),
        {} if links.times is None else _time_columns(graph, links.times),
    )
    columns = {f"graph.{name}": values for part in parts for name, values in part.items()}
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
        "loop.names": (loop.name for loop in graph.loops),
    }
    return {
        f"graph.{key}": [name_data(name, longest=_LONGEST_LABEL) for name in names] for key, names in tables.items()
    }


def _row_columns(rows: Sequence[GraphRow]) -> Columns:
    return {
        "row.parent": _ints(row.parent for row in rows),
        "row.kind": _ints(_ROW_KINDS.index(row.kind) for row in rows),
        "row.trips": _ints(-1 if row.loop_trips is None else min(row.loop_trips, 2**31 - 1) for row in rows),
        "row.fold": _ints(row.fold for row in rows),
        "row.shown_as": _ints(row.shown_as for row in rows),
        **_lists("row.children", [row.children for row in rows]),
    }


def _fold_columns(graph: ProgramGraph) -> Columns:
    return {
        "fold.shown": _ints(fold.shown for fold in graph.folds),
        "fold.likeness": _floats(value for fold in graph.folds for value in fold.likeness),
        "fold.essential": _floats(value for fold in graph.folds for value in fold.essential_likeness),
        **_lists("fold.members", [fold.members for fold in graph.folds]),
    }


class _Boxes:
    """The boxes and their lines."""

    def __init__(self, boxes: Sequence[GraphBox], kinds: Sequence[str], tables: SharedTables) -> None:
        self._boxes, self._kinds, self._tables = boxes, kinds, tables

    def columns(self) -> Columns:
        """The columns of the boxes, their collectives, and their shares of combined collectives."""
        boxes = self._boxes
        return {
            "box.row": _ints(box.row for box in boxes),
            "box.phase": _ints(box.phase for box in boxes),
            "box.kernels": _ints(box.kernels for box in boxes),
            "box.inferred": _ints(box.inferred for box in boxes),
            "box.matmuls": _ints(box.matmuls for box in boxes),
            "box.flops": _floats(box.flops for box in boxes),
            "box.flops_per_call": _floats(box.flops_per_call for box in boxes),
            "box.iterations": _floats(box.iterations for box in boxes),
            "box.bytes": _floats(box.result_bytes for box in boxes),
            "box.is_list": _ints(box.is_list for box in boxes).astype(np.uint8),
            **self._moves(),
            **self._mentions(),
        }

    def _moves(self) -> Columns:
        moves = [move for box in self._boxes for move in box.collectives]
        return {
            "move.ends": _ends([box.collectives for box in self._boxes]),
            "move.kind": _ints(self._kinds.index(move.kind) for move in moves),
            "move.axes": _ints(self._tables.axis_set(move.axes, move.mesh) for move in moves),
            "move.runs": _floats(move.runs for move in moves),
            "move.bytes": _floats(move.payload_bytes for move in moves),
            **_lists("move.collectives", [move.collectives for move in moves]),
        }

    def _mentions(self) -> Columns:
        mentions = [mention for box in self._boxes for mention in box.mentions]
        return {
            "mention.ends": _ends([box.mentions for box in self._boxes]),
            "mention.collective": _ints(mention.collective for mention in mentions),
            "mention.operands": _ints(mention.operands for mention in mentions),
            "mention.bytes": _floats(mention.payload_bytes for mention in mentions),
        }


def _deviation_columns(graph: ProgramGraph, kinds: Sequence[str], tables: SharedTables) -> Columns:
    found = graph.deviations
    return {
        "deviation.fold": _ints(one.fold for one in found),
        "deviation.member": _ints(one.member for one in found),
        "deviation.box": _ints(one.box for one in found),
        "deviation.kind": _ints(kinds.index(one.kind) for one in found),
        "deviation.axes": _ints(tables.axis_set(one.axes, one.mesh) for one in found),
        "deviation.count": _ints(one.count for one in found),
        "deviation.bytes": _floats(one.payload_bytes for one in found),
        "deviation.times": _ints(one.times for one in found),
    }


def _collective_columns(graph: ProgramGraph, collectives: Sequence[Collective]) -> Columns:
    # In the list equal collectives share a row: members are the same objects, so identity tells them apart.
    rows = {id(one): row for row, group in enumerate(group_collectives(collectives)) for one in group.members}
    return {
        "collective.row": _ints(rows.get(id(one), -1) for one in collectives),
        "collective.box": _ints(graph.collective_boxes),
        "collective.kernel": _ints(graph.collective_kernels),
        "collective.bytes": _floats(one.payload_bytes for one in collectives),
    }


def _kernel_columns(graph: ProgramGraph, links: GraphLinks, tables: SharedTables) -> Columns:
    kernels = graph.kernels
    return {
        "kernel.opcode": kernels.opcode.astype(np.int32),
        "kernel.label": kernels.label.astype(np.int32),
        "kernel.box": kernels.box.astype(np.int32),
        "kernel.how": kernels.how.astype(np.uint8),
        "kernel.loop": kernels.loop.astype(np.int32),
        "kernel.runs": kernels.runs.astype(np.float64),
        "kernel.bytes": kernels.result_bytes.astype(np.float64),
        "kernel.matmuls": kernels.matmuls.astype(np.int32),
        "kernel.flops": kernels.flops.astype(np.float64),
        "kernel.spot": _spots(graph, links.module, tables),
        "kernel.entity": _ints(links.entities.get(name, -1) for name in kernels.names),
        "kernel.line": _ints(links.lines.get(name, -1) for name in kernels.names),
        "mix.kernel": graph.mixes.kernel.astype(np.int32),
        "mix.row": graph.mixes.row.astype(np.int32),
        "mix.phase": graph.mixes.phase.astype(np.int32),
        "mix.instructions": graph.mixes.instructions.astype(np.int32),
    }


def _time_columns(graph: ProgramGraph, times: KernelTimes) -> Columns:
    known = {row.instruction: row.slowest_us for row in times}
    of_kernels = _floats(known.get(name) for name in graph.kernels.names)
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


def _flow_columns(graph: ProgramGraph) -> Columns:
    arrows = graph.arrows
    return {
        "arrow.source": arrows.source.astype(np.int32),
        "arrow.target": arrows.target.astype(np.int32),
        "arrow.values": arrows.values.astype(np.int32),
        "arrow.bytes": arrows.bytes.astype(np.float64),
        "arrow.carried": arrows.carried.astype(np.float64),
        "loop.parent": _ints(loop.parent for loop in graph.loops),
        "loop.trips": _floats(loop.trips for loop in graph.loops),
    }


def _ints(values: Iterable[int]) -> np.ndarray:
    return whole_numbers(values)


def _floats(values: Iterable[float | None]) -> np.ndarray:
    """Numbers that may be large; -1 for unknown."""
    return np.array([-1 if value is None else float(value) for value in values], np.float64)


def _ends(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    return np.cumsum([len(row) for row in rows], dtype=np.int64).astype(np.uint32)


def _lists(name: str, rows: Sequence[Sequence[int]]) -> Columns:
    return {name: _ints(value for row in rows for value in row), f"{name}.ends": _ends(rows)}
