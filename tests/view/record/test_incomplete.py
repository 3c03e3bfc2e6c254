"""A display of an incomplete program says so before anything else, and calls no part of it all there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from blob_reader import read_blob
from data import hlo_fixtures as fixtures
from data.hlo_fixtures import opened

import pjit_inspect as pi
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload

NAME = "transformer_step.cpu_8"


def first_of(record: pi.CompileRecord) -> dict[str, Any]:
    return inspector_payload(InspectorInput(report=record.report)).first


def lines_of(shown: object) -> str:
    return " ".join(str(shown).split())


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> pi.CompileRecord:
    text = fixtures.text(NAME)
    return opened(text[: len(text) * 8 // 10], tmp_path_factory.mktemp("part"))


def test_the_headline_says_so_first_and_gives_a_least_number(part: pi.CompileRecord):
    shown = lines_of(part)
    assert "Incomplete program: a computation has no end. At least " in shown
    answer = shown.index("Incomplete program")
    assert shown.index("collective") > answer
    assert "note: hlo unknown" not in shown


def test_inputs_that_are_read_from_a_part_are_not_said_to_be_all(tmp_path: Path):
    whole = fixtures.text("mlp_step.cpu_8")
    assert "No input is fully replicated" in lines_of(opened(whole, tmp_path))
    later = opened(whole[: whole.rindex("ROOT")], tmp_path)
    assert "Incomplete program" in lines_of(later)
    assert "input is fully replicated" not in lines_of(later)


def test_the_explanation_says_so_too(part: pi.CompileRecord):
    shown = lines_of(part.explain())
    assert "Incomplete program: a computation has no end. " in shown
    assert "in the part that is there." in shown


def test_every_total_is_said_to_be_of_a_part(part: pi.CompileRecord):
    shown = lines_of(part)
    assert "axis, of the part that is there" in shown
    assert "; more may be missing" in shown
    assert "per device, of the part that is there" in shown
    for figure in (part.figures.axis_totals, part.figures.traffic):
        assert "incomplete program: a computation has no end; there may be more" in lines_of(figure)


def test_pages_pictures_and_logs_say_so(part: pi.CompileRecord, tmp_path: Path):
    part.to_html(tmp_path / "page.html")
    part.to_svg(tmp_path / "picture.svg")
    assert (tmp_path / "page.html").read_text().count("Incomplete program") >= 2
    assert "Incomplete program: a computation has no end." in (tmp_path / "picture.svg").read_text()
    shown = lines_of(pi.Log([part]).show())
    assert "#0 step incomplete: a computation has no end" in shown


def test_a_program_without_its_entry_is_not_said_to_communicate_nothing(tmp_path: Path):
    text = fixtures.text(NAME)
    shown = lines_of(opened(text[: text.index("\nENTRY")], tmp_path))
    assert "Incomplete program: its entry computation is missing. No collectives in the part that is there" in shown
    assert "; how many there are is unknown." in shown
    assert "do not communicate" not in shown
    text = fixtures.text("collective_matmul.v5e_2x4")
    shown = lines_of(opened(text[: text.index("\nENTRY")], tmp_path))
    assert "collectives in the part that is there; how many run is unknown." in shown


def test_a_complete_program_is_shown_as_ever(tmp_path: Path):
    shown = lines_of(opened(fixtures.text(NAME), tmp_path))
    assert "Incomplete" not in shown
    assert "the part that is there" not in shown


def test_no_table_of_a_part_says_that_there_are_none(tmp_path: Path):
    text = fixtures.text("mlp_step.cpu_8")
    record = opened(text[: text.index("\nENTRY")], tmp_path)
    lacks = "incomplete program: its entry computation is missing"
    assert lines_of(record.collectives) == f"{lacks}; no collectives in the part that is there"
    assert lines_of(record.callbacks) == f"{lacks}; no host callbacks in the part that is there"
    assert lines_of(record.fusions).startswith("no fused kernels; ")
    assert lines_of(record.fusions).endswith(" instructions in the part that is there")
    assert repr(record.collectives) == "CollectiveTable(0 collectives; the program is incomplete)"


def test_findings_of_a_part_are_unknown(part: pi.CompileRecord):
    findings = part.findings
    assert len(findings) == 0
    assert findings.missing == "the program is incomplete: a computation has no end"
    words = "What to change is not known: the program is incomplete: a computation has no end"
    assert lines_of(part.advice).endswith(words)
    assert repr(findings) == "AdviceTable(unknown: the program is incomplete: a computation has no end)"


def test_tables_of_a_record_without_a_program_are_unknown(part: pi.CompileRecord):
    record = pi.CompileRecord(replace(part.data, hlo=None, missing={"hlo": "the log let go of it"}))
    for table, what in (
        (record.collectives, "collectives"),
        (record.fusions, "fused kernels"),
        (record.callbacks, "host callbacks"),
    ):
        assert lines_of(table) == f"{what} unknown: the log let go of it"
        assert repr(table).endswith("; there is no optimized program)")


def test_findings_of_a_file_say_that_no_remedy_was_tried(tmp_path: Path):
    findings = opened(fixtures.text(NAME), tmp_path).findings
    assert findings.missing == "the record is from a file"
    assert lines_of(findings).endswith("the record is from a file")


def test_the_inspector_does_not_say_that_devices_do_not_communicate(tmp_path: Path):
    text = fixtures.text("mlp_step.cpu_8")
    record = opened(text[: text.index("\nENTRY")], tmp_path)
    header, _ = read_blob(inspector_payload(InspectorInput(report=record.report)).blob)
    lacks = "Incomplete program: its entry computation is missing; nothing of the kind in the part that is there."
    assert header["missing"]["hlo"] == lacks
    # The totals say it, too, and in a complete program nothing.
    assert first_of(record)["unsent"] == "What is sent is unknown."
    assert "unsent" not in first_of(opened(text, tmp_path))


def test_a_ledger_says_which_seconds_are_unknown(part: pi.CompileRecord):
    shown = lines_of(pi.ledger(pi.Log([part])))
    assert "1 compile of your functions, from 1 call site, seconds unknown" in shown
    assert "0.0 ms" not in shown
    assert "measured" not in shown
    timed = pi.CompileRecord(replace(part.data, timings=replace(part.data.timings, compile_s=2.0)))
    shown = lines_of(pi.ledger(pi.Log([part, timed])))
    assert "2.0 s in all (trace 0.0 ms, lower 0.0 ms, XLA 2.0 s); those of 1 compile are unknown" in shown
