"""The playground when something goes wrong, or takes long: kernels that are gone or busy, names that cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import play_samples
import pytest
from play_pages import page_of, widget_of

from pjit_inspect.model.play.code import Proof
from pjit_inspect.model.play.variant import HistoryTable
from pjit_inspect.view.play.payload import play_data

FOCUSED = "el.shadowRoot.activeElement?.dataset.key"


def answer(found: Any, chosen: int = 4, **more: Any) -> None:
    """What the kernel says."""
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(chosen, **more)))


def last_asked(found: Any) -> dict[str, Any]:
    return found.page.evaluate("asked[asked.length - 1]")


def test_a_kernel_that_is_gone_is_told_and_controls_are_gone_too(visit: Any):
    found = visit(widget_of())
    found.page.evaluate("() => { globalThis.model.send = () => { throw new Error('Cannot send'); }; }")
    found.select("[data-key='more:data']").click()
    assert found.select(".gone").inner_text().startswith("The kernel that answers is gone")
    assert found.select(".numbers").get_attribute("aria-busy") == "false"
    assert found.select("[data-key='axis:data']").input_value() == "4"
    assert found.page.locator("[data-key='more:data'], [data-key='search']").count() == 0
    assert not found.select(".presets").is_visible()
    found.page.locator(".history tbody tr").nth(2).click()
    assert found.select(".lacks").inner_text().startswith("Variant 2: The kernel that answers is gone")


def test_a_kernel_that_goes_is_told_before_anybody_asks(visit: Any):
    found = visit(widget_of())
    found.page.evaluate("kernelGoes()")
    assert found.select(".gone").inner_text().startswith("The kernel that answers is gone")


def test_a_playground_that_was_closed_says_so_and_its_history_is_gone_through(visit: Any):
    found = visit(widget_of())
    answer(found, version=1, is_closed=True)
    assert found.select(".gone").inner_text().startswith("Closed (play.close())")
    assert found.page.locator("[data-key='more:data'], [data-key='full']").count() == 0
    found.page.locator(".history tbody tr").nth(2).click()
    assert (last_asked(found)["type"], last_asked(found)["number"]) == ("go_back", 2)


def test_a_kernel_that_is_busy_is_told_after_a_while(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='more:data']").click()
    assert found.select(".slow").inner_text() == ""
    found.page.wait_for_function("el.shadowRoot.querySelector('.slow').innerText.startsWith('the kernel is busy')")
    answer(found, version=1, heard=1)
    assert found.select(".slow").inner_text() == ""


def test_a_hundred_quick_clicks_are_told_as_fast_as_the_kernel_hears(visit: Any):
    found = visit(widget_of())
    found.page.evaluate("""() => { for (let i = 0; i < 100; i++)
      el.shadowRoot.querySelector(`[data-key="${i % 2 ? "less" : "more"}:data"]`).click();
      el.shadowRoot.querySelector(`[data-key="more:model"]`).click(); }""")
    told = found.page.evaluate("asked.filter((one) => one.type === 'set').length")
    assert told == 4
    assert found.select("[data-key='axis:model']").input_value() == "4"
    # An answer of one of the first: what is shown is what was asked for last, and that is told now.
    answer(found, 5, version=1, heard=2)
    assert found.select("[data-key='axis:model']").input_value() == "4"
    assert (last_asked(found)["seq"], last_asked(found)["mesh"]) == (5, [["data", 4], ["model", 4]])
    assert found.select(".numbers").get_attribute("aria-busy") == "true"
    answer(found, 4, version=2, heard=5)
    assert found.select(".numbers").get_attribute("aria-busy") == "false"


def test_what_waits_to_be_told_is_dropped_when_all_is_set_anew(visit: Any):
    found = visit(widget_of())
    found.page.evaluate(
        "() => { for (let i = 0; i < 9; i++) el.shadowRoot.querySelector('[data-key=\"more:data\"]').click(); }"
    )
    found.select("[data-key='preset:FSDP']").click()
    answer(found, 4, version=1, heard=5)
    assert last_asked(found)["type"] == "preset"


def test_an_axis_that_cannot_be_added_says_why_and_enter_presses_nothing_else(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='add-axis']").click()
    name = found.select("[data-key='axis-name']")
    for word, why in (("data", "the mesh has an axis data already"), ("1x", "begins with no digit"), ("", "letters")):
        name.fill(word)
        name.press("Enter")
        assert why in found.select(".wrong").inner_text()
        assert name.get_attribute("aria-invalid") == "true"
    before = found.page.evaluate("asked.length")
    name.fill("pipe")
    name.press("Enter")
    assert found.page.evaluate("asked.length") == before + 1
    assert last_asked(found)["mesh"] == [["data", 4], ["model", 2], ["pipe", 2]]
    assert found.page.evaluate(FOCUSED) == "add-axis"
    assert found.page.locator("[data-key='axis-name']").count() == 0


@pytest.mark.parametrize("word", ["0", "-2", "1.5", "two", ""])
def test_what_is_no_size_does_not_stay_in_the_field(visit: Any, word: str):
    found = visit(widget_of())
    field = found.select("[data-key='axis:data']")
    field.fill(word)
    field.press("Enter")
    assert field.input_value() == "4"
    assert last_asked(found)["type"] == "drawn"


def test_an_inspector_says_that_it_comes_and_the_focus_goes_back_to_its_button(visit: Any):
    found = visit(widget_of())
    button = found.select("[data-key='inspect']")
    button.press("Enter")
    assert button.inner_text().startswith("Opening the inspector")
    before = found.page.evaluate("asked.length")
    button.press("Enter")
    assert found.page.evaluate("asked.length") == before
    found.page.evaluate("pageFromKernel('<p>all of it</p>')")
    assert button.inner_text() == "Open inspector of this variant"
    found.page.get_by_role("button", name="Close").press("Enter")
    assert found.page.evaluate(FOCUSED) == "inspect"
    found.select("[data-key='compare']").press("Enter")
    found.page.evaluate("pageFromKernel('')")
    assert not found.select(".opened").is_visible()
    assert found.select("[data-key='compare']").inner_text() == "Compare in full"


def test_nothing_is_compared_before_there_is_an_answer(visit: Any):
    rows = play_samples.variants()
    asked = replace(rows[3], number=8, stage="arguments", sent_bytes=None)
    found = visit(widget_of(8, history=HistoryTable((*rows, asked), chosen=8), before=4, pairs=play_samples.pairs()))
    assert found.page.locator(".moves.old .move").count() == 3
    assert found.select("[data-key='compare']").is_disabled()


def test_a_check_says_that_it_goes_on_and_how_it_ended(visit: Any):
    found = visit(widget_of())
    check = found.select("[data-key='check']")
    check.press("Enter")
    assert last_asked(found)["type"] == "check"
    answer(found, version=1, is_checking=True)
    assert check.inner_text() == "Being traced again and compiled"
    before = found.page.evaluate("asked.length")
    check.press("Enter")
    assert found.page.evaluate("asked.length") == before
    proof = Proof(outcome="equal", sentence="traced again with these shardings: the same 40 collectives")
    answer(found, version=2, code=replace(play_samples.code_of(4), proof=proof))
    words = "\u2713 traced again with these shardings: the same 40 collectives"
    assert found.select(".proof").inner_text() == words
    assert found.page.evaluate(FOCUSED) == "check"
    assert found.page.locator("[aria-live]").inner_text().startswith("traced again")


@pytest.mark.parametrize("width", [780, 1280])
def test_the_three_numbers_stay_in_sight_beside_the_last_array(visit: Any, width: int):
    found = visit(widget_of(), width=width, height=700)
    last = found.page.locator(".groups button.dimension").last
    last.scroll_into_view_if_needed()
    found.page.evaluate("() => el.shadowRoot.querySelector('.codepart').scrollIntoView()")
    last.focus()
    numbers = found.select(".numbers").bounding_box()
    assert numbers["y"] == 0
    assert last.bounding_box()["y"] >= numbers["height"]


@pytest.mark.parametrize("width", [780, 1280])
def test_two_axes_of_a_dimension_are_read_in_full(visit: Any, width: int):
    rows = play_samples.variants()
    own = play_samples.controls((("data", 4), ("model", 2)), specs={"params['emb']": (("data", "model"), None)})
    both = replace(rows[4], controls=own)
    found = visit(widget_of(history=HistoryTable((*rows[:4], both, *rows[5:]), chosen=4)), width=width)
    words = found.select("[data-key=\"specs:params['emb']:0\"] .dimwords b")
    assert words.inner_text() == "data\u00b7model"
    assert words.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert found.page.evaluate("document.documentElement.scrollWidth") == width


def test_a_column_without_a_figure_is_not_drawn(visit: Any):
    rows = tuple(replace(row, time_s=None) for row in play_samples.variants())
    found = visit(widget_of(history=HistoryTable(rows, chosen=4)))
    assert [text.split()[0] for text in found.texts(".history th")] == [
        "#",
        "change",
        "mesh",
        "sends",
        "memory",
        "fits",
    ]
    assert found.page.locator(".history tbody tr").first.locator("td").count() == 6
    assert visit(page_of()).page.locator(".history th").count() == 7


@pytest.mark.parametrize("width", [420, 600, 780, 1280])
def test_the_code_and_an_inspector_are_in_sight_at_every_width(visit: Any, width: int):
    found = visit(widget_of(), width=width)
    assert found.select(".codepart .lines").is_visible()
    assert found.select("[data-key='copy']").is_visible()
    found.select("[data-key='inspect']").click()
    found.page.evaluate("pageFromKernel('<p>all of it</p>')")
    assert found.select(".opened iframe").is_visible()
    found.page.get_by_role("button", name="Close").click()
    assert not found.select(".opened").is_visible()
    assert visit(page_of(), width=width).select(".codepart .lines").is_visible()


def test_those_that_follow_stand_under_the_row_that_opens_them(visit: Any):
    rows = play_samples.variants()
    own = rows[4].controls
    more = [play_samples.group(f"params['p{n}']", 1, (16, 16), "float32", (None, None), own.mesh) for n in range(70)]
    many = replace(rows[4], controls=replace(own, groups=(*more, *own.groups)))
    found = visit(widget_of(history=HistoryTable((*rows[:4], many, *rows[5:]), chosen=4)))
    assert found.select(".groups + .more").inner_text() == "19 more groups"
    found.select("[data-key='followers']").press("Enter")
    names = found.texts(".controls > .part .group .name code")
    assert [name for name in names if name.startswith("mu")] == [
        one.label for one in own.groups if one.label.startswith("mu")
    ]
    # Seven stand under it; the nineteen that were left out are still to come.
    assert found.page.locator(".group.followers ~ .group").count() == 7
    assert found.select(".groups + .more").inner_text() == "19 more groups"


def test_what_has_no_dimension_is_a_scalar_or_a_random_key(visit: Any):
    rows = play_samples.variants()
    own = rows[4].controls
    key = replace(play_samples.group("rng", 1, (), "int32", (), own.mesh), dtype="key<fry>")
    one = replace(rows[4], controls=replace(own, groups=(*own.groups, key)))
    found = visit(widget_of(history=HistoryTable((*rows[:4], one, *rows[5:]), chosen=4)))
    words = found.texts(".controls .group span.dims.small")
    assert words == ["a scalar", "a random key", "a scalar"]
