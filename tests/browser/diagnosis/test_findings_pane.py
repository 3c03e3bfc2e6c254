"""Findings above the lists: what is read first, what a click selects, and those that come when the page is drawn."""

from __future__ import annotations

import json

import pytest
import view_reports
from pages import frame_of, page_of, widget_of

from pjit_inspect.view.inspector.findings import findings_data
from pjit_inspect.view.inspector.page import delivery_html

FOUND = view_reports.diagnosed()
DATA = findings_data(FOUND)


def boxes(opened, *selectors: str) -> list[dict[str, float]]:
    return [opened.page.locator(one).first.bounding_box() for one in selectors]


@pytest.mark.parametrize("width", [420, 900, 1280, 1600])
def test_findings_stand_between_the_answer_and_the_lists(visit, width):
    opened = visit(page_of("diagnosed"), width=width)
    answer, found = boxes(opened, ".answer", ".findings")
    # On a narrow page the lists are behind a tab.
    below = opened.page.locator("[data-tab]:visible").first.bounding_box()
    assert answer["y"] + answer["height"] <= found["y"]
    assert found["y"] + found["height"] <= below["y"]
    assert opened.page.locator(".finding").count() == 2
    assert opened.page.locator(".findings").evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_the_dearest_says_bytes_and_collectives_before_and_after_and_what_helps(visit):
    opened = visit(page_of("diagnosed"), width=1280)
    words = opened.page.locator(".findings").inner_text().replace("\xa0", " ")
    for wanted in ("loses fsdp", "4 MiB -> 1 MiB", "163 -> 50 collectives", "tried", "P('fsdp', None, None)"):
        assert wanted in words, wanted


def test_a_click_selects_what_the_finding_is_about(visit):
    opened = visit(page_of("diagnosed"), width=1280)
    opened.page.locator(".row").nth(3).click()
    opened.page.locator(".finding").first.click()
    assert opened.page.locator(".row").first.get_attribute("aria-selected") == "true"
    assert opened.page.locator(".finding").first.get_attribute("aria-pressed") == "true"


def test_arrows_walk_the_findings_and_nothing_moves(visit):
    opened = visit(page_of("diagnosed"), width=1280)
    opened.page.locator(".finding").first.focus()
    before = boxes(opened, ".findinglist", ".finding")
    opened.page.keyboard.press("ArrowDown")
    assert opened.page.locator(".finding").nth(1).get_attribute("aria-pressed") == "true"
    assert opened.page.evaluate("document.activeElement.textContent").startswith("2")
    assert "donate_argnames" in opened.page.locator(".findingstrip").inner_text()
    assert boxes(opened, ".findinglist", ".finding") == before


def test_a_program_in_which_nobody_looked_says_nothing(visit):
    opened = visit(page_of("train_step"), width=1280)
    assert not opened.page.locator(".findings").is_visible()


def test_the_remedy_can_be_copied_as_code(visit):
    opened = visit(page_of("diagnosed"), width=1280)
    assert DATA["rows"][0]["code"] == "with_sharding_constraint(..., P('fsdp', None, None))"
    button = opened.page.locator(".remedy button")
    button.click()
    opened.page.locator(".remedy button", has_text="Copied").wait_for()
    opened.page.locator(".remedy button", has_text="Copy").wait_for()


def test_what_comes_later_is_handed_to_the_frame_and_hides_itself(visit):
    """The output under the display, as `%pjit` updates it when remedies have been tried."""
    later = delivery_html(DATA, key="5eed", still="<p>finding 1</p>")
    opened = visit(frame_of("train_step", key="5eed") + f"<section>{later}</section>", ready=False, width=1280)
    frame = opened.page.frame_locator("iframe")
    frame.locator(".finding").first.wait_for()
    assert frame.locator(".finding").count() == 2
    assert not opened.page.locator("section p").is_visible()


def test_it_is_not_handed_to_the_frame_of_another_program(visit):
    later = delivery_html(DATA, key="0dd", still="<p>finding 1</p>")
    opened = visit(frame_of("train_step", key="5eed") + f"<section>{later}</section>", ready=False, width=1280)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert frame.locator(".finding").count() == 0
    assert opened.page.locator("section p").is_visible()


def test_what_comes_later_changes_neither_selection_nor_list(visit):
    opened = visit(widget_of("train_step"), ready=False)
    opened.page.wait_for_selector("[data-ready]")
    opened.page.locator(".row").nth(2).click()
    opened.page.evaluate("(words) => fromKernelFindings(words)", json.dumps(DATA))
    assert opened.page.locator(".finding").count() == 2
    assert opened.page.locator(".row").nth(2).get_attribute("aria-selected") == "true"
