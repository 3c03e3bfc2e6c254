"""The graph pane in a browser: folds, boxes, lines, search, the keyboard, and what it says when there is no graph."""

from __future__ import annotations

import dataclasses
import functools
import sys
import tempfile
from pathlib import Path
from typing import Any

import view_reports

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "analyze" / "graph"))
import graph_cases
from data import hlo_fixtures as fixtures

import pjit_inspect
from pjit_inspect.api import CompileRecord
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.view.document.quantities import time_text
from pjit_inspect.view.inspector.page import inspector_page
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload

SIXTEEN = "train_step_16_layers.cpu_8"
MLP = "mlp_step.cpu_8"

# Where the focus is drawn: the rectangle around all pixels of the selection's colour.
FOCUS = """async () => {
  // A canvas shows a key a frame later; two frames, and whatever the key led to is drawn.
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  const canvas = document.querySelector(".graphbox canvas"), box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width, probe = document.createElement("i");
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d", {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const {data, width, height} = context.getImageData(0, 0, canvas.width, canvas.height);
  document.querySelector(".graph").append(probe);
  probe.style.color = "var(--select)";
  const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  let [left, top, right, bottom] = [1e9, 1e9, -1, -1];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const i = 4 * (y * width + x);
    if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) > 12) continue;
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return right < 0 ? null : [box.left + left / ratio, box.top + top / ratio, box.left + right / ratio,
    box.top + bottom / ratio];
}"""


@functools.cache
def page_of(name: str) -> str:
    """The exported page of a fixture, with the mesh it was compiled for."""
    read = pjit_inspect.open(fixtures.HERE / f"{name}.hlo.gz")
    assert isinstance(read, CompileRecord)
    data = dataclasses.replace(read.data, mesh=fixtures.MESH, meshes=(fixtures.MESH,))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        CompileRecord(data, hlo=read.hlo, hlo_text=read.hlo_text).to_html(path)
        return path.read_text(encoding="utf-8")


class Tree:
    """The tree of the graph, by the keyboard."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.locator(".graphtree").focus()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def names(self) -> list[str]:
        return self.page.locator(".graphtree [role=treeitem]").all_inner_texts()

    def current(self) -> str:
        return self.page.locator(".graphtree [aria-selected=true]").inner_text()

    def go(self, start: str) -> None:
        """To the first item that starts so."""
        at = next(number for number, name in enumerate(self.names()) if name.startswith(start))
        self.press("Home", *["ArrowDown"] * at)
        assert self.current().startswith(start)

    def click(self, left: float = 0.5) -> None:
        """Clicks into the drawn focus, so far from its left edge."""
        found = self.page.evaluate(FOCUS)
        assert found, "no focus is drawn"
        x0, y0, x1, y1 = found
        self.page.mouse.click(x0 + (x1 - x0) * left, (y0 + y1) / 2)
        self.page.wait_for_timeout(150)


def opened(visit: Any, name: str, **options: Any) -> tuple[Any, Tree]:
    """The page of a fixture with nothing selected, so that only the focus has the selection's colour."""
    found = visit(page_of(name), **options)
    show_boxes(found)
    tree = Tree(found.page)
    tree.press("Escape")
    return found, tree


def show_boxes(found: Any) -> None:
    """Turn from the flow, which a small program opens with, to rows of boxes."""
    button = found.page.get_by_role("button", name="Show rows of boxes")
    if button.count() and button.is_visible():
        button.click()
        found.page.wait_for_timeout(150)


def test_the_graph_is_what_the_middle_shows_at_first(visit):
    found = visit(page_of(MLP))
    show_boxes(found)
    assert found.select(".graphbox canvas").is_visible()
    assert found.page.locator("[data-tab=graph]").get_attribute("aria-selected") == "true"
    found = visit(page_of(MLP), hash="view=text")
    assert not found.select(".graphbox").is_visible()
    found = visit(page_of(MLP), hash="view=graph")
    show_boxes(found)
    assert found.select(".graphbox canvas").is_visible()


def test_a_click_on_a_line_selects_its_collective_everywhere(visit):
    found, tree = opened(visit, MLP)
    tree.go("forward: 4 kernels")
    tree.press("ArrowRight", "ArrowRight")
    assert "all-reduce model 1.50 MiB" in tree.current()
    tree.click()
    assert "all-reduce over model" in found.select(".details h2").inner_text()
    assert found.page.locator(".row[aria-selected=true] .sub").inner_text().startswith("all-reduce")
    assert "over model" in found.select(".meshwords").inner_text()


def test_a_click_on_a_fold_closes_and_opens_it_and_nothing_above_moves(visit):
    _, tree = opened(visit, SIXTEEN)
    before = tree.names()
    assert any(name.startswith("qkv") for name in before)
    tree.go("layer0")
    y = tree.page.evaluate(FOCUS)[1]
    tree.click(0.05)
    tree.page.locator(".graphtree").focus()
    assert not any(name.startswith("qkv") for name in tree.names())
    tree.go("layer0")
    assert abs(tree.page.evaluate(FOCUS)[1] - y) < 4
    tree.press("Enter")
    assert tree.names() == before


def test_the_keyboard_alone_does_it_all(visit):
    found, tree = opened(visit, SIXTEEN)
    tree.go("layer0")
    tree.press("x")
    names = tree.names()
    assert sum(name.startswith("layer") and "layernorm" not in name for name in names) >= 16
    tree.go("layer15")
    tree.press("ArrowRight")
    assert len(tree.names()) > len(names)
    tree.press("x")
    tree.go("backward: 13 kernels")
    tree.press("ArrowRight", "ArrowRight", "Enter")
    assert "all-reduce over model" in found.select(".details h2").inner_text()
    tree.press("ArrowLeft", "Enter")
    assert "qkv" in found.select(".boxpane").inner_text()
    found.page.keyboard.press("Escape")
    assert found.page.locator(".boxpane").count() == 0
    tree.press("End")
    assert tree.current() == tree.names()[-1]


def test_search_opens_the_layer_that_has_the_hit(visit):
    found, tree = opened(visit, SIXTEEN)
    field = found.select(".graph .search")
    field.fill("layer7 mlp backward")
    field.press("Enter")
    assert found.select(".graph .hits").inner_text() == "1 of 1"
    tree = Tree(found.page)
    assert "all-reduce" in tree.current()
    at = "() => [...document.querySelectorAll('.graphtree > *')].findIndex((one) => one.ariaSelected === 'true')"
    names, number = tree.names(), found.page.evaluate(at)
    assert names.index("layer7") < number < names.index("layer8")


def test_what_only_another_layer_has_is_opened_when_it_is_selected(visit):
    found, tree = opened(visit, SIXTEEN)
    assert "layer15" not in tree.names()
    row = found.page.locator(".row[title*='layer15/']").first
    row.click()
    assert "layer15" in Tree(found.page).names()
    found.page.locator(".row").first.click()
    assert "layer15" not in Tree(found.page).names()


def test_a_filter_of_the_list_fades_lines_of_other_axes(visit):
    found, _ = opened(visit, MLP)
    shot = "() => document.querySelector('.graphbox canvas').toDataURL()"
    found.page.get_by_role("button", name="Filters").click()
    picture = found.page.evaluate(shot)
    found.page.locator(".chips .chip").first.click()
    found.page.wait_for_timeout(150)
    assert found.page.evaluate(shot) != picture


def test_time_is_not_offered_where_nothing_was_measured(visit):
    found, _ = opened(visit, MLP)
    assert not found.select(".graphfoot").is_visible()
    found.page.locator("[data-tab=kernels]").click()
    assert "time" not in found.select(".tools select").first.inner_text()


@functools.cache
def measured_page() -> str:
    """The MLP's page, had its kernels taken 1, 2, 3, ... milliseconds in schedule order."""
    read = pjit_inspect.open(fixtures.HERE / f"{MLP}.hlo.gz")
    assert isinstance(read, CompileRecord)
    names = graph_cases.fixture(MLP)[2].kernels.names
    rows = [KernelTime(instruction=n, slowest_us=1e3 * (i + 1), mean_us=500) for i, n in enumerate(names)]
    times = KernelTimes(calls=3, devices=8, call_us=41_234, mean_call_us=4e4, rows=tuple(reversed(rows)))
    data = dataclasses.replace(read.data, mesh=fixtures.MESH, meshes=(fixtures.MESH,), kernel_times=times)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        CompileRecord(data, hlo=read.hlo, hlo_text=read.hlo_text).to_html(path)
        return path.read_text(encoding="utf-8")


def test_measured_time_is_a_colour_a_tooltip_a_sorting_and_a_number(visit):
    found = visit(measured_page())
    show_boxes(found)
    graph = graph_cases.fixture(MLP)[2]
    Tree(found.page).press("Escape")
    # Who measures asks for time: it is the colour and the order at first, and stands in the answer.
    assert found.page.get_by_label("Sort by").input_value() == "time"
    assert "Measured: 3 calls, 41.2 ms each on the slowest device." in found.select(".answer").inner_text()
    kernels = graph.kernels.box.tolist()
    longest = max(sum(i + 1 for i, box in enumerate(kernels) if box == one) for one in range(len(graph.boxes)))
    assert (
        f"most: {time_text(1e3 * longest)} per call (measured, slowest device)"
        in found.select(".graphfoot").inner_text()
    )
    tree = Tree(found.page)
    tree.go("forward: 4 kernels")
    _, y0, x1, _ = found.page.evaluate(FOCUS)
    found.page.mouse.move(x1 - 12, y0 + 10)
    found.page.locator(".floating:visible").wait_for()
    assert (
        "per call (measured, each kernel on its slowest device)" in found.page.locator(".floating:visible").inner_text()
    )
    found.page.locator("[data-tab=kernels]").click()
    found.page.get_by_label("Sort by").select_option("time")
    first = found.page.locator(".list .row").first
    assert first.locator(".size").inner_text().endswith("ms")
    assert "measured" in first.inner_text()
    bars = found.page.locator(".list .row").evaluate_all(
        "(rows) => rows.map((row) => [row.querySelector('.bar').offsetWidth, row.offsetWidth])"
    )
    times = found.page.locator(".list .row .size").all_inner_texts()
    for (bar, row), time in zip(bars, times, strict=True):
        assert abs(bar / (row - 46) - float(time.split()[0]) / float(times[0].split()[0])) < 0.02
    found.page.get_by_label("Sort by").select_option("size")
    first = found.page.locator(".list .row").first
    assert first.locator(".size").inner_text().endswith("B")
    assert "ms measured" in first.inner_text()
    found.page.get_by_label("Sort by").select_option("time")
    first = found.page.locator(".list .row").first
    first.click()
    found.page.locator(".details .numbers").wait_for()
    assert "time per call, slowest device" in found.select(".details").inner_text()


def test_zoom_keeps_to_the_pane_and_fit_brings_back(visit):
    found, tree = opened(visit, SIXTEEN)
    width = "() => document.querySelector('.graphspace').offsetWidth"
    fit = found.page.evaluate(width)
    tree.press("+", "+")
    assert found.page.evaluate(width) > 1.3 * fit
    tree.press("0")
    assert found.page.evaluate(width) == fit


def test_at_400_pixels_both_directions_and_the_selected_box_are_in_sight(visit):
    found = visit(page_of(SIXTEEN), width=400, height=800)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert found.select(".graphbox").evaluate("(e) => e.scrollWidth <= e.clientWidth + 12")
    names = Tree(found.page).names()
    assert any(name.startswith("forward") for name in names)
    assert any(name.startswith("backward") for name in names)
    assert found.select(".details .moves").is_visible()


def test_the_pointer_is_told_producers_and_consumers_and_drags_the_picture(visit):
    found, tree = opened(visit, SIXTEEN)
    found.page.get_by_role("button", name="View").click()
    found.page.get_by_role("button", name="Low rows").click()  # all there is to say: higher than its pane
    found.page.wait_for_timeout(200)
    tree = Tree(found.page)
    tree.go("backward: 13 kernels")
    found.page.wait_for_timeout(150)
    x0, y0, x1, _ = found.page.evaluate(FOCUS)
    found.page.mouse.move((x0 + x1) / 2, y0 + 14)
    tip = found.page.locator(".floating:visible")
    tip.wait_for()
    words = tip.inner_text()
    assert words.startswith("backward")
    assert "qkv" in words
    assert "reads" in words
    assert "gives to" in words
    assert "modelled" in words
    top = "() => document.querySelector('.graphbox').scrollTop"
    before = found.page.evaluate(top)
    found.page.mouse.down()
    found.page.mouse.move((x0 + x1) / 2, y0 - 60, steps=4)
    found.page.mouse.up()
    assert found.page.evaluate(top) == before + 74
    assert found.page.locator(".boxpane").count() == 0


def test_the_canvas_has_the_themes_colours(visit):
    corner = """() => { const from = document.querySelector('.graphbox canvas'), copy = new OffscreenCanvas(1, 1);
      copy.getContext('2d').drawImage(from, 0, 0); return [...copy.getContext('2d').getImageData(0, 0, 1, 1).data]; }"""
    found = visit(page_of(MLP), hash="theme=dark")
    show_boxes(found)
    found.page.wait_for_timeout(200)
    assert found.page.evaluate(corner) == [0x16, 0x18, 0x1C, 255]
    found = visit(page_of(MLP), hash="theme=light")
    show_boxes(found)
    found.page.wait_for_timeout(200)
    assert found.page.evaluate(corner) == [255, 255, 255, 255]


def test_hostile_names_of_scopes_are_shown_as_text(visit):
    bad = "</script><img src=x onerror=window.pwned=1>\u202e"
    read = graph_cases.program(graph_cases.op("a", "add", "q", "q", at=f"jit(f)/{bad}/add", root=True))
    given = InspectorInput(report=view_reports.without_hlo(), graph=graph_cases.graph_of(read))
    found = visit(inspector_page(inspector_payload(given)))
    assert any("onerror" in name for name in Tree(found.page).names())
    assert found.page.evaluate("window.pwned === undefined")


def test_without_a_graph_the_pane_says_why(visit):
    page = inspector_page(inspector_payload(InspectorInput(report=view_reports.without_hlo())))
    found = visit(page, hash="view=graph")
    assert "no optimized HLO" in found.select(".graph").inner_text()
    failed = InspectorInput(report=view_reports.train_step(), no_graph="no graph: its analysis failed: KeyError: 3")
    found = visit(inspector_page(inspector_payload(failed)))
    assert found.select(".texts").is_visible()
    found.page.keyboard.press("g")
    assert "KeyError: 3" in found.select(".graph").inner_text()
