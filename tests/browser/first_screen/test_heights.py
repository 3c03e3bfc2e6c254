"""The inspector's height, and what of it is in sight without scrolling, at the sizes of notebooks; all measured."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from fixture_pages import collectives_of
from fixture_pages import page_of as program_page
from pages import frame_of, widget_of

LAYERS = "train_step_16_layers.cpu_8"

# Of the pane that a thing scrolls in, whether the thing is in it, and the pane in the window.
IN_SIGHT = """([thing, pane]) => {
  const one = document.querySelector(thing)?.getBoundingClientRect();
  const box = document.querySelector(pane).getBoundingClientRect();
  return Boolean(one?.height) && one.top >= box.top - 1 && one.bottom <= box.bottom + 1 && one.left >= box.left - 1
    && one.right <= box.right + 1 && box.bottom <= innerHeight + 1;
}"""
FRAME = "iframe.pjit-inspect-live"


@functools.cache
def has_both_directions(name: str) -> bool:
    return {row.phase for row in collectives_of(name)} >= {"forward", "backward"}


@pytest.mark.parametrize(("width", "height"), [(900, 720), (1280, 720), (1280, 800), (1600, 900)])
@pytest.mark.parametrize("name", [LAYERS, "transformer_step.cpu_8"])
def test_both_directions_the_selected_box_and_the_picture_are_in_sight(visit, name: str, width: int, height: int):
    assert has_both_directions(name)
    opened = visit(program_page(name), width=width, height=height)
    opened.page.wait_for_timeout(300)
    graph = opened.select(".graphbox").bounding_box()
    assert opened.select(".graphbox").evaluate("(e) => e.scrollWidth <= e.clientWidth + 12")
    assert graph["y"] + graph["height"] <= height
    assert opened.page.evaluate(IN_SIGHT, [".details .moves svg", ".details"])
    # The selected box has a ring of this colour, which nothing else on the canvas has.
    assert selected_pixels(opened.page) > 200


def selected_pixels(page: Any) -> int:
    """Pixels of the canvas in the colour of the selection."""
    return page.evaluate("""() => {
      const canvas = document.querySelector(".graphview canvas"), wanted = [0x0b, 0x63, 0xc4];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) found += wanted.every((one, k) => Math.abs(data[i + k] - one) < 8);
      return found;
    }""")


def in_a_notebook(visit, name: str, **size: Any):
    opened = visit(frame_of(name), ready=False, **size)
    opened.page.frame_locator("iframe").locator(".heightbar").wait_for()
    opened.page.wait_for_timeout(200)
    return opened, opened.page.frame_locator("iframe")


def height_of(opened) -> float:
    return opened.select(FRAME).bounding_box()["height"]


def test_a_small_program_is_lower_and_a_large_one_stops_at_the_limit(visit):
    small, _ = in_a_notebook(visit, "mlp_replicated", width=1280)
    large, _ = in_a_notebook(visit, "train_step", width=1280)
    assert 400 <= height_of(small) < 720
    assert 400 < height_of(large) <= 720


def test_the_bar_drags_the_height_and_the_page_remembers_it(visit):
    opened, inner = in_a_notebook(visit, "train_step", width=1000, height=1000)
    before = height_of(opened)
    bar = inner.locator(".heightbar").bounding_box()
    opened.page.mouse.move(bar["x"] + 100, bar["y"] + 4)
    opened.page.mouse.down()
    opened.page.mouse.move(bar["x"] + 100, bar["y"] - 96, steps=5)
    opened.page.mouse.up()
    opened.page.wait_for_timeout(200)
    assert abs(height_of(opened) - (before - 100)) <= 3
    assert opened.page.evaluate("localStorage.getItem('pjit_inspect.height')") == str(round(height_of(opened)))
    # The same page again: what is higher than that stops there.
    opened.page.reload()
    opened.page.frame_locator("iframe").locator(".heightbar").wait_for()
    opened.page.wait_for_timeout(200)
    assert abs(height_of(opened) - (before - 100)) <= 3


def test_arrows_on_the_bar_move_it(visit):
    opened, inner = in_a_notebook(visit, "train_step", width=1000, height=1000)
    before = height_of(opened)
    inner.locator(".heightbar").focus()
    opened.page.keyboard.press("ArrowDown")
    opened.page.wait_for_timeout(200)
    assert height_of(opened) == before + 24
    assert inner.locator(".heightbar").get_attribute("aria-valuenow") == str(round(before + 24))


def test_a_widget_is_dragged_where_storage_is_blocked(visit):
    blocked = (
        "<script>Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } });</script>"
    )
    opened = visit(widget_of("train_step").replace("<body>", f"<body>{blocked}"), ready=False)
    bar = opened.page.locator(".heightbar")
    bar.wait_for()
    before = opened.page.locator(".pjit-inspector").bounding_box()["height"]
    bar.focus()
    opened.page.keyboard.press("ArrowUp")
    assert opened.page.locator(".pjit-inspector").bounding_box()["height"] == before - 24


def test_where_the_page_around_it_has_no_script_the_frame_keeps_its_height(visit):
    html = frame_of("train_step")
    opened = visit(html[: html.rindex("<script>")], ready=False)
    opened.page.frame_locator("iframe").locator("[data-ready]").wait_for()
    opened.page.wait_for_timeout(300)
    assert height_of(opened) == 720
    assert opened.page.frame_locator("iframe").locator(".heightbar").count() == 0


def test_a_file_of_its_own_fills_its_window(visit):
    opened = visit(program_page(LAYERS), width=900, height=640)
    assert opened.select(".pjit-inspector").bounding_box()["height"] == 640
    assert opened.page.locator(".heightbar").count() == 0


@pytest.mark.parametrize("width", [900, 1280, 1600])
def test_the_mesh_is_in_sight_beside_the_graph(visit, width: int):
    opened = visit(program_page(LAYERS), width=width)
    assert opened.select(".graph").is_visible()
    box = opened.select(".meshbox").bounding_box()
    assert box["height"] > 60
    assert box["y"] + box["height"] <= 800
    opened.page.locator(".centrebar [data-tab=traffic]").click()
    assert opened.page.locator("button.total").first.is_visible()
