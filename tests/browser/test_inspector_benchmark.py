"""The inspector's benchmark still runs; what it prints here means nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def test_the_inspector_benchmark_runs_and_prints_every_figure(chromium: Any):
    command = [sys.executable, str(ROOT / "benchmarks" / "inspector.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    header, row = done.stdout.splitlines()[1:3]
    assert header.split()[-4:] == ["zoom", "ms", "scroll", "ms"]
    assert row.startswith("transformer_step.cpu_8")
    assert len(row.split()) == 12
    assert "mesh of 4,096 devices: open " in done.stdout
    assert "ten inspectors of transformer_step.cpu_8: " in done.stdout
