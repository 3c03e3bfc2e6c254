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


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict:
    pytest.importorskip("ipyparallel", reason="ipyparallel is not installed: pip install ipyparallel")
    folder = tmp_path_factory.mktemp("px")
    script = Path(__file__).with_name("px_cells.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(free_port())],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_extension_loads_in_every_engine_and_shows_what_each_compiled(seen: dict):
    for engine in (0, 1):
        assert f"[output:{engine}]\n%pjit is on" in seen["shown"]["on"]
        assert f"[output:{engine}]\ntotal  jit  called at In [5]:1" in seen["shown"]["run"]
    assert seen["shown"]["run"].count("4 cpu devices in 2\n  processes") == 2
    assert seen["shown"]["run"].count("data, cross-host") == 2


def test_what_the_engines_saved_is_merged_and_the_odd_one_named_with_its_cell(seen: dict):
    assert seen["cell"] == "In [6]"
    assert seen["difference"] == "process 1 compiled `<lambda>` (In [6]:3) at the end, which no other process did"
