"""Figures of a record: what they show, that figure, picture and text agree, and that no name becomes markup."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import pickle
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import view_reports
from view_reports import array, devices_of, mesh_of

from pjit_inspect.analyze.collectives.traffic import find_link_traffic
from pjit_inspect.analyze.program.device_memory import find_device_memory
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.record import MemoryStats, RecordData, Timings
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.charts.totals import memory_chart, time_chart, totals_chart
from pjit_inspect.view.charts.traffic import MOST_BLOCKS, traffic_chart
from pjit_inspect.view.document.chart import BarChart, MatrixChart
from pjit_inspect.view.document.colors import AXIS_COLORS, SEVERAL
from pjit_inspect.view.figures.figures import Figures, chart_document
from pjit_inspect.view.record.summary_picture import draw_summary
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.chart_picture import cell_strength, draw_chart
from pjit_inspect.view.svg.svg import Svg

REPORTS = view_reports.every_report()
NAMES = ("axis_totals", "traffic", "bytes_per_device", "memory", "compile_times")
DATA = ((0, 4), (1, 5), (2, 6), (3, 7))
MODEL = ((0, 1, 2, 3), (4, 5, 6, 7))


def collective(kind: str, axes, groups, payload: int, wire: int, count: int | None = 1) -> Collective:
    return Collective(
        kind=kind, axes=axes, groups=groups, dtype="f32", local_shape=(payload // 4,), payload_bytes=payload,
        wire_bytes=wire, count=count, count_min=count,
    )  # fmt: skip


def report_of(*rows: Collective, mesh=None, **changes) -> RecordReport:
    mesh = mesh or mesh_of(data=2, model=4)
    data = RecordData(name="step", mesh=mesh, meshes=(mesh,), devices=devices_of(mesh.size), **changes)
    return RecordReport(data=data, collectives=CollectiveTable(rows), totals=view_reports.totals_of(rows))


# An all-reduce of 1 MiB over the 4 devices of `model` sends 2 * 3/4 MiB = 1.5 MiB from each device, to the next of its
# ring; an all-gather of 1 MiB shards over the 2 devices of `data` sends the own shard once: 1 MiB.
def traffic_of(report: RecordReport) -> MatrixChart:
    return traffic_chart(report, find_link_traffic(report.collectives or ()))


def memory_of(data: RecordData) -> BarChart:
    return memory_chart(data, find_device_memory(data))


def figures_of(report: RecordReport) -> Figures:
    alive = MemoryUse(missing="no program"), ()
    return Figures(report, find_link_traffic(report.collectives or ()), find_device_memory(report.data), lambda: alive)


STEP = report_of(
    collective("all-reduce", ("model",), MODEL, 2**20, 3 * 2**19),
    collective("all-gather", ("data",), DATA, 2**20, 2**20),
)


# ---------------------------------------------------------------- what they show


def test_totals_are_a_bar_per_axis_in_the_axis_colour():
    figure = figures_of(STEP).axis_totals
    (bars,) = figure.data
    assert dict(zip(bars.y, bars.x, strict=True)) == {"model": 1.5, "data": 1.0}
    assert list(bars.marker.color) == [AXIS_COLORS[1], AXIS_COLORS[0]]
    assert figure.layout.xaxis.title.text == "MiB one device sends per call (modelled: ring)"
    assert (
        bars.customdata[0]
        == "model: sends 1.50 MiB<br>1 collective<br>all-reduce x1<br>arrays on a device 1 MiB (counted)"
    )


def test_collectives_in_a_loop_count_as_often_as_they_run():
    twice = report_of(collective("all-reduce", ("model",), MODEL, 1024, 1536, count=2))
    assert list(figures_of(twice).axis_totals.data[0].x) == [3.0]
    unknown = report_of(collective("all-reduce", ("model",), MODEL, 1024, 1536, count=None))
    assert "collectives in loops of unknown length count once" in totals_chart(unknown).notes


def test_traffic_goes_to_the_next_of_each_ring():
    chart = traffic_of(STEP)
    sent = {(cell.row, cell.column): (cell.size_bytes, cell.name) for cell in chart.cells}
    ring = {(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)}
    pairs = {(a, b) for group in DATA for a, b in (group, group[::-1])}
    assert sent == {**dict.fromkeys(ring, (3 * 2**19, "model")), **dict.fromkeys(pairs, (2**20, "data"))}
    assert {cell.name: cell.color for cell in chart.cells} == {"model": AXIS_COLORS[1], "data": AXIS_COLORS[0]}


def test_a_pair_that_differs_in_two_axes_has_the_colour_of_several():
    chart = traffic_of(report_of(collective("collective-permute", None, ((0, 5),), 64, 64)))
    assert [(cell.name, cell.color) for cell in chart.cells] == [("data x model", SEVERAL)]


def test_bytes_of_a_device_are_its_slices():
    # x: 10 x 4 float32 in 4 pieces of 3, 3, 3 and 1 rows: 48, 48, 48, 16 bytes; y: 4 float32 everywhere, 16 bytes.
    mesh = mesh_of(model=4)
    data = RecordData(
        name="f", mesh=mesh, devices=devices_of(4),
        inputs=(array("x", "float32", (10, 4), mesh, "model"), array("y", "float32", (4,), mesh)),
        outputs=(array("r", "float32", (4,), mesh, "model"), array("s", "float32", (4,), mesh, aliases="y")),
        memory=MemoryStats(argument_bytes=64, temporary_bytes=1000),
    )  # fmt: skip
    rows = {row.label: [(part.name, part.value) for part in row.parts] for row in memory_of(data).rows}
    assert rows == {
        "devices 0-2": [("arguments", 64), ("outputs", 4), ("temporaries", 1000)],
        "device 3": [("arguments", 32), ("outputs", 4), ("temporaries", 1000)],
    }
    notes = memory_of(data).notes
    assert "1 output in the buffers of donated arguments: counted there, not again" in notes
    assert not any("XLA itself" in note for note in notes)


def test_a_program_without_arrays_shows_what_xla_counts():
    memory = MemoryStats(argument_bytes=100, output_bytes=60, alias_bytes=40, temporary_bytes=None)
    chart = memory_of(RecordData(name="f", memory=memory))
    assert [(part.name, part.value) for part in chart.rows[0].parts] == [("arguments", 100), ("outputs", 20)]
    assert chart.notes == ("temporaries unknown",)


def test_dropped_arguments_and_those_in_host_memory_take_no_room():
    mesh = mesh_of(X=2)
    x = array("x", "float32", (4,), mesh)
    host = dataclasses.replace(x, path="h", sharding=dataclasses.replace(x.sharding, memory_kind="pinned_host"))
    data = RecordData(name="f", mesh=mesh, devices=devices_of(2), inputs=(x, dataclasses.replace(x, kept=False), host))
    chart = memory_of(data)
    assert [part.value for part in chart.rows[0].parts] == [16, 0]
    assert "1 array in host memory not counted" in chart.notes


def test_times_are_a_bar_per_stage():
    data = RecordData(name="f", timings=Timings(trace_s=0.25, lower_s=0.5, compile_s=2.0))
    (figure,) = (figures_of(RecordReport(data=data)).compile_times,)
    assert {trace.name: trace.x[0] for trace in figure.data} == {"trace": 0.25, "lower": 0.5, "XLA": 2.0}
    assert figure.layout.title.text == "seconds of each stage of the compile (measured)"
    cached = dataclasses.replace(data, timings=Timings(compile_s=0.02), cached="persistent")
    chart = time_chart(cached)
    assert [(row.label, chart.unit) for row in chart.rows] == [("from disk", "ms")]
    assert chart.notes == ("trace and lower unknown: reused, or not seen",)


# ---------------------------------------------------------------- large meshes


def test_4096_devices_are_64_blocks_and_no_byte_is_lost():
    mesh = mesh_of(data=64, model=64)
    inner = tuple(tuple(range(64 * i, 64 * i + 64)) for i in range(64))
    outer = tuple(tuple(range(i, 4096, 64)) for i in range(64))
    report = report_of(
        collective("all-gather", ("model",), inner, 1024, 63 * 1024),
        collective("all-reduce", ("data",), outer, 6400, 12600),
        mesh=mesh,
    )
    chart = traffic_of(report)
    assert len(chart.labels) == MOST_BLOCKS
    assert chart.labels[:2] == ("data 0", "data 1")
    # Every device sends 63 KiB to its neighbour along `model` (same block) and 12,600 B along `data` (next block).
    cells = {(cell.row, cell.column): cell.size_bytes for cell in chart.cells}
    assert cells[3, 3] == 64 * 63 * 1024
    assert cells[3, 4] == cells[63, 0] == 64 * 12600
    assert sum(cells.values()) == 4096 * (63 * 1024 + 12600)
    assert chart.notes[0].startswith("folded: a row or column stands for 64 devices of one index of data")
    assert {cell.name for cell in chart.cells} == {"model within a block", "data"}
    assert len(json.dumps(figures_of(report).traffic.to_plotly_json(), default=list)) < 60_000
    assert len(draw_chart(chart).write()) < 20_000


def test_one_long_axis_is_folded_into_runs_of_neighbours():
    everyone = (tuple(range(1000)),)
    chart = traffic_of(report_of(collective("all-gather", ("x",), everyone, 4, 10), mesh=mesh_of(x=1000)))
    # 1000 devices in runs of 16: 63 rows, the last of 8.
    assert (len(chart.labels), chart.labels[0], chart.labels[-1]) == (63, "0-15", "992-999")
    assert sum(cell.size_bytes for cell in chart.cells) == 10_000


def test_what_has_too_many_pairs_is_counted_not_dropped():
    everyone = (tuple(range(4096)),)
    report = report_of(
        collective("all-to-all", ("x",), everyone, 4096, 4095),
        collective("all-gather", ("x",), everyone, 4, 10),
        mesh=mesh_of(x=4096),
    )
    assert "1 collective not shown: unknown groups, or too many pairs of devices" in traffic_of(report).notes


def test_many_bars_are_the_largest_and_the_rest_is_counted():
    names = tuple(f"a{i}" for i in range(20))
    rows = [collective("all-gather", (name,), DATA, 1024, 1024 * (30 - i)) for i, name in enumerate(names)]
    chart = totals_chart(report_of(*rows, mesh=mesh_of(**dict.fromkeys(names, 1), data=8)))
    assert [row.label for row in chart.rows] == [f"a{i}" for i in range(16)]
    # 14, 13, 12 and 11 KiB are left out.
    assert chart.notes == ("4 further sets of axes, 50 KiB together, not shown",)


# ---------------------------------------------------------------- the twins agree


@pytest.mark.parametrize("report", [name for name in REPORTS if name != "huge"])
@pytest.mark.parametrize("name", NAMES)
def test_figure_picture_and_text_have_the_same_figures(report, name):
    figure = getattr(figures_of(REPORTS[report]), name)
    bundle = figure._repr_mimebundle_()
    text = " ".join(bundle["text/plain"].split())
    assert repr(figure) == bundle["text/plain"]
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html", "text/plain"}
    amounts = [amount for trace in figure.data for amount in trace.text or ()]
    amounts += (
        [] if name != "traffic" else [_plain(hover).partition(": ")[2].split("<br>")[0] for hover in _hovers(figure)]
    )
    assert all(amount.split()[0] in text.split() for amount in [*amounts, *_amounts(bundle["text/html"])])
    assert bool(amounts) == bool(figure.data)
    labels = [label for trace in figure.data for label in (trace.y if name != "traffic" else (trace.name,))]
    assert all(_plain(label) in text for label in labels)


def _amounts(html: str) -> list[str]:
    """The amounts on the chips of the still picture."""
    pictures = [base64.b64decode(found) for found in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)]
    texts = [e.text or "" for svg in pictures for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("text")]
    return [text.removeprefix("strongest: ") for text in texts if re.search(r" (B|[KMG]iB|m?s)$", text)]


def _hovers(figure) -> list[str]:
    return [hover for trace in figure.data for hover in trace.customdata]


def _plain(label: str) -> str:
    return label.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&#x27;", "'")


def test_the_table_of_the_traffic_has_every_cell():
    text = figures_of(STEP).traffic._repr_mimebundle_()["text/plain"]
    assert text.splitlines()[2:] == [
        "each MiB  pairs  over   from -> to (device)",
        "    1.50      8  model  0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0, 4 -> 5, 5 -> 6, 6 -> 7, 7 -> 4",
        "    1.00      8  data   0 -> 4, 1 -> 5, 2 -> 6, 3 -> 7, 4 -> 0, 5 -> 1, 6 -> 2, 7 -> 3",
    ]


def test_the_picture_has_bars_as_long_as_the_bytes():
    svg = ElementTree.fromstring(draw_chart(totals_chart(STEP)).write())
    bars = [e for e in svg.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") in AXIS_COLORS and not e.get("rx")]
    widths = {e.get("fill"): float(e.get("width")) for e in bars}
    assert widths[AXIS_COLORS[0]] / widths[AXIS_COLORS[1]] == pytest.approx(2 / 3, abs=0.001)


def test_strength_is_the_root_of_the_share_in_six_steps():
    assert [cell_strength(size, 36) for size in (36, 25, 24, 1, 0.01)] == [1, 5 / 6, 5 / 6, 1 / 6, 1 / 6]
    assert cell_strength(0, 0) > 0


def test_the_still_twin_is_a_picture_that_a_sanitizer_keeps():
    html = figures_of(STEP).traffic._repr_mimebundle_()["text/html"]
    picture = base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1])
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert not re.search(r"<(script|svg|style|iframe)\b", html)


def test_a_page_made_of_a_notebook_keeps_the_still_twin():
    from nbconvert import HTMLExporter
    from nbformat import v4

    data = figures_of(STEP).axis_totals._repr_mimebundle_()
    output = v4.new_output("execute_result", data, execution_count=1)
    notebook = v4.new_notebook(cells=[v4.new_code_cell("rec.figures.axis_totals", outputs=[output], id="cell")])
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert 'alt="bytes that one device sends per call, over each mesh axis (modelled: ring): model 1.50 MiB' in page


def test_a_figure_keeps_its_twin_when_it_is_changed_copied_and_pickled():
    figure = figures_of(STEP).traffic
    text = repr(figure)
    assert repr(figure.update_layout(height=200)) == text
    assert repr(copy.deepcopy(figure)) == repr(pickle.loads(pickle.dumps(figure))) == text
    assert copy.deepcopy(figure) == figure


def test_all_figures_at_once_are_still_and_can_leave_out_seconds():
    figures = figures_of(REPORTS["train_step"])
    assert repr(figures) == "<Figures: axis_totals, traffic, bytes_per_device, memory, compile_times>"
    assert str(figures).count("(modelled: ring)") == 2
    assert "measured" in str(figures)
    assert "measured" not in repr(figures.show(times=False))
    assert set(figures._repr_mimebundle_()) == {"text/plain", "text/html"}


# ---------------------------------------------------------------- nothing to show


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_record_says_what_is_missing(name):
    figure = getattr(figures_of(RecordReport(data=RecordData(name="f"))), name)
    (annotation,) = figure.layout.annotations
    assert "unknown: " in annotation.text
    assert "unknown: " in repr(figure)
    assert not figure.data


def test_what_is_missing_is_said_with_its_reason():
    without = figures_of(REPORTS["without_hlo"])
    assert repr(without.axis_totals).splitlines()[1] == "collectives unknown: jaxlib has no get_compiled_hlo"
    assert repr(figures_of(REPORTS["one_device"]).traffic).splitlines()[1] == "one device: nothing to communicate"
    assert repr(figures_of(report_of()).traffic).splitlines()[1] == "no collectives: the devices do not communicate"
    known = RecordReport(data=RecordData(name="f", cached="memory"))
    assert repr(figures_of(known).compile_times).endswith("seconds unknown: JAX already held the executable")


def test_without_a_mesh_rows_are_partitions_and_no_axis_is_claimed():
    row = collective("collective-permute", None, ((0, 1), (1, 0)), 8, 8)
    data = RecordData(name="f", missing={"mesh": "HLO does not name it"})
    report = RecordReport(data=data, collectives=CollectiveTable((row,)), totals=view_reports.totals_of((row,)))
    chart = traffic_of(report)
    assert (chart.labels, chart.stands_for) == (("0", "1"), "partition")
    assert {cell.name for cell in chart.cells} == {"sent"}
    assert totals_chart(report).rows[0].label == "unknown"


def test_groups_beyond_the_mesh_are_shown_as_partitions():
    report = report_of(collective("collective-permute", None, ((0, 99),), 8, 8))
    assert traffic_of(report).stands_for.endswith("partitions")


def test_absurd_lengths_of_a_damaged_file_do_no_harm():
    sharding = array("x", "float32", (4,), mesh_of(X=2)).sharding
    layout = ArrayLayout(path="x", dtype="float32", global_shape=(10**30,), sharding=sharding)
    chart = memory_of(RecordData(name="f", devices=devices_of(2), inputs=(layout,)))
    assert "over" in to_text(chart_document(chart))


# ---------------------------------------------------------------- hostile names

TAGS = re.compile(r"<(?!br>)[a-z/]", re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_markup_in_a_figure(name):
    figure = getattr(figures_of(REPORTS["hostile"]), name)
    strings = _strings(figure.to_plotly_json())
    assert not [text for text in strings if TAGS.search(text.replace("<extra></extra>", ""))]
    assert not [text for text in strings if any(sign in text for sign in "\x00\x1b\u202e\udc80")]


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    return [text for part in value for text in _strings(part)] if isinstance(value, list | tuple) else []


@pytest.mark.parametrize(
    "name",
    [
        '<a href="javascript:alert(1)">x</a>',
        "<b>bold</b>",
        r"$\href{javascript:alert(1)}{x}$",
        "%{y}",
        "&lt;b&gt;",
        "2024-01-01",
    ],
)
def test_names_that_plotly_would_read_are_shown_as_they_are(name):
    report = report_of(
        collective("all-gather", (name,), DATA, 4, 4),
        mesh=dataclasses.replace(mesh_of(data=2, model=4), axis_names=(name, "model")),
    )
    bars, cells = figures_of(report).axis_totals, figures_of(report).traffic
    assert bars.layout.yaxis.type == cells.layout.xaxis.type == "category"
    for text in (*bars.data[0].y, *_hovers(bars), *_hovers(cells), cells.data[0].name):
        assert "$" not in text
        assert not TAGS.search(text)
    assert not any(name in trace.hovertemplate for trace in (*bars.data, *cells.data))
    assert name in repr(bars)


# ---------------------------------------------------------------- the summary


def test_the_summary_says_what_the_text_says():
    from pjit_inspect.view.record.record import record_view

    text = to_text(record_view(REPORTS["mlp_fsdp"]))
    svg = ElementTree.fromstring(draw_summary(REPORTS["mlp_fsdp"]).write())
    said = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert said[1] == "2 collectives; each device sends 28 KiB per call, all over X. No input is fully replicated."
    assert said[1] in text
    assert "28.00 KiB" in said
    assert "memory per device: 34 KiB in, 2 KiB out, 8 KiB temporary" in said
    assert {str(device) for device in range(8)} <= set(said)


@pytest.mark.parametrize("name", REPORTS)
def test_every_record_has_a_summary_that_is_xml(name):
    svg = draw_summary(REPORTS[name]).write()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "<script" not in svg


def test_a_picture_with_hatches_is_not_placed():
    inner = Svg()
    inner.rect(0, 0, 5, 5, fill=inner.hatch("#123456"))
    with pytest.raises(ValueError, match="hatches"):
        Svg().place(inner, 0, 0)


def test_without_plotly_a_figure_says_how_to_get_it_and_the_still_ones_are_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.delitem(sys.modules, "pjit_inspect.view.figures.chart_figure", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'pjit_inspect\[figures\]'"):
        _ = figures_of(STEP).traffic
    assert "bytes sent from device to device" in str(figures_of(STEP))


def test_the_module_of_the_figures_imports_no_plotly():
    script = "import pjit_inspect.api, pjit_inspect.view.figures.figures, sys; print('plotly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
