"""A function compiled in two environments and compared; the second stands in for another version of JAX."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from causes.meshes import LINE, array

import pjit_inspect as pi
from pjit_inspect.cli import main
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.upgrade import upgrade
from pjit_inspect.model.record.record import RecordData

_TRAIN = """\
import jax, jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def over(*spec):
    return NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P(*spec))

def small(x):
    return x + 1

def train_step(x, w):
    return (jnp.tanh(x @ w) ** 2).sum()

def run():
    x = jax.device_put(jnp.ones((8, 16)), over("x", None))
    jax.jit(small)(x)
    return jax.jit(jax.grad(train_step, 1))(x, jax.device_put(jnp.ones((16, 16)), over()))

def lowered():
    run()
    shape = jax.ShapeDtypeStruct((8, 16), jnp.float32, sharding=over("x", None))
    return jax.jit(small).lower(shape)

def nothing():
    return 3

broken = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(_TRAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(pi.__file__).parents[1]))
    return tmp_path


def test_the_largest_program_is_compared_and_the_others_are_named(folder: Path, capsys: pytest.CaptureFixture[str]):
    asked = ["upgrade", "train:run", "--python", sys.executable, "--devices", "4", "--json", "-o", "out.html"]
    assert main(asked) == 0
    printed, said = capsys.readouterr()
    found = json.loads(printed.removesuffix("wrote out.html\n"))
    assert (found["before"]["name"], found["before"]["devices"]) == ("train_step", "4 cpu devices")
    assert found["is_empty"] is True
    assert found["collectives"]["same"] == 1
    assert found["notes"] == ["`train_step` is the largest of 2 programs; --only picks another: `small`"]
    assert found["stages"] is None
    assert (folder / "out.html").read_text().startswith("<!DOCTYPE html>")
    assert said.count("compiling train:run in") == 2


def test_what_a_function_lowers_and_returns_is_what_was_meant(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["upgrade", "train:lowered", "--python", sys.executable, "--devices", "4"]) == 0
    assert capsys.readouterr().out.startswith("small  before")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("train", "'train' is no MODULE:FUNCTION, as in train:step"),
        ("train:broken", "train:broken is int, and no function"),
        ("train:missing", "train has no 'missing'"),
        ("train:nothing", "it compiled nothing; it must call a jitted function, or return one that it lowered"),
    ],
)
def test_what_gives_no_program_is_said(folder: Path, function: str, why: str, capsys: pytest.CaptureFixture[str]):
    assert main(["upgrade", function, "--python", sys.executable, "--devices", "2"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"pjit_inspect: {function} gave no program in {sys.executable}: {why}"
    )


def test_without_an_environment_it_says_how_to_name_one(capsys: pytest.CaptureFixture[str]):
    assert main(["upgrade", "train:run"]) == 1
    assert "--with jax==VERSION, or --python PATH" in capsys.readouterr().err


# ---------------------------------------------------------------- whose change it is


def made_by(version: str, function, *arguments) -> RecordData:
    record = pi.inspect(jax.jit(function), *arguments)
    data = replace(record.state.analyses.data, stablehlo_text=record.stablehlo)
    return replace(data, name="step", versions={**data.versions, "jax": version})


def compare(before: RecordData, after: RecordData, monkeypatch: pytest.MonkeyPatch) -> pi.Diff:
    sides = iter([(before,), (after,)])
    monkeypatch.setattr(upgrade, "compile_in", lambda *_, **__: next(sides))
    return upgrade.compare_upgrade("train:step", (), python=sys.executable)


def test_where_the_lowering_is_the_same_all_is_xlas(monkeypatch: pytest.MonkeyPatch):
    x = array((8, 16), "x", None, mesh=LINE)
    before, after = (made_by(version, lambda x: jnp.sin(x).sum(), x) for version in ("0.1", "0.2"))
    found = compare(before, after, monkeypatch)
    stages = found.data.stages
    assert stages is not None
    assert (stages.lowering.is_same, stages.by_xla, stages.by_jax, stages.missing) == (True, None, None, "")
    assert found.sentence == (
        "JAX 0.1 and 0.2 make the same program: the same collectives, kernels and memory; JAX's lowering is the same, "
        "too"
    )
    assert "JAX's lowering: the same 3 operations of StableHLO; all that differs is XLA's doing" in str(found)


def test_a_change_of_the_lowering_alone_is_proven_by_compiling_the_old_one_again(monkeypatch: pytest.MonkeyPatch):
    x = array((8, 16), "x", None, mesh=LINE)
    before = made_by("0.1", lambda x: jnp.sin(x).sum(), x)
    after = made_by("0.2", lambda x: (jnp.sin(x).sum(), jnp.cos(x).max()), x)
    found = compare(before, after, monkeypatch)
    stages = found.data.stages
    assert stages is not None
    assert stages.by_xla is not None
    assert stages.by_jax is not None
    assert stages.by_xla.is_same_program
    count = stages.by_jax.figure("collectives")
    assert (count.before, count.after) == (1, 2)
    assert "all of this is JAX's lowering (0 operations gone, " in found.sentence
    assert json.loads(found.to_json())["stages"]["by_xla"]["is_same_program"] is True


def test_a_program_of_other_devices_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch):
    x = array((8, 16), "x", None, mesh=LINE)
    before, after = made_by("0.1", jnp.sin, x), made_by("0.2", jnp.cos, x)
    devices = tuple(replace(device, platform="tpu") for device in before.devices)
    found = compare(replace(before, devices=devices), replace(after, devices=devices), monkeypatch)
    assert found.data.stages is not None
    assert found.data.stages.missing == "only programs for the CPU are compiled again"
    assert "what of this is XLA's is not known" in found.sentence


def test_programs_without_a_name_in_common_are_refused(monkeypatch: pytest.MonkeyPatch):
    x = array((8, 16), "x", None, mesh=LINE)
    before, after = made_by("0.1", jnp.sin, x), replace(made_by("0.2", jnp.cos, x), name="other")
    with pytest.raises(CaptureError, match="no program of one name in both environments; they compiled step; other"):
        compare(before, after, monkeypatch)
