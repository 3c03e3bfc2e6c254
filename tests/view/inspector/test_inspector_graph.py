"""The graph as columns: what a reader of the columns counts is what the program has."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "analyze" / "graph"))
import graph_cases
import view_reports
from blob_reader import read_blob, strings
from data import hlo_fixtures as fixtures

from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.graph import GraphLinks, graph_data, missing_graph
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload
from pjit_inspect.view.inspector.shared_tables import SharedTables

Columns = dict[str, np.ndarray]


def stored(name: str) -> tuple[dict[str, Any], Columns, ProgramGraph, Any]:
    """A fixture's graph, written and read again: its header, its columns, the graph, its collectives."""
    module, table, graph = graph_cases.fixture(name)
    found = graph_data(graph, GraphLinks(collectives=table.rows, module=module), SharedTables())
    header, columns = read_blob(pack_blob({"graph": found.header}, found.columns, found.strings))
    return header["graph"], columns, graph, table


def runs(columns: Columns, ends: str) -> list[tuple[int, int]]:
    found = columns[f"graph.{ends}"].tolist()
    return list(zip([0, *found], found, strict=False))


def times_of(columns: Columns) -> list[int]:
    """For each row how many rows it stands for while folds are closed."""
    sizes = [b - a for a, b in runs(columns, "fold.members.ends")]
    times: list[int] = []
    parents, folds = columns["graph.row.parent"].tolist(), columns["graph.row.fold"].tolist()
    for parent, fold in zip(parents, folds, strict=True):
        times.append((times[parent] if parent >= 0 else 1) * (sizes[fold] if fold >= 0 else 1))
    return times


@pytest.mark.parametrize("name", fixtures.ALL)
def test_what_is_shown_times_the_folds_and_the_deviations_are_all_collectives(name: str):
    _, columns, graph, table = stored(name)
    shown_as, times = columns["graph.row.shown_as"], times_of(columns)
    counts = [b - a for a, b in runs(columns, "move.collectives.ends")]
    shown = sum(
        times[row] * sum(counts[a:b])
        for row, (a, b) in zip(columns["graph.box.row"].tolist(), runs(columns, "move.ends"), strict=True)
        if shown_as[row] == row
    )
    more = sum(one.count * one.times for one in graph.deviations)
    assert shown + more == len(table)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_collective_stands_in_one_line_of_its_box_and_in_a_row_of_the_list(name: str):
    header, columns, graph, table = stored(name)
    numbers, lines = columns["graph.move.collectives"], runs(columns, "move.collectives.ends")
    found = Counter[int]()
    for box, (a, b) in enumerate(runs(columns, "move.ends")):
        for line in range(a, b):
            for number in numbers[slice(*lines[line])].tolist():
                found[number] += 1
                assert columns["graph.collective.box"][number] == box == graph.collective_boxes[number]
                assert header["kinds"][columns["graph.move.kind"][line]] == table.rows[number].kind
    assert found == Counter(range(len(table)))
    assert columns["graph.collective.row"].min(initial=0) >= 0
    assert sum(columns["graph.move.bytes"]) == sum(row.wire_bytes for row in table)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_rows_boxes_and_kernels_are_those_of_the_graph(name: str):
    header, columns, graph, _ = stored(name)
    assert strings(columns, "graph.row.labels") == [row.label for row in graph.rows]
    children = columns["graph.row.children"].tolist()
    assert [tuple(children[a:b]) for a, b in runs(columns, "row.children.ends")] == [r.children for r in graph.rows]
    boxes = zip(columns["graph.box.row"], columns["graph.box.phase"], columns["graph.box.kernels"], strict=True)
    assert [tuple(map(int, box)) for box in boxes] == [(box.row, box.phase, box.kernels) for box in graph.boxes]
    assert np.bincount(columns["graph.kernel.box"]).tolist() == [box.kernels for box in graph.boxes]
    assert header["columns"] == list(graph.phases)
    assert set(columns["graph.box.phase"].tolist()) == set(graph.phases)


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_reads_say_which_kernel_takes_what_and_how_much(name: str):
    _, columns, graph, _ = stored(name)
    written = Counter()
    for target, (a, b) in enumerate(runs(columns, "read.ends")):
        for one in range(a, b):
            size = columns["graph.sizes"][columns["graph.read.bytes"][one]]
            written[target, int(columns["graph.read.source"][one]), int(size)] += 1
    reads = graph.reads
    expected = Counter(
        (target, source if source >= 0 else -2 - argument if argument >= 0 else -1, size)
        for target, source, argument, size in zip(
            reads.target.tolist(), reads.source.tolist(), reads.argument.tolist(), reads.bytes.tolist(), strict=True
        )
    )
    assert written == expected


def test_a_kernel_leads_to_its_source_line_its_row_and_its_line_of_text():
    module, table, graph = graph_cases.fixture("mlp_step.cpu_8")
    tables = SharedTables()
    names = graph.kernels.names
    links = GraphLinks(
        collectives=table.rows, module=module, entities={names[1]: 7}, lines={name: i for i, name in enumerate(names)}
    )
    columns = graph_data(graph, links, tables).columns
    assert columns["graph.kernel.entity"].tolist() == [-1, 7] + [-1] * (len(names) - 2)
    assert columns["graph.kernel.line"].tolist() == list(range(len(names)))
    spots = tables.columns()
    at = names.index("all-reduce.5") if "all-reduce.5" in names else int(graph.collective_kernels[0])
    spot = int(columns["graph.kernel.spot"][at])
    frames = module.instruction(int(graph.kernels.instruction[at])).frames
    assert frames
    assert spots["spot_lines"][spot] == frames[0].line


def test_without_a_graph_the_data_say_why():
    assert missing_graph("no HLO").header == {"missing": "no HLO"}
    header, _ = read_blob(inspector_payload(InspectorInput(report=view_reports.without_hlo())).blob)
    assert "no optimized HLO" in header["graph"]["missing"]
    failed = InspectorInput(report=view_reports.train_step(), no_graph="the analysis failed: KeyError")
    assert not inspector_payload(failed).first["has_graph"]
    assert "KeyError" in read_blob(inspector_payload(failed).blob)[0]["graph"]["missing"]


def test_hostile_names_of_scopes_are_made_visible_and_short():
    at = "jit(f)/" + "x" * 100_000 + "\u202e\u0000/add"
    graph = graph_cases.graph_of(graph_cases.program(graph_cases.op("a", "add", "q", "q", at=at, root=True)))
    labels = graph_data(graph, GraphLinks(collectives=()), SharedTables()).strings["graph.row.labels"]
    assert max(map(len, labels)) <= 120
    assert not any("\u202e" in label or "\0" in label for label in labels)
