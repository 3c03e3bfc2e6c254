"""Measured times survive their file; damaged and hostile ones are refused with the place."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes, UnknownTime
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files import record_file
from pjit_inspect.parse.files.json_entries import read_times, times_bytes
from pjit_inspect.parse.wire.clean import cleaned

TIMES = KernelTimes(
    calls=3,
    left_out=1,
    warm_up_us=90_000.0,
    devices=8,
    call_us=41_200.5,
    mean_call_us=40_000,
    rows=(
        KernelTime(instruction="while.2", opcode="while", slowest_us=30_000.25, mean_us=20_000),
        KernelTime(instruction="fusion.\ud800", opcode="fusion", runs_per_call=0.5, slowest_us=0, mean_us=0),
    ),
    unknown=(UnknownTime(instruction="sort.3", opcode="sort", why="seen twice"),),
)


def changed(change) -> bytes:
    body = json.loads(times_bytes(TIMES))
    change(body)
    return json.dumps(body).encode()


def test_times_read_back_are_the_same():
    assert read_times(times_bytes(TIMES), "t") == TIMES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.update(calls=0), r"t: \$ is not a valid KernelTimes: 0 calls on 8 devices"),
        (lambda b: b.update(devices=-2), "on -2 devices"),
        (lambda b: b.update(left_out=-1), "-1 left out"),
        (lambda b: b.update(call_us="nan"), "the time of a call is finite and not negative"),
        (lambda b: b.update(mean_call_us="inf"), "the time of a call is finite and not negative"),
        (lambda b: b.update(calls=1.5), r"t: \$\.calls is 1\.5 \(expected an integer\)"),
        (lambda b: b["rows"][0].update(slowest_us=-1), r"t: \$\.rows\[0\] is not a valid KernelTime"),
        (lambda b: b["rows"][1].update(mean_us="inf"), r"t: \$\.rows\[1\] is not a valid KernelTime"),
        (lambda b: b["rows"][1].update(instruction=5), r"t: \$\.rows\[1\]\.instruction is 5"),
        (lambda b: b["rows"][0].pop("mean_us"), r"t: \$\.rows\[0\] has no field 'mean_us'"),
        (lambda b: b.update(draw="print"), r"t: \$ has the unknown field \"draw\"|'draw'"),
        (lambda b: b.update(rows={}), r"t: \$\.rows is an object"),
    ],
)
def test_times_of_the_wrong_shape_are_refused_with_their_path(change, message):
    with pytest.raises(ParseError, match=message):
        read_times(changed(change), "t")


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"[]", b"null", b'{"calls": ' + b"9" * 5000 + b"}"])
def test_what_is_no_json_of_times_is_refused(content):
    with pytest.raises(ParseError, match=r"^t"):
        read_times(content, "t")


def saved(data: RecordData) -> io.BytesIO:
    file = io.BytesIO()
    record_file.write_record(data, file)
    return file


def test_a_record_with_times_has_an_entry_for_them_and_one_without_has_none():
    with_times = RecordData(name="f", kernel_times=TIMES)
    file = saved(with_times)
    assert record_file.read_record(file) == cleaned(with_times)
    assert sorted(zipfile.ZipFile(file).namelist()) == ["record.json", "times.json"]
    assert zipfile.ZipFile(saved(RecordData(name="f"))).namelist() == ["record.json"]


def test_times_too_large_for_the_format_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record_file, "_MAX_JSON_BYTES", len(times_bytes(TIMES)) - 1)
    monkeypatch.setattr(record_file, "_check_writable", lambda _: None)
    file = saved(RecordData(name="f", kernel_times=TIMES))
    monkeypatch.undo()
    found = record_file.read_record(file)
    assert found.kernel_times is None
    assert found.missing["kernel_times"] == f"too large to save: {len(times_bytes(TIMES))} bytes"


def test_a_file_that_lost_its_times_is_damaged():
    whole = zipfile.ZipFile(saved(RecordData(name="f", kernel_times=TIMES)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("record.json", whole.read("record.json"))
    with pytest.raises(ParseError, match=r"no times\.json, which record\.json lists"):
        record_file.read_record(file)
