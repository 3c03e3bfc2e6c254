"""What the playground's page says between two answers, where XLA is not asked, and where a mesh cannot be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import play_samples
from play_samples import given

from pjit_inspect.model.play.search import SearchReport
from pjit_inspect.model.play.variant import HistoryTable, Problem, Variant
from pjit_inspect.view.play.payload import play_data, state_data
from pjit_inspect.view.play.still import play_still
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

ASKED = Variant(number=8, controls=play_samples.controls(), stage="arguments", argument_bytes=2**20,
                memory_bytes=2**20, memory_source="arguments")  # fmt: skip


def asked(**more: Any) -> dict[str, Any]:
    """A variant that XLA is being asked about, after the third, whose devices do twice their share."""
    history = HistoryTable((*play_samples.variants(), ASKED), chosen=8)
    return play_data(given(8, history=history, before=2, **more))


def test_all_that_is_old_is_pale_the_share_of_the_work_too():
    slow = [replace(row, time_s=None) for row in play_samples.variants()]
    state = play_data(given(8, history=HistoryTable((*slow, ASKED), chosen=8), before=2))
    assert [(one["value"], one["dim"]) for one in state["numbers"]] == [
        ("45.1", True),
        ("1", False),
        ("unknown", True),
    ]
    assert "2.0 times its share" in state["numbers"][2]["how"]


def test_what_came_and_went_stays_pale_until_the_next_answer():
    moves = asked()["moves"]
    assert moves["dim"]
    assert [row["status"] for row in moves["rows"]] == ["shrank", "went", "came"]


def test_what_came_and_went_says_that_it_comes():
    assert play_data(given(4, pairs=None, is_comparing=True))["moves"]["missing"] == "Being compared with #0."
    assert play_data(given(0, rows=None, is_comparing=True))["moves"]["missing"] == "Being listed."
    words = play_data(given(4, pairs=None))["moves"]["missing"]
    assert words == "Not compared: that is done for a variant that is looked at in a notebook."


def test_more_rows_are_counted_as_collectives():
    moved = "it arrives split over data"
    many = [play_samples.collective("all-gather", "data", 9, 2**20 * n, f"x{n}", f"{moved} {n}") for n in range(1, 9)]
    rows = replace(play_samples.rows_of(), rows=tuple(replace(one, axes=(f"a{n}",)) for n, one in enumerate(many)))
    assert play_data(given(0, rows=rows))["moves"]["rest"] == ["3 more collectives", "6 MiB"]


def test_a_closed_playground_says_so_and_waits_for_nothing():
    state = asked(is_closed=True)
    assert state["closed"].startswith("Closed (play.close())")
    assert [one["state"] for one in state["stages"]] == ["done", "todo", "todo"]
    assert state["full"]["state"] == "none"
    assert play_data(given(4))["closed"] == ""


def test_a_refusal_is_said_once_at_the_top_and_beside_the_mesh_that_was_chosen():
    state = play_data(given(7))
    assert state["answer"][-2:] == [
        {"strong": "\u25b2 Refused: "},
        "16 does not divide by model = 32: params['layers'][*]['wq'], dimension 1",
    ]
    assert "Never run" not in str(state["answer"])
    assert {one["how"] for one in state["numbers"]} == {"refused, nothing compiled"}
    assert state["mesh_problem"]["words"] == (
        "This mesh does not divide 4 groups of arrays, which say why beside them. Meshes that do:"
    )
    assert [one["words"] for one in state["mesh_problem"]["remedies"]] == [
        "data 16 \u00d7 model 16", "data 32 \u00d7 model 8", "data 64 \u00d7 model 4",
    ]  # fmt: skip


def test_a_mesh_of_other_devices_is_offered_with_their_number():
    rows = play_samples.variants()
    problem = Problem(text="16 does not divide", control=play_samples.WQ, meshes=((("data", 8), ("model", 16)),))
    other = HistoryTable((*rows[:7], replace(rows[7], problem=problem)), chosen=7)
    (way,) = play_data(given(7, history=other))["mesh_problem"]["remedies"]
    assert way["words"] == "data 8 \u00d7 model 16 (128 devices)"


def test_a_mesh_that_nothing_is_known_for_says_what_to_do():
    rows = play_samples.variants()
    problem = Problem(text="16 does not divide", control=play_samples.WQ)
    other = HistoryTable((*rows[:7], replace(rows[7], problem=problem)), chosen=7)
    assert play_data(given(7, history=other))["mesh_problem"] == {
        "words": "This mesh does not divide 4 groups of arrays, which say why beside them.",
        "remedies": [],
    }


def test_what_does_not_divide_holds_no_bytes():
    groups = {one["key"]: one for one in play_data(given(7))["groups"]}
    assert groups[play_samples.WQ]["held"] == "unknown"
    assert groups[play_samples.WQ]["copies"] == ""


def test_a_sentence_after_a_sentence_begins_like_one():
    (words,) = [one["problem"]["words"] for one in play_data(given(7))["groups"] if one["key"] == play_samples.WQ]
    assert ". Choose another axis for it" in words


def test_a_column_that_nothing_is_known_of_is_left_out():
    slow = HistoryTable(tuple(replace(row, time_s=None) for row in play_samples.variants()), chosen=4)
    assert state_data(given(4, history=slow))["history"]["columns"] == [
        "number", "change", "mesh", "sent", "memory", "fits",
    ]  # fmt: skip
    assert "time" in state_data(given(4))["history"]["columns"]
    assert "time:" not in state_data(given(4, history=slow))["history"]["how"]


def test_memory_that_only_one_of_both_has_says_why_it_is_not_compared():
    rows = play_samples.variants()
    base = replace(rows[0], stage="partitioned", memory_source="arguments and results", fits=None)
    memory = play_data(given(4, history=HistoryTable((base, *rows[1:]), chosen=4)))["numbers"][1]
    assert memory["change"] == ""
    assert memory["how"].endswith("; not compared: #0 was not compiled in full")


def test_a_check_that_goes_on_says_so_and_one_that_ended_is_marked():
    assert play_data(given(4))["code"]["check"] == {"state": "possible", "words": "Check by compiling"}
    assert play_data(given(4, is_checking=True))["code"]["check"]["state"] == "running"


def test_a_search_says_what_it_did_not_ask_about_and_why():
    report = SearchReport(goal="bytes", asked=33, refused=0, skipped=98, waiting=154, seconds=30.2, is_stopped=False,
                          most_work=1.1, most_memory=None, best=17, start=3)  # fmt: skip
    assert report.lines[1] == (
        "33 settings asked about in 30 s; not asked about: 98 by its rules, 154 for want of time"
    )


def test_the_still_twin_has_its_figures_before_words_that_may_be_long():
    rows = play_samples.variants()
    many = replace(rows[4], name="", change=tuple(f"params['w{n}']: P('data', None)" for n in range(30)))
    document = play_still(given(4, history=HistoryTable((*rows[:4], many, *rows[5:]), chosen=4)))
    text = to_text(document)
    assert "and 27 more changes, on 8 devices: each sends" in " ".join(text.split())
    words = re.findall(r"<td[^>]*>(?:<[a-z][^>]*>)*([^<]+)", to_html(document))[:7]
    assert words == ["#", "mesh", "sends GiB", "memory GiB", "time ms", "fits", "change"]
    assert "and 28 more changes" in to_html(document)
    assert "params['w9']" not in to_html(document)
