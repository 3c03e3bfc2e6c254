from __future__ import annotations

import dataclasses
import itertools
import math

import pytest
import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.view.inspector.rows import array_groups, array_rows, value_rows
from pjit_inspect.view.inspector.shared_tables import SharedTables

MESH = view_reports.mesh_of(data=2, model=4)


def rows_of(*specs, mesh: Mesh = MESH):
    data = view_reports.mlp("data").data
    values = tuple(
        ValueSharding(
            name="v", op="dot", dtype="f32", global_shape=(16,) * len(spec), local_shape=(1,) * len(spec), spec=spec
        )
        for spec in specs
    )
    tables = SharedTables()
    return value_rows(dataclasses.replace(data, mesh=mesh), ShardingTable(rows=values), tables)[0], tables


@pytest.mark.parametrize(
    ("spec", "tiles"),
    [
        (("data", "model"), [0, 1, 2, 3, 4, 5, 6, 7]),
        (("model", "data"), [0, 2, 4, 6, 1, 3, 5, 7]),
        ((("data", "model"), None), [0, 1, 2, 3, 4, 5, 6, 7]),
        ((("model", "data"), None), [0, 2, 4, 6, 1, 3, 5, 7]),
        ((None, None), [0] * 8),
        # Half of `model` first: devices 0 1 | 2 3; then the other half.
        (("model:(1)2", None), [0, 0, 1, 1, 0, 0, 1, 1]),
        (("model:(2)2", None), [0, 1, 0, 1, 0, 1, 0, 1]),
    ],
)
def test_a_values_spec_says_which_tile_each_device_holds(spec, tiles):
    rows, tables = rows_of(spec)
    assert rows[0]["sharding"] >= 0
    assert tables.columns()["sharding_tiles"].tolist() == tiles


def test_an_axis_the_mesh_lacks_gives_no_picture():
    rows, _ = rows_of(("other",), ("model:(3)2",), ("model:(x)2",), ("model:(0)0",))
    assert [row["sharding"] for row in rows] == [-1] * 4


@given(st.permutations(["a", "b", "c"]), st.integers(0, 3))
def test_tiles_follow_the_mixed_radix_number_of_their_axes(order, cut):
    mesh = view_reports.mesh_of(a=2, b=3, c=2)
    spec = (tuple(order[:cut]) or None, tuple(order[cut:]) or None)
    _, tables = rows_of(spec, mesh=mesh)
    expected = []
    for where in itertools.product(range(2), range(3), range(2)):
        index, tile = dict(zip("abc", where, strict=True)), 0
        for axis in order:
            tile = tile * mesh.sizes[axis] + index[axis]
        expected.append(tile)
    assert tables.columns()["sharding_tiles"].tolist() == expected
    assert math.prod(mesh.shape) == len(expected)


def test_arrays_of_equal_layers_stand_in_one_row():
    data = view_reports.train_step().data
    rows = array_rows(array_groups(data), SharedTables())
    assert sum(row["number"] for row in rows) == len(data.inputs) + len(data.outputs)
    assert any(row["name"] == "params['layers'][*]['w1']" and row["number"] == 4 for row in rows)


def test_the_inspector_says_of_a_donated_input_whether_an_output_reuses_it():
    data = view_reports.mlp("data").data
    x, w1, w2 = data.inputs
    inputs = (dataclasses.replace(x, donated=True), dataclasses.replace(w1, donated=True), w2)
    outputs = (dataclasses.replace(data.outputs[0], aliases="x"),)
    groups = array_groups(dataclasses.replace(data, inputs=inputs, outputs=outputs))
    rows = array_rows(groups, SharedTables())
    assert [row["fate"] for row in rows] == [
        [["donated"]], [["donated, but no output reuses it"]], [], [["reuses ", {"code": "x"}]],
    ]  # fmt: skip
