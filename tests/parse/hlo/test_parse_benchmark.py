"""The benchmark of reading still runs; what it prints here means nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from data import hlo_fixtures as fixtures

ROOT = Path(__file__).parents[3]


def test_the_benchmark_of_reading_counts_the_same_instructions_as_xla():
    fixtures.xla_parser()
    command = [sys.executable, str(ROOT / "benchmarks" / "parse.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    counts = dict(re.findall(r"^(ours|upb|XLA) +[\d.]+ +[\d.]+ +([\d,]+)$", done.stdout, flags=re.M))
    # These are counted, not timed.
    assert counts == dict.fromkeys(("ours", "upb", "XLA"), "5,251")
    assert re.search(r"^31,506 instructions", done.stdout, flags=re.M)
