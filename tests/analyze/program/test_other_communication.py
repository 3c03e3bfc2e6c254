"""What communicates and is no HLO collective is told, and nothing says that the devices do not communicate."""

from __future__ import annotations

from pathlib import Path

import pytest

import pjit_inspect as pi

SENDS = {
    "nccl": 'custom-call(p), custom_call_target="__nccl_all_reduce"',
    "pallas": 'custom-call(p), custom_call_target="tpu_custom_call", '
    'backend_config={"custom_call_config": {"body": "x", "has_communication": true}}',
    "mosaic gpu": 'custom-call(p), custom_call_target="mosaic_gpu_v2", backend_config="uses nvshmem"',
}
MAY = {"opcode": "frobnicate(p)", "target": 'custom-call(p), custom_call_target="mine"'}
NOT = {
    "copy": "copy(p)",
    "cublas": 'custom-call(p), custom_call_target="__cublas$gemm"',
    "pallas": 'custom-call(p), custom_call_target="tpu_custom_call", backend_config={"custom_call_config": {}}',
}


def opened(folder: Path, line: str, partitions: int = 8) -> pi.CompileRecord:
    path = folder / "one.hlo"
    path.write_text(
        f"HloModule c, num_partitions={partitions}\n\n"
        f"ENTRY m {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT a = f32[8]{{0}} {line}\n}}\n"
    )
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    return record


def said(record: pi.CompileRecord, folder: Path) -> str:
    record.to_html(folder / "page.html")
    shown = f"{record} {record.show('facts')} {record.collectives.show()!r} {record.figures.axis_totals!s}"
    return " ".join(shown.split())


@pytest.mark.parametrize("case", sorted(SENDS))
def test_a_call_that_communicates_is_told_with_bytes_unknown(tmp_path: Path, case: str):
    record = opened(tmp_path, SENDS[case])
    [other] = record.report.others
    assert (other.what, other.count) == ("sends", 1)
    words = said(record, tmp_path)
    assert "do not communicate" not in words
    assert "1 instruction communicates" in words
    assert "bytes unknown" in words


@pytest.mark.parametrize("case", sorted(MAY))
def test_what_nobody_knows_may_communicate(tmp_path: Path, case: str):
    words = said(opened(tmp_path, MAY[case]), tmp_path)
    assert "do not communicate" not in words
    assert "1 instruction may communicate" in words


@pytest.mark.parametrize("case", sorted(NOT))
def test_what_is_known_to_stay_on_its_device_is_silent(tmp_path: Path, case: str):
    record = opened(tmp_path, NOT[case])
    assert record.report.others == ()
    assert "the devices do not communicate" in said(record, tmp_path)


def test_on_one_device_nothing_communicates(tmp_path: Path):
    assert opened(tmp_path, SENDS["nccl"], partitions=1).report.others == ()
