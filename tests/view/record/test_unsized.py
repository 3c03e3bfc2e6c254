"""A collective of unknown bytes: they are None, never 0, and every sum over it is said to be a least one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_fixtures import opened
from data.hlo_texts import encode_hlo_text

import pjit_inspect as pi
from pjit_inspect.analyze.collectives.traffic import find_link_traffic
from pjit_inspect.cli import main
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData

NAME = "mlp_step.cpu_8"
GROUPS = re.compile(r"replica_groups=(?:\{\{.*?\}\}|mesh\[.*?\] \{.*?\})")


def with_groups(groups: str) -> Callable[[str], str]:
    return lambda text: GROUPS.sub(f"replica_groups={groups}", text)


IMPOSSIBLE = {
    "no permutation": with_groups("[4,2]<=[2,2,2]T(2,2,9)"),
    "too many devices": with_groups("[1000000000,1000000000]<=[1000000000000000000]"),
    "no groups": with_groups("what"),
    "other devices": with_groups("{{0,99999999999}}"),
}


def lines_of(shown: object) -> str:
    return " ".join(str(shown).split())


@pytest.mark.parametrize("damage", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_bytes_are_unknown_where_groups_are_impossible(damage: Callable[[str], str], tmp_path: Path):
    text = damage(fixtures.text(NAME))
    assert text != fixtures.text(NAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record = opened(text, tmp_path)
        shown = lines_of(record)
        findings = record.findings
    # Permutes have pairs instead.
    rows = [row for row in record.collectives if row.kind != "collective-permute"]
    assert {(row.wire_bytes, row.sent_bytes, row.global_bytes) for row in rows} == {(None,) * 3}
    assert all(row.payload_bytes for row in rows)
    lacks = f"the bytes of {len(rows)} of its collectives are unknown"
    assert f"Incomplete program: {lacks}. At least " in shown
    assert "sends 0 B" not in shown
    assert record.data.missing["hlo"] == f"incomplete: {lacks}"
    assert findings.missing == f"the program is incomplete: {lacks}"
    assert find_link_traffic(record.collectives).left_out == len(rows)


def test_the_same_from_a_proto():
    text = IMPOSSIBLE["no permutation"](fixtures.text(NAME))
    record = pi.CompileRecord(RecordData(name="f", hlo=Blob(encode_hlo_text(text))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Incomplete program: the bytes of " in lines_of(record)
    assert {row.wire_bytes for row in record.collectives if row.kind != "collective-permute"} == {None}


def test_the_payload_is_unknown_where_the_size_of_one_array_is(tmp_path: Path):
    text = fixtures.text("transformer_step.cpu_8")
    whole = opened(text, tmp_path)
    combined = next(row for row in whole.collectives if row.operands > 1)
    instruction = whole.hlo.find(combined.instructions[0])
    operand = instruction.operands[0]
    start = text.index(f"%{operand.name} = ")
    end = text.index(" ", start + len(f"%{operand.name} = "))
    line = f"%{operand.name} = f32[99999999999999999999,16]{{1,0}}"
    record = opened(text[:start] + line + text[end:], tmp_path)
    row = next(row for row in record.collectives if row.instructions == combined.instructions)
    assert (row.payload_bytes, row.wire_bytes, row.sent_bytes) == (None, None, None)
    others = sum(row.sent_bytes or 0 for row in record.collectives)
    assert 0 < others < sum(row.sent_bytes or 0 for row in whole.collectives)
    shown = lines_of(record)
    assert "Incomplete program: the bytes of 1 of its collectives are unknown. At least " in shown
    assert "sends unknown" in shown
    assert "each device sends at least " in shown
    assert sum(total.is_payload_least for total in record.report.totals) == 1


def test_all_devices_of_unknown_number_send_an_unknown_amount(tmp_path: Path):
    text = (
        "HloModule m\n\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
        "  ROOT %c = f32[] add(%a, %b)\n}\n\nENTRY %e (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  ROOT %r = f32[8]{0} all-reduce(%p), replica_groups={}, to_apply=%add\n}\n"
    )
    (row,) = opened(text, tmp_path).collectives
    assert (row.payload_bytes, row.wire_bytes) == (32, None)
    (row,) = opened(text.replace("HloModule m", "HloModule m, num_partitions=1, replica_count=4"), tmp_path).collectives
    assert (row.payload_bytes, row.wire_bytes) == (32, 48)


def test_every_view_can_be_made_and_the_exit_code_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "step.hlo"
    path.write_text(IMPOSSIBLE["too many devices"](fixtures.text(NAME)))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html"), "--text"]) == 3
    assert "the bytes of " in capsys.readouterr().err
    assert "Incomplete program" in (tmp_path / "page.html").read_text()
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    for shown in (record.explain(), record.collectives, record.figures.axis_totals, record.figures.traffic):
        assert lines_of(shown)
    assert "the program before is incomplete: the bytes of " in lines_of(pi.diff(record, record))
