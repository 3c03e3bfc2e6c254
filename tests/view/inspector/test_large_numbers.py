"""Numbers that a file chose reach the inspector as they are, or there is the still display: never an error."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.inspector.blob import whole_numbers


def data_with(first_id: int) -> RecordData:
    ids = tuple(range(first_id, first_id + 8))
    mesh = replace(fixtures.MESH, device_ids=ids)
    rows = Sharding(spec=("data", None), tiles=(2, 1), device_ids=ids, tile_of=(0, 0, 0, 0, 1, 1, 1, 1))
    layout = ArrayLayout(path="x", dtype="float32", global_shape=(16, 32), sharding=rows)
    devices, arrays = tuple(Device(id=k, platform="cpu", kind="cpu") for k in ids), (layout,)
    hlo = Blob(fixtures.proto("mlp_step.cpu_8"))
    return RecordData(name="f", mesh=mesh, meshes=(mesh,), devices=devices, inputs=arrays, outputs=arrays, hlo=hlo)


def test_a_column_is_as_wide_as_its_numbers():
    assert whole_numbers([]).dtype == np.int32
    assert whole_numbers([2**31 - 1, -(2**31) + 1]).dtype == np.int32
    for number in (2**31, 2**53, -(2**53)):
        column = whole_numbers([1, number])
        assert column.dtype == np.float64
        assert column.tolist() == [1, number]
    with pytest.raises(ValueError, match="more than a browser can hold"):
        whole_numbers([2**53 + 1])


@pytest.mark.parametrize("first_id", [0, 2**31 - 3, 2**31, 2**40])
def test_pages_of_any_device_ids_are_interactive(first_id: int, tmp_path: Path):
    pi.CompileRecord(data_with(first_id)).to_html(tmp_path / "page.html")
    assert 'id="pjit-blob"' in (tmp_path / "page.html").read_text()


@pytest.mark.filterwarnings("ignore:pjit_inspect could not make")
def test_without_an_inspector_every_display_is_the_still_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "_warned", set())
    record = pi.CompileRecord(data_with(2**62))
    record.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "data=2" in str(record)
    assert "the interactive inspector of this record could not be made" in page
    assert "<iframe" not in record.show()._repr_mimebundle_()["text/html"]
    assert str(record.show("widget")) == str(record.show())


@pytest.mark.filterwarnings("ignore:pjit_inspect could not make")
def test_where_only_the_hlo_is_damaged_the_page_has_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "_warned", set())
    record = pi.CompileRecord(replace(data_with(0), hlo=Blob(b"\xff" * 50), compiler_log=""))
    record.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert 'id="pjit-blob"' in page
    assert "Collectives unknown" in page
    assert "<iframe" in record.show()._repr_mimebundle_()["text/html"]
    assert record.warnings == ()


@pytest.mark.parametrize("number", [2**21, 2**31, 2**40, 2**63 - 1])
def test_groups_with_devices_that_no_machine_has_are_unknown(number: int, tmp_path: Path):
    # The inspector draws all positions up to the largest: 2**31 of them took all memory.
    text, path = fixtures.text("mlp_step.cpu_8"), tmp_path / "step.hlo"
    path.write_text(re.sub(r"replica_groups=.*?, use", f"replica_groups={{{{0,{number}}}}}, use", text))
    record = pi.open(path)
    assert {row.groups for row in record.collectives} == {()}
    record.to_html(tmp_path / "page.html")


@pytest.mark.parametrize("pairs", ["{{0,2147483648}}", "{{0,999999999}}", '"nonsense"'])
def test_a_send_whose_devices_cannot_be_read_is_still_a_permute(pairs: str, tmp_path: Path):
    text, path = fixtures.text("permute_ring.h100_1x1x8"), tmp_path / "step.hlo"
    path.write_text(re.sub(r"(source_target_pairs)=\{\{.*?\}\}", rf"\1={pairs}", text))
    record = pi.open(path)
    assert {row.kind for row in record.collectives} == {"collective-permute"}
    record.to_html(tmp_path / "page.html")
