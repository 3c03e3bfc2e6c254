"""`docs/versions.md` is what `scripts/test-versions` writes, and says of each version what is missing there."""

from __future__ import annotations

import os
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
    assert versions.PAGE.read_text(encoding="utf-8") == versions.page(versions.read_data())


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
    page = versions.page([found(versions, "0.8.2"), found(versions, "0.12.1", missing=lost)])
    assert "| `jax._src.pjit.gone`: the jaxpr | there | missing |" in page
    assert "| names missing | 0 | 1 |" in page


def test_failed_tests_are_named_and_reasons_counted(versions) -> None:
    page = versions.page([found(versions, "0.8.2", failed=["tests.a.test_x[a|b]"], skipped={"no axes": 2})])
    assert "- JAX 0.8.2: `tests.a.test_x[a\\|b]` failed." in page
    assert "| no axes | 2 |" in page


def test_where_nothing_is_missing_the_page_says_so(versions) -> None:
    page = versions.page([found(versions, "0.8.2")])
    assert "Nothing: every name is there on each of these versions." in page
    assert page.endswith("None.\n")


def test_the_newest_version_is_left_out_where_no_python_runs_it() -> None:
    command = [str(ROOT / "scripts" / "test-versions"), "newest"]
    settings = os.environ | {"PYTHON_NEWEST": "/nowhere/python"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "newest: left out, as it needs Python 3.12 or later and none was found" in done.stdout
