"""Pictures of the inspector's parts as files: they open on their own, in the page's colours, with their words."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fixture_pages import page_of as program_page
from pages import frame_of, page_of

TEXT = "{http://www.w3.org/2000/svg}text"
SHADES = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, image.width, image.height);
  const shades = new Set();
  for (let i = 0; i < data.length; i += 4) shades.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
  return [image.width, image.height, shades.size, [...data.slice(0, 3)]];
}"""


def save(place, page, name: str, form: str, folder: Path) -> Path:
    """Save a picture with the menu, as a reader does."""
    place.locator(".pictures > .button").click()
    with page.expect_download() as found:
        place.get_by_role("button", name=f"{name} as {form.upper()}", exact=True).click()
    file = folder / found.value.suggested_filename
    found.value.save_as(file)
    return file


def look(opened, file: Path) -> tuple[int, int, int, list[int]]:
    """Width, height, number of colours and first pixel of a picture, opened by itself."""
    browser = opened.page.context.browser
    page = browser.new_page()
    page.goto(file.as_uri())
    if file.suffix == ".svg":
        assert page.evaluate("document.documentElement.tagName") == "svg"
    page.close()
    data = file.read_bytes()
    kind = "svg+xml" if file.suffix == ".svg" else "png"
    blank = browser.new_page()
    shades = blank.evaluate(SHADES, f"data:image/{kind};base64,{base64.b64encode(data).decode()}")
    blank.close()
    return shades


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["All", "Graph", "List", "Details", "Mesh", "Totals"])
def test_every_part_is_a_picture_that_opens_on_its_own_in_the_colours_of_the_page(visit, tmp_path, name, scheme):
    opened = visit(
        program_page("mlp_step.cpu_8"),
        width=1600,
        height=900,
        color_scheme=scheme,
        hash="view=traffic" if name == "Totals" else "",
    )
    svg = save(opened.page, opened.page, name, "svg", tmp_path)
    text = svg.read_text(encoding="utf-8")
    # Nothing of the page is needed: no style sheet, no script, no address but of what is in it.
    assert not re.search(r"<script|<foreignObject|<style|var\(--|https?://(?!www\.w3\.org/)", text)
    ElementTree.fromstring(text)
    png = save(opened.page, opened.page, name, "png", tmp_path)
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    (width, height, colors, first), (wide, high, more, _) = look(opened, svg), look(opened, png)
    assert abs(wide - 2 * width) <= 2
    assert abs(high - 2 * height) <= 2
    assert min(colors, more) > 8
    assert (sum(first) > 600) == (scheme == "light")


@pytest.mark.parametrize(("name", "selector"), [("List", ".row"), ("Details", ".details h2"), ("Totals", ".total")])
def test_words_stay_words(visit, tmp_path, name, selector):
    opened = visit(
        page_of("train_step"), width=1600, height=900, hash="view=traffic" if name == "Totals" else "view=graph"
    )
    file = save(opened.page, opened.page, name, "svg", tmp_path)
    said = "".join("".join(one.itertext()) for one in ElementTree.parse(file).iter(TEXT))
    words = opened.select(selector).inner_text().split()
    assert words
    assert all(word in said for word in words)
    # Each once, with the spaces between them.
    assert all(said.count(word) <= 2 * len(opened.page.get_by_text(word).all()) for word in words if len(word) > 8)


def test_the_graph_is_all_of_it_also_what_is_out_of_view(visit, tmp_path):
    opened = visit(program_page("train_step_16_layers.cpu_8"), width=1280, height=520)
    box = opened.page.locator(".graphbox")
    assert box.evaluate("(e) => e.scrollHeight > e.clientHeight")
    _, height, _, _ = look(opened, save(opened.page, opened.page, "Graph", "svg", tmp_path))
    assert height >= box.evaluate("(e) => e.scrollHeight") * 0.99


def test_a_small_program_is_saved_as_the_drawing_it_is(visit, tmp_path):
    opened = visit(program_page("mlp_step.cpu_8"), width=1280, height=720)
    if not opened.page.locator(".flowpane").is_visible():
        opened.page.locator(".flowkeep", has_text="Flow").click()
    file = save(opened.page, opened.page, "Graph", "svg", tmp_path)
    said = "".join("".join(one.itertext()) for one in ElementTree.parse(file).iter(TEXT))
    assert "all-reduce" in said


def test_the_notebooks_frame_can_save_too(visit, tmp_path):
    opened = visit(frame_of("train_step"), ready=False, width=1280, height=900)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert look(opened, save(frame, opened.page, "List", "svg", tmp_path))[2] > 8


def test_the_menu_says_what_it_is_and_escape_closes_it(visit):
    opened = visit(page_of("train_step"), width=1280)
    button = opened.page.locator(".pictures > .button")
    button.focus()
    opened.page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert opened.page.locator(".pictures .menu").bounding_box()["x"] >= 0
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator(".pictures .menu").is_visible()
    assert opened.page.evaluate("document.activeElement.textContent").startswith("Picture")
