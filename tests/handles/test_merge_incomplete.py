"""A merge says which optimized programs are there in part only, and concludes nothing from what they lack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import write_record

NAME = "transformer_step.cpu_8"
STABLEHLO = "module @step {\n  func.func public @main() {\n    return\n  }\n}\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RecordData:
    return opened(fixtures.text(NAME), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> RecordData:
    text = fixtures.text(NAME)
    return opened(text[: len(text) * 8 // 10], tmp_path_factory.mktemp("part"))


def opened(text: str, folder: Path) -> RecordData:
    (folder / "step.hlo").write_text(text)
    record = pi.open(folder / "step.hlo")
    assert isinstance(record, pi.CompileRecord)
    return record.data


def merged(folder: Path, *programs: RecordData, stablehlo: str | None = STABLEHLO) -> pi.Merged:
    """The merge of processes 0, 1, ... that compiled these for all of their devices."""
    devices = tuple(Device(id=process, process=process, kind="cpu", platform="cpu") for process in range(len(programs)))
    for process, data in enumerate(programs):
        given = {"process_index": process, "process_count": len(programs), "devices": devices}
        write_record(replace(data, **given, stablehlo_text=stablehlo), folder / f"{process}.pjit")
    return pi.merge(folder)


def lines_of(shown: object) -> str:
    return " ".join(str(shown).split())


def test_a_part_of_a_program_is_no_difference_between_processes(whole: RecordData, part: RecordData, tmp_path: Path):
    found = merged(tmp_path, whole, part)
    assert found.differences == ()
    (program,) = found.programs
    assert program.incomplete == ((1, "incomplete: a computation has no end"),)
    # What is counted is the complete one's.
    assert program.collectives == len(pi.CompileRecord(whole).collectives) == 51
    shown = lines_of(found)
    assert shown.startswith("2 processes agree on 1 shared program; what is incomplete was not compared ")
    note = "#0 step of process 1: incomplete: a computation has no end; its collectives were not compared"
    assert shown.count(note) == 1


def test_the_first_process_may_be_the_one_that_lacks_something(whole: RecordData, part: RecordData, tmp_path: Path):
    found = merged(tmp_path, part, whole, part)
    (program,) = found.programs
    assert [process for process, _ in program.incomplete] == [0, 2]
    assert program.collectives == 51
    assert found.differences == ()


def test_where_no_process_has_all_of_it_nothing_is_counted(part: RecordData, tmp_path: Path):
    found = merged(tmp_path, part, part)
    (program,) = found.programs
    assert [process for process, _ in program.incomplete] == [0, 1]
    assert program.collectives is None
    assert program.host_bytes is None


def test_a_program_that_cannot_be_read_does_not_end_the_merge(whole: RecordData, tmp_path: Path):
    damaged = replace(whole, hlo=Blob(b"\xff" * 99))
    found = merged(tmp_path, whole, damaged)
    (program,) = found.programs
    (process, why), *more = program.incomplete
    assert (process, why.startswith("unreadable: "), more) == (1, True, [])
    assert found.differences == ()
    assert "of process 1: unreadable: " in lines_of(found)


def test_without_its_stablehlo_a_part_of_a_program_is_left_out(whole: RecordData, part: RecordData, tmp_path: Path):
    found = merged(tmp_path, whole, whole, part, stablehlo=None)
    (note,) = found.notes
    assert note.startswith("left out: ")
    assert "2.pjit: its only program is incomplete: a computation has no end" in note


def test_of_complete_programs_nothing_is_said(whole: RecordData, tmp_path: Path):
    found = merged(tmp_path, whole, whole)
    assert found.programs[0].incomplete == ()
    assert lines_of(found).startswith("2 processes agree on 1 shared program # ")
