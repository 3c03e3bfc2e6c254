"""The exported file in a browser."""

from __future__ import annotations

import dataclasses

import pytest
from pages import REPORTS, page_of


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_every_report_opens_without_a_complaint(visit, name: str):
    opened = visit(page_of(name))
    for tab in ("arrays", "kernels", "collectives"):
        opened.page.click(f"[data-tab={tab}]")
    for tab in ("traffic", "text", "heat"):
        for one in opened.page.locator(f".frame [data-tab={tab}]:visible").all():
            one.click()
    assert opened.select("header .what").inner_text()


def test_the_dearest_collective_is_selected_at_once_with_its_cause_and_numbers(visit):
    opened = visit(page_of("train_step"))
    assert opened.page.locator(".row[aria-selected=true]").count() == 1
    details = opened.select(".details").inner_text()
    assert "all-reduce over model" in details
    assert "576" in details
    assert "modelled" in details
    assert "counted" in details


def test_a_row_that_is_clicked_is_selected_everywhere(visit):
    opened = visit(page_of("train_step"))
    row = opened.page.locator(".row").nth(4)
    name = row.locator(".name").inner_text()
    row.click()
    assert opened.page.locator(".row[aria-selected=true] .name").inner_text() == name
    assert "all-reduce over data" in opened.select(".details h2").inner_text()
    assert "4 groups" in opened.select(".meshwords").inner_text()
    assert opened.hash("sel=")


def test_the_arrow_keys_walk_the_list_and_slash_filters(visit):
    opened = visit(page_of("train_step"))
    opened.select(".row").focus()
    opened.page.keyboard.press("ArrowDown")
    assert opened.page.locator(".row").nth(1).get_attribute("aria-selected") == "true"
    opened.page.keyboard.press("End")
    assert opened.page.locator(".row").last.get_attribute("aria-selected") == "true"
    opened.page.keyboard.press("/")
    opened.page.keyboard.type("all-gather")
    kinds = opened.page.locator(".row .sub").all_inner_texts()
    assert kinds
    assert all(kind.startswith("all-gather") for kind in kinds)
    opened.page.keyboard.press("Escape")
    assert opened.page.locator(".row").count() > len(kinds)


def test_an_axis_filters_the_list_and_a_second_click_clears(visit):
    opened = visit(page_of("train_step"), width=1600, hash="view=traffic")
    every = opened.page.locator(".row").count()
    total = opened.page.locator("button.total").first
    total.click()
    assert total.get_attribute("aria-pressed") == "true"
    assert 0 < opened.page.locator(".row").count() < every
    total.click()
    assert opened.page.locator(".row").count() == every


def test_nothing_that_fits_offers_to_clear(visit):
    opened = visit(page_of("train_step"))
    opened.page.fill(".filter", "no such thing")
    opened.page.click(".nothing button")
    assert opened.page.locator(".row").count()


def test_a_deep_link_selects_and_shows(visit):
    opened = visit(page_of("train_step"), hash="sel=params['emb']&view=traffic")
    assert opened.select(".details h2").inner_text() == "params['emb']"
    assert opened.select(".traffic").is_visible()


def test_the_frames_do_not_move_when_the_selection_does(visit):
    opened = visit(page_of("train_step"))
    boxes = "[...document.querySelectorAll('.frame > section')].map((e) => JSON.stringify(e.getBoundingClientRect()))"
    before = opened.page.evaluate(boxes)
    for number in range(0, opened.page.locator(".row").count(), 3):
        opened.page.locator(".row").nth(number).click()
        assert opened.page.evaluate(boxes) == before


def test_at_400_pixels_panes_take_turns_and_nothing_sticks_out(visit):
    opened = visit(page_of("train_step"), width=400)
    for pane in ("list", "details", "centre", "mesh"):
        opened.page.click(f".panes [data-tab={pane}]")
        section = opened.page.locator(f".frame > .{pane}")
        assert section.is_visible()
        assert opened.page.locator(".frame > section:visible").count() == (2 if pane in ("mesh", "centre") else 1)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_at_400_pixels_a_pane_that_is_opened_shows_the_selection(visit):
    hlo = "ENTRY %main () -> f32[] {\n" + "".join(f"  %x.{n} = f32[] constant({n})\n" for n in range(500)) + "}\n"
    report = REPORTS["train_step"]
    first, *rest = report.collectives
    rows = (dataclasses.replace(first, instructions=("x.400",)), *rest)
    report = dataclasses.replace(report, collectives=dataclasses.replace(report.collectives, rows=rows))
    opened = visit(page_of(report, hlo_text=hlo), width=400)
    opened.page.click(".panes [data-tab=centre]")
    opened.page.click("[data-tab=text]")
    opened.page.locator(".ln.is", has_text="%x.400 ").wait_for()


def test_every_control_has_a_name_and_a_role(visit):
    opened = visit(page_of("train_step"))
    nameless = opened.page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas, [role=img], [role=listbox], [role=tablist]')]"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label'))).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert opened.page.locator("[role=tab][aria-selected=true]").count() >= 3


def test_a_missing_text_says_why(visit):
    opened = visit(page_of("without_hlo"))
    assert "no optimized HLO" in opened.select(".texts").inner_text()
    opened.page.click("[data-text=jaxpr]")
    assert "no jaxpr" in opened.select(".texts").inner_text()


def test_the_heads_of_texts_say_how_many_lines_there_are_and_what_is_a_guess(visit):
    hlo = 'HloModule m\n\nFileNames\n1 "a.py"\n\nENTRY %main () -> f32[] {\n  ROOT %x = f32[] constant(1)\n}\n'
    opened = visit(page_of("train_step", hlo_text=hlo, jaxpr="{ lambda ; . let\n  in () }"))
    opened.page.click("[data-tab=text]")
    opened.page.click("[data-text=jaxpr]")
    heads = [head.split("\n") for head in opened.texts(".texthead")]
    assert [head[0] for head in heads] == ["Source", "jaxpr", "HLO"]
    assert heads[2][1] == "4 of 8 lines"
    assert heads[1][1:] == ["2 lines", "matched by order"]
    assert "a good guess" in (opened.select(".guess").get_attribute("title") or "")


def test_lines_of_one_place_light_together_and_a_click_selects(visit):
    hlo = "ENTRY %main () -> f32[] {\n  ROOT %x = f32[] constant(1)\n}\n"
    opened = visit(page_of("train_step", hlo_text=hlo))
    line = opened.page.locator(".textpane").first.locator(".ln").nth(2)
    line.click()
    assert line.get_attribute("class") is not None
    assert opened.page.locator(".textpane").first.locator(".ln.is").count() == 1


def test_a_hundred_thousand_lines_are_a_few_elements(visit):
    hlo = "ENTRY %main () -> f32[] {\n" + "".join(f"  %x.{n} = f32[] constant({n})\n" for n in range(100_000)) + "}\n"
    opened = visit(page_of("train_step", hlo_text=hlo))
    assert opened.page.locator(".ln").count() < 400
    opened.page.evaluate("document.querySelectorAll('.scroll')[1].scrollTop = 16 * 30000")
    # Not wait_for_function: it evaluates its words again in every frame, and this page's policy forbids `eval`.
    opened.page.locator(".textpane").nth(1).get_by_text("%x.30000 ").wait_for()
