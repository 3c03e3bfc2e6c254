"""The schedule strip in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fixture_pages import collectives_of, graph_of, page_of

LARGE = "train_step_16_layers.cpu_8"
TPU = "train_step.tpu7x"

# The first place of the strip, from the top left, whose tooltip starts with the given words.
FIND = """(words) => {
  const strip = document.querySelector(".strip"), area = strip.getBoundingClientRect();
  for (let y = area.top + 2; y < area.bottom; y += 5) {
    for (let x = area.left + 60; x < area.right; x += 2) {
      strip.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, bubbles: true }));
      const tip = document.querySelector(".floating");
      if (tip && !tip.hidden && tip.textContent.startsWith(words)) return [x, y];
    }
  }
  return null;
}"""


def strip_of(visit: Any, name: str, **size: int) -> Any:
    """The page, high enough for the strip to be shown from the start; a narrow one shows it when asked."""
    opened = visit(page_of(name), hash="view=graph&pane=centre", height=1100, **size)
    opened.page.wait_for_function("document.querySelector('.graphbar')?.clientHeight > 0")
    if not opened.page.locator(".strip").is_visible():
        opened.page.locator(".graphbar button", has_text="Schedule").click()
    opened.page.wait_for_selector(".strip canvas", timeout=5000)
    opened.page.wait_for_function("document.querySelector('.strip canvas').width > 0")
    return opened


def picture(opened: Any) -> str:
    """What the canvas shows, once it is drawn."""
    drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    opened.page.evaluate(drawn)
    return opened.page.evaluate("document.querySelector('.strip canvas').toDataURL()")


def told(opened: Any) -> str:
    return opened.page.locator(".strip [role=option]").text_content()


def test_a_click_on_a_collective_selects_it_in_the_list_and_everywhere(visit):
    opened = strip_of(visit, TPU)
    x, y = opened.page.evaluate(FIND, "all-gather over data")
    before = picture(opened)
    opened.page.mouse.click(x, y)
    assert opened.page.locator(".row[aria-selected=true]").count() == 1
    assert opened.page.locator(".row[aria-selected=true] .sub").inner_text().startswith("all-gather")
    assert opened.select(".details h2").inner_text().strip() == "all-gather over data"
    assert told(opened).startswith("all-gather over data, ")
    assert picture(opened) != before


def test_the_keys_walk_the_events_in_the_order_of_the_schedule(visit):
    opened = strip_of(visit, TPU)
    rows = collectives_of(TPU).rows
    kinds = [rows[event.collective].kind for event in graph_of(TPU).strip.events]
    opened.page.locator(".strip").focus()
    opened.page.keyboard.press("Home")
    found = [told(opened)]
    for _ in kinds[1:]:
        opened.page.keyboard.press("ArrowRight")
        found.append(told(opened))
    assert [words.split(" over ")[0] for words in found] == kinds
    assert opened.page.locator(".strip [role=option]").get_attribute("aria-posinset") == str(len(kinds))
    assert opened.page.locator(".row[aria-selected=true] .sub").inner_text().startswith(kinds[-1])


def test_up_and_down_change_the_lane(visit):
    opened = strip_of(visit, TPU)
    opened.page.locator(".strip").focus()
    opened.page.keyboard.press("Home")
    first = told(opened)
    opened.page.keyboard.press("ArrowDown")
    assert "over model" in told(opened)
    opened.page.keyboard.press("ArrowUp")
    assert "over data" in told(opened)
    assert first.split(",")[0].endswith("over data")


def test_a_selection_made_in_the_list_is_told_and_lit_in_the_strip(visit):
    opened = strip_of(visit, TPU)
    before = picture(opened)
    row = opened.page.locator(".row").nth(3)
    row.click()
    assert told(opened).startswith(row.locator(".sub").inner_text().split()[0])
    assert picture(opened) != before


def test_keys_wheel_and_drag_zoom_and_move_and_all_shows_everything_again(visit):
    opened = strip_of(visit, LARGE)
    strip = opened.page.locator(".strip")
    strip.focus()
    every = picture(opened)
    opened.page.keyboard.press("+")
    nearer = picture(opened)
    assert nearer != every
    area = strip.bounding_box()
    opened.page.mouse.move(area["x"] + 300, area["y"] + 40)
    opened.page.mouse.down()
    opened.page.mouse.move(area["x"] + 200, area["y"] + 40, steps=4)
    opened.page.mouse.up()
    moved = picture(opened)
    assert moved != nearer
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -400)
    opened.page.keyboard.up("Control")
    opened.page.mouse.move(1, 1)
    assert picture(opened) != moved
    opened.page.click(".stripzoom button:last-child")
    opened.page.mouse.move(1, 1)
    assert picture(opened) == every


def test_a_plain_wheel_scrolls_the_page_not_the_strip(visit):
    opened = strip_of(visit, LARGE)
    area = opened.page.locator(".strip").bounding_box()
    every = picture(opened)
    opened.page.mouse.move(area["x"] + 5, area["y"] + area["height"] - 3)
    opened.page.mouse.wheel(0, 300)
    assert picture(opened) == every


def test_a_drag_selects_nothing(visit):
    opened = strip_of(visit, TPU)
    x, y = opened.page.evaluate(FIND, "all-gather over data")
    before = opened.page.evaluate("location.hash")
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 60, y, steps=3)
    opened.page.mouse.up()
    assert opened.page.evaluate("location.hash") == before


def test_the_strip_says_that_places_are_not_time_and_whose_order_it_is(visit):
    opened = strip_of(visit, LARGE)
    assert opened.page.locator(".stripwords").inner_text() == (
        "XLA's schedule; places count kernels, not time; 2,899 kernels"
    )


@pytest.mark.parametrize("name", [TPU, "mlp_step.cpu_8", "pallas.v5e", "permute_ring.h100_1x1x8"])
def test_it_is_as_high_as_its_lanes_and_nothing_sticks_out_at_400_pixels(visit, name: str):
    opened = strip_of(visit, name, width=400)
    graph = graph_of(name)
    lanes = len(set(graph.strip.runs.phase.tolist())) + len(graph.strip.lanes)
    height = opened.page.locator(".schedule").bounding_box()["height"]
    assert 14 * lanes + 30 < height < 14 * lanes + 110
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_click_on_a_kernel_selects_it(visit):
    opened = strip_of(visit, TPU)
    x, y = opened.page.evaluate(FIND, "layer0, forward")
    opened.page.mouse.click(x, y)
    chosen = opened.page.locator(".row[aria-selected=true]")
    assert chosen.count() == 1
    assert opened.page.locator(
        "[data-tab=kernels][aria-selected=true], [data-tab=collectives][aria-selected=true]"
    ).count()
