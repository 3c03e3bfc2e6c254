"""axe-core finds nothing wrong with the playground, light and dark, wide and narrow; every control has a name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import play_samples
import pytest
from axe_rules import AROUND, wrong
from play_pages import page_of, widget_of

from pjit_inspect.model.play.variant import HistoryTable
from pjit_inspect.view.play.given import SearchState
from pjit_inspect.view.play.payload import play_data

UNNAMED = """() => [...el.shadowRoot.querySelectorAll("button, input, select, summary, progress, [role=option]")]
  .filter((one) => one.checkVisibility() && !(one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ??
    one.textContent ?? "").trim())
  .map((one) => one.outerHTML.slice(0, 120))"""


def found_wrong(page: Any) -> list[Any]:
    return [one for one in wrong(page) if one[0] not in AROUND]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 780, 1280])
def test_axe_finds_nothing_wrong_with_the_page(visit: Any, scheme: str, width: int):
    assert wrong(visit(page_of(), width=width, color_scheme=scheme).page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("chosen", [0, 1, 3, 7])
def test_axe_finds_nothing_wrong_with_the_widget(visit: Any, scheme: str, chosen: int):
    found = visit(widget_of(chosen), color_scheme=scheme)
    assert found_wrong(found.page) == []
    # All that opens: members, the followers, results, an axis to be added, a list, a reason.
    for one in ("followers", f"open:{play_samples.WQ}", "add-axis", "preset:2-D"):
        # Not as a pointer: playwright waits until what is grey can be used.
        found.select(f'[data-key="{one}"]').evaluate("(one) => one.click()")
    found.select("details.part").evaluate("(one) => { one.open = true; }")
    assert found_wrong(found.page) == []
    found.select("[data-key=\"specs:params['emb']:0\"]").click()
    assert found_wrong(found.page) == []
    assert found.page.evaluate(UNNAMED) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_while_something_is_asked(visit: Any, scheme: str):
    rows = play_samples.variants()
    alone = replace(rows[4], controls=play_samples.with_one_alone(rows[4].controls), preset="FSDP")
    asked = replace(rows[3], number=8, stage="arguments", sent_bytes=None, time_s=None)
    history = HistoryTable((*rows[:4], alone, *rows[5:], asked), chosen=8)
    search = SearchState(is_running=True, share=0.4, sentence="12 s of 30, 34 asked, 11 waiting, best #4")
    found = visit(widget_of(4, history=history, search=search, before=4), color_scheme=scheme)
    assert found_wrong(found.page) == []
    found.select("[data-key='more:data']").click()
    assert found_wrong(found.page) == []


def test_the_count_is_announced_once_and_politely(visit: Any):
    found = visit(widget_of())
    live = found.page.locator("[aria-live]")
    assert live.get_attribute("aria-live") == "polite"
    found.select("[data-key='more:data']").click()
    assert "asked" not in live.inner_text()
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(5, version=1, heard=9)))
    said = live.inner_text()
    assert said.startswith("Variant 5: 114 collectives, each device sends")
    found.page.evaluate("""() => {
      globalThis.changes = 0;
      new MutationObserver(() => (globalThis.changes += 1)).observe(
        el.shadowRoot.querySelector("[aria-live]"), { childList: true, characterData: true, subtree: true });
    }""")
    # The same figures again, with other details: nobody is told twice.
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(5, version=2, heard=9)))
    assert found.page.evaluate("changes") == 0
