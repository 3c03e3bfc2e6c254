"""The dry run of `scripts/on_a_gpu`: what it would run is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_dry_run_says_what_would_be_run():
    command = [sys.executable, str(ROOT / "scripts" / "on_a_gpu"), "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    gpu, tests, page = done.stdout.splitlines()
    assert gpu.startswith("GPU: ")
    assert tests == "-m pytest --gpu tests/gpu -q"
    assert page == "scripts/versions.py --page"
    assert all((ROOT / path).exists() for path in ("tests/gpu", "scripts/versions.py"))
