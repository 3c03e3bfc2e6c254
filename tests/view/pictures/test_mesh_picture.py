"""Pictures of meshes: every device where its indices say, and nothing drawn twice."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.view.document.colors import AXIS_COLORS, SELECTION, Palette
from pjit_inspect.view.document.document import MeshSubject, Picture
from pjit_inspect.view.record.answer import overview_blocks
from pjit_inspect.view.svg.mesh_picture import draw_mesh, mesh_grid, mesh_lines

SVG = "{http://www.w3.org/2000/svg}"


def _texts(mesh: Mesh, **more) -> list[str]:
    svg = draw_mesh(MeshSubject(mesh=mesh, **more), Palette(mesh.axis_names)).write()
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_rows_are_the_first_axis_and_columns_the_second():
    mesh = Mesh(axis_names=("data", "model"), shape=(2, 3), device_ids=(5, 4, 3, 2, 1, 0))
    assert mesh_lines(mesh) == (
        "        model 0 1 2",
        "data 0        5 4 3",
        "data 1        2 1 0",
    )
    assert _texts(mesh)[:6] == ["5", "4", "3", "2", "1", "0"]


def test_one_axis_is_a_row_that_wraps():
    assert mesh_lines(view_reports.mesh_of(X=4)) == ("X  0 1 2 3",)
    assert mesh_lines(view_reports.mesh_of(X=12)) == ("X   0  1  2  3  4  5  6  7", "    8  9 10 11")


def test_more_axes_are_facets():
    lines = mesh_lines(view_reports.mesh_of(pod=2, data=2, model=2))
    assert lines[0] == "pod 0"
    assert lines[4] == "pod 1"
    assert lines[-1].split() == ["data", "1", "6", "7"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_every_shown_place_has_the_device_of_its_indices(sizes):
    mesh = view_reports.mesh_of(**{f"a{i}": size for i, size in enumerate(sizes)})
    grid = mesh_grid(mesh)
    index = {where: i for i, where in enumerate(itertools.product(*(range(size) for size in sizes)))}
    for facet, row, column in itertools.product(grid.facets, grid.rows, grid.columns):
        position = grid.position(mesh, facet, row, column)
        if len(sizes) > 1 and -1 not in (*facet, row, column):
            assert position == index[(*facet, row, column)]
        elif len(sizes) == 1 and column >= 0:
            flat = row * 8 + column
            assert position == (flat if flat < mesh.size else None)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=3))
def test_a_mesh_of_at_most_64_devices_is_drawn_whole(sizes):
    mesh = view_reports.mesh_of(**{f"a{i}": size for i, size in enumerate(sizes)})
    numbers = [text for text in _texts(mesh) if text.isdigit()]
    if mesh.size <= 8:
        assert sorted(map(int, numbers)) == list(range(mesh.size))
    assert len(numbers) == len(set(numbers)) <= max(64, mesh.size)


@pytest.mark.parametrize("sizes", [{"data": 64, "model": 64}, {"X": 4096}, {"a": 16, "b": 16, "c": 16}])
def test_4096_devices_are_a_readable_summary(sizes):
    mesh = view_reports.mesh_of(**sizes)
    svg = draw_mesh(MeshSubject(mesh=mesh), Palette(mesh.axis_names))
    assert max(svg.size) < 900
    numbers = [text for text in _texts(mesh) if text.isdigit()]
    assert 0 < len(numbers) <= 64
    assert {"0", "4095"} <= set(numbers)
    assert max(len(line) for line in mesh_lines(mesh)) <= 100


def test_links_are_as_thick_as_the_root_of_the_bytes():
    mesh = view_reports.mesh_of(data=2, model=2)
    subject = MeshSubject(mesh=mesh, sent=(("model", 10_000), ("data", 2_500)))
    root = ElementTree.fromstring(draw_mesh(subject, Palette(mesh.axis_names)).write())
    thick = {node.get("stroke"): float(node.get("stroke-width", "1")) for node in root.iter(f"{SVG}path")}
    assert thick[AXIS_COLORS[1]] == 12
    assert thick[AXIS_COLORS[0]] == pytest.approx(2 + 10 * math.sqrt(0.25))


def test_the_devices_of_a_group_light_up():
    mesh = view_reports.mesh_of(data=2, model=2)
    svg = draw_mesh(MeshSubject(mesh=mesh, groups=((0, 2),)), Palette(mesh.axis_names)).write()
    assert svg.count(f'fill="{SELECTION}"') == 2


def test_bytes_over_axes_of_another_mesh_are_not_drawn_on_this_ones_links():
    report = view_reports.mlp("tensor")
    (own,) = report.totals
    other = replace(own, mesh=1, sent_bytes=10 * own.sent_bytes, is_bound=True)
    (beside,) = overview_blocks(replace(report, totals=(own, other)))
    picture = next(block for block in beside.blocks if isinstance(block, Picture))
    assert picture.subject.sent == ((own.axes[0], own.sent_bytes),)
    assert "sends at most" in picture.alt
