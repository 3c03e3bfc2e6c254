"""The pane of seconds: its shares, the strip that tells what is pointed at, the loop that opens, the table."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

import pytest
from pages import page_of

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "view" / "time"))
from data import hlo_fixtures as fixtures
from test_time_charts import TIMED

from pjit_inspect.view.time.payload import time_data

WIDTHS = [390, 900, 1280]


@functools.cache
def real_page() -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        fixtures.on_v5e("transformer_step.v5e_2x4").to_html(file)
        return file.read_text(encoding="utf-8")


def looped_page() -> str:
    return page_of("train_step", time=time_data(TIMED))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_and_its_bars_are_full(visit, width, scheme):
    page = visit(real_page(), width=width, height=1000, hash="view=time", color_scheme=scheme).page
    page.wait_for_selector(".timestrip")
    assert page.locator(".timepane").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for stack in page.locator(".stack").all():
        left = stack.evaluate("(e) => e.clientWidth - [...e.children].reduce((sum, one) => sum + one.clientWidth, 0)")
        assert abs(left) <= 5
    first, last = page.locator(".timestrip .ground").first.bounding_box(), page.locator(".timestrip").bounding_box()
    assert first["x"] + first["width"] <= last["x"] + last["width"]


def test_the_head_and_the_pane_say_seconds(visit):
    page = visit(real_page(), hash="view=time").page
    page.wait_for_selector(".timestrip")
    assert page.locator(".answer").inner_text().startswith("about 373 ms a call on 8 TPU v5e (165 ms to 374 ms)")
    words = page.locator(".timepane").inner_text()
    for wanted in (
        "How sure",
        "165 ms",
        "Ceilings",
        "all communication hidden",
        "-87.4 ms",
        "by limit",
        "One call",
        "Roofline",
    ):
        assert wanted in words, wanted


def test_what_is_pointed_at_is_told_and_a_click_selects_it(visit):
    page = visit(real_page(), hash="view=time", height=1000).page
    page.wait_for_selector(".timestrip")
    pieces = page.locator(".piece.wait")
    widest = max(range(pieces.count()), key=lambda at: pieces.nth(at).bounding_box()["width"])
    pieces.nth(widest).hover(force=True)
    words = page.locator(".floating").inner_text()
    assert "waits for all-reduce" in words
    assert "models.py:" in words
    assert " ms" in words
    pieces.nth(widest).click(force=True)
    assert "all-reduce over model" in page.locator(".details h2").first.inner_text()


def test_a_loop_opens_and_kernels_have_their_table(visit):
    page = visit(looped_page(), height=1000).page
    page.keyboard.press("Tab")
    page.locator("[data-tab=time]").click()
    page.wait_for_selector(".timestrip")
    assert page.locator(".strips h2").all_inner_texts()[1].startswith("One turn of a loop of the forward pass, 1.85 ms")
    assert page.locator(".loopwords").text_content() == "10 \u00d7 1.85 ms"
    page.locator(".timepane [data-tab='1']").click()
    assert "FLOPs" in page.locator(".timetable thead").inner_text()
    assert page.locator(".timetable tbody tr").count() == 5


def test_a_program_of_unknown_seconds_says_nothing_of_them(visit):
    page = visit(page_of("train_step")).page
    assert page.locator("[data-tab=time]").count() == 0
    assert "about" not in page.locator(".answer").inner_text()
