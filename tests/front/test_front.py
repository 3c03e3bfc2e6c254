"""The inspector's JavaScript, run by node and compared with the Python that has the same rules."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "view"))
import view_reports
from front_sources import SOURCES, import_all, run_node

from pjit_inspect.view.document.colors import PHASE_COLORS
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.document.quantities import bytes_text, time_text
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.svg.shard_picture import shard_face

MODULES = {
    "format": "core/format",
    "blob": "core/blob",
    "store": "core/store",
    "filters": "core/filters",
    "face": "devices/face",
    "grid": "devices/grid",
}


def run(script: str, given: Any = None) -> Any:
    """What a script returns; `input` is `given`."""
    program = f"{import_all(MODULES)}const input = {json.dumps(given)};"
    return run_node(f"{program}\nconsole.log(JSON.stringify(await (async () => {{ {script} }})()));")


def test_bytes_are_written_as_python_writes_them():
    chosen = random.Random(1)
    sizes = [0, 1, 1023, 1024, 1536, 10 * 2**20, 2**30 - 1, 2**30, 10 * 2**30, 2**40, 11 * 2**40, 2**51]
    sizes += [chosen.randrange(2 ** chosen.randrange(1, 50)) for _ in range(4000)]
    written = run("return input.map((size) => format.bytesText(size));", sizes)
    assert written == [bytes_text(size) for size in sizes]


def test_phases_have_the_greys_of_the_one_table():
    css = run_node(f"""{import_all({"theme": "core/theme"})} console.log(JSON.stringify(theme.themeCss));""")
    greys = [re.search(rf"--ph-{number}:(#\w+);", css) for number in range(4)]
    assert [grey and grey[1] for grey in greys] == list(PHASE_COLORS.values())


def test_times_are_written_as_python_writes_them():
    chosen = random.Random(3)
    times = [0, 0.004, 9.994, 9.995, 9.996, 99.94, 99.95, 999.4, 999.5, 999.6, 12_345, 999_400, 999_500, 1.31e9]
    times += [chosen.uniform(0, 10 ** chosen.randrange(-2, 10)) for _ in range(4000)]
    assert run("return input.map((time) => format.timeText(time));", times) == [time_text(time) for time in times]


def test_where_there_is_little_room_a_size_has_two_digits():
    sizes = {
        0: "0 B",
        994: "994 B",
        995: "1 KiB",
        1024: "1 KiB",
        1536: "1.5 KiB",
        10 * 2**20: "10 MiB",
        3 * 2**29: "1.5 GiB",
    }
    assert run("return input.map((size) => format.roughBytesText(size));", [*sizes]) == [*sizes.values()]


def test_what_is_not_the_same_is_less_than_a_hundred_percent():
    shares = {0: "0%", 0.5: "50%", 0.999: "99%", 1: "100%"}
    assert run("return input.map((share) => format.percentText(share));", [*shares]) == [*shares.values()]


def test_figures_and_specs_are_written_in_one_place():
    writes = re.compile(r"toFixed|toPrecision|toLocaleString|NumberFormat|KiB|`P\(|None")
    found = {(file.name, match) for file in SOURCES.rglob("*.js") for match in writes.findall(file.read_text("utf-8"))}
    # A stroke's width in a picture is no figure.
    assert {name for name, _ in found} == {"format.js", "dag.js"}
    assert {match for name, match in found if name == "dag.js"} == {"toFixed"}


def test_a_list_can_be_sorted_by_time_where_something_was_measured():
    rows = [{"what": "a", "bytes": 9, "number": 1}, {"what": "b", "bytes": 1, "number": 1, "time_us": 3.0}]
    rows.append({"what": "c", "bytes": 5, "number": 1, "time_us": 8.0})
    script = """
      const keys = (list, rows) => filters.sortsOf(list, rows).map(([key]) => key);
      const state = {...filters.CLEAR, list: "kernels", sort: "time", reversed: false};
      return [keys("kernels", input), keys("kernels", input.slice(0, 1)), keys("arrays", input),
        filters.shownRows({first: {}, state, rows: () => input}).map(([row]) => row.what)];"""
    with_times, without, arrays, order = run(script, rows)
    assert "time" in with_times
    assert with_times[0] == "size"
    assert "time" not in [*without, *arrays]
    assert order == ["c", "b", "a"]


def test_runs_of_numbers_are_folded_as_python_folds_them():
    chosen = random.Random(2)
    rows = [sorted(chosen.sample(range(20), chosen.randrange(1, 12))) for _ in range(300)]
    limits = [None, 1, 2, 3]
    written = run(
        "return input.rows.map((row) => input.limits.map((limit) => format.rangesText(row, limit ?? undefined)));",
        {"rows": rows, "limits": limits},
    )
    assert written == [[ranges_text(row, limit=limit) for limit in limits] for row in rows]


def test_the_front_face_of_an_array_is_pythons():
    meshes = view_reports.mesh_of(a=2, b=4, c=3), view_reports.mesh_of(a=32, b=8)
    layouts = []
    for mesh in meshes:
        for spec in [("a", "b"), ("b", None, "a"), (None, "a", None), (("a", "b"),), (None,), ("b", "a", None, None)]:
            layouts.append(view_reports.array("x", "float32", (64, 96, 32, 16)[: len(spec)], mesh, *spec))
    layouts.append(view_reports.array("x", "float32", (), meshes[0]))
    cuts = [
        {
            "shape": x.global_shape,
            "tiles": x.sharding.tiles,
            "devices": x.sharding.device_ids,
            "tileOf": x.sharding.tile_of,
        }
        for x in layouts
        if x.sharding is not None
    ]
    faces = run("return input.map((cut) => face.face(cut));", cuts)
    for layout, drawn in zip(layouts, faces, strict=True):
        expected = shard_face(layout)
        assert expected is not None
        assert (drawn["rowDim"], drawn["columnDim"], drawn["rows"], drawn["columns"]) == (
            expected.row_dim,
            expected.column_dim,
            expected.rows,
            expected.columns,
        )
        assert tuple(drawn["perBlock"]) == expected.per_block
        assert [block["devices"] for block in drawn["blocks"]] == [list(block.devices) for block in expected.blocks]


def test_slices_are_those_of_the_layout():
    layout = view_reports.array("x", "float32", (10, 6), view_reports.mesh_of(a=4, b=2), "a", "b")
    assert layout.sharding is not None
    cut = {"shape": layout.global_shape, "tiles": layout.sharding.tiles}
    tiles = list(layout.sharding.tile_of)
    written = run("return input.tiles.map((tile) => face.slicesText(tile, input.cut));", {"cut": cut, "tiles": tiles})
    expected = [", ".join(f"{part.start}:{part.stop}" for part in layout.tile_slices(tile)) for tile in tiles]
    assert written == expected


@pytest.mark.parametrize("shape", [(8,), (2, 4), (2, 3, 4), (2, 2, 3, 2), (1, 8, 1), (100,)])
def test_every_device_of_up_to_four_axes_has_a_cell_of_its_own(shape):
    grid = run("return {...grid.gridOf(input), cellOf: [...grid.gridOf(input).cellOf]};", shape)
    assert len(set(grid["cellOf"])) == len(grid["cellOf"]) == int(np.prod(shape))
    assert min(grid["cellOf"]) >= 0
    assert max(grid["cellOf"]) < grid["rows"] * grid["columns"]


def test_rows_are_the_first_axis_and_columns_the_second():
    grid = run("return [...grid.gridOf([2, 4]).cellOf, grid.gridOf([2, 4]).columns];")
    assert grid == [*range(8), 4]


def test_axes_beyond_four_are_folded_onto_their_first_index():
    grid = run("const g = grid.gridOf([2, 2, 2, 2, 3]); return {folded: g.folded, cells: [...g.cellOf]};")
    assert grid["folded"] == [4]
    assert sorted(cell for cell in grid["cells"] if cell >= 0) == list(range(16))
    assert grid["cells"].count(-1) == 32


def test_the_store_of_columns_is_read_as_it_was_written(tmp_path: Path):
    blob = pack_blob(
        {"words": "</script>\u202e"},
        {"n": np.array([1, -2], np.int32), "e": np.zeros(0)},
        {"s": ["a", "", "\u00e9\U0001f600"]},
    )
    file = tmp_path / "blob"
    file.write_bytes(blob)
    script = """
      const fs = await import("node:fs");
      const bytes = fs.readFileSync(input);
      const store = blob.openBlob(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      const s = store.strings("s");
      const strings = [0, 1, 2].map((i) => s.at(i));
      return [store.header.words, [...store.column("n")], store.column("e").length, strings, s.longest()];
    """
    assert run(script, str(file)) == ["</script>\u202e", [1, -2], 0, ["a", "", "\u00e9\U0001f600"], 6]


def test_data_of_another_version_are_refused():
    script = """
      const bytes = new Uint8Array(24); bytes.set(new TextEncoder().encode("PJITVIEW")); bytes[8] = 2;
      try { blob.openBlob(bytes.buffer); } catch (error) { return error.message; }
    """
    assert "version 2" in run(script)


def test_filters_want_every_word_and_the_chosen_axis():
    script = """
      const first = {axis_sets: [{words: "data"}, {words: "model"}]};
      const row = {kind: "all-gather", axes: 1, what: "mlp/dot", place: "train.py:3", names: []};
      const state = (changes) => ({list: "collectives", text: "", axes: null, kind: null, role: null, ...changes});
      const code = {first, spotWords: (spot) => spot === 7 ? "train.py:3 attention y = softmax(x)" : ""};
      const texts = ["GATHER model", "gather data", "train.py:3", "softmax ATT", "/soft(.?)max/", "/^soft/", "/(/"];
      return [{}, {axes: 1}, {axes: 0}, {kind: "all-reduce"}].map((changes) => store.fits(row, state(changes), first))
        .concat(texts.map((text) => store.searched(code, text)({...row, spots: [7]})));
    """
    assert run(script) == [True, True, False, False, True, False, True, True, True, False, False]


ROWS = [
    {"kind": "all-gather", "name": "b", "number": 2, "sent_bytes": 10, "place": "t.py:9", "phase": "backward"},
    {"kind": "all-reduce", "name": "a", "number": 1, "sent_bytes": 30, "place": "t.py:41", "phase": ""},
    {"kind": "all-reduce", "name": "c10", "number": 9, "sent_bytes": 20, "place": "", "phase": "forward"},
    {"kind": "all-reduce", "name": "c9", "number": 1, "sent_bytes": 30, "place": "s.py:100", "phase": "forward"},
]


def test_rows_are_sorted_by_each_key_and_ties_keep_their_order():
    script = """
      const all = {list: "collectives", text: "", axes: null, kind: null, role: null};
      const shown = (sort, reversed = false) =>
        filters.shownRows({first: {}, rows: () => input}, {...all, sort, reversed}).map(([row]) => row.name);
      return [shown("size"), shown("name"), shown("count"), shown("place"), shown("phase"), shown("size", true)];
    """
    size, name, count, place, phase, reversed = run(script, ROWS)
    assert size == ["a", "c9", "c10", "b"]
    assert name == ["a", "b", "c9", "c10"]  # numbers in names are numbers
    assert count == ["c10", "b", "a", "c9"]
    assert place == ["c9", "b", "a", "c10"]  # by file, then line; unknown places last
    assert phase == ["c9", "c10", "b", "a"]  # forward, then backward, then unknown; most bytes first
    assert reversed == size[::-1]


def test_a_list_that_lacks_a_key_keeps_its_own_order():
    script = """
      const state = {list: "arrays", text: "", role: null, sort: "phase", reversed: false};
      return [filters.sortKey(state, {}), filters.shownRows({first: {}, rows: () => input}, state).map(([, i]) => i)];
    """
    assert run(script, ROWS) == ["given", [0, 1, 2, 3]]


def test_totals_leave_the_chosen_axis_out_of_the_filters():
    script = """
      const rows = [[0, "a", 5], [0, "b", 7], [1, "a", 11]].map(([axes, kind, sent_bytes]) =>
        ({axes, kind, sent_bytes, number: 2, what: "", names: []}));
      const state = {list: "collectives", text: "", axes: 1, kind: "a", role: null};
      const {sums, number} = filters.filteredTotals({first: {}, rows: () => rows}, state);
      return [[...sums].sort(), number];
    """
    assert run(script) == [[[0, [5, 2]], [1, [11, 2]]], 4]


def test_a_note_keeps_the_rows_it_is_about_in_its_own_list_only():
    script = """
      const first = {notes: [{list: "arrays"}]}, row = {notes: [0], names: []}, other = {names: []};
      const state = (list) => ({list, text: "", axes: null, kind: null, role: null, note: 0});
      return [store.fits(row, state("arrays"), first), store.fits(other, state("arrays"), first),
              store.fits(other, state("kernels"), first)];
    """
    assert run(script) == [True, False, True]
