"""The graph's folding and geometry, run by node on every fixture and compared with the analysis."""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "analyze" / "graph"))
import graph_cases
from data import hlo_fixtures as fixtures
from front_sources import import_all, run_node
from shown_arrows import shown_arrows

from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.graph import GraphLinks, graph_data
from pjit_inspect.view.inspector.shared_tables import SharedTables

MODULES = {
    "blob": "core/blob",
    "columns": "graph/data/columns",
    "fold": "graph/data/fold",
    "matrix": "graph/data/matrix",
    "search": "graph/data/search",
    "selection": "graph/data/selection",
    "wording": "graph/data/words",
    "coloring": "graph/pane/colors",
    "drawing": "graph/pane/draw",
    "tip": "graph/pane/tip",
    "tree": "graph/pane/tree",
}

STATES = """
  const rows = Array.from({length: g.rows}, (_, i) => i), folds = Array.from({length: g.folds}, (_, i) => i);
  const states = {
    first: matrix.openAtFirst(g, 708), wide: matrix.openAtFirst(g, 1170),
    closed: {open: new Set([0]), unfolded: new Set()}, open: {open: new Set(rows), unfolded: new Set()},
    unfolded: {open: new Set(rows), unfolded: new Set(folds)}, side: {open: new Set([0]), unfolded: new Set(folds)},
  };
"""


@functools.cache
def blob(name: str) -> bytes:
    module, table, graph = graph_cases.fixture(name)
    return packed(graph, table.rows, module)


def packed(graph: ProgramGraph, collectives: Any = (), module: Any = None, times: KernelTimes | None = None) -> bytes:
    tables = SharedTables()
    data = graph_data(graph, GraphLinks(collectives=collectives, module=module, times=times), tables)
    header = {"graph": data.header, **tables.header()}
    return pack_blob(header, data.columns, data.strings)


def run(data: bytes, script: str) -> Any:
    """What a script returns; `g` is the graph, `words` its words, `states` ways to open it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        program = f"""{import_all(MODULES)}
          import {{ readFileSync }} from "node:fs";
          const bytes = readFileSync({json.dumps(file.name)});
          const data = blob.openBlob(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
          const g = columns.openGraph(data), words = new wording.Words(g, data.header.axis_sets);
          {STATES}
          console.log(JSON.stringify((() => {{ {script} }})()));"""
        return run_node(program)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_no_arrow_goes_through_a_box_and_no_box_lies_on_another(name: str):
    found = run(
        blob(name),
        """
        return Object.entries(states).flatMap(([key, shown]) => [708, 1170].map((room) => {
          const layout = matrix.layoutOf(g, shown, {room}), { boxes } = layout;
          const through = layout.arrows.filter(({points}) => boxes.some((box) => matrix.meets(points, box))).length;
          const isOn = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
          const over = boxes.filter((a, i) => boxes.some((b, k) => k > i && isOn(a, b))).length;
          const out = boxes.filter((a) => a.x + a.w > layout.width || a.y + a.h > layout.height).length;
          return [key, room, through, over, out];
        }));""",
    )
    assert all(counts == [0, 0, 0] for _, _, *counts in found), found


@pytest.mark.parametrize("name", fixtures.ALL)
def test_however_rows_are_open_all_collectives_are_shown_or_stated(name: str):
    _, table, _ = graph_cases.fixture(name)
    found = run(
        blob(name),
        """
        return Object.values(states).map((shown) => [...fold.viewOf(g, shown).cells.values()].reduce((sum, cell) =>
          sum + cell.times * cell.moves.reduce((all, move) => all + move.count, 0)
          + cell.differences.reduce((all, one) => all + one.count * one.members.length, 0), 0));""",
    )
    assert found == [len(table)] * 6


@pytest.mark.parametrize("name", fixtures.ALL)
def test_with_every_row_open_the_folding_is_that_of_the_analysis(name: str):
    graph = graph_cases.fixture(name)[2]
    found = run(
        blob(name),
        """
        const view = fold.viewOf(g, states.open);
        const flows = view.flows.map((flow) => [flow.source.boxes[0], flow.target.boxes[0], flow.relation, flow.bytes,
          flow.total, flow.members]);
        const stand = [...view.stand];
        const cells = [...view.cells.values()].map((cell) => cell.boxes);
        return {flows, stand, cells};""",
    )
    drawn_skips = {"far skip": "skip"}
    flows = sorted([*flow[:2], drawn_skips.get(flow[2], flow[2]), *flow[3:]] for flow in found["flows"])
    expected = sorted([a.source, a.target, a.relation, a.bytes, a.total_bytes, a.members] for a in shown_arrows(graph))
    assert flows == expected
    assert found["stand"] == [row.shown_as for row in graph.rows]
    shown = [[n] for n, box in enumerate(graph.boxes) if graph.rows[box.row].shown_as == box.row]
    assert sorted(found["cells"]) == shown


@pytest.mark.parametrize("name", fixtures.ALL)
def test_the_first_picture_can_be_overseen_and_every_line_names_kind_and_axis(name: str):
    found = run(
        blob(name),
        """
        const layout = matrix.layoutOf(g, states.first, {room: 708});
        const lines = layout.boxes.flatMap((box) => box.lines.filter((line) => line.type === "move").map((line) =>
          [g.header.kinds[line.of.kind], data.header.axis_sets[line.of.axes].words, ...words.line(line).words]));
        return {boxes: layout.boxes.length, height: layout.height, lines};""",
    )
    assert found["boxes"] <= 60
    assert found["height"] <= 1100
    for kind, axes, longest, *_ in found["lines"]:
        assert kind.removeprefix("collective-") in longest
        # Without a mesh, no axis is known: the page says so once.
        assert ("" if axes == "axis unknown" else axes) in longest


def test_opening_a_row_moves_nothing_above_it():
    found = run(
        blob("train_step_16_layers.cpu_8"),
        """
        const before = matrix.layoutOf(g, states.first, {room: 708});
        const band = before.bands.find((one) => one.item.fold >= 0);
        const shown = {open: new Set(states.first.open), unfolded: new Set([band.item.fold])};
        const after = matrix.layoutOf(g, shown, {room: 708});
        const place = (layout, box) => layout.boxes.filter((one) => one.y < band.y).map((one) => [one.x, one.y, one.w]);
        return [place(before), place(after), before.boxes.length, after.boxes.length];""",
    )
    assert found[0] == found[1]
    assert found[0]
    assert found[3] > found[2]


def test_lines_for_the_pointer_go_through_no_box():
    for name in fixtures.SMALL:
        found = run(
            blob(name),
            """
            const layout = matrix.layoutOf(g, states.first, {room: 1170});
            const bad = [];
            let lane = 0;
            for (const {source, target} of layout.view.flows) {
              const [a, b] = [source, target].map((cell) => layout.boxes.find((box) => box.cell === cell));
              if (!a || !b || a === b) continue;
              const points = drawing.route(layout, a, b, lane++);
              if (layout.boxes.some((box) => box !== a && box !== b && matrix.meets(points, box)))
                bad.push([words.cell(source), words.cell(target), points]);
            }
            return bad;""",
        )
        assert found == [], name


def test_search_wants_every_word_and_prefers_the_layer_that_is_shown():
    found = run(
        blob("train_step_16_layers.cpu_8"),
        """
        const finder = new search.BoxSearch(g, words, () => "");
        const names = (text) => finder.find(text).map((box) => g.path(g.box.row[box]));
        const shown = {open: new Set([0]), unfolded: new Set()};
        selection.reveal(g, shown, finder.find("layer7 mlp backward")[0]);
        const cell = fold.viewOf(g, shown).cells.get(g.box.row[finder.find("layer7 mlp backward")[0]] * 4 + 2);
        const seen = cell.boxes.length;
        return {qkv: names("qkv backward"), far: names("layer7 mlp backward"), none: names("nosuchthing"), seen};""",
    )
    assert found["qkv"] == ["layer1 / attention() / qkv"]
    assert found["far"] == ["layer7 / mlp()"]
    assert found["none"] == []
    assert found["seen"] == 1


def test_the_tree_walks_rows_boxes_and_lines():
    found = run(
        blob("mlp_step.cpu_8"),
        """
        const layout = matrix.layoutOf(g, states.first, {room: 708});
        const nodes = tree.nodesOf(layout, words, new Set());
        const at = nodes.findIndex((node) => node.box?.lines.length);
        const { row, phase } = nodes[at].box.cell;
        const opened = tree.nodesOf(layout, words, new Set([fold.cellKey(row, phase)]));
        const to = (key, from) => tree.target(key, opened, from);
        return {names: nodes.map((node) => node.name), more: opened.length - nodes.length,
          down: to("ArrowDown", 0), left: to("ArrowLeft", at + 1) === at, home: to("Home", 5), end: to("End", 0),
          enter: to("Enter", 0), last: opened.length - 1, text: wording.asText(layout, words)};""",
    )
    assert found["names"][0] == "up"
    assert any("all-reduce data 8.00 MiB" in name for name in found["names"])
    assert found["more"] == 1
    assert (found["down"], found["left"], found["home"], found["end"]) == (1, True, 0, found["last"])
    assert found["enter"] == {"open": None}
    assert "1\u00d7 all-reduce model 1.50 MiB" in found["text"]


LOOP = """
%body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[4] get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %n = s32[] add(%i, %one)
  %ar = f32[4] all-reduce(%x), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}, MORE
  ROOT %t = (s32[], f32[4]) tuple(%n, %ar)
}
%cond (p: (s32[], f32[4])) -> pred[] {
  %p = (s32[], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(5)
  ROOT %lt = pred[] compare(%i, %n), direction=LT
}
""".replace("MORE", 'use_global_device_ids=true, to_apply=%add, metadata={op_name="jit(f)/while/body/step/psum"}')


def test_a_loop_says_its_trips_and_that_its_figures_are_of_one():
    entry = graph_cases.lines(
        "  %zero = s32[] constant(0)",
        "  %t = (s32[], f32[4]) tuple(%zero, %q)",
        '  %w = (s32[], f32[4]) while(%t), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"5"}}',
        "  ROOT %r = f32[4] get-tuple-element(%w), index=1",
    )
    module = graph_cases.program(entry, before=LOOP)
    table = graph_cases.find_collectives(module, fixtures.MESH)
    graph = graph_cases.find_graph(module, table)
    text = run(
        packed(graph, table.rows, module),
        "return wording.asText(matrix.layoutOf(g, states.open, {room: 708}), words);",
    )
    assert "\u00d75" in text
    assert "per trip, \u00d75" in text
    assert "1\u00d7 all-reduce model 24 B" in text


def timed(name: str) -> tuple[bytes, list[float], ProgramGraph]:
    """A fixture in which kernel i took i microseconds, every seventh not measured; and the sum of each box, by hand."""
    module, table, graph = graph_cases.fixture(name)
    names, boxes = graph.kernels.names, graph.kernels.box.tolist()
    known = {name: float(i) for i, name in enumerate(names) if i % 7}
    rows = tuple(KernelTime(instruction=n, slowest_us=t, mean_us=t / 2) for n, t in known.items())
    times = KernelTimes(calls=2, devices=8, call_us=9_000, mean_call_us=8_000, rows=rows)
    sums = [-1.0] * len(graph.boxes)
    for kernel, box in zip(names, boxes, strict=True):
        if kernel in known:
            sums[box] = max(0.0, sums[box]) + known[kernel]
    return packed(graph, table.rows, module, times), sums, graph


@pytest.mark.parametrize("name", ["mlp_step.cpu_8", "train_step_16_layers.cpu_8"])
def test_the_time_of_a_box_is_that_of_its_measured_kernels_however_rows_are_open(name: str):
    data, sums, _ = timed(name)
    found = run(
        data,
        """return Object.values(states).map((shown) =>
          [...fold.viewOf(g, shown).cells.values()].map((cell) => [cell.boxes, cell.time, cell.slowest]));""",
    )
    for cells in found:
        for boxes, time, slowest in cells:
            measured = [sums[box] for box in boxes if sums[box] >= 0]
            own = sum(measured) if measured else -1
            assert time == pytest.approx(own) if slowest < 0 else time >= own - 1e-6


def test_the_time_of_equal_layers_is_that_of_the_slowest_which_is_named():
    module, table, graph = graph_cases.fixture("train_step_16_layers.cpu_8")
    rows = [row for row, one in enumerate(graph.rows) if one.label == "layer7"]
    inside = {row for row in range(len(graph.rows)) if set(around(graph, row)) & set(rows)}
    box = next(number for number, one in enumerate(graph.boxes) if one.row in inside and one.phase == 2)
    slow = int(np.flatnonzero(graph.kernels.box == box)[0])
    times = [2_000_000.0 if kernel == slow else 1.0 for kernel in range(len(graph.kernels))]
    measured = tuple(
        KernelTime(instruction=name, opcode="fusion", runs_per_call=1, slowest_us=time, mean_us=time)
        for name, time in zip(graph.kernels.names, times, strict=True)
    )
    whole = KernelTimes(calls=1, devices=8, call_us=9e6, mean_call_us=9e6, rows=measured)
    found = run(
        packed(graph, table.rows, module, whole),
        """return ["closed", "first", "unfolded"].map((state) => {
          const cells = [...fold.viewOf(g, states[state]).cells.values()].sort((a, b) => b.time - a.time);
          return [cells[0].time, cells[0].slowest < 0 ? "" : g.label(cells[0].slowest), cells[1].time];
        });""",
    )
    for most, _, second in found:
        assert 2_000_000 <= most < 2_001_000
        assert second < 2_000
    assert [label for _, label, _ in found] == ["layer7", "layer7", ""]


def around(graph: ProgramGraph, row: int) -> list[int]:
    """A row and those around it."""
    found = [row]
    while graph.rows[found[-1]].parent >= 0:
        found.append(graph.rows[found[-1]].parent)
    return found


def test_time_is_a_colour_only_where_it_was_measured_and_the_darkest_box_has_the_longest():
    script = """
      const layout = matrix.layoutOf(g, states.open, {room: 1170});
      const colors = {bg: "#ffffff", heat: "#000000", line: "#123456"};
      const fill = coloring.fills(Boolean(g.header.measured), layout, colors);
      const shade = (box) => fill(box)[0] === "#ffffff" ? 256 : Number(fill(box)[0].match(/\\d+/)[0]);
      return [layout.boxes.map((box) => [box.cell.time, shade(box)]),
        layout.boxes.map((box) => tip.tipOf({type: "box", box}, layout, words)
          .filter((line) => line.includes("measured")))];"""
    shades, tips = run(timed("mlp_step.cpu_8")[0], script)
    assert sorted(shades, key=lambda one: -one[0]) == sorted(shades, key=lambda one: one[1])
    assert len({shade for _, shade in shades}) > 2
    assert [len(tip) for tip in tips] == [int(time >= 0) for time, _ in shades]
    shades, tips = run(blob("mlp_step.cpu_8"), script)
    assert {time for time, _ in shades} == {-1}
    assert not any(tips)
