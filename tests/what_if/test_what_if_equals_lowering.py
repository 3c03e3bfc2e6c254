"""A captured program that is changed has the collectives of the function built anew.

`scripts/what_if` builds the functions anew in processes of their own, in which the meshes have the other sizes. A part
of the programs and changes here; all of them, which takes many minutes, with `--all`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from what_if.resized import SIZES, devices_of, order_of, resized

SCRIPT = Path(__file__).parents[2] / "scripts" / "what_if"
SOME, ALL = ("x4,specs", 20), ("half,turned,x4,x32,specs", 1)
LEAST_EQUAL = {"specs": 0.8, "x4": 0.5}
"""Shapes of small programs do not divide on many devices: then neither side has a record."""


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    changes, every = ALL if request.config.getoption("--all") else SOME
    file = tmp_path_factory.mktemp("what_if") / "outcomes.json"
    command = [sys.executable, str(SCRIPT), "--changes", changes, "--every", str(every), "--save", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [row for rows in json.loads(file.read_text()).values() for row in rows.values()]


def test_no_changed_program_has_other_collectives_than_the_function_built_anew(outcomes: list[dict[str, Any]]) -> None:
    assert [(row["name"], row["change"], row["why"]) for row in outcomes if row["verdict"] == "differs"] == []


def test_most_programs_are_compared_and_not_refused(outcomes: list[dict[str, Any]]) -> None:
    programs = Counter(row["change"] for row in outcomes)
    assert min(programs.values()) >= 19
    equal = Counter(row["change"] for row in outcomes if row["verdict"] == "equal")
    assert {
        change: equal[change] / programs[change] >= least for change, least in LEAST_EQUAL.items()
    } == dict.fromkeys(LEAST_EQUAL, True)


def test_nothing_else_is_refused_than_what_the_function_itself_made_of_sizes_and_shardings(
    outcomes: list[dict[str, Any]],
) -> None:
    reasons = [row["why"] for row in outcomes if row["verdict"] == "refused by us only"]
    known = "`shard_map`", "meshes", "Explicit axes"
    assert [why for why in reasons if not any(words in why for words in known)] == []


def test_meshes_have_the_sizes_that_are_asked_for() -> None:
    axes = {"data": 2, "model": 4}
    sizes = {name: tuple(resized(axes, name).values()) for name in SIZES}
    assert sizes == {"same": (2, 4), "half": (2, 2), "turned": (4, 2), "x4": (4, 8), "x32": (16, 16)}
    assert tuple(resized({"a": 2, "b": 2, "c": 2}, "turned").values()) == (4, 2, 1)
    assert [devices_of(name) for name in SIZES] == [8, 8, 8, 32, 256]
    assert order_of([1, 0], {"x": 4}) == [1, 0, 3, 2]
