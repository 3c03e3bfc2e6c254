"""`what_if` of a record that was loaded from a file: as of the live one, in a process apart, which may die."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.asked import copies
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData


@pytest.fixture(scope="module")
def live() -> pi.CompileRecord:
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))

    def of(rows: int, columns: int, *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((rows, columns), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    return pi.inspect(
        jax.jit(lambda x, w, v: jnp.tanh(x @ w) @ v), of(64, 32, "data"), of(32, 64, None, "model"), of(64, 32, "model")
    )


@pytest.fixture
def loaded(live: pi.CompileRecord, tmp_path: Path) -> pi.CompileRecord:
    live.save(tmp_path / "own.pjit")
    return pi.load(tmp_path / "own.pjit")


def facts(record: pi.CompileRecord) -> list[tuple[object, ...]]:
    return [(own.kind, own.axes, own.payload_bytes, own.cause.kind) for own in record.collectives]


def test_it_is_what_the_live_record_would_be(live: pi.CompileRecord, loaded: pi.CompileRecord) -> None:
    asked = {"mesh": {"data": 4, "model": 4}, "specs": {"x": PartitionSpec("data")}}
    there, here = loaded.what_if(**asked), live.what_if(**asked)
    # One sum over `model`, of 64 / 4 x 32 float32.
    assert facts(there) == facts(here) == [("all-reduce", ("model",), 2048, "contraction")]
    shown = str(there.show("text", times=False))
    # That changes can still be asked about is said only where the program can be compiled again.
    own = str(here.show("text", times=False)).splitlines()
    assert shown.splitlines() == [line for line in own if not line.startswith("What to change (not asked yet")]
    assert "what if: mesh data=4 x model=4" in shown
    assert facts(there.what_if(mesh={"data": 2, "model": 2})) == [("all-reduce", ("model",), 4096, "contraction")]


def test_a_refusal_is_the_same_error(loaded: pi.CompileRecord) -> None:
    with pytest.raises(ChangeError, match="2 dimensions do not divide"):
        loaded.what_if(mesh={"data": 1, "model": 48})


def test_a_damaged_program_costs_a_process_and_not_this_one(loaded: pi.CompileRecord) -> None:
    stablehlo = loaded.data.stablehlo
    assert stablehlo is not None
    damaged = pi.CompileRecord(replace(loaded.data, stablehlo=Blob(stablehlo.read()[: len(stablehlo.read()) // 2])))
    with pytest.raises(CaptureError):
        damaged.what_if(mesh={"data": 4, "model": 4})


def test_a_process_that_cannot_start_is_told_of(loaded: pi.CompileRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    copies.what_if_channel.end()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(CaptureError, match="reads the program from its file cannot be started: this program is an app"):
        loaded.what_if(mesh={"data": 4, "model": 4})


def test_a_record_without_stablehlo_is_refused() -> None:
    with pytest.raises(ChangeError, match="no program before optimization"):
        pi.CompileRecord(RecordData(name="f")).what_if(mesh={"data": 4})


def test_no_folder_is_left(loaded: pi.CompileRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "temporary"
    home.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(home))
    loaded.what_if(mesh={"data": 4, "model": 2})
    assert [path.name for path in home.iterdir() if not path.name.startswith("pjit_inspect_partitioner_")] == []
