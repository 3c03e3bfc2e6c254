"""What `%load_ext pjit_inspect` says of dependencies that are too old."""

from __future__ import annotations

import sys
import tomllib
import warnings
from importlib import metadata
from pathlib import Path

import pytest

import pjit_inspect
from pjit_inspect import guard
from pjit_inspect.ipython.floors import FLOORS, older_versions, warn_of_older_versions

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def installed(monkeypatch):
    """What is installed, as a test says it; what it does not name is there in its oldest version."""
    versions: dict[str, str | None] = dict(FLOORS)

    def version(name: str) -> str:
        found = versions[name]
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(guard, "_warned", set())
    return versions


def test_the_floors_are_what_pip_is_asked_for() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["figures"]]
    assert [f"{name}>={version}" for name, version in FLOORS.items()] == sorted(required)


def test_what_is_installed_here_is_recent_enough() -> None:
    assert older_versions() == {}


@pytest.mark.parametrize(
    ("name", "version", "is_older"),
    [
        ("jax", "0.8.0", True),
        ("jax", "0.8.1", False),
        ("jax", "0.8.1.dev20251101", False),
        ("jax", "0.12.0.1", False),
        ("protobuf", "4.24.4", True),
        ("protobuf", "4.25.0", False),
        ("protobuf", "7.37.0rc1", False),
        ("ipywidgets", "8.0.0a1", False),
        ("ipywidgets", "7.8.5", True),
        ("numpy", "1.26.4", True),
        ("ipython", "8.9.0", True),
        ("plotly", "of our own", False),
    ],
)
def test_a_version_below_its_floor_is_found(installed, name: str, version: str, is_older: bool) -> None:
    installed[name] = version
    assert older_versions() == ({name: version} if is_older else {})


def test_all_that_is_too_old_is_said_in_one_sentence_with_what_helps(installed) -> None:
    installed.update(jax="0.8.0", numpy="1.26.4", protobuf="4.24.4")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_of_older_versions()
        warn_of_older_versions()
    assert [str(warning.message) for warning in heard] == [
        "pjit_inspect needs jax 0.8.1, numpy 2.0 and protobuf 4.25 or later, and finds jax 0.8.0, numpy 1.26.4 and "
        "protobuf 4.24.4: pip install --upgrade 'jax>=0.8.1' 'numpy>=2.0' 'protobuf>=4.25'"
    ]


def test_what_is_recent_or_not_installed_is_not_spoken_of(installed) -> None:
    installed["jax"] = None
    warn_of_older_versions()


def test_a_finder_of_packages_that_fails_does_not_keep_the_extension_from_loading(monkeypatch, bare_shell) -> None:
    def version(name: str) -> str:
        raise OSError("a disk that is gone")

    monkeypatch.setattr(metadata, "version", version)
    bare_shell.run_cell("%load_ext pjit_inspect").raise_error()
    assert "PjitMagics" in bare_shell.magics_manager.registry


def test_loading_says_it_and_loads(installed, bare_shell) -> None:
    installed["protobuf"] = "4.24.4"
    with pytest.warns(RuntimeWarning, match=r"needs protobuf 4\.25 or later, and finds protobuf 4\.24\.4"):
        bare_shell.run_cell("%load_ext pjit_inspect").raise_error()
    assert "PjitMagics" in bare_shell.magics_manager.registry


def test_it_is_said_where_the_extension_cannot_even_be_imported(installed, monkeypatch) -> None:
    installed["ipython"] = "8.5.0"
    monkeypatch.setitem(sys.modules, "pjit_inspect.ipython.extension", None)
    with pytest.warns(RuntimeWarning, match="needs ipython 8.10 or later"), pytest.raises(ImportError):
        pjit_inspect.load_ipython_extension(None)
