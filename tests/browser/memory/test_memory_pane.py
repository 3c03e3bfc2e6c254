"""The memory pane in a browser: the curve, the moment, the life of a value, by pointer and by keyboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from memory_pages import data_of, opened, page_of
from pages import widget_of

NAME = "transformer_step.v5e_2x4"
SMALL = "mlp_step.cpu_8"
AXE = Path(__file__).parents[3] / "pjit_inspect" / "view" / "front" / "node_modules" / "axe-core" / "axe.min.js"


def value_of(page: Any) -> int:
    return int(page.locator(".memcurve").get_attribute("aria-valuenow"))


def said(page: Any) -> str:
    return page.locator(".memcurve").get_attribute("aria-valuetext")


def picture(page: Any) -> str:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("document.querySelector('.memcurve canvas').toDataURL()")


def alive_at(name: str, kernel: int) -> dict[str, float]:
    """Bytes of each row that is alive at a kernel, from the payload."""
    header, columns = data_of(name)
    found: dict[str, float] = {}
    start = 0
    for value, end in enumerate(columns["value.ends"].tolist()):
        spans = zip(columns["span.from"][start:end], columns["span.to"][start:end], strict=True)
        start = end
        if any(first <= kernel <= last for first, last in spans):
            group = int(columns["value.group"][value])
            found[str(group)] = found.get(str(group), 0) + header["groups"][group]["bytes"]
    return found


def test_the_data_are_not_read_before_somebody_looks(visit):
    found = visit(page_of(NAME))
    assert found.page.locator(".mempane").is_hidden()
    assert found.page.locator(".mempane *").count() == 0
    found.page.click("[data-tab=memory]")
    found.page.wait_for_selector(".mempane .memrow[data-group]")
    assert "14.2\xa0GiB" in found.select(".memanswer").inner_text()
    assert "modelled" in found.select(".memanswer").inner_text()


def test_the_table_is_what_is_alive_at_the_peak_largest_first(visit):
    page = opened(visit, NAME).page
    header, _ = data_of(NAME)
    alive = alive_at(NAME, header["peak"])
    shown = [row.get_attribute("data-group") for row in page.locator(".memrow[data-group]").all()]
    assert set(shown) <= set(alive)
    sizes = [alive[group] for group in shown]
    assert sizes == sorted(alive.values(), reverse=True)[: len(shown)]
    assert value_of(page) == header["peak"]
    assert page.locator("[data-tab=moment]").inner_text() == "Alive at the peak: 14.2 GiB"


def test_the_keys_walk_the_moments_and_the_table_follows(visit):
    page = opened(visit, NAME).page
    header, columns = data_of(NAME)
    peak, last = header["peak"], header["kernels"] - 1
    page.locator(".memcurve").focus()
    for key, at in (
        ("ArrowLeft", peak - 1),
        ("ArrowUp", peak + 9),
        ("ArrowDown", peak - 1),
        ("PageDown", peak - 101),
        ("End", last),
        ("Home", 0),
        ("p", peak),
        ("PageUp", peak + 100),
    ):
        page.keyboard.press(key)
        assert value_of(page) == at
        assert said(page).split("; ")[1].startswith(f"kernel {at} of {last + 1}")
    alive = alive_at(NAME, peak + 100)
    assert sum(alive.values()) == columns["bytes.0"][peak + 100]
    first = page.locator(".memrow[data-group]").first.get_attribute("data-group")
    assert alive[first] == max(alive.values())
    page.click("text=To the peak")
    assert value_of(page) == peak


def test_a_click_in_the_curve_chooses_the_moment_and_hovering_names_the_largest(visit):
    page = opened(visit, NAME).page
    area = page.locator(".memcurve").bounding_box()
    page.mouse.move(area["x"] + 300, area["y"] + 80)
    tip = page.locator(".floating:not([hidden])").inner_text().split("\n\n")
    assert tip[0].endswith(" alive")
    kernel = int(tip[1].split()[1].replace(",", ""))
    page.mouse.click(area["x"] + 300, area["y"] + 80)
    assert value_of(page) == kernel
    assert f"at kernel {kernel}" in page.locator("[data-tab=moment]").inner_text()
    largest = max(alive_at(NAME, kernel).items(), key=lambda one: one[1])[0]
    assert data_of(NAME)[0]["groups"][int(largest)]["name"] in tip[2]


def test_a_value_is_selected_in_the_list_the_graph_and_the_strip_and_its_life_is_drawn(visit):
    page = opened(visit, NAME).page
    before = picture(page)
    page.locator(".memrow[data-group]").first.click()
    assert picture(page) != before
    row = data_of(NAME)[0]["groups"][int(page.locator(".memrow[aria-selected=true]").get_attribute("data-group"))]
    assert page.locator(".details h2").inner_text() == row["name"]
    assert "made by kernel" in page.locator(".details").inner_text()
    assert "last used by kernel" in page.locator(".details").inner_text()
    # Its maker, in the list and in the graph.
    assert page.locator(".list .row[aria-selected=true]").count() == 1
    assert page.locator(".list [data-tab=kernels][aria-selected=true]").count() == 1
    # And back: selecting what makes it draws its life, too.
    page.locator(".details .facts button.link").first.click()
    assert page.locator(".list .row[aria-selected=true]").count() == 1
    assert picture(page) != before


def test_the_address_names_the_value_and_a_link_opens_it(visit):
    found = opened(visit, NAME)
    found.page.locator(".memrow[data-group]").nth(1).click()
    name = found.page.locator(".details h2").inner_text()
    link = found.hash("alive")
    again = visit(page_of(NAME), hash=link.lstrip("#"))
    again.page.wait_for_selector(".memrow[aria-selected=true]")
    assert again.page.locator(".details h2").inner_text() == name


def test_the_rows_walk_by_keyboard_and_select(visit):
    page = opened(visit, NAME).page
    page.locator(".memrow[data-group]").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".memrow[data-group]").nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("End")
    assert page.locator(".memrow[data-group]").last.get_attribute("aria-selected") == "true"
    assert page.locator(".memlist [tabindex='0']").count() == 1


def test_bands_by_scope_add_up_to_the_same(visit):
    page = opened(visit, NAME).page
    by_kind = page.locator(".memband").all_inner_texts()
    page.locator(".memcurve").focus()
    page.keyboard.press("s")
    by_scope = page.locator(".memband").all_inner_texts()
    assert by_scope != by_kind
    assert any(words.startswith("layer0") for words in by_scope)
    page.keyboard.press("k")
    assert page.locator(".memband").all_inner_texts() == by_kind


def test_the_map_has_the_same_values_in_areas_as_their_bytes(visit):
    page = opened(visit, NAME).page
    page.click("[data-tab=map]")
    header, _ = data_of(NAME)
    alive = alive_at(NAME, header["peak"])
    cells = page.locator(".mapcell").all()
    areas = {cell.get_attribute("data-group"): cell.bounding_box() for cell in cells[:3]}
    # Cells of one kind are on one scale; their edges take a pixel.
    per_byte = [(box["width"] + 1) * (box["height"] + 1) / alive[group] for group, box in areas.items()]
    assert max(per_byte) / min(per_byte) == pytest.approx(1, rel=0.05)
    cells[0].click()
    assert page.locator(".mapcell[aria-selected=true]").count() == 1


def test_the_curve_and_the_strip_have_one_scale(visit):
    page = opened(visit, NAME).page
    every = picture(page)
    page.locator(".memcurve").focus()
    page.keyboard.press("+")
    nearer = picture(page)
    assert nearer != every
    page.click(".mempane .stripzoom button:last-child")
    assert picture(page) == every


def test_a_program_of_one_kernel_more_or_less_has_a_pane(visit):
    page = opened(visit, "pallas.v5e").page
    assert "4\xa0MiB" in page.locator(".memanswer").inner_text()
    assert page.locator(".memrow[data-group]").count() >= 1


@pytest.mark.parametrize("width", [400, 780, 1280, 1600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_sticks_out(visit, width: int, theme: str):
    page = opened(visit, NAME, width=width, height=800, color_scheme=theme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = "(one) => one.scrollWidth <= one.clientWidth + 1"
    assert page.locator(".mempane").evaluate(inside)
    assert page.locator(".memcurve canvas").evaluate("(one) => one.clientWidth > 150")


@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: npm ci in view/front")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(visit, theme: str):
    page = opened(visit, NAME, width=1280, height=900, color_scheme=theme).page
    page.locator(".memrow[data-group]").first.click()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for tab in ("moment", "map"):
        page.click(f"[data-tab={tab}]")
        found = page.evaluate("axe.run('.mempane', {resultTypes: ['violations']}).then((one) => one.violations)")
        assert [(one["id"], [node["html"][:160] for node in one["nodes"][:2]]) for one in found] == []


def test_the_large_program_opens_and_says_what_has_no_name(visit):
    found = visit(page_of("train_step_16_layers.cpu_8"), width=1280, height=900)
    found.page.click("[data-tab=memory]")
    found.page.wait_for_selector(".mempane .memrow[data-group]")
    assert "in smaller buffers" in found.page.locator(".memtable").inner_text()


def test_a_widget_asks_for_the_data_when_somebody_looks(visit):
    found = visit(widget_of("train_step"), ready=False)
    found.page.wait_for_selector("[data-tab=memory]")
    assert {"type": "memory"} not in found.page.evaluate("asked")
    found.page.click("[data-tab=memory]")
    found.page.wait_for_function("asked.some((one) => one.type === 'memory')")
    assert "Finding what is alive" in found.page.locator(".mempane").inner_text()
