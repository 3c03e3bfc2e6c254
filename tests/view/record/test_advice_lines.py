"""Advice in words: what to change, what it saves, the code, and what is said where nothing is worth it."""

from __future__ import annotations

import json
from dataclasses import replace

import view_reports

from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.inspector.advice import advice_data
from pjit_inspect.view.record.advice import advice_blocks, advice_head, advice_json, saving
from pjit_inspect.view.render.text import to_text

ADVISED = view_reports.advised().advice or AdviceTable()
CODE = "x = jax.lax.with_sharding_constraint(emb[tok], P('fsdp', None, None))"


def head(advice: AdviceTable) -> str:
    return to_text(Document(blocks=advice_head(advice)))


def table(advice: AdviceTable) -> str:
    return to_text(Document(blocks=advice_blocks(advice)))


def test_the_head_has_the_place_the_saving_and_the_code_on_a_line_of_its_own():
    lines = head(ADVISED).splitlines()
    assert lines[0] == "A change at train.py:31 sends 75 % less, and 2 more rows (40 changes asked of 64 thought of)"
    assert lines[1] == CODE


def test_nothing_worth_changing_is_an_answer():
    nothing = AdviceTable(asked=40, proposed=40, best=0.02)
    words = " ".join(head(nothing).split())
    assert words == (
        "Nothing worth changing (40 changes asked; the best would save 2 % of what is sent; a change is listed if it "
        "saves 5 %)"
    )
    assert table(nothing).startswith("Nothing worth changing: 40 changes asked; the best would save 2 %")


def test_no_change_found_is_not_called_nothing_where_some_were_left_out():
    found = AdviceTable(asked=40, proposed=90, best=0.02, untried="XLA gave no answer to 3")
    words = " ".join(head(found).split())
    assert words.startswith("No change was found (40 changes asked of 90 thought of; the best would save 2 %")
    assert words.endswith("; not every change was asked: XLA gave no answer to 3)")


def test_nothing_that_promises_enough_is_an_answer_too():
    assert head(AdviceTable(proposed=12)).strip() == (
        "Nothing worth changing (of 12 changes thought of none promises 5 %)"
    )


def test_what_was_not_asked_yet_is_not_called_nothing():
    waiting = AdviceTable(left=40, is_done=False)
    assert head(waiting).strip() == "What to change (not asked yet; record.advice asks XLA, at most 40 times)"
    waiting = replace(waiting, asked=3, left=37)
    assert head(waiting).strip() == (
        "What to change (3 changes asked by now; record.advice asks XLA, at most 40 times)"
    )
    assert (
        head(replace(waiting, is_asking=True)).strip()
        == "What to change (XLA is asked about changes: 3 by now, at most 37 more)"
    )


def test_where_nobody_can_ask_only_facts_are_told():
    assert advice_head(None) == ()
    assert table(AdviceTable(missing="the record is from a file")).splitlines() == [
        "What to change is not known: the record is from a file",
    ]
    facts = replace(ADVISED[2:], asked=0, missing="the record is from a file")
    assert head(facts).splitlines() == [
        "Worth knowing: `params` comes back changed, and the old one is not given up (nothing was asked)",
        "give `jax.jit` `donate_argnames=('params',)`",
    ]


def test_a_row_says_its_stage_and_the_stage_is_explained_once():
    words = table(ADVISED)
    assert "sends 4 MiB -> 1 MiB, multiplies 1,000 -> 500, collectives 163 -> 50; costs nothing; counted" in words
    assert "holds 2 MiB -> 1 MiB; but sends 128 KiB more; compiled" in words
    assert " ".join(words.split()).count("before optimization") == 1


def test_the_saving_is_that_of_which_most_is_saved():
    assert [saving(one) for one in ADVISED[:2]] == ["sends 75 % less", "holds 50 % less"]


def test_a_page_gets_the_code_that_is_to_be_written():
    data = advice_data(ADVISED, errors={1: "XLA refuses it"}, compiling=0)
    assert data is not None
    assert [row["code"] for row in data["rows"]] == [CODE, "pass emb as P('fsdp', None)", "donate_argnames=('params',)"]
    assert [row["state"] for row in data["rows"]] == ["compiling", "compiled", "fact"]
    assert data["rows"][1]["error"] == "XLA refuses it"
    assert advice_data(None) is None


def test_json_has_all_rows_with_their_figures():
    found = json.loads(advice_json(ADVISED))
    assert (found["asked"], found["is_done"]) == (40, True)
    first = found["rows"][0]
    assert (first["sent"], first["change"], first["state"]) == ([4 << 20, 1 << 20], CODE, "counted")
    assert first["source"] == [{"file": "/home/me/train.py", "line": 31, "function": ""}]
    assert [row["after_others"] for row in found["rows"]] == [False, True, False]
