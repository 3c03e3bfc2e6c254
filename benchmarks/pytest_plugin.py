"""What the pytest plugin costs a suite that does not use it: its import, and its hooks around each test.

    python benchmarks/pytest_plugin.py            # half a minute on 2 cores
    python benchmarks/pytest_plugin.py --quick    # a smoke test: the figures mean nothing

Target: at most 5 ms for a suite of a hundred tests.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins, which take longer

import pytest

IMPORT = """
import sys, time
import pytest
begin = time.perf_counter()
import pjit_inspect.testing.plugin
print(time.perf_counter() - begin)
assert "jax" not in sys.modules
"""
TESTS = 100


def import_s(runs: int) -> float:
    """Median seconds of the import, each in a process of its own, where pytest is imported already."""
    command = [sys.executable, "-c", IMPORT]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(runs)]
    return statistics.median(float(one.stdout) for one in done)


def suite_s(folder: Path, runs: int) -> tuple[float, float]:
    """Least seconds of a suite of empty tests without the plugin and with it, in turn."""
    (folder / "test_empty.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(TESTS)))
    found: tuple[list[float], list[float]] = [], []
    for _ in range(runs):
        for seconds, option in zip(found, ("no:pjit_inspect", "pjit_inspect.testing.plugin"), strict=True):
            arguments = [str(folder), "-q", "-p", "no:cacheprovider", "-p", option]
            begin = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                assert pytest.main(arguments) == 0
            seconds.append(time.perf_counter() - begin)
    return min(found[0]), min(found[1])


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        without, with_plugin = suite_s(Path(folder), 2 if quick else 30)
    hooks, own = with_plugin - without, import_s(2 if quick else 10)
    print(f"pytest {pytest.__version__}, {TESTS} tests that do not use the plugin")
    print(f"import: {own * 1e3:.2f} ms")
    print(f"hooks:  {hooks * 1e3:.2f} ms of {without * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
