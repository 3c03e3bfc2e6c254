"""The inside of a box in a browser: the sources as modules, without the rest of the inspector around them."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fixture_pages import graph_of, page_of

from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.view.inspector.page import BUNDLE

SOURCES = BUNDLE.parent / "src"
SITE = "http://sources.test/"
TPU = "train_step.tpu7x"
STYLES = ("core/styles.css", "core/tooltip.css", "schedule/schedule.css", "graph/box/box.css")

PAGE = """<!DOCTYPE html><html><head><style>{styles}</style></head><body>
<div id="pjit-inspector"><div class="frame" style="display:block"><button id="before">before</button>
<div id="host" style="position:absolute;inset:0"></div></div></div>
<script type="module">
  import {{ fromBase64, inflate, openBlob }} from "./core/blob.js";
  import {{ openBox }} from "./graph/box/pane.js";
  import {{ Store }} from "./core/store.js";
  document.getElementById("pjit-inspector").className = "pjit-inspector page";
  const store = new Store({first});
  store.open(openBlob(await inflate(fromBase64("{blob}"))));
  globalThis.store = store;
  globalThis.opened = [];
  globalThis.open_box = (box) => {{ globalThis.close_box = openBox(store, box, document.getElementById("host"), (now) => opened.push(now)); }};
  document.body.dataset.ready = "true";
</script></body></html>"""  # noqa: E501


def data_of(name: str) -> tuple[str, str]:
    """The first view and the blob of a fixture, as they stand in its page."""
    page = page_of(name)
    first, blob = (page.split(f'id="pjit-{part}">')[1].split("</script>")[0] for part in ("first", "blob"))
    assert zlib.decompress(base64.b64decode(blob)).startswith(b"PJITVIEW")
    return first, blob


@pytest.fixture
def open_box(chromium: Any) -> Iterator[Any]:
    """Opens a box of a fixture; at the end nothing may have been complained of."""
    pages: list[Any] = []
    complaints: list[str] = []

    def serve(route: Any, html: str) -> None:
        name = route.request.url.removeprefix(SITE)
        if not name:
            return route.fulfill(body=html, content_type="text/html")
        source = SOURCES / name
        if source.suffix != ".js" or not source.exists():
            return route.fulfill(status=204)
        return route.fulfill(body=source.read_text(encoding="utf-8"), content_type="text/javascript")

    def visit(name: str, box: int, *, width: int = 1000, height: int = 720) -> Any:
        first, blob = data_of(name)
        styles = "\n".join((SOURCES / file).read_text(encoding="utf-8") for file in STYLES)
        html = PAGE.format(styles=styles, first=first, blob=blob)
        page = chromium.new_page(viewport={"width": width, "height": height})
        pages.append(page)
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route(f"{SITE}**", lambda route: serve(route, html))
        page.goto(SITE)
        page.wait_for_selector("[data-ready]")
        page.focus("#before")
        page.evaluate("open_box", box)
        return page

    yield visit
    for page in pages:
        page.close()
    assert not complaints


def box_number(name: str, row: str, phase: str) -> int:
    graph = graph_of(name)
    labels = [(graph.rows[box.row].label, PHASES[box.phase]) for box in graph.boxes]
    return labels.index((row, phase))


def chosen(page: Any) -> Any:
    return page.locator(".dag [aria-selected=true]")


def test_every_kernel_of_the_box_is_drawn_and_named(open_box):
    number = box_number(TPU, "attn", "backward")
    graph = graph_of(TPU)
    page = open_box(TPU, number)
    named = page.locator(".dag .kernel:not(.stub)").evaluate_all(
        "(all) => all.map((e) => e.getAttribute('aria-label'))"
    )
    expected = [graph.kernels.names[kernel] for kernel in graph.kernels_of(number).tolist()]
    assert len(named) == len(expected)
    assert all(f"; {name} (" in words for name, words in zip(expected, named, strict=True))
    assert page.locator(".dag .edge").count() >= len(graph.edges_of(number))
    assert page.inner_text(".boxpane").count("Attribution of kernels to boxes is modelled") == 1


def test_a_click_selects_the_collective_and_lights_what_it_takes_and_gives(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    page.locator(".dag .move", has_text="all-reduce over model").first.click()
    assert page.evaluate("store.selected.kind") == "all-reduce"
    assert page.locator(".dag.chosen .edge.lit").count() >= 2
    assert page.locator(".dag .near").count() >= 2
    assert "all-reduce over model" in chosen(page).first.text_content()


def test_a_selection_from_elsewhere_is_marked(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    script = "(kind) => store.select({type: 'collective', row: store.rows('collectives').findIndex((one) => one.kind === kind && one.what.includes('attn'))})"  # noqa: E501
    page.evaluate(script, "reduce-scatter")
    assert "reduce-scatter over data" in chosen(page).first.text_content()
    page.evaluate("store.select(null)")
    assert chosen(page).count() == 0


def test_the_arrows_walk_along_the_graph(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    top = page.locator(".dag .matmul").first
    top.click()
    before = top.bounding_box()
    page.keyboard.press("ArrowDown")
    after = page.locator(".dag .kernel:focus").bounding_box()
    assert after["y"] > before["y"]
    assert page.locator(".dag .edge.lit").count() >= 1
    page.keyboard.press("ArrowUp")
    assert page.locator(".dag .kernel:focus").bounding_box()["y"] < after["y"]
    page.keyboard.press("End")
    assert page.locator(".dag .kernel").last.get_attribute("aria-selected") == "true"


def test_escape_closes_gives_the_focus_back_and_keeps_the_selection(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "forward"))
    page.locator(".dag .move").first.click()
    name = page.evaluate("store.selectionName()")
    page.keyboard.press("Escape")
    assert page.locator(".boxpane").count() == 0
    assert page.evaluate("store.selectionName()") == name
    assert page.evaluate("document.activeElement.id") == "before"
    assert page.evaluate("opened.at(-1)") == -1


def test_a_stub_opens_the_box_it_names(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    stub = page.locator(".dag .stub", has_text="from layer0/mlp, backward")
    stub.focus()
    page.keyboard.press("Enter")
    assert page.inner_text(".boxtitle") == "layer0/mlp, backward"
    assert page.evaluate("opened") == [box_number(TPU, "attn", "backward"), box_number(TPU, "mlp", "backward")]
    assert page.locator(".boxpane").count() == 1


def test_the_tooltip_has_the_whole_name(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    page.locator(".dag .move").first.hover()
    lines = page.locator(".floating > *").all_text_contents()
    assert page.locator(".dag .move").first.get_attribute("aria-label") == "; ".join(lines)


def test_what_is_too_wide_or_unconnected_is_a_list_that_keys_walk(open_box):
    graph = graph_of("transformer_step.v5e_2x4")
    number = next(i for i, box in enumerate(graph.boxes) if box.is_list)
    page = open_box("transformer_step.v5e_2x4", number)
    assert page.locator(".dag").count() == 0
    rows = page.locator(".boxrow")
    assert rows.count() == graph.boxes[number].kernels
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    assert rows.nth(1).get_attribute("aria-selected") == "true"
    assert page.evaluate("store.state.selection.type") in ("kernel", "collective")


def test_the_reader_may_have_the_list_instead_and_gets_the_graph_back(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "forward"))
    page.get_by_text("As list").click()
    assert page.locator(".boxrow").count() == 17
    page.get_by_text("As graph").click()
    assert page.locator(".dag .kernel:not(.stub)").count() == 17


def test_at_400_pixels_nothing_but_the_graph_itself_scrolls(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"), width=400)
    assert page.locator(".boxrow").count() == 26  # a wide picture starts as a list
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hostile_names_are_text(open_box):
    page = open_box(TPU, 0)
    hostile = "<img src=x onerror=globalThis.hacked=1>\u202e"
    script = """(name) => {
      const strings = store.data.strings;
      store.data.strings = (table) => { const all = strings(table); all.at = () => name; return all; };
      close_box();
      open_box(3);
    }"""
    page.evaluate(script, hostile)
    assert page.locator(".dag .title").first.text_content() != ""
    assert page.locator(".boxpane img").count() == 0
    assert page.evaluate("typeof globalThis.hacked") == "undefined"
    assert json.dumps(page.inner_text(".boxtitle")).count("<img") >= 1


def test_opening_another_box_replaces_the_first(open_box):
    page = open_box(TPU, box_number(TPU, "attn", "backward"))
    page.evaluate("open_box", box_number(TPU, "attn", "forward"))
    assert page.locator(".boxpane").count() == 1
    assert page.inner_text(".boxtitle") == "layer0/attn, forward"
