from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import view_reports
from blob_reader import read_blob, strings

from pjit_inspect.analyze.collectives.traffic import find_link_traffic
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.reason import Difference, Reason
from pjit_inspect.view.inspector.blob import json_text, pack_blob
from pjit_inspect.view.inspector.payload import InspectorInput, InspectorPayload, inspector_payload

REPORTS = view_reports.every_report()


def payload_of(name: str, **more: Any) -> InspectorPayload:
    return inspector_payload(InspectorInput(report=REPORTS[name], **more))


def test_columns_and_strings_come_back_from_the_store():
    values = np.array([3, -1, 2**31 - 1], np.int32)
    blob = pack_blob({"a": "</script>"}, {"n": values, "f": np.array([0.5])}, {"s": ["", "é", "a\nb"]})
    header, columns = read_blob(blob)
    assert header["a"] == "</script>"
    assert columns["n"].tolist() == values.tolist()
    assert columns["f"].tolist() == [0.5]
    assert strings(columns, "s") == ["", "é", "a\nb"]


def test_json_in_a_page_holds_nothing_that_ends_a_script():
    text = json_text({"</script><!--": "<script>&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"</script><!--": "<script>&"}


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_every_report_has_a_payload_of_plain_data(name: str):
    payload = payload_of(name)
    json_text(payload.first)
    header, columns = read_blob(payload.blob)
    assert len(header["collectives"]) >= len(payload.first["collectives"])
    assert len(columns["mesh.ids"]) == payload.first["mesh"]["size"]


def test_rows_with_their_numbers_add_up_to_every_collective():
    header, _ = read_blob(payload_of("train_step").blob)
    assert sum(row["number"] for row in header["collectives"]) == len(REPORTS["train_step"].collectives or ())


def test_a_fsdp_row_says_its_bytes_and_how_they_are_known():
    """Two gathers of 2 KiB each; a ring of 8 sends 7 shards, 14 KiB."""
    report = view_reports.mlp("fsdp")
    traffic = find_link_traffic(report.collectives or ())
    header, columns = read_blob(inspector_payload(InspectorInput(report=report, traffic=traffic)).blob)
    first = header["collectives"][0]
    assert [figure for _, figure, _ in first["numbers"]][:2] == ["2 KiB", "14 KiB"]
    assert [how.split(",")[0] for _, _, how in first["numbers"]][:2] == ["counted", "modelled"]
    assert columns["groups"].tolist() == list(range(8))
    assert [columns["sent"][0], columns["sent"][7]] == [28672.0, 28672.0]


def test_the_first_view_is_small_whatever_the_program():
    assert len(json_text(payload_of("huge").first)) < 40_000


def test_equal_groups_are_sent_once():
    report = REPORTS["train_step"]
    _, columns = read_blob(payload_of("train_step").blob)
    assert len(columns["group_sets.ends"]) == len({row.groups for row in report.collectives or ()})


def test_without_hlo_the_panes_say_what_is_missing():
    header, _ = read_blob(payload_of("without_hlo").blob)
    assert header["collectives"] == []
    assert {"hlo", "jaxpr", "stablehlo"} <= header["missing"].keys()


def test_the_same_report_gives_the_same_bytes():
    assert payload_of("train_step").blob == payload_of("train_step").blob


def test_times_stay_out_when_they_are_not_wanted():
    shown, hidden = (
        inspector_payload(InspectorInput(report=REPORTS["train_step"], show_times=on)) for on in (True, False)
    )
    assert "measured" in json_text(shown.first)
    assert "measured" not in json_text(hidden.first)


def test_hostile_names_are_made_visible_and_short():
    header, _ = read_blob(payload_of("hostile").blob)
    text = json.dumps(header, ensure_ascii=False)
    assert "\u202e" not in text
    assert "\\u0000" not in json.dumps(header).replace("\\\\u0000", "")
    assert max(len(row["what"]) for row in header["collectives"]) <= 200


def test_hlo_text_is_shown_where_the_program_could_not_be_read():
    text = "ENTRY %main (a: f32[2]) -> f32[2] {\n  ROOT %x.1 = f32[2] add(a, a)\n}\n"
    header, columns = read_blob(payload_of("train_step", hlo_text=text).blob)
    assert header["texts"]["hlo"]["name"] == "optimized HLO"
    assert strings(columns, "hlo.lines")[1] == "  ROOT %x.1 = f32[2] add(a, a)"


def again(reason: Reason, *, show_times: bool = True) -> Any:
    report = REPORTS["mlp_tensor"]
    report = replace(report, data=replace(report.data, reason=reason))
    return inspector_payload(InspectorInput(report=report, show_times=show_times)).first.get("again")


def test_a_program_that_was_compiled_again_says_why_and_what_else_differs():
    length = Difference(kind="shape", path="x", sentence="`x`: length 511 -> 512 (dimension 1)")
    other = Difference(kind="dtype", path="y", sentence="`y`: float32 -> bfloat16")
    reason = Reason(kind="changed", sentence=length.sentence, differences=(length, other), nearest=1)
    assert again(reason) == [
        ["compiled again: ", {"code": "x"}, ": length 511 -> 512 (dimension 1)"],
        [{"code": "y"}, ": float32 -> bfloat16"],
    ]
    # It depends on the session, as times do.
    assert again(reason, show_times=False) is None
    assert again(Reason(kind="first", sentence="first compile of `f`")) is None


def test_a_program_of_one_device_is_called_that():
    report, device = REPORTS["without_hlo"], Device(id=0, platform="gpu", kind="NVIDIA H200", process=0)
    data = replace(report.data, mesh=None, meshes=(), missing={}, devices=(device,))
    payload = inspector_payload(InspectorInput(report=replace(report, data=data)))
    assert payload.first["mesh"]["missing"] == "one device, without a mesh"
