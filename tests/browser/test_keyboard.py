"""The whole round with keys only: list, filter, sort, notes, tabs, texts, mesh, copy."""

from __future__ import annotations

from typing import Any

from pages import page_of

FOCUSED = """() => {
  const one = document.activeElement;
  return one === document.body ? "" : one.getAttribute("aria-label") ?? one.innerText;
}"""


def tab_to(page: Any, words: str) -> None:
    """Tab until the element with this name has the focus."""
    for _ in range(60):
        if words in (page.evaluate(FOCUSED) or ""):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {words!r}")


def test_the_whole_round_with_keys_only(visit):
    hlo = "ENTRY %main () -> f32[] {\n" + "".join(f"  %x.{n} = f32[] constant({n})\n" for n in range(200)) + "}\n"
    opened = visit(page_of("train_step", hlo_text=hlo, text="the display as text"), width=1600)
    page, keys = opened.page, opened.page.keyboard
    tab_to(page, "Copy as text")
    keys.press("Enter")
    page.locator("button", has_text="Copied").wait_for()
    keys.press("n")
    tab_to(page, "Replicated: 16")
    keys.press("Enter")
    assert page.locator(".row").count() == 4
    keys.press("Enter")
    keys.press("n")
    assert not page.locator(".notes").is_visible()
    keys.press("Tab")  # from the inspector, which has all words
    tab_to(page, "Arrays")
    keys.press("ArrowLeft")
    assert page.locator("[data-tab=collectives]").get_attribute("aria-selected") == "true"
    tab_to(page, "Find in the list")
    keys.type("all-gather")
    assert {words.split(" ")[0] for words in opened.texts(".row .sub")} == {"all-gather"}
    keys.press("Escape")
    tab_to(page, "Sort by")
    keys.type("by n")  # as a select is used: its words
    assert page.get_by_label("Sort by").input_value() == "name"
    tab_to(page, "Reverse the order")
    keys.press("Space")
    tab_to(page, "all-")  # into the list
    keys.press("End")
    assert page.locator(".row").last.get_attribute("aria-selected") == "true"
    keys.press("t")
    tab_to(page, "Linked text")
    tab_to(page, "jaxpr")
    keys.press("Enter")
    assert page.locator("[data-text=jaxpr]").get_attribute("aria-pressed") == "true"
    tab_to(page, "HLO")
    scroll = page.locator(".scroll[aria-label=HLO]")
    scroll.focus()
    keys.press("PageDown")
    page.locator(".scroll[aria-label=HLO] .ln", has_text="%x.30 ").wait_for()
    keys.press("m")
    assert page.locator(".traffic").is_visible()
    page.locator(".meshbox canvas").focus()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert "device 1" in opened.select(".meshwords").inner_text()
    keys.press("w")
    assert "wide" in (page.locator(".frame").get_attribute("class") or "")
    keys.press("w")


def test_every_thing_that_can_be_clicked_can_be_reached(visit):
    opened = visit(page_of("train_step"))
    reached = set()
    for _ in range(80):
        opened.page.keyboard.press("Tab")
        reached.add(opened.page.evaluate("document.activeElement.className + document.activeElement.ariaLabel"))
    clickable = opened.page.evaluate(
        "[...document.querySelectorAll('button, select, input, canvas, .scroll')].filter((e) => e.offsetParent"
        " && e.tabIndex >= 0).map((e) => e.className + e.ariaLabel)"
    )
    assert set(clickable) <= reached


def test_the_focus_can_be_seen(visit):
    opened = visit(page_of("train_step"))
    for _ in range(12):
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
