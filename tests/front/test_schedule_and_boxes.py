"""What the schedule strip and the inside of a box read from the columns, run by node on small programs made by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "analyze" / "graph"))
import graph_cases
from front_sources import import_all, run_node

from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.graph import GraphLinks, graph_data
from pjit_inspect.view.inspector.shared_tables import SharedTables

MODULES = {"blob": "core/blob", "box_data": "graph/box/data", "schedule_data": "schedule/data"}


def run(
    tmp_path: Path, header: dict[str, Any], columns: dict[str, Any], strings: dict[str, list[str]], script: str
) -> Any:
    """What a script returns; `data` is the store of these columns, "graph." put before their names."""
    named = {f"graph.{key}": np.array(values, columns_type(key)) for key, values in columns.items()}
    return run_on(
        tmp_path, pack_blob(header, named, {f"graph.{key}": values for key, values in strings.items()}), script
    )


def run_on(tmp_path: Path, blob: bytes, script: str) -> Any:
    file = tmp_path / "blob"
    file.write_bytes(blob)
    program = f"""{import_all(MODULES)}
      import {{ readFileSync }} from "node:fs";
      const bytes = readFileSync({json.dumps(str(file))});
      const data = blob.openBlob(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      console.log(JSON.stringify((() => {{ {script} }})()));"""
    return run_node(program)


def columns_type(name: str) -> type:
    if name.endswith(".ends"):
        return np.uint32
    return (
        np.float64 if name in ("sizes", "collective.bytes", "kernel.bytes", "kernel.runs", "kernel.flops") else np.int32
    )


HEADER = {
    "graph": {
        "missing": "",
        "phases": ["forward", "recompute", "backward", "update"],
        "is_differentiated": True,
        "hows": ["own", "user"],
        "lanes": [0, 1],
        "is_scheduled": True,
        "first_matmul": 6,
    },
    "axis_sets": [{"axes": ["data"], "words": "data"}, {"axes": ["model"], "words": "model"}],
    "collectives": [
        {"kind": "all-gather", "axes": 0, "what": "params['w']"},
        {"kind": "all-reduce", "axes": 1, "what": "dot"},
    ],
}

# Ten kernels: 0-4 forward of one layer, 5-7 of the next, 8-9 backward. Four collectives: two gathers under way at the
# same time (1 to 4, 2 to 5), a third after both, and a sum.
STRIP = {
    "kernel.box": [0] * 10,
    "run.start": [0, 5, 8],
    "run.row": [1, 2, 2],
    "run.phase": [0, 0, 2],
    "event.collective": [0, 1, 2, 3],
    "event.lane": [0, 0, 0, 1],
    "event.start": [1, 2, 5, 7],
    "event.end": [4, 5, 6, 8],
    "event.first_use": [8, 7, -1, 8],
    "event.last_use": [8, 9, -1, 9],
    "event.is_async": [1, 1, 1, 0],
    "collective.row": [0, 0, 0, 1],
    "collective.bytes": [1024.0, 1024.0, 2048.0, -1.0],
}
STRIP_STRINGS = {"kernel.names": [f"fusion.{n}" for n in range(10)]}


def strip(tmp_path: Path, script: str) -> Any:
    return run(tmp_path, HEADER, STRIP, STRIP_STRINGS, f"const strip = schedule_data.readStrip(data); {script}")


def test_collectives_that_overlap_get_bars_above_each_other(tmp_path: Path):
    levels = strip(tmp_path, "return [strip.events.map((event) => event.level), strip.levels];")
    assert levels == [[0, 1, 0, 0], [2, 1]]


def test_phases_that_occur_are_lanes_and_layers_change_tone(tmp_path: Path):
    read = strip(tmp_path, "return [strip.phases, [...strip.tones], strip.size];")
    assert read == [[0, 2], [[1, 0], [2, 1]], 10]


def test_the_run_of_a_kernel_is_the_last_that_starts_before_it(tmp_path: Path):
    script = """
      const {runOf, endOf} = schedule_data;
      return [0, 4, 5, 7, 8, 9].map((kernel) => [runOf(strip, kernel), endOf(strip, runOf(strip, kernel))]);
    """
    assert strip(tmp_path, script) == [[0, 5], [0, 5], [1, 8], [1, 8], [2, 10], [2, 10]]


def test_a_result_waits_from_its_end_to_its_first_use(tmp_path: Path):
    # the first gather waits 4..8, the second 5..7, the third has no use; the sum is used at once
    counts = strip(tmp_path, "return [0, 1].map((lane) => [...schedule_data.waiting(strip, lane, 0, 1, 10)]);")
    assert counts == [[0, 0, 0, 0, 1, 2, 2, 1, 0, 0], [0] * 10]


def test_the_nearest_event_is_of_the_lane_and_within_reach(tmp_path: Path):
    script = """
      const asked = [[0, 1.2, 3], [0, 5.4, 3], [0, 9, 2], [0, 9, 5], [1, 0, 3]];
      return asked.map(([lane, at, reach]) => schedule_data.nearest(strip, lane, at, reach));
    """
    assert strip(tmp_path, script) == [0, 2, -1, 2, -1]


def test_an_event_tells_its_span_its_use_and_what_was_between(tmp_path: Path):
    lines = strip(tmp_path, "return strip.events.map((_, i) => schedule_data.eventLines(strip, i, data));")
    assert lines[0] == [
        "all-gather over data, 1 KiB on a device",
        "params['w']",
        "from place 1 to 4: 3 kernels in between",
        "first used 4 kernels later, by fusion.8, after the first matmul",
    ]
    assert lines[2][2:] == ["from place 5 to 6: 1 kernel in between", "no kernel takes its result"]
    assert lines[3] == [
        "all-reduce over model, size unknown",
        "dot",
        "at place 7, not asynchronous",
        "first used by fusion.8",
    ]


# Two boxes: kernels 0, 2, 3 in box 0 (row 2 in row 1), kernel 1 and 4 in box 1. Reads: 0 takes argument 0; 1 takes 0;
# 2 takes 0 (elements 0 and 1, one twice) and 1; 3 takes 2, and itself from the iteration before; 4 takes 2 and 3.
READS = [
    (0, -2, -1, 0, 0),
    (1, 0, -1, 0, 1),
    (2, 0, 0, 0, 1),
    (2, 0, 1, 0, 1),
    (2, 0, 1, 0, 1),
    (2, 1, -1, 0, 2),
    (3, 2, -1, 0, 1),
    (3, 3, -1, 1, 2),
    (4, 2, -1, 0, 1),
    (4, 3, -1, 0, 2),
]
BOX = {
    "kernel.box": [0, 1, 0, 0, 1],
    "kernel.opcode": [0] * 5,
    "kernel.label": [0, 1, 0, 0, 0],
    "kernel.how": [0, 0, 1, 0, 0],
    "kernel.runs": [1.0, 1.0, 4.0, -1.0, 1.0],
    "kernel.bytes": [2048.0, 1024.0, -1.0, 8.0, 8.0],
    "kernel.matmuls": [0, 0, 1, 0, 0],
    "kernel.flops": [0.0, 0.0, 2.5e9, 0.0, 0.0],
    "kernel.spot": [-1] * 5,
    "kernel.entity": [1, -1, 3, -1, -1],
    "box.row": [2, 1],
    "box.phase": [0, 2],
    "box.kernels": [3, 2],
    "box.inferred": [1, 0],
    "box.matmuls": [1, 0],
    "box.iterations": [4, 1],
    "box.is_list": [0, 0],
    "row.parent": [-1, 0, 1],
    "collective.kernel": [3],
    "collective.row": [0],
    "mix.kernel": [2],
    "mix.row": [1],
    "mix.phase": [2],
    "mix.instructions": [3],
    "read.ends": [1, 2, 6, 8, 10],
    "read.source": [read[1] for read in READS],
    "read.element": [read[2] for read in READS],
    "read.carried": [read[3] for read in READS],
    "read.bytes": [read[4] for read in READS],
    "sizes": [0.0, 1024.0, 4096.0],
}
BOX_STRINGS = {
    "kernel.names": ["a", "b", "c", "d", "e"],
    "opcodes": ["fusion"],
    "labels": ["dot_general", "add"],
    "arguments": ["params['w']"],
    "row.labels": ["program", "layer0", "attn"],
}


def box(tmp_path: Path, script: str) -> Any:
    return run(tmp_path, HEADER, BOX, BOX_STRINGS, f"const box = box_data.readBox(data, 0); {script}")


def test_the_inside_of_a_box_is_its_kernels_and_what_passes_between_them(tmp_path: Path):
    title, facts, names, edges, args = box(
        tmp_path,
        "return [box.title, box.facts, box.kernels.map((k) => k.name), box.edges, box.kernels.map((k) => k.args)];",
    )
    assert title == "layer0/attn, forward"
    assert facts == ["3 kernels", "1 matmul", "1 placed by inference", "per iteration, 4 per call"]
    assert names == ["a", "c", "d"]
    assert edges == [[0, 1], [1, 2]]
    assert args == [["params['w']"], [], []]


def test_other_boxes_are_stubs_with_the_bytes_of_distinct_values(tmp_path: Path):
    stubs = box(tmp_path, "return box.stubs.map((s) => [s.isIn, s.words, s.bytes, s.kernels]);")
    # out: kernel b takes all of a (1 KiB), e takes c (1 KiB) and d (4 KiB)
    assert stubs == [
        [True, "the iteration before", 4096, [2]],
        [True, "layer0, backward", 4096, [1]],
        [False, "layer0, backward", 1024 + 1024 + 4096, [0, 1, 2]],
    ]


def test_values_that_cross_to_the_next_iteration_are_no_edges_and_say_so(tmp_path: Path):
    columns = BOX | {"read.carried": [1] * len(READS)}
    script = "const box = box_data.readBox(data, 0); return [box.edges, box.stubs.map((stub) => stub.words)];"
    edges, words = run(tmp_path, HEADER, columns, BOX_STRINGS, script)
    assert edges == []
    assert sorted(words) == [
        "layer0, backward, the iteration before",
        "layer0, backward, the next iteration",
        "the iteration before",
    ]


def test_a_kernel_tells_its_scopes_and_how_it_came_there(tmp_path: Path):
    lines = box(tmp_path, "return box.kernels.map((k) => box_data.kernelLines(k, data));")
    assert lines[1] == [
        "dot_general",
        "c (fusion)",
        "result of unknown size, run 4 times per call",
        "1 matmul, 2.5 GFLOP",
        "stands here by inference: by what takes its result",
        "of several scopes, also layer0, backward (3 instructions)",
    ]
    assert lines[2][0] == "all-gather over data"
    assert "run unknown times" in lines[2][2]


def test_only_the_boxes_with_most_bytes_have_stubs_of_their_own(tmp_path: Path):
    count = 9  # one box of one kernel that takes from nine others
    columns = BOX | {
        "kernel.box": [*range(1, count + 1), 0],
        **{f"kernel.{key}": [0] * (count + 1) for key in ("opcode", "label", "how", "matmuls")},
        **{f"kernel.{key}": [1.0] * (count + 1) for key in ("runs", "bytes", "flops")},
        **{f"kernel.{key}": [-1] * (count + 1) for key in ("spot", "entity")},
        "box.row": [2] + [1] * count,
        "box.phase": [0] + [2] * count,
        "read.ends": [0] * count + [count],
        "read.source": [*range(count)],
        "read.element": [-1] * count,
        "read.carried": [0] * count,
        "read.bytes": [*range(count)],
        "sizes": [float(2**n) for n in range(count)],
        "mix.kernel": [],
        "collective.kernel": [],
    }
    strings = BOX_STRINGS | {"kernel.names": [f"k{n}" for n in range(count + 1)]}
    script = "return box_data.readBox(data, 0).stubs.map((s) => [s.words, s.bytes, s.more.length]);"
    stubs = run(tmp_path, HEADER, columns, strings, script)
    assert [bytes for _, bytes, _ in stubs] == [256, 128, 64, 32, 16, 8 + 4 + 2 + 1]
    assert stubs[-1][0] == "4 boxes more"
    assert stubs[-1][2] == 4


@pytest.mark.parametrize("name", ["mlp_step.cpu_8", "train_step.tpu7x", "transformer_step.v5e_2x4"])
def test_the_graph_inside_every_box_is_pythons(tmp_path: Path, name: str):
    _, table, graph = graph_cases.fixture(name)
    tables = SharedTables(())
    data = graph_data(graph, GraphLinks(collectives=table), tables)
    header = {**tables.header(), "graph": data.header, "collectives": []}
    script = """
      const boxes = [...data.column("graph.box.row").keys()].map((number) => box_data.readBox(data, number));
      const named = (box, place) => box.kernels[place].kernel;
      const pairs = (box) => box.edges.map(([from, to]) => [named(box, from), named(box, to)]);
      return boxes.map((box) => [box.kernels.map((one) => one.kernel), pairs(box)]);
    """
    read = run_on(tmp_path, pack_blob(header, data.columns, data.strings), script)
    for number, (kernels, edges) in enumerate(read):
        assert kernels == graph.kernels_of(number).tolist()
        assert sorted(edges) == sorted(graph.edges_of(number).tolist())
