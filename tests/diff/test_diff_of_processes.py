"""Records of other processes compared: a golden file of an earlier session, and two processes of one run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from causes.meshes import array
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.parse.files.record_file import write_record

SESSION = """
# An earlier session: the same function, in another file, at other lines, with other names.
import sys, jax, jax.numpy as jnp
from causes.meshes import array
import pjit_inspect as pi

def step(x, w):
    # the product over `model`
    product = x @ w
    return jnp.tanh(product)

pi.inspect(jax.jit(step), array((64, 256), "data", "model"), array((256, 512), "model", None)).save(sys.argv[1])
"""


def step(x, w):
    y = x @ w
    return jnp.tanh(y)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    (folder / "session.py").write_text(SESSION)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(folder / "session.py"), str(folder / "step.pjit")]
    subprocess.run(command, env=environment, check=True, timeout=240)
    return folder / "step.pjit"


def test_a_record_does_not_differ_from_its_golden_of_another_session(golden: Path):
    record = pi.inspect(jax.jit(step), array((64, 256), "data", "model"), array((256, 512), "model", None))
    diff = pi.diff(pi.load(golden), record)
    assert diff.is_empty, str(diff)
    assert str(diff.sentence).startswith("nothing differs: 1 collective, ")


def test_an_edit_is_told_against_the_golden(golden: Path):
    record = pi.inspect(jax.jit(step), array((64, 256), "data", None), array((256, 512), None, "model"))
    diff = pi.diff(pi.load(golden), record)
    assert "1 -> 0 collectives" in str(diff.sentence)
    assert "1 all-reduce over `model` is gone because" in str(diff.sentence)
    assert "`w` is `P(None, 'model')`, was `P('model', None)`" in str(diff.sentence)


@pytest.mark.parametrize("name", ["total.version_2.pjit", "mlp.before_xla_was_asked.pjit"])
def test_a_golden_of_an_earlier_version_of_this_package_is_compared(name: str):
    golden, again = (pi.load(fixtures.HERE / name) for _ in range(2))
    assert pi.diff(golden, again).is_empty


def test_two_processes_of_one_run_differ_in_nothing_but_their_number(golden: Path, tmp_path: Path):
    data = pi.load(golden).data
    devices = tuple(replace(device, process=device.id // 4) for device in data.devices)
    for process in range(2):
        own = replace(data, process_index=process, process_count=2, devices=devices)
        write_record(own, tmp_path / f"{process}.pjit")
    records = [pi.load(tmp_path / f"{process}.pjit") for process in range(2)]
    assert [record.data.process_index for record in records] == [0, 1]
    assert pi.diff(*records).is_empty
