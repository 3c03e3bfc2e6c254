"""What the playground's page is given: figures beside a base, choices with reasons, rows, moves; and its still twin."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import play_samples
import pytest
from play_samples import given

from pjit_inspect.model.play.variant import HistoryTable
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.view.document.chart import ScatterChart, ScatterPoint
from pjit_inspect.view.inspector.blob import json_text
from pjit_inspect.view.pages.playground import history_view, playground_view
from pjit_inspect.view.play.moves import by_axis_data, by_kind_data, moves_data
from pjit_inspect.view.play.numbers import numbers_data, said
from pjit_inspect.view.play.page import play_page
from pjit_inspect.view.play.payload import play_data, state_data, variant_data
from pjit_inspect.view.play.scatter import scatter_chart
from pjit_inspect.view.play.shared import REFERENCE, shared
from pjit_inspect.view.play.still import play_still, twin_html
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.chart_parts import scatter_scales


def test_the_three_numbers_stand_beside_those_of_the_base():
    sent, memory, time = play_data(given(4))["numbers"]
    assert (sent["value"], sent["unit"], sent["change"]) == ("6,277", "MiB", "\u221263 %")
    assert (memory["value"], memory["more"], memory["change"]) == ("8,018", "of 15.8 GiB", "\u221213 %")
    assert (time["value"], time["more"], time["change"]) == ("336", "to 459 ms", "same")
    # The longest bar is the base's, with a little room: 16.7 GiB * 1.04.
    assert sent["bar"]["tick"] == pytest.approx(1 / 1.04)
    assert sum(part[0] for part in sent["bar"]["parts"]) == pytest.approx(6.13 / 16.7 / 1.04, rel=1e-6)


def test_memory_is_compared_with_what_is_known_in_the_same_way():
    # Variant 3 was not compiled in full: 301 MiB of arguments and results, as many as the base has.
    memory = play_data(given(3))["numbers"][1]
    assert (memory["value"], memory["more"], memory["change"]) == ("301", "of arguments and results", "same")


def test_where_arguments_are_donated_their_places_are_called_modelled_until_xla_has_said_them():
    assert "counted; temporaries" in play_data(given(3))["numbers"][1]["how"]
    assert "places of donated arguments modelled" in play_data(given(3, donates=True))["numbers"][1]["how"]
    assert "modelled" not in play_data(given(4, donates=True))["numbers"][1]["how"]


def test_what_does_not_fit_says_so_in_place_of_a_figure():
    memory = play_data(given(1))["numbers"][1]
    assert (memory["value"], memory["problem"]) == ("does not fit", True)
    assert memory["how"] == "needs 31.3 GiB of 15.8 GiB"


def test_figures_of_the_last_answer_stay_pale_until_the_next():
    rows = play_samples.variants()
    asked = play_samples.Variant(number=8, controls=play_samples.controls(), stage="arguments", argument_bytes=2**20,
                                 memory_bytes=2**20, memory_source="arguments")  # fmt: skip
    state = play_data(given(8, history=HistoryTable((*rows, asked), chosen=8), before=4))
    sent, memory, _ = state["numbers"]
    assert (sent["value"], sent["dim"]) == ("6,277", True)
    assert (memory["value"], memory["unit"], memory["more"]) == ("1", "MiB", "of arguments")
    assert [one["state"] for one in state["stages"]] == ["done", "now", "todo"]


def test_a_choice_that_cannot_be_has_the_arithmetic():
    groups = play_data(given(7))["groups"]
    wq = next(one for one in groups if one["key"] == "params['layers'][*]['wq']")
    model = next(one for one in wq["dims"][1]["choices"] if one["axes"] == ["model"])
    assert (model["allowed"], model["detail"]) == (False, "16 / 32 = 0.50: does not divide")
    assert wq["dims"][1]["problem"]
    assert "Choose another axis" in wq["problem"]["words"]
    none = wq["dims"][1]["choices"][0]
    assert (none["words"], none["detail"], none["allowed"]) == ("none", "16 on every device", True)


def test_a_member_that_is_split_otherwise_stands_in_its_groups_row():
    rows = play_samples.variants()
    alone = replace(rows[4], controls=play_samples.with_one_alone(rows[4].controls))
    groups = play_data(given(4, history=HistoryTable((*rows[:4], alone, *rows[5:]), chosen=4)))["groups"]
    assert len(groups) == len(play_data(given(4))["groups"])
    row = next(one for one in groups if one["key"] == play_samples.WQ)
    assert row["asks"] == "params['layers'][0]['wq'] and 10 more"
    assert row["sub"] == "bf16, 12 equal arrays, 1 split differently"
    assert row["copies"] == "1 to 8 copies"
    assert row["changed"]
    assert [place for place, own in enumerate(row["members"]) if own["dims"]] == [2]
    assert [dim["axes"] for dim in row["members"][2]["dims"]] == [[], [], []]
    assert [dim["axes"] for dim in row["dims"]] == [["data"], ["model"], []]


def test_results_say_whether_they_are_set_or_as_xla_chooses():
    state = play_data(given(3))
    assert state["results_words"] == "3 groups, 1 set, the others as XLA chooses"
    assert [(one["free"], one["changed"]) for one in state["results"]] == [(True, False), (False, True), (True, False)]
    assert play_data(given(4))["results_words"] == "3 groups, as XLA chooses"
    logits = state["results"][1]
    assert [dim["axes"] for dim in logits["dims"]] == [["data"], []]
    assert [one["words"] for one in logits["dims"][1]["choices"]] == ["none", "data", "model", "data \u00b7 model"]


def test_a_variant_that_is_a_preset_says_so_wherever_it_is_told():
    rows = play_samples.variants()
    taken = replace(rows[4], preset="FSDP", name="")
    state = state_data(given(4, history=HistoryTable((*rows[:4], taken, *rows[5:]), chosen=4)))
    assert state["history"]["rows"][4]["change"] == "preset: FSDP; mesh 4 \u00d7 2"
    assert "preset: FSDP; mesh 4" in str(state["answer"])
    assert [(one["words"], one["is_now"], one["allowed"]) for one in state["presets"]] == [
        ("as captured", False, True),
        ("FSDP", True, True),
        ("2-D", False, False),
    ]


def test_what_came_and_went_is_gathered_and_sorted_by_bytes():
    moves = play_data(given(4))["moves"]
    assert [(row["status"], row["amount"], row["counts"]) for row in moves["rows"]] == [
        ("shrank", "\u22123,060 MiB", "\u00d7 6"),
        ("went", "\u2212512 MiB", "1 \u2192 0"),
        ("came", "+360 MiB", "0 \u2192 9"),
    ]
    assert moves["rows"][0]["place"] == "train.py:20, 21, 22, 23 ..."


def test_the_base_shows_what_sends_most():
    moves = play_data(given(0))["moves"]
    assert moves["title"] == "Collectives that send most"
    assert [row["amount"] for row in moves["rows"]] == ["3,600 MiB", "512 MiB"]


def test_rows_say_what_is_known_of_each():
    rows = state_data(given(4))["history"]["rows"]
    assert [row["fits"] for row in rows] == ["yes", "no", "yes", "best", "best", "best", "best", "refused"]
    assert [row["memory"] for row in rows[2:5]] == ["13.10", "\u2265 0.29", "7.83"]
    assert rows[2]["time"] == "336 \u2013 1,238"
    assert rows[7]["order"]["sent"] is None


def test_only_what_is_known_alike_is_on_the_line_of_the_picture():
    chart = scatter_chart(HistoryTable(play_samples.variants(), chosen=4))
    assert [point.label for point in chart.front] == ["5", "4"]
    assert {point.label: point.kind for point in chart.points} == {
        "0": "base", "1": "misfit", "2": "known", "3": "least", "4": "known", "5": "known", "6": "other",
    }  # fmt: skip


def test_the_picture_calls_places_of_donated_arguments_modelled_until_all_are_compiled_in_full():
    def titles(*numbers: int, **more: Any) -> list[str]:
        rows = tuple(row for row in play_samples.variants() if row.number in numbers)
        own = given(0, history=HistoryTable(rows, chosen=0), **more)
        data = play_data(own)["scatter"]
        assert data["words"].startswith("Memory against bytes sent (bytes modelled: ring; memory counted")
        chart = scatter_chart(own.history, donates=own.donates)
        assert data["words"].startswith(chart.title)
        assert f'alt="{chart.title}' in to_html(play_still(own))
        return [one for one in (chart.title, data["legend"], *chart.notes) if "donated" in one]

    assert titles(0, 3, 4) == []
    title, legend, note = titles(0, 3, 4, donates=True)
    assert title == "Memory against bytes sent (bytes modelled: ring; memory counted, donated places modelled)"
    assert legend.endswith(f" \u00b7 {note}")
    assert note == "places of donated arguments modelled until a variant is compiled in full"
    # Of both XLA has given its own account.
    assert titles(0, 4, donates=True) == []


def test_an_axis_of_a_scatter_begins_at_nothing_or_is_logarithmic():
    def chart(*xs: float) -> ScatterChart:
        return ScatterChart(title="", points=tuple(ScatterPoint(label="a", x=x, y=10) for x in xs), limit=(1000, "far"))

    even, y = scatter_scales(chart(0, 50, 100))
    assert (even.low, even.is_log, even.share(0), even.share(500)) == (0.0, False, 0.0, 1.0)
    assert [words for _, words in even.ticks] == ["0", "50", "100"]
    assert y.high == 11.0  # the limit is far away
    log, _ = scatter_scales(chart(1, 100))
    assert log.is_log
    assert log.share(10) == pytest.approx(0.5)


def test_the_still_twin_says_the_answer_and_has_every_row_and_the_code():
    document = play_still(given(4))
    text = to_text(document)
    assert text.splitlines()[1].startswith("#4 mesh 4 \u00d7 2, on 8 devices: each sends 6,277 MiB per call")
    assert 'mesh = jax.make_mesh((4, 2), ("data", "model"))  # was (2, 4)' in text
    html = to_html(document)
    assert html.count("<tr") == 9
    assert '<img alt="Memory against bytes sent' in html
    assert "<script" not in html
    assert '[data-pjit-play="k0"]) .pjit-play-k0{display:none}' in twin_html(html, "k0")


def test_names_of_the_program_are_words_and_never_markup():
    hostile = '</script><img src=x onerror=alert(1)>"'
    state = state_data(given(4, name=hostile, note=hostile))
    assert "</script" not in json_text(state)
    page = play_page(hostile, state, [variant_data(given(4))], still=to_html(play_still(given(4, name=hostile))))
    assert "<img src=x" not in page
    assert json.loads(json_text(state))["note"] == hostile


def test_what_variants_have_alike_is_written_once():
    variants = [json.loads(json_text(variant_data(given(number)))) for number in range(8)]
    packed = shared(variants)
    parts: list[object] = []

    def whole(value: object) -> object:
        if isinstance(value, dict):
            alone = list(value) == [REFERENCE]
            return parts[value[REFERENCE]] if alone else {key: whole(own) for key, own in value.items()}
        return [whole(own) for own in value] if isinstance(value, list) else value

    for part in packed["pool"]:
        parts.append(whole(part))
    assert [whole(one) for one in packed["values"]] == variants
    assert len(json_text(packed)) < len(json_text(variants)) / 2


def test_communication_that_is_no_hlo_collective_is_told_wherever_it_is_said_what_is_sent():
    words = "1 instruction communicates (__nccl_all_reduce; bytes unknown)"
    silent = {"sent_bytes": 0, "collectives": 0, "by_kind": (), "by_axis": (), "beside": words}
    rows = tuple(replace(row, **silent) for row in given().history)
    shown = replace(given(4), history=HistoryTable(rows, chosen=4), pairs=None)
    for found in (by_axis_data(shown), by_kind_data(shown)):
        assert found["missing"] == f"No HLO collectives; {words}."
    assert words in numbers_data(shown)[0]["how"]
    assert words in said(shown)
    views = (play_still(shown), history_view(shown.history), playground_view(shown.base, shown.now, shown.history, "f"))
    assert all(words in " ".join(to_text(view).split()) for view in views)
    alone = replace(shown, against=4, rows=CollectiveTable(()))
    assert moves_data(alone)["missing"] == f"No HLO collectives; {words}."
