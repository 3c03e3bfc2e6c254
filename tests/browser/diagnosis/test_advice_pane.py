"""Advice in the inspector: the lines of its head, which keep their height, the pane, and answers that come later."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import view_reports
from pages import frame_of, page_of, widget_of

from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.view.inspector.advice import advice_data
from pjit_inspect.view.inspector.page import delivery_html

REPORT = view_reports.advised()
ADVICE = REPORT.advice or AdviceTable()
DATA = advice_data(ADVICE)
WAITING = replace(REPORT, advice=AdviceTable(left=40, is_done=False))
NOTHING = replace(REPORT, advice=AdviceTable(asked=40, best=0.02))
WIDTHS = [390, 768, 900, 1280, 1440]


def drawn(visit, report, width=1280):
    opened = visit(widget_of(report), ready=False, width=width)
    opened.page.wait_for_selector("[data-ready]")
    return opened.page


def heard(page, data) -> None:
    page.evaluate("(words) => fromKernelAdvice(words)", json.dumps(data))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_head_says_what_to_change_and_has_the_code_to_copy(visit, width):
    page = visit(page_of("advised"), width=width).page
    words = page.locator(".advicehead").inner_text()
    assert "A change at train.py:31 sends 75 % less" in words
    copy = page.locator(".advicehead").get_by_role("button", name="Copy the change")
    code = "x = jax.lax.with_sharding_constraint(emb[tok], P('fsdp', None, None))"
    assert copy.get_attribute("title") == code
    copy.click()
    page.locator(".advicehead button", has_text="Copied").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_moves_when_an_answer_comes(visit, width):
    page = drawn(visit, WAITING, width)
    below = page.locator("[data-tab]:visible").first
    before = page.locator(".advicehead").bounding_box(), below.bounding_box()
    for advice in (AdviceTable(left=20, asked=20, is_done=False, is_asking=True), ADVICE, NOTHING.advice):
        heard(page, advice_data(advice))
        assert (page.locator(".advicehead").bounding_box(), below.bounding_box()) == before


@pytest.mark.parametrize("width", WIDTHS)
def test_the_pane_has_every_row_with_figures_and_fits(visit, width):
    page = visit(page_of("advised"), width=width).page
    page.locator(".advicehead").get_by_role("button", name="Advice").click()
    words = page.locator(".advice").inner_text().replace("\xa0", " ")
    for wanted in ("Sends 75 % less", "4 MiB", "1 MiB", "-75 %", "with those above", "sends 128 KiB more", "compiled"):
        assert wanted in words, wanted
    assert page.locator(".advicerow").count() == 3
    assert page.locator(".advice").evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_a_place_selects_its_line(visit):
    page = visit(page_of("train_step"), width=1280).page
    assert page.locator("[data-tab=advice]").count() == 0
    page = visit(page_of("advised"), width=1280).page
    page.locator("[data-tab=advice]").click()
    assert page.locator(".adviceplace").first.inner_text() == "train.py:31"


def test_a_program_in_which_nobody_looked_says_nothing(visit):
    opened = visit(page_of("train_step"), width=1280)
    assert not opened.page.locator(".advicehead").is_visible()


def test_that_nothing_is_worth_it_is_said(visit):
    opened = visit(page_of(NOTHING), width=1280)
    words = opened.page.locator(".advicehead").inner_text()
    assert "Nothing worth changing" in words
    assert "40 changes asked; the best would save 2 % of what is sent" in words


def test_a_row_can_be_compiled_where_there_is_a_kernel(visit):
    assert visit(page_of("advised"), width=1280).page.get_by_role("button", name="Compile").count() == 0
    page = drawn(visit, REPORT)
    page.locator("[data-tab=advice]").click()
    page.locator(".advicerow").first.get_by_role("button", name="Compile").click()
    assert page.evaluate("asked.at(-1)") == {"type": "check", "number": 0}
    heard(page, advice_data(ADVICE, compiling=0))
    assert page.locator(".advicerow").first.get_by_role("button", name="Compiling").is_disabled()
    heard(page, advice_data(ADVICE, errors={0: "XLA refuses it"}))
    assert page.locator(".advicerow .refused").inner_text() == "XLA refuses it"


def test_what_comes_later_is_handed_to_the_frame_and_hides_itself(visit):
    """The output under the display, as `%pjit` updates it with every answer."""
    later = delivery_html(DATA, key="5eed", still="<p>a change</p>")
    opened = visit(frame_of(WAITING, key="5eed") + f"<section>{later}</section>", ready=False, width=1280)
    frame = opened.page.frame_locator("iframe")
    frame.locator(".advicehead", has_text="sends 75 % less").wait_for()
    assert not opened.page.locator("section p").is_visible()


def test_it_is_not_handed_to_the_frame_of_another_program(visit):
    later = delivery_html(DATA, key="0dd", still="<p>a change</p>")
    opened = visit(frame_of(WAITING, key="5eed") + f"<section>{later}</section>", ready=False, width=1280)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert "What to change" in frame.locator(".advicehead").inner_text()
    assert opened.page.locator("section p").is_visible()


def test_what_comes_later_changes_neither_selection_nor_list_nor_focus(visit):
    page = drawn(visit, REPORT)
    page.locator(".row").nth(2).click()
    page.locator("[data-tab=advice]").click()
    page.locator(".advice [data-key=check0]").focus()
    heard(page, DATA)
    assert page.locator(".row").nth(2).get_attribute("aria-selected") == "true"
    focused = "document.querySelector('#el').shadowRoot.activeElement?.dataset.key"
    assert page.evaluate(focused) == "check0"
