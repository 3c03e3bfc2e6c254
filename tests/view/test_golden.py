"""Displays look as they did when somebody last looked at them."""

from __future__ import annotations

import re

import pytest
import view_reports

from pjit_inspect.view.document.colors import Palette
from pjit_inspect.view.document.document import MeshSubject
from pjit_inspect.view.pages.session import log_view
from pjit_inspect.view.record.explain import explain_view
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.record.shardings import shardings_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.mesh_picture import draw_mesh
from pjit_inspect.view.svg.shard_picture import draw_shards

REPORTS = view_reports.every_report()


@pytest.mark.parametrize("name", [name for name in REPORTS if name != "huge"])
def test_the_text_of_every_report_looks_as_before(name, golden):
    golden(f"{name}.txt", to_text(record_view(REPORTS[name])))


def test_the_text_of_a_big_program_looks_as_before(golden):
    golden("huge.txt", to_text(record_view(view_reports.huge(inputs=100))))


def test_narrow_text_looks_as_before(golden):
    golden("train_step_60.txt", to_text(record_view(REPORTS["train_step"]), width=60))


def test_a_log_looks_as_before(golden):
    rows = [report.data for report in REPORTS.values()]
    counts = [None if report.collectives is None else len(report.collectives) for report in REPORTS.values()]
    golden("log.txt", to_text(log_view(rows, collectives=counts)))


def test_an_explanation_looks_as_before(golden):
    golden("explain.txt", to_text(explain_view(REPORTS["explained"])))
    golden("explain.html", to_html(explain_view(REPORTS["explained"])))
    golden("explain_line.txt", to_text(explain_view(REPORTS["explained"], 2), width=60))


def test_a_table_of_shardings_looks_as_before(golden):
    data, table = REPORTS["explained"].data, view_reports.shardings()
    golden("shardings.txt", to_text(shardings_view(data, table)))
    golden("shardings.html", to_html(shardings_view(data, table)))
    golden("shardings_line.txt", to_text(shardings_view(data, table.at_line(2))))


@pytest.mark.parametrize("name", ["mlp_tensor", "without_hlo"])
def test_the_html_looks_as_before(name, golden):
    html = to_html(record_view(REPORTS[name]))
    golden(f"{name}.html", re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "picture", html))


@pytest.mark.parametrize("name", ["scalar", "vector", "uneven", "cube", "images", "five"])
def test_the_picture_of_every_rank_looks_as_before(name, golden):
    report = REPORTS["ranks"]
    layout = next(layout for layout in report.data.inputs if layout.path == name)
    golden(f"shards_{name}.svg", draw_shards(layout, Palette(("pod", "data", "model"))).write())


def test_the_picture_of_partial_sums_looks_as_before(golden):
    golden(
        "shards_partial.svg", draw_shards(REPORTS["ranks"].data.outputs[0], Palette(("pod", "data", "model"))).write()
    )


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("1", {"X": 8}), ("16", {"X": 16}), ("2x4", {"data": 2, "model": 4}), ("2x2x2", {"a": 2, "b": 2, "c": 2})],
)
def test_the_picture_of_a_mesh_looks_as_before(name, sizes, golden):
    mesh = view_reports.mesh_of(**sizes)
    subject = MeshSubject(mesh=mesh, sent=((mesh.axis_names[-1], 4096),))
    golden(f"mesh_{name}.svg", draw_mesh(subject, Palette(mesh.axis_names)).write())
