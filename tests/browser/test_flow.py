"""Small programs drawn as themselves, in a browser: what stands where, where arrows end, what a click selects."""

from __future__ import annotations

import functools
import tempfile
from html import escape
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect

# Every box and every arrow's tip, in pixels of the window.
PLACES = """() => {
  const rect = (e) => {
    const {left, top, right, bottom} = e.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const groups = [...document.querySelectorAll(".flow .kernel")];
  return {
    boxes: groups.map((group) => rect(group.querySelector("rect:not(.mini rect)"))),
    words: groups.map((group) => [...group.querySelectorAll(".title, .name")].map(rect)),
    beside: groups.map((group) => [...group.querySelectorAll(".beside")].map(rect)),
    tips: [...document.querySelectorAll(".flow .tip")].map(rect),
    titles: groups.map((group) => group.querySelector(".title").textContent),
  };
}"""


@functools.cache
def mlp_page(*, layers: int = 1) -> str:
    """Two matmuls on a mesh of 2 x 4, or as many pairs as asked for."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))

    def put(shape: tuple[int, ...], *spec: str | None) -> Any:
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    @jax.jit
    def mlp(x: Any, w1: Any, w2: Any) -> Any:
        for i in range(layers):
            h = jnp.tanh(x @ w1)
            x = jnp.sort(h @ w2 + i, axis=-1) if layers > 1 else h @ w2
        return x

    record = pjit_inspect.inspect(
        mlp, put((256, 512), "data", None), put((512, 2048), None, "model"), put((2048, 512), "model", None)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        record.to_html(file)
        return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [(900, 720), (1280, 800), (1600, 900)])
def test_two_matmuls_open_as_a_flow_whose_arrows_end_at_boxes(visit, size):
    opened = visit(mlp_page(), width=size[0], height=size[1])
    assert opened.select(".flowpane").is_visible()
    assert not opened.select(".graphview").is_visible()
    found = opened.page.evaluate(PLACES)
    assert {"x", "w1", "w2"} <= {title.split()[0] for title in found["titles"]}
    assert "all-reduce model" in found["titles"]
    for left, _, right, bottom in found["tips"]:
        middle = (left + right) / 2
        at = [box for box in found["boxes"] if box[0] - 1 <= middle <= box[2] + 1 and abs(box[1] - bottom) <= 2]
        assert at, f"an arrow ends at {middle}, {bottom}, where no box begins"


def test_no_box_lies_on_another_and_words_stay_in_their_boxes(visit):
    opened = visit(mlp_page(), width=900, height=720)
    found = opened.page.evaluate(PLACES)
    boxes = found["boxes"]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        for words in found["words"][i]:
            assert one[0] <= words[0]
            assert words[2] <= one[2] + 1
            assert words[3] <= one[3] + 1
        for words in found["beside"][i]:
            for box in boxes:
                assert words[2] <= box[0] or box[2] <= words[0] or words[3] <= box[1] + 1 or box[3] <= words[1] + 1


def test_shapes_and_specs_stand_on_the_arrows_and_at_the_arguments(visit):
    opened = visit(mlp_page(), width=1280, height=800)
    words = opened.page.locator(".flow").text_content()
    # x: 256 x 512 floats, rows over 2; w1: 512 x 2048, columns over 4; hidden: 128 x 512 on each device.
    for part in ("f32[256,512]", "f32[512,2048]", "f32[2048,512]", "f32[128,512] 256 KiB"):
        assert part in words
    flat = words
    assert "P(data, –)" in flat
    assert "P(data, model)" in flat
    # A ring over 4 sends 2 x 3/4 of 256 KiB.
    assert "sends 384 KiB" in words


def test_a_click_in_the_flow_selects_everywhere(visit):
    opened = visit(mlp_page(), width=1280, height=800)
    opened.page.locator(".flow .kernel", has_text="w1").first.click()
    assert opened.select(".details h2").inner_text() == "w1"
    opened.page.locator(".flow .kernel", has_text="all-reduce").first.click()
    assert opened.select(".details h2").inner_text().strip().startswith("all-reduce over")
    lit = opened.page.locator(".flow .edge.lit").count()
    assert lit == 2  # what it sums, and where the sum goes


def test_the_flow_is_walked_with_arrow_keys(visit):
    opened = visit(mlp_page(), width=1280, height=800)
    opened.page.locator(".flow .kernel", has_text="w2").first.focus()
    opened.page.keyboard.press("ArrowDown")
    focused = opened.page.evaluate("document.activeElement.querySelector('.title').textContent")
    assert "dot_general" in focused
    opened.page.keyboard.press("ArrowDown")
    assert opened.page.evaluate("document.activeElement.querySelector('.title').textContent") == "all-reduce model"


def test_boxes_are_a_button_away_and_back(visit):
    opened = visit(mlp_page(), width=1280, height=800)
    opened.page.get_by_role("button", name="Show rows of boxes").click()
    assert opened.select(".graphview").is_visible()
    assert not opened.select(".flowpane").is_visible()
    opened.page.get_by_role("button", name="Show rows of boxes").click()
    assert opened.select(".flowpane").is_visible()


def test_a_lone_box_of_a_larger_program_is_open_and_the_focus_is_left_alone(visit):
    import jax

    # One line and one argument, so that neither makes rows.
    step = jax.jit(lambda x: functools.reduce(lambda h, _: jax.numpy.tanh(h @ h), range(50), x))
    record = pjit_inspect.inspect(step, jax.numpy.ones((8, 8)))
    opened = visit(_html(record), width=1280, height=800)
    assert not opened.page.locator(".flowpane").count()
    assert opened.select(".boxpane").is_visible()
    assert opened.page.evaluate("document.activeElement === document.body")
    opened.page.get_by_role("button", name="Close (Escape)").click()
    assert opened.select(".graphview").is_visible()


def test_in_a_notebook_a_plain_wheel_over_the_flow_scrolls_the_notebook_and_a_drag_the_flow(visit):
    style = "width:100%;height:420px;border:0"
    frame = f"<iframe sandbox='allow-scripts' style='{style}' srcdoc='{escape(mlp_page())}'></iframe>"
    opened = visit(f"<body style='margin:0'>{frame}<div style='height:3000px'></div>", ready=False, width=900)
    inner = opened.page.frame_locator("iframe")
    inner.locator("[data-ready]").wait_for()
    area = inner.locator(".flowclip").bounding_box()
    inner.locator(".flowbody").evaluate("(e) => { e.scrollTop = 0; }")  # it opens where the selection is
    x, y = area["x"] + 20, area["y"] + area["height"] / 2
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x, y - 80, steps=4)
    opened.page.mouse.up()
    assert inner.locator(".flowbody").evaluate("(e) => e.scrollTop") == 80
    opened.page.mouse.wheel(0, 200)
    opened.page.wait_for_timeout(400)
    assert opened.page.evaluate("scrollY") >= 199
    assert inner.locator(".flowbody").evaluate("(e) => e.scrollTop") == 80


def _html(record) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        record.to_html(file)
        return file.read_text(encoding="utf-8")
