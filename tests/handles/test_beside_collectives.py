"""Displays of several programs tell communication that is no HLO collective: none says that nothing is sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import pjit_inspect as pi
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import write_record

SENDS = 'custom-call(p), custom_call_target="__nccl_all_reduce"'
WORDS = "1 instruction communicates (__nccl_all_reduce; bytes unknown)"
NOTHING = ("nothing is sent", "there are no collectives", "do not communicate")


def opened(folder: Path, line: str) -> pi.CompileRecord:
    path = folder / "one.hlo"
    path.write_text(
        "HloModule jit_step, num_partitions=8\n\nENTRY m {\n  p = f32[8]{0} parameter(0), sharding={devices=[8]<=[8]}\n"
        f"  ROOT a = f32[8]{{0}} {line}\n}}\n"
    )
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    return record


@pytest.fixture
def kernel(tmp_path: Path) -> pi.CompileRecord:
    return opened(tmp_path, SENDS)


def words(shown: object) -> str:
    return " ".join(str(shown).split())


def test_a_diff_of_a_program_with_another_says_in_what_they_differ(kernel: pi.CompileRecord, tmp_path: Path):
    found = pi.diff(kernel, opened(tmp_path, "copy(p)"))
    assert found
    shown = words(found)
    assert f"beside HLO collectives, {WORDS} before and nothing does after" in shown
    assert f"beside the HLO collectives before, {WORDS}: that is in no figure" in shown
    assert "at least 0" in shown
    assert not any(one in shown.lower() for one in NOTHING)


def test_a_diff_of_a_program_with_itself_tells_it_too(kernel: pi.CompileRecord):
    found = pi.diff(kernel, kernel)
    assert found.is_empty
    assert words(found).count(WORDS) == 2


def test_the_page_of_a_diff_does_not_say_that_nothing_is_sent(kernel: pi.CompileRecord, tmp_path: Path):
    pi.diff(kernel, kernel).to_html(tmp_path / "diff.html")
    page = (tmp_path / "diff.html").read_text()
    assert '"unsent":"What is sent is unknown."' in page.replace('": "', '":"')


def test_a_merge_says_it_and_knows_no_bytes_between_hosts(kernel: pi.CompileRecord, tmp_path: Path):
    devices = tuple(Device(id=process, process=process, kind="cpu", platform="cpu") for process in range(2))
    data: RecordData = replace(kernel.data, devices=devices, process_count=2)
    for process in range(2):
        write_record(replace(data, process_index=process), tmp_path / f"{process}.pjit")
    found = pi.merge([tmp_path / "0.pjit", tmp_path / "1.pjit"])
    (program,) = found.programs
    assert (program.collectives, program.host_bytes, program.beside) == (0, None, WORDS)
    assert f"#0 step: beside HLO collectives, {WORDS}" in words(found)


def test_a_log_does_not_count_none(kernel: pi.CompileRecord):
    (row,) = [line for line in str(pi.Log([kernel])).splitlines() if line.split()[:2] == ["0", "step"]]
    assert row.split()[-2:] == ["-", "unknown"]
