"""Suggestions in a collective's details: asked for by a button, counted and compiled side by side, errors in place."""

from __future__ import annotations

import json
from dataclasses import replace

import view_reports
from pages import page_of, widget_of

from pjit_inspect.model.report.suggestion import Checked, Suggestion
from pjit_inspect.view.inspector.findings import suggestions_data

MIB = 1 << 20
ASKED = replace(view_reports.diagnosed(), remedies="untried", findings=None)
NAME = (ASKED.collectives or ())[0].instructions[0]
ONE = Suggestion(
    title="constrain `h` to P('data')",
    sentence="put `with_sharding_constraint(h, P('data'))` on it",
    change=(),
    removes=(NAME,),
    counted=Checked(before_bytes=4 * MIB, after_bytes=MIB),
)


def told(*rows: Suggestion, **known) -> str:
    return json.dumps(suggestions_data(replace(ASKED, suggestions=rows, are_suggestions_known=True), **known))


def drawn(visit):
    opened = visit(widget_of(ASKED), ready=False, width=1280)
    opened.page.wait_for_selector("[data-ready]")
    opened.page.locator(".row").first.click()
    return opened


def test_a_button_asks_the_kernel_and_waits_in_place(visit):
    opened = drawn(visit)
    opened.page.get_by_role("button", name="Check what could").click()
    assert opened.page.evaluate("asked.at(-1)") == {"type": "suggest"}
    opened.page.evaluate(
        "(words) => fromKernelSuggestions(words)", json.dumps(suggestions_data(ASKED, is_under_way=True))
    )
    assert opened.page.locator(".details .waits").is_visible()
    assert opened.page.get_by_role("button", name="Check what could").is_disabled()


def test_counted_and_compiled_are_side_by_side_and_check_compiles(visit):
    opened = drawn(visit)
    opened.page.evaluate("(words) => fromKernelSuggestions(words)", told(ONE))
    cells = opened.page.locator(".sidebyside th, .sidebyside td").all_inner_texts()
    assert cells == ["counted", "compiled", "-3 MiB", "\u2013"]
    opened.page.locator(".suggestion").get_by_role("button", name="Check").click()
    assert opened.page.evaluate("asked.at(-1)") == {"type": "check", "number": 0}
    compiled = replace(ONE, checked=Checked(before_bytes=4 * MIB, after_bytes=5 * MIB))
    opened.page.evaluate("(words) => fromKernelSuggestions(words)", told(compiled))
    assert opened.page.locator(".sidebyside td").nth(1).inner_text() == "+1 MiB"
    assert "it sends more" in opened.page.locator(".suggestion").inner_text()
    assert opened.page.locator(".suggestion button").count() == 0


def test_an_error_is_told_where_it_was_asked(visit):
    opened = drawn(visit)
    opened.page.evaluate("(words) => fromKernelSuggestions(words)", told(ONE, errors={0: "XLA refuses it"}))
    assert opened.page.locator(".suggestion .refused").inner_text() == "XLA refuses it"
    opened.page.evaluate(
        "(words) => fromKernelSuggestions(words)", json.dumps(suggestions_data(ASKED, error="no program to change"))
    )
    assert opened.page.locator(".details .refused").inner_text() == "no program to change"


def test_of_a_collective_that_no_suggestion_is_about_that_is_said(visit):
    opened = drawn(visit)
    opened.page.evaluate("(words) => fromKernelSuggestions(words)", told(replace(ONE, removes=("other",))))
    assert "This program has 1 suggestion, none of which is about it." in opened.page.locator(".details").inner_text()


def test_a_page_without_a_kernel_names_what_asks(visit):
    opened = visit(page_of(ASKED), width=1280)
    opened.page.locator(".row").first.click()
    assert "record.suggestions asks XLA" in opened.page.locator(".details").inner_text()
    assert opened.page.get_by_role("button", name="Check what could").count() == 0


def test_a_record_in_which_nothing_can_be_tried_does_not_speak_of_it(visit):
    opened = visit(page_of("train_step"), width=1280)
    opened.page.locator(".row").first.click()
    assert "What could save it" not in opened.page.locator(".details").inner_text()
