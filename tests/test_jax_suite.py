"""`scripts/jax-suite` finds what it is for, on a few small tests. Those of JAX itself take an hour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CALM = """
import unittest
import jax

class Calm(unittest.TestCase):
    def test_a_sum(self):
        self.assertEqual(jax.jit(lambda a: a + 1)(1), 2)

    def test_skipped(self):
        self.skipTest("never")

    def test_failing_either_way(self):
        self.fail("as ever")
"""

TOUCHY = """
import unittest
import jax
import pjit_inspect.handles.displays as displays
from jax._src import monitoring

def fail(*_, **__):
    raise ValueError("at 0x12")

displays.explain_view = fail

class Touchy(unittest.TestCase):
    def test_alone(self):
        self.assertEqual(len(monitoring.get_event_duration_listeners()), 0, "somebody listens")

    def test_clears(self):
        monitoring.clear_event_listeners()

    def test_compiles_after_that(self):
        jax.jit(lambda a: a + 2)(1)
"""


def suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "jax_suite.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jax")
    (folder / "tests").mkdir()
    (folder / "tests" / "calm_test.py").write_text(CALM, encoding="utf-8")
    (folder / "tests" / "touchy_test.py").write_text(TOUCHY, encoding="utf-8")
    # A folder of this name must not be taken for the installed JAX.
    (folder / "jax").mkdir()
    (folder / "jax" / "version.py").write_text('_version = "0.0.1"\n', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def printed(checkout: Path) -> subprocess.CompletedProcess[str]:
    return suite(str(checkout), "calm_test", "touchy_test", "--out", str(checkout / "out"))


def rows(printed: str) -> dict[str, list[str]]:
    lines = [line.split() for line in printed.splitlines()]
    return {line[0]: line[1:] for line in lines if line and line[0] in ("calm_test", "touchy_test", "all")}


def test_a_test_that_only_fails_when_watched_is_named_with_its_message(printed) -> None:
    assert printed.returncode == 1
    assert "touchy_test.py::Touchy::test_alone: passed, watched failed" in printed.stdout
    assert "somebody listens" in printed.stdout


def test_tests_are_counted_by_how_they_end_bare(printed) -> None:
    # file: tests, passed, skipped, failed, differing
    assert rows(printed.stdout)["calm_test"][:5] == ["3", "1", "1", "1", "0"]
    assert rows(printed.stdout)["touchy_test"][:5] == ["3", "3", "0", "0", "1"]
    assert rows(printed.stdout)["all"][:5] == ["6", "4", "1", "1", "1"]


def test_a_test_that_clears_the_listeners_is_named_and_watching_goes_on(printed) -> None:
    assert "touchy_test.py::Touchy::test_clears removes every listener of JAX, ours too" in printed.stdout
    # Its one program is compiled after the listeners were cleared.
    assert int(rows(printed.stdout)["touchy_test"][-2]) >= 1


def test_a_checkout_of_another_version_is_warned_of(printed) -> None:
    assert "warning: tests of another version fail for reasons of their own; use the tag jax-v" in printed.stdout


def test_options_after_two_dashes_go_to_pytest(checkout: Path) -> None:
    done = suite(str(checkout), "calm_test", "--out", str(checkout / "out2"), "--", "-k", "a_sum")
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(done.stdout)["all"][:5] == ["1", "1", "0", "0", "0"]
    assert "tests that end differently: none" in done.stdout
    assert "records that fail: none" in done.stdout


def test_a_record_that_cannot_be_shown_is_named_with_the_step(printed) -> None:
    records, faults = rows(printed.stdout)["touchy_test"][-2:]
    assert faults == records
    assert rows(printed.stdout)["calm_test"][-1] == "0"
    assert f"{faults} x explanation: touchy_test.py::" in printed.stdout
    assert "ValueError: at 0x12" in printed.stdout


def test_a_file_that_is_not_there_is_an_error(checkout: Path) -> None:
    done = suite(str(checkout), "no_such_test")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: there is no {checkout / 'tests' / 'no_such_test.py'}\n")


def test_calls_are_seen_and_records_left_alone_when_asked(checkout: Path) -> None:
    options = ("--calls", "--no-look", "--out", str(checkout / "calls"))
    printed = suite(*options, str(checkout), "touchy_test")
    assert "touchy_test.py::Touchy::test_alone: passed, watched failed" in printed.stdout
    assert "touchy_test.py::Touchy::test_clears removes every listener of JAX, ours too" in printed.stdout
    # What fails when a record is looked at does not occur.
    assert "records that fail: none" in printed.stdout
    assert int(rows(printed.stdout)["all"][-2]) >= 1
