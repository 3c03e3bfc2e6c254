"""`docs/versions.md` is what `scripts/test-versions` writes, and says of each version what is missing there."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_one"/>
<testcase classname="tests.a" name="test_two"><skipped message="no axes&#10;  here"/></testcase>
<testcase classname="tests.a" name="test_three"><failure message="x"/></testcase>
<testcase classname="tests.a" name="test_four"><error message="x"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def versions():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import versions
    finally:
        sys.path.pop(0)
    return versions


def found(versions, jax: str, **more):
    return versions.Found(**{"jax": jax, "python": "3.11.7", "missing": {}, "tests": {"passed": 1}, **more})


def test_the_page_is_what_the_script_makes_of_the_data(versions) -> None:
    assert versions.PAGE.read_text(encoding="utf-8") == versions.page(versions.read_data(), versions.read_smoke())


def test_the_page_has_a_column_for_each_version_that_is_promised(versions) -> None:
    assert [entry.minor for entry in versions.read_data()] == ["0.8", "0.9", "0.10", "0.12"]


def test_nothing_promised_is_missing_and_no_test_fails(versions) -> None:
    assert {entry.jax: (entry.missing, entry.failed) for entry in versions.read_data()} == {
        entry.jax: ({}, []) for entry in versions.read_data()
    }


def test_outcomes_are_read_from_the_report(versions, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    counts, skipped, failed = versions.read_report(report)
    assert counts == {"passed": 1, "skipped": 1, "failed": 2}
    assert skipped == {"no axes here": 1}
    assert failed == ["tests.a.test_three", "tests.a.test_four"]


def test_a_run_replaces_what_was_found_on_its_minor_version(versions) -> None:
    before = [found(versions, "0.9.2"), found(versions, "0.12.0.1")]
    after = versions.with_new(before, found(versions, "0.12.1"))
    assert [entry.jax for entry in versions.with_new(after, found(versions, "0.10.2"))] == ["0.9.2", "0.10.2", "0.12.1"]


def test_a_missing_name_is_in_the_row_with_what_it_costs(versions) -> None:
    lost = {"jax._src.pjit.gone": "the jaxpr"}
    page = versions.page([found(versions, "0.8.2"), found(versions, "0.12.1", missing=lost)], [])
    assert "| `jax._src.pjit.gone`: the jaxpr | there | missing |" in page
    assert "| names missing | 0 | 1 |" in page


def test_failed_tests_are_named_and_reasons_counted(versions) -> None:
    page = versions.page([found(versions, "0.8.2", failed=["tests.a.test_x[a|b]"], skipped={"no axes": 2})], [])
    assert "- JAX 0.8.2: `tests.a.test_x[a\\|b]` failed." in page
    assert "| no axes | 2 |" in page


def test_where_nothing_is_missing_the_page_says_so(versions) -> None:
    page = versions.page([found(versions, "0.8.2")], [])
    assert "Nothing: every name is there on each of these versions." in page
    assert "## Tests that are skipped\n\nNone.\n" in page


def test_the_newest_version_is_left_out_where_no_python_runs_it() -> None:
    command = [str(ROOT / "scripts" / "test-versions"), "newest"]
    settings = os.environ | {"PYTHON_NEWEST": "/nowhere/python"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "newest: left out, as it needs Python 3.12 or later and none was found" in done.stdout


SMOKE = [
    {"kind": "floor", "python": "3.11.7", "versions": {"jax": "0.8.1", "protobuf": "4.25.0"}},
    {"kind": "newest", "python": "3.13.0", "versions": {"jax": "0.12.0.1"}},
]


def test_every_dependency_has_its_minimum_and_the_versions_that_passed(versions) -> None:
    page = versions.page([found(versions, "0.8.2")], SMOKE)
    assert "| dependency | minimum | below it | floor, Python 3.11.7 | newest, Python 3.13.0 |" in page
    assert "| jax | 0.8.1 | with 0.8.0 `stop()` raises | 0.8.1 | 0.12.0.1 |" in page
    assert "| protobuf | 4.25 | 4.24.4 ends the process when it reads a program | 4.25.0 |  |" in page


def test_what_is_said_of_older_versions_is_said_of_dependencies(versions) -> None:
    assert set(versions.BELOW) <= {line.partition(">=")[0] for line in smoke_script("required")}


def test_the_minimums_passed(versions) -> None:
    """At least on the oldest Python: a newer one may have no wheels of them."""
    (oldest, *_) = [run for run in versions.read_smoke() if run["kind"] == "floor"]
    assert oldest["python"].startswith("3.11.")
    minimums = dict(line.split(">=") for line in smoke_script("required"))
    padded = {name: f"{version}.0.0".split(".")[:3] for name, version in oldest["versions"].items()}
    assert padded == {name: f"{version}.0.0".split(".")[:3] for name, version in minimums.items()}


def smoke_script(name: str):
    """What a function of scripts/smoke.py returns."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import smoke
    finally:
        sys.path.pop(0)
    return getattr(smoke, name)()


def test_a_run_of_the_smoke_test_replaces_that_of_the_same_kind_and_python(monkeypatch, tmp_path: Path) -> None:
    smoke_script("required")
    smoke = sys.modules["smoke"]
    here = platform.python_version()
    others = [
        {"kind": "floor", "python": "3.10.1", "versions": {}},
        {"kind": "floor", "python": here, "versions": {"jax": "0.1"}},
        {"kind": "newest", "python": here, "versions": {}},
    ]
    monkeypatch.setattr(smoke, "DATA", tmp_path / "smoke.json")
    smoke.DATA.write_text(json.dumps(others), encoding="utf-8")
    smoke.record("floor")
    now = json.loads(smoke.DATA.read_text(encoding="utf-8"))
    assert [(run["kind"], run["python"]) for run in now] == [("floor", "3.10.1"), ("floor", here), ("newest", here)]
    assert now[1]["versions"] == dict(smoke.versions())


@pytest.mark.parametrize("kind", ["floor", "newest"])
def test_a_python_that_is_not_there_is_left_out_and_named(kind: str) -> None:
    command = [str(ROOT / "scripts" / "test-versions"), f"--{kind}"]
    settings = os.environ | {"PYTHONS": "/nowhere/python3.14"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = f"{kind}: /nowhere/python3.14 left out, as there is no such Python; name others in PYTHONS"
    assert said in done.stdout
