"""A week in one notebook: memory is bounded, nothing is left behind, and the log holds what its bound says.

In the normal run the week is short, and its bounds are low; `--all` lives a long one with the bounds that users have
(an hour), and one without this package beside it. The week itself is `week.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WEEK = Path(__file__).with_name("week.py")
SHORT = {
    "compiles": 300,
    "displays": 10,
    "reloads": 5,
    "interrupts": 5,
    "records": 60,
    "program_bytes": 100_000,
    "keys": 4,
    "points": 6,
}
LONG = {"compiles": 20_000, "displays": 500, "reloads": 200, "interrupts": 50, "points": 20}
MOST_RECORDS, MOST_PROGRAM_BYTES = 10_000, 1 << 30

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def live(folder: Path, *, watched: bool, **week: int) -> dict[str, Any]:
    """What a week leaves, lived in a process of its own whose temporary files all lie in `folder`."""
    done = subprocess.run(
        [sys.executable, str(WEEK), json.dumps({"watched": watched, **week})],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return live(tmp_path_factory.mktemp("short"), watched=True, **SHORT)


def assert_nothing_is_left(week: dict[str, Any]) -> None:
    assert week["after"].pop("processes") == []
    assert week["after"] == week["before"]


def test_everything_happened(short: dict[str, Any]):
    assert short["interrupted"] == SHORT["interrupts"]
    assert short["shown"] >= SHORT["displays"]
    last = short["points"][-1]
    assert last["records"] + last["dropped"] >= SHORT["compiles"] + SHORT["displays"]


def test_no_thread_descriptor_file_process_array_or_executable_is_left(short: dict[str, Any]):
    assert_nothing_is_left(short)


def test_the_log_never_holds_more_than_its_bound_says(short: dict[str, Any]):
    for point in short["points"]:
        assert point["records"] <= SHORT["records"]
        assert point["program_bytes"] <= SHORT["program_bytes"]
    assert short["points"][-1]["records"] == SHORT["records"]
    assert (short["cleared"]["records"], short["cleared"]["program_bytes"]) == (0, 0)


def test_once_the_bounds_are_reached_no_compile_leaves_an_object_of_ours(short: dict[str, Any]):
    points = {point["compiles"]: point["objects"] for point in short["points"]}
    # One object for each compile would be twice as many.
    assert points[300] - points[150] < 150 / 2


def test_after_a_long_week_memory_is_what_it_was_in_its_middle(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
):
    if not request.config.getoption("--all"):
        pytest.skip("20,000 compiles, twice: scripts/test --all tests/trust/test_long_life.py")
    watched = live(tmp_path_factory.mktemp("watched"), watched=True, **LONG)
    bare = live(tmp_path_factory.mktemp("bare"), watched=False, **LONG)
    record_property("watched", watched)
    record_property("bare", bare)
    assert watched["interrupted"] == bare["interrupted"] == LONG["interrupts"]
    assert_nothing_is_left(watched)
    for point in watched["points"]:
        assert point["records"] <= MOST_RECORDS
        assert point["program_bytes"] <= MOST_PROGRAM_BYTES
    assert watched["points"][-1]["records"] == MOST_RECORDS
    grown, grown_bare = (second_half(week) for week in (watched, bare))
    # A record takes 7 KB: those of 10,000 compiles would be 70 MB.
    assert grown - grown_bare < 50 << 20, (grown, grown_bare)


def second_half(week: dict[str, Any]) -> int:
    """By how many bytes the process grew in it."""
    middle = next(p for p in week["points"] if p["compiles"] == LONG["compiles"] // 2)
    return week["points"][-1]["resident"] - middle["resident"]
