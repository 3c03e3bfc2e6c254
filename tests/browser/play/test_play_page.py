"""The playground's page and widget in a browser: what is drawn and asked, the keyboard, the order of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import play_samples
import pytest
from play_pages import page_of, widget_of

from pjit_inspect.model.play.controls import ConstraintControl
from pjit_inspect.model.play.variant import HistoryTable
from pjit_inspect.view.play.given import SearchState
from pjit_inspect.view.play.payload import play_data


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


def test_a_row_that_the_page_does_not_keep_says_what_to_do(visit: Any):
    found = visit(page_of(kept=(0, 2, 4)))
    rows = found.page.locator(".history tbody tr")
    assert [row.get_attribute("aria-disabled") for row in rows.all()[:3]] == [None, "true", None]
    rows.nth(1).evaluate("(one) => one.click()")
    assert found.select(".answer").inner_text().startswith("#4")
    assert found.select(".lacks").inner_text().startswith("Variant 1: this page keeps 3 variants in full")
    assert "play.go_back(number)" in found.select(".lacks").inner_text()
    rows.nth(2).click()
    assert found.select(".answer").inner_text().startswith("#2")
    assert not found.select(".lacks").is_visible()


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


def test_a_member_is_set_alone_and_goes_back_to_its_group(visit: Any):
    rows = play_samples.variants()
    alone = replace(rows[4], controls=play_samples.with_one_alone(rows[4].controls))
    history = HistoryTable((*rows[:4], alone, *rows[5:]), chosen=4)
    found = visit(widget_of())
    path = "params['layers'][2]['wq']"
    found.select(f'[data-key="open:{play_samples.WQ}"]').click()
    button = found.select(f'[data-key="specs:{path}:1"]')
    button.focus()
    button.press("Enter")
    found.page.locator(".chooser [role=option]").first.click()
    assert last_asked(found)["specs"] == {path: [["data"], [], []]}
    found.page.evaluate(
        "(state) => fromKernel(state)", play_data(play_samples.given(4, version=1, heard=9, history=history))
    )
    # The row stays open, and the focus on its member, though the group has another label now.
    assert found.page.evaluate("el.shadowRoot.activeElement.dataset.key") == f"specs:{path}:1"
    labels = [one.get_attribute("aria-label") for one in found.page.locator(".member .dimension").all()[3:9]]
    assert [label.rpartition(": ")[2] for label in labels] == [
        "over data", "over model", "on every device", "on every device, changed", "on every device, changed",
        "on every device",
    ]  # fmt: skip
    found.select(f'[data-key="back:{path}"]').press("Enter")
    assert last_asked(found)["specs"] == {path: [["data"], ["model"], []]}
    # The row's own chooser leaves alone what stands alone.
    found.select(f'[data-key="specs:{play_samples.WQ}:1"]').click()
    found.page.locator(".chooser [role=option]").first.click()
    assert last_asked(found)["specs"] == {"params['layers'][0]['wq'] and 10 more": [["data"], [], []]}


def test_a_result_is_set_and_left_to_xla_again(visit: Any):
    found = visit(widget_of())
    button = found.select("[data-key=\"results:result[1]['logits']:1\"]")
    assert "as XLA chooses" in button.get_attribute("aria-label")
    button.focus()
    button.press("Enter")
    found.page.locator(".chooser [role=option]", has_text="model").first.click()
    assert last_asked(found)["results"] == {"result[1]['logits']": [["data"], ["model"]]}
    # It is shown before XLA has answered, with the way back.
    assert "as XLA chooses" not in button.get_attribute("aria-label")
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(3, version=1, heard=9)))
    assert found.select("details.part summary").inner_text().endswith("3 groups, 1 set, the others as XLA chooses")
    back = found.select("[data-key=\"free:result[1]['logits']\"]")
    back.focus()
    back.press("Enter")
    assert last_asked(found)["results"] == {"result[1]['logits']": None}
    assert found.page.locator("[data-key^='free:']").count() == 0


def test_a_preset_is_one_click_and_one_that_is_none_says_why(visit: Any):
    found = visit(widget_of())
    assert found.texts(".presets .chip") == ["as captured", "FSDP", "2-D"]
    chip = found.select("[data-key='preset:FSDP']")
    assert (chip.get_attribute("aria-pressed"), chip.get_attribute("aria-disabled")) == ("true", None)
    chip.focus()
    chip.press("Enter")
    assert (last_asked(found)["type"], last_asked(found)["preset"]) == ("preset", "FSDP")
    # Figures are old until XLA has answered.
    assert found.select(".numbers").get_attribute("aria-busy") == "true"
    before = found.page.evaluate("asked.length")
    other = found.select("[data-key='preset:2-D']")
    assert other.get_attribute("aria-disabled") == "true"
    other.press("Enter")
    assert found.page.evaluate("asked.length") == before
    assert found.select(".whynot").inner_text() == "2-D: it takes two mesh axes"
    assert found.page.locator("[aria-live]").inner_text() == "2-D: it takes two mesh axes"


@pytest.mark.parametrize("width", [420, 780, 1280])
def test_the_name_of_an_array_of_many_dimensions_is_read_in_one_line(visit: Any, width: int):
    found = visit(widget_of(history=with_more_controls()), width=width)
    row = found.page.locator(".group", has=found.page.locator("[data-key='specs:params[\\'heads\\']:3']"))
    name = row.locator(".name code").bounding_box()
    assert row.locator("button.dimension").count() == 4
    assert name["height"] < 24
    assert name["y"] + name["height"] < row.locator("button.dimension").first.bounding_box()["y"]
    assert found.page.evaluate("document.documentElement.scrollWidth") == width


def test_a_new_constraint_is_taken_out(visit: Any):
    found = visit(widget_of(history=with_more_controls()))
    out = found.select("[data-key='constraint:train.py:20 dot_general']")
    assert out.inner_text() == "take out"
    assert "new, at train.py:20 dot_general" in found.texts("[role=listitem]:has([aria-checked])")[-1]
    out.press("Enter")
    assert last_asked(found)["constraints"] == {"train.py:20 dot_general": False}


def with_more_controls() -> HistoryTable:
    """The history with an array of four dimensions and a new constraint in its fifth variant."""
    rows = list(play_samples.variants())
    own = rows[4].controls
    heads = play_samples.group(
        "params['heads']", 1, (4, 64, 16, 16), "float32", (None, "data", "model", None), own.mesh
    )
    spec = ("data", None, None)
    new = ConstraintControl(place="train.py:20 dot_general", asked=spec, spec=spec, is_new=True)
    more = replace(own, groups=(*own.groups, heads), constraints=(*own.constraints, new))
    rows[4] = replace(rows[4], controls=more)
    rows[0] = replace(rows[0], controls=replace(rows[0].controls, groups=(*rows[0].controls.groups, heads)))
    return HistoryTable(tuple(rows), chosen=4)


def test_an_inspector_opens_in_a_frame_that_reaches_nothing(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='inspect']").click()
    assert last_asked(found)["type"] == "inspect"
    found.page.evaluate("pageFromKernel('<p>all of it</p>')")
    assert found.page.frame_locator(".opened iframe").locator("p").inner_text() == "all of it"
    assert found.select(".opened iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"


def test_a_search_is_stopped_at_once(visit: Any):
    found = visit(widget_of())
    found.select("[data-key='search']").click()
    assert (last_asked(found)["type"], last_asked(found)["budget_s"]) == ("search", 30)
    for version, words in ((1, "1 of 30 s, 0 tried, 0 waiting"), (2, "2 of 30 s, 3 tried, 40 waiting, best #4")):
        search = SearchState(is_running=True, share=version / 30, sentence=words)
        found.page.evaluate(
            "(state) => fromKernel(state)", play_data(play_samples.given(4, version=version, search=search))
        )
        assert found.select(".search .gauged").inner_text() == words
    stop = found.select("[data-key='search']")
    stop.click()
    assert last_asked(found)["type"] == "stop_search"
    assert stop.inner_text() == "Stopping"
    # Told once.
    before = found.page.evaluate("asked.length")
    stop.press("Enter")
    assert found.page.evaluate("asked.length") == before
    search = SearchState(sentence="stopped: 2 of 30 s, 3 tried, 40 waiting, best #4")
    found.page.evaluate("(state) => fromKernel(state)", play_data(play_samples.given(4, version=3, search=search)))
    assert found.select("[data-key='search']").inner_text() == "Search"
    assert "stopped: 2 of 30 s" in found.select(".search").inner_text()


def test_a_widget_that_is_closed_listens_no_more(visit: Any):
    found = visit(widget_of())
    assert found.page.evaluate("listening()") == 4
    assert found.page.evaluate("(end(), listening())") == 0
    assert found.page.evaluate("el.getAttribute('data-pjit-play')") == "k1"
