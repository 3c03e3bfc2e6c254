"""The playground's page and widget in a browser: what is drawn and asked, the keyboard, the order of answers."""

from __future__ import annotations

import json
from typing import Any

import play_samples
import pytest

from pjit_inspect.view.play.history import history_data
from pjit_inspect.view.play.page import play_page, play_script
from pjit_inspect.view.play.payload import play_data, state_data, variant_data

_WIDGET = """<!DOCTYPE html><meta charset="utf-8"><body><div id="el"></div><script type="module">
const source = {source};
const {{ default: widget }} = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
const values = {values};
const heard = {{}};
globalThis.asked = [];
globalThis.model = {{
  get: (key) => values[key],
  set: (key, value) => {{ values[key] = value; }},
  on: (event, run) => {{ heard[event] = run; }},
  off: (event) => {{ delete heard[event]; }},
  send: (message) => globalThis.asked.push(message),
}};
globalThis.fromKernel = (state) => {{ values._state = JSON.stringify(state); heard["change:_state"](); }};
globalThis.pageFromKernel = (page) => heard["msg:custom"]({{ type: "page", title: "an inspector", page }});
globalThis.end = widget.render({{ model: globalThis.model, el: document.getElementById("el") }});
globalThis.listening = () => Object.keys(heard).length;
</script></body>"""


def page_of(chosen: int = 4) -> str:
    given = play_samples.given(chosen)
    others = [variant_data(play_samples.given(number)) for number in range(8)]
    return play_page("train_step", state_data(given), others, still="<p>still</p>")


def widget_of(chosen: int = 4, **more: Any) -> str:
    given = play_samples.given(chosen, **more)
    values = {"_key": "k1", "_state": json.dumps(play_data(given)), "_history": json.dumps(history_data(given.history))}
    words = {"source": json.dumps(play_script()), "values": json.dumps(values)}
    return _WIDGET.format(**{key: value.replace("</", "<\\/") for key, value in words.items()})


def last_asked(found: Any) -> dict[str, Any]:
    return found.page.evaluate("asked[asked.length - 1]")


@pytest.mark.parametrize("width", [420, 780, 1280, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_everything_in_sight_and_never_scrolls_sideways(visit: Any, width: int, scheme: str):
    found = visit(page_of(), width=width, color_scheme=scheme)
    assert found.page.evaluate("document.documentElement.scrollWidth") == width
    assert [text.split()[0] for text in found.texts(".number .big")] == ["6,277", "8,018", "336"]
    assert found.page.locator(".history tbody tr").count() == 8
    assert found.page.locator(".scatter .point").count() == 7


def test_a_row_of_the_history_is_gone_back_to_also_without_a_kernel(visit: Any):
    found = visit(page_of())
    found.page.locator(".history tbody tr").nth(5).click()
    assert found.select(".answer").inner_text().startswith("#5 mesh 8 \u00d7 1")
    found.page.locator(".history [aria-selected=true]").press("ArrowUp")
    assert found.select(".answer").inner_text().startswith("#4 wide data")
    found.page.locator(".scatter .point[data-number='2']").click()
    assert found.select(".answer").inner_text().startswith("#2 constraints off")
    assert "each device computes 2.0 times its share" in found.texts(".number .known")[2]


def test_rows_are_sorted_and_those_that_are_not_known_stand_last(visit: Any):
    found = visit(page_of())
    numbers = lambda: [text.split()[0] for text in found.texts(".history tbody tr")]  # noqa: E731
    assert numbers() == list("01234567")
    found.select("[data-key='sort:sent']").click()
    assert numbers() == list("15643027")
    found.select("[data-key='sort:sent']").click()
    assert numbers() == list("20346517")
    assert found.select(".history th.is-sent").get_attribute("aria-sort") == "descending"


def test_a_stepper_asks_at_once_and_quick_clicks_add_up(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='more:data']").click()
    found.select("[data-key='more:data']").click()
    assert found.page.evaluate("asked.slice(1).map((one) => [one.type, one.seq, one.mesh])") == [
        ["set", 1, [["data", 8], ["model", 2]]],
        ["set", 2, [["data", 16], ["model", 2]]],
    ]
    assert found.select("[data-key='axis:data']").input_value() == "16"
    assert "32 devices" in found.select(".product").inner_text()


def test_an_answer_to_an_older_question_changes_no_control_that_was_moved_since(visit: Any):
    found = visit(widget_of())
    for _ in range(2):
        found.select("[data-key='more:data']").click()
    older = play_data(play_samples.given(5, version=1, heard=1))
    found.page.evaluate("(state) => fromKernel(state)", older)
    assert found.select("[data-key='axis:data']").input_value() == "16"
    newer = play_data(play_samples.given(6, version=3, heard=2))
    found.page.evaluate("(state) => fromKernel(state)", newer)
    assert found.select("[data-key='axis:data']").input_value() == "16"
    assert found.select(".answer").inner_text().startswith("#6")
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(5, version=2, heard=1)))
    assert found.select(".answer").inner_text().startswith("#6")


def test_the_keyboard_reaches_a_mesh_a_choice_and_a_reason(visit: Any):
    found = visit(widget_of())
    field = found.select("[data-key='axis:model']")
    field.focus()
    field.press("ArrowUp")
    assert last_asked(found)["mesh"] == [["data", 4], ["model", 4]]
    field.press("ArrowDown")
    assert last_asked(found)["mesh"] == [["data", 4], ["model", 2]]
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(4, version=1, heard=2)))

    button = found.select("[data-key=\"specs:params['emb']:0\"]")
    button.focus()
    button.press("Enter")
    options = found.texts(".chooser [role=option] b")
    assert options == ["none", "data", "model", "data \u00b7 model"]
    found.page.keyboard.press("Home")
    found.page.keyboard.press("ArrowDown")
    before = found.page.evaluate("asked.length")
    found.page.keyboard.press("Enter")
    assert found.page.evaluate("asked.length") == before  # only the reason is said
    assert found.page.locator("[aria-live]").inner_text() == "data: data already splits dimension 1"
    found.page.keyboard.press("Home")
    found.page.keyboard.press("Enter")
    assert last_asked(found)["specs"] == {"params['emb']": [[], ["data"]]}
    assert found.page.evaluate("el.shadowRoot.activeElement.dataset.key") == "specs:params['emb']:0"


def test_focus_stays_on_the_control_when_its_answer_is_drawn(visit: Any):
    found = visit(widget_of())
    button = found.select("[data-key=\"specs:params['out']:1\"]")
    button.focus()
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(2, version=1)))
    assert found.page.evaluate("el.shadowRoot.activeElement.dataset.key") == "specs:params['out']:1"
    assert found.page.locator("[aria-live]").inner_text().startswith("Variant 2: 111 collectives, each device sends")


def test_the_three_numbers_do_not_move_when_they_are_refined(visit: Any):
    found = visit(widget_of(0))
    places = (
        "[...el.shadowRoot.querySelectorAll('.number, .rail, .controls')].map((one) => one.getBoundingClientRect().y)"
    )
    before = found.page.evaluate(places)
    for number, version in ((3, 1), (4, 2), (1, 3)):
        found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(number, version=version)))
        assert found.page.evaluate(places) == before


def test_what_cannot_be_stands_beside_its_control_with_meshes_to_take(visit: Any):
    found = visit(widget_of(7))
    assert found.texts(".number .big") == ["unknown"] * 3
    problem = found.page.locator(".group .problem").first
    assert "16 does not divide by model = 32" in problem.inner_text()
    found.page.locator(".part > .problem .chip", has_text="data 16 \u00d7 model 16").click()
    assert last_asked(found)["mesh"] == [["data", 16], ["model", 16]]


def test_state_of_the_optimizer_follows_until_it_is_cut_loose(visit: Any):
    found = visit(widget_of())
    assert found.page.locator("[data-key=\"follow:mu['emb']\"]").count() == 0
    found.select("[data-key='followers']").click()
    tie = found.select("[data-key=\"follow:mu['emb']\"]")
    assert tie.get_attribute("aria-checked") == "true"
    tie.click()
    found.select("[data-key=\"specs:mu['emb']:0\"]").click()
    found.page.locator(".chooser [role=option]").first.click()
    assert last_asked(found)["specs"] == {"mu['emb']": [[], ["data"]]}


def test_an_inspector_opens_in_a_frame_that_reaches_nothing(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='inspect']").click()
    assert last_asked(found)["type"] == "inspect"
    found.page.evaluate("pageFromKernel('<p>all of it</p>')")
    assert found.page.frame_locator(".opened iframe").locator("p").inner_text() == "all of it"
    assert found.select(".opened iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"


def test_a_widget_that_is_closed_listens_no_more(visit: Any):
    found = visit(widget_of())
    assert found.page.evaluate("listening()") == 3
    assert found.page.evaluate("(end(), listening())") == 0
    assert found.page.evaluate("el.getAttribute('data-pjit-play')") == "k1"
