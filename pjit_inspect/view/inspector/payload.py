"""All data of one record's inspector: a tiny first view, and one column store with the rest.

All words and figures are made here; JavaScript (`view/front`) lays them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import LinkTraffic, Phase
from pjit_inspect.model.report.graph import ProgramFlow, ProgramGraph
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Line, Sign, Spans, TableBlock, spans
from pjit_inspect.view.document.quantities import bytes_text, least_text, plural
from pjit_inspect.view.inspector.advice import advice_data
from pjit_inspect.view.inspector.blob import lists_of, pack_blob, whole_numbers
from pjit_inspect.view.inspector.graph import GraphData, GraphLinks, flow_data, graph_data, missing_graph
from pjit_inspect.view.inspector.notes import note_list
from pjit_inspect.view.inspector.rows import (
    array_groups,
    array_rows,
    collective_rows,
    inner_values,
    kernel_rows,
    value_rows,
)
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.texts import (
    PHASES,
    HloLinks,
    LinkedText,
    hlo_lines,
    instruction_lines,
    program_lines,
    source_lines,
)
from pjit_inspect.view.inspector.words import axes_data, name_data, spans_data, table_data
from pjit_inspect.view.record.answer import answer_spans, hypothesis_blocks, memory_line, reason_blocks, title_line
from pjit_inspect.view.record.collectives import group_collectives, unasked_words
from pjit_inspect.view.record.kernels import measured_words
from pjit_inspect.view.record.record import times_line

_FIRST_ROWS = 24
_DETAILS = frozenset((
    "groups", "chips", "title", "reasons", "numbers", "moves", "groups_words", "groups_count", "lines", "spots",
    "names", "beside", "picture",
))  # fmt: skip
"""The fields of a row that the list of collectives does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorInput:
    """The input of the inspector.

    Attributes:
      report: the record and its analyses.
      traffic: bytes between pairs of devices.
      jaxpr, stablehlo, hlo_text: its texts; None for missing ones.
      no_hlo_text: the reason why there is no `hlo_text`; "" if unknown.
      module: the parsed optimized program; None if missing.
      running: the program's running instructions.
      graph: the program as a matrix of scopes by phases; None where there is none.
      no_graph: the reason why there is none.
      flow: the program as a flow from arguments to results, if it is small enough.
      shardings: the shardings of values; None before anybody asked for them.
      phase_of: gives the phase of training from an operation's name.
      text: the display as text, for "Copy as text".
      time: the data of the pane of seconds (`view.time.payload`); None without seconds.
      show_times: whether to show seconds and other times.
    """

    report: RecordReport
    traffic: LinkTraffic = field(default_factory=LinkTraffic)
    jaxpr: str | None = None
    stablehlo: str | None = None
    hlo_text: str | None = None
    no_hlo_text: str = ""
    module: HloModule | None = None
    running: RunningInstructions | None = None
    graph: ProgramGraph | None = None
    no_graph: str = ""
    flow: ProgramFlow | None = None
    shardings: ShardingTable | None = None
    phase_of: Callable[[str], Phase] = field(default=lambda name: None)
    text: str = ""
    time: dict[str, Any] | None = None
    show_times: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorPayload:
    """The data of one inspector.

    Attributes:
      first: data for the first paint, before anything is decoded, as JSON.
      blob: everything, as `pack_blob` writes it.
      title: the page's title.
      selection: the name selected at first, of the collective that sends most; "" without collectives.
      memory: the store of the memory pane (`view.memory.payload`), decoded on request; b"" for none.
      no_memory: the words shown in place of the pane; "" for no such pane.
    """

    first: dict[str, Any]
    blob: bytes
    title: str
    selection: str = ""
    memory: bytes = b""
    no_memory: str = ""


def inspector_payload(given: InspectorInput) -> InspectorPayload:
    """The data of the inspector of one record."""
    if not given.show_times:
        given = replace(given, report=replace(given.report, time=None), time=None)
    report, data = given.report, given.report.data
    tables = SharedTables(sources=_sources(data), has_mesh=data.mesh is not None or bool(data.meshes))
    totals, mesh = _totals(report, tables), _mesh(data, report)
    lists, notes = _lists(given, tables)
    entities = _entities(lists["collectives"], lists["kernels"])
    texts = _texts(given, tables, entities)
    graph = _graph(given, tables, entities, texts.get("hlo"))
    first = {
        **_head(given),
        "notes": [{**note, "rows": len(note["rows"])} for note in notes],
        "totals": totals,
        "mesh": mesh,
        "axis_sets": tables.header()["axis_sets"],
        "collectives": [
            {key: value for key, value in row.items() if key not in _DETAILS}
            for row in lists["collectives"][:_FIRST_ROWS]
        ],
    }
    header = {
        **tables.header(),
        **lists,
        "graph": graph.header,
        "flow": flow_data(given.flow, report),
        # A program from XLA's partitioner is not fused into kernels yet.
        "work": "operation" if data.is_partial else "kernel",
        "texts": {key: text.head() for key, text in texts.items()},
        "missing": _missing(report, texts, given.no_hlo_text),
        "phases": [phase or "" for phase in PHASES],
        "traffic_left_out": given.traffic.left_out,
        "text": given.text,
        "time": given.time,
    }
    columns = {**tables.columns(), **graph.columns, **_mesh_columns(data, given.traffic, mesh["size"])}
    for key, text in texts.items():
        columns |= text.columns(key)
    strings = {f"{key}.lines": text.lines for key, text in texts.items()}
    return InspectorPayload(
        first=first,
        blob=pack_blob(header, columns, {**strings, **graph.strings}),
        title=f"{name_data(data.name)} - pjit_inspect",
        selection=lists["collectives"][0]["names"][0] if lists["collectives"] else "",
    )


def _lists(given: InspectorInput, tables: SharedTables) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The rows of each list, words for rows left out, and the notes; a row has the numbers of its notes."""
    report, data = given.report, given.report.data
    groups, array_sets = group_collectives(report.collectives or ()), array_groups(data)
    times = data.kernel_times if given.show_times else None
    collectives = collective_rows(report, tables, given.running, groups, times)
    kernels, more_kernels = kernel_rows(report, tables, times)
    arrays = array_rows(array_sets, tables)
    values, more_values = value_rows(data, given.shardings, tables)
    lists = {"collectives": collectives, "kernels": kernels, "arrays": arrays + values}
    notes = note_list(report, groups, array_sets)
    for number, note in enumerate(notes):
        for row in note["rows"]:
            lists[note["list"]][row].setdefault("notes", []).append(number)
    return {**lists, "more": {"kernels": more_kernels, "arrays": more_values}}, notes


def _sources(data: RecordData) -> tuple[Any, ...]:
    """The record's source texts; the file that defines the function comes first."""
    at = data.defined_at or data.user_frame
    return tuple(sorted(data.sources, key=lambda source: at is None or source.file != at.file))


def _head(given: InspectorInput) -> dict[str, Any]:
    """The page's head: the compiled program, the answer, the advice, and how much there is."""
    report, data = given.report, given.report.data
    memory = next(iter(memory_line(data)), None)
    times = data.kernel_times if given.show_times else None
    return {
        **({} if times is None else {"measured": measured_words(times)}),
        **({"unsent": report.unsent} if report.unsent else {}),
        "version": 1,
        "name": name_data(data.primitive or data.name),
        "axes": axes_data(document_axes(data)),
        "title": spans_data(title_line(data).spans),
        **_again(data, show_times=given.show_times),
        **_question(report, show_times=given.show_times),
        "times": spans_data(times_line(data).spans) if given.show_times else [],
        "answer": spans_data(answer_spans(report)),
        "memory": spans_data(memory.spans) if isinstance(memory, Line) else [],
        "advice": advice_data(report.advice),
        "unasked": spans_data(_unasked(report)),
        "counts": [
            len(report.collectives or ()),
            len(data.inputs) + len(data.outputs) + len(inner_values(given.shardings)),
            None if data.is_partial else len(report.fusions or ()),
        ],
        "has_graph": given.graph is not None,
        "has_time": given.time is not None,
    }


def _unasked(report: RecordReport) -> Spans:
    """The note that the causes are not known yet; the page does not have the text table that says so."""
    return spans("Why the collectives are there is ", unasked_words(report.unasked)) if report.unasked else ()


def _again(data: RecordData, *, show_times: bool) -> dict[str, Any]:
    """The reason for a recompile: the line, then the differences it leaves out; {} for a first compile.

    Shown only with times: like these it depends on the session.
    """
    blocks = reason_blocks(data.reason) if show_times else []
    # A list has its own marks.
    lines = [[span for span in block.spans if span != Sign("dot")] for block in blocks if isinstance(block, Line)]
    return {"again": [spans_data(tuple(spans)) for spans in lines]} if lines else {}


def _question(report: RecordReport, *, show_times: bool) -> dict[str, Any]:
    """The question of a record that never ran; {} for other records."""
    blocks = hypothesis_blocks(report, show_times=show_times)
    table = next((block for block in blocks if isinstance(block, TableBlock)), None)
    if table is None:
        return {}
    lines = [spans_data(block.spans) for block in blocks if isinstance(block, Line)]
    return {"question": {"lines": lines, **table_data(table)}}


def _totals(report: RecordReport, tables: SharedTables) -> list[dict[str, Any]]:
    most = max((total.sent_bytes for total in report.totals), default=0) or 1
    return [
        {
            "axes": tables.axis_set(total.axes, total.mesh),
            "sent": least_text(bytes_text(total.sent_bytes), total.sent_bytes, total.is_sent_least),
            "number": plural(total.collectives, "collective"),
            "share": total.sent_bytes / most,
            "sent_bytes": float(total.sent_bytes),
        }
        for total in report.totals
    ]


# ---------------------------------------------------------------- mesh


def _mesh(data: RecordData, report: RecordReport) -> dict[str, Any]:
    """The mesh; without one, the devices in a row, or the positions in groups."""
    mesh = data.mesh or next(iter(data.meshes), None)
    if mesh is not None:
        return {
            "axes": axes_data(mesh.axis_names),
            "shape": list(mesh.shape),
            "size": mesh.size,
            "missing": "",
        }
    named = max((max(group, default=-1) for row in report.collectives or () for group in row.groups), default=-1)
    size = max(len(data.devices), named + 1)
    reason = data.missing.get("mesh", "no input or output follows one")
    missing = f"mesh unknown: {name_data(reason, longest=400)}"
    if size == 1 and "mesh" not in data.missing:
        missing = "one device, without a mesh"
    return {"axes": [], "shape": [size], "size": size, "missing": missing}


def _mesh_columns(data: RecordData, traffic: LinkTraffic, size: int) -> dict[str, np.ndarray]:
    """Device, host and coordinates at each position, and the traffic; host -1 and no coordinates where unknown."""
    mesh: Mesh | None = data.mesh or next(iter(data.meshes), None)
    ids = list(mesh.device_ids) if mesh is not None else [device.id for device in data.devices]
    ids += range(len(ids), size)
    devices = {device.id: device for device in data.devices}
    coordinates = [(devices[id].coords or ()) if id in devices else () for id in ids]
    return {
        "mesh.ids": whole_numbers(ids),
        "mesh.hosts": whole_numbers(devices[id].process if id in devices else -1 for id in ids),
        **lists_of("mesh.coords", coordinates),
        "traffic.sources": traffic.sources,
        "traffic.targets": traffic.targets,
        "traffic.bytes": traffic.sent_bytes,
        "sent": traffic.per_position(size),
    }


# ---------------------------------------------------------------- texts


def _entities(collectives: list[dict[str, Any]], kernels: list[dict[str, Any]]) -> dict[str, int]:
    """HLO instruction -> its row: collective row r as 2r, kernel row r as 2r + 1."""
    found = {name: 2 * row + 1 for row, kernel in enumerate(kernels) for name in kernel["names"]}
    return found | {name: 2 * row for row, one in enumerate(collectives) for name in one["names"]}


def _texts(given: InspectorInput, tables: SharedTables, entities: Mapping[str, int]) -> dict[str, LinkedText]:
    """The available texts, by key: "source0", ..., "jaxpr", "stablehlo", "hlo"."""
    texts = {f"source{number}": text for number, text in enumerate(source_lines(tables))}
    jaxpr, stablehlo = program_lines(given.jaxpr, given.stablehlo, tables, given.phase_of)
    links = HloLinks(running=given.running, entities=entities, phase_of=given.phase_of)
    hlo = None if given.hlo_text is None else hlo_lines(given.hlo_text, tables, links)
    rest = {"jaxpr": jaxpr, "stablehlo": stablehlo, "hlo": hlo}
    return texts | {key: text for key, text in rest.items() if text is not None}


def _graph(
    given: InspectorInput, tables: SharedTables, entities: Mapping[str, int], hlo: LinkedText | None
) -> GraphData:
    """The graph, or the reason why there is none."""
    if given.graph is None:
        hlo_words = f"it holds no optimized HLO ({given.report.data.missing.get('hlo', 'it was not captured')})"
        return missing_graph(given.no_graph or f"no graph of this record: {hlo_words}")
    links = GraphLinks(
        collectives=tuple(given.report.collectives or ()),
        module=given.module,
        entities=entities,
        lines={} if hlo is None else instruction_lines(hlo),
        times=given.report.data.kernel_times if given.show_times else None,
    )
    return graph_data(given.graph, links, tables)


def _missing(report: RecordReport, texts: Mapping[str, LinkedText], no_hlo_text: str) -> dict[str, str]:
    """Reasons for missing texts, arrays or collectives, by pane."""
    data = report.data
    sources = data.missing.get("sources", "the record holds no source files")
    unread = "the record holds none, or no jaxlib is here to print it"
    reasons = {
        "source0": f"no source: {sources}",
        "jaxpr": f"no jaxpr: {data.missing.get('jaxpr', 'it was not captured')}",
        "stablehlo": f"no StableHLO: {data.missing.get('stablehlo', unread)}",
        "hlo": f"no optimized HLO: {data.missing.get('hlo', no_hlo_text or unread)}",
    }
    found = {key: words for key, words in reasons.items() if key not in texts}
    found = {field: f"{field} unknown: {why}" for field, why in data.missing.items()} | found
    if report.incomplete:
        found["hlo"] = f"Incomplete program: {report.incomplete}; nothing of the kind in the part that is there."
    elif report.others and not report.collectives:
        # The words of an empty list of collectives.
        found["hlo"] = f"{report.silence[:1].upper()}{report.silence[1:]}."
    return {key: name_data(words, longest=500) for key, words in found.items()}
