"""Profiles that `jax.profiler` left, opened: which program ran how long, and the saved record that it is of."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.errors import ParseError

GPU = Path(fixtures.__file__).parent / "gpu"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one profile: five calls of a loop, two of another program."""

    def looped(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda carry, _: (jnp.tanh(carry + 1), None), x, None, length=7)[0]

    folder = tmp_path_factory.mktemp("log")
    loop, other, x = jax.jit(looped), jax.jit(lambda x: x * 3), jnp.ones((64, 64))
    jax.block_until_ready((loop(x), other(x)))
    with jax.profiler.trace(str(folder)):
        for _ in range(5):
            jax.block_until_ready(loop(x))
        jax.block_until_ready((other(x), other(x)))
    pi.inspect(loop, x).save(folder / "loop.pjit")
    return folder


def opened(path: Path) -> pi.Log:
    log = pi.open(path)
    assert isinstance(log, pi.Log)
    return log


def test_every_program_that_ran_has_its_times(logdir: Path):
    log = opened(logdir)
    assert (
        set(log.names()) == {"looped", "<lambda>"}
        or set(log.names()) == {"looped", "lambda"}
        or "looped" in log.names()
    )
    times = log["looped"].kernel_times
    assert times is not None
    assert (times.calls, times.left_out, times.devices) == (4, 0, 1)
    if jax.__version_info__ >= (0, 12):
        # The CPU of newer XLA measures neither this loop nor what is in it.
        return
    (loop,) = [row for row in times if row.opcode == "while"]
    assert loop.runs_per_call == 1
    assert any(row.runs_per_call == 7 for row in times)
    assert 0 < loop.slowest_us <= times.call_us


def test_a_saved_record_beside_it_gets_the_times_and_keeps_what_it_knows(logdir: Path):
    record = opened(logdir)["looped"]
    assert record.data.inputs == pi.load(logdir / "loop.pjit").data.inputs
    assert record.mesh is None
    assert "measured" in str(record)
    (file,) = logdir.rglob("*.xplane.pb")
    alone = opened(file)["looped"]
    assert alone.kernel_times == record.kernel_times
    assert (alone.data.defined_at, record.data.defined_at is None) == (None, False)


def test_it_needs_no_jax(logdir: Path):
    code = (
        "import sys, pjit_inspect as pi; print(pi.open(sys.argv[1])['looped'].kernel_times.calls, 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(logdir)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["4", "False"], done.stderr


@pytest.mark.parametrize("name", ["mlp", "train_step", "decode"])
def test_a_profile_of_a_gpu_says_what_was_measured_there(name: str, tmp_path: Path):
    (tmp_path / "host.xplane.pb").write_bytes(gzip.decompress((GPU / f"{name}.nvidia_h200.xplane.pb.gz").read_bytes()))
    measured = fixtures.measured_on_h200(name)
    found = [record for record in opened(tmp_path) if record.name == measured.name]
    assert measured.kernel_times in [record.kernel_times for record in found]


def test_the_newest_run_of_a_folder_is_read_and_each_process_of_it(logdir: Path, tmp_path: Path):
    (file,) = logdir.rglob("*.xplane.pb")
    for run, host in (("2026_01_01", "a"), ("2026_01_02", "a"), ("2026_01_02", "b")):
        place = tmp_path / "plugins" / "profile" / run
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{host}.xplane.pb").write_bytes(file.read_bytes() if run.endswith("2") else b"old")
    assert [record.name for record in opened(tmp_path)].count("looped") == 2


def test_a_damaged_profile_is_refused_by_name(logdir: Path, tmp_path: Path):
    (file,) = logdir.rglob("*.xplane.pb")
    content = file.read_bytes()
    (tmp_path / "cut.xplane.pb").write_bytes(content[: len(content) // 2])
    with pytest.raises(ParseError, match=r"cut\.xplane\.pb"):
        pi.open(tmp_path / "cut.xplane.pb")
    (tmp_path / "cut.xplane.pb").write_bytes(b"HloModule m")
    with pytest.raises(ParseError):
        pi.open(tmp_path)
