"""Works from `%%px` cells, in the engines of a real ipyparallel cluster that run one program together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import free_port

TIMEOUT_S = 180


@pytest.fixture(scope="module", params=[2, 4])
def count(request: pytest.FixtureRequest) -> int:
    if request.param != 2 and not request.config.getoption("--all"):
        pytest.skip("four engines: scripts/test --all tests/distributed")
    return request.param


@pytest.fixture(scope="module")
def seen(count: int, tmp_path_factory: pytest.TempPathFactory) -> dict:
    pytest.importorskip("ipyparallel", reason="ipyparallel is not installed: pip install ipyparallel")
    folder = tmp_path_factory.mktemp(f"px_{count}")
    script = Path(__file__).with_name("px_cells.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(free_port()), str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_extension_loads_in_every_engine_and_shows_what_each_compiled(seen: dict, count: int):
    for engine in range(count):
        assert f"[output:{engine}]\n%pjit is on" in seen["shown"]["on"]
        assert f"[output:{engine}]\ntotal  jit  called at In [5]:1" in seen["shown"]["run"]
    shown = " ".join(seen["shown"]["run"].split())
    assert shown.count(f"{2 * count} cpu devices in {count} processes") == count
    assert shown.count("data, cross-host") == count


def test_what_the_engines_saved_is_merged_and_the_odd_one_named_with_its_cell(seen: dict):
    assert seen["cell"] == "In [6]"
    assert seen["difference"] == "process 1 compiled `<lambda>` (In [6]:3) at the end, which no other process did"
