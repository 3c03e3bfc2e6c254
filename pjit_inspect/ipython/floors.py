"""The oldest supported version of each dependency, and a warning where an older one is installed.

Runs before anything else is imported: an older version may not even let the extension load, or may end the process
later. Not its job: installing (`pyproject.toml` asks pip for the same versions; a test compares the two).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata

from pjit_inspect.guard import warn_once

FLOORS = {
    "anywidget": "0.9",
    "ipython": "8.10",
    "ipywidgets": "8",
    "jax": "0.8.1",
    "numpy": "2.0",
    "plotly": "6",
    "protobuf": "4.25",
}
"""Dependency -> its oldest version; docs/versions.md says why."""


def warn_of_older_versions() -> None:
    """Warns once, in one sentence, which dependencies are too old and how to upgrade them. Raises nothing."""
    try:
        older = older_versions()
    except Exception:  # a package finder of the user may raise; the extension loads nevertheless
        return
    if older:
        needed = _listed(f"{name} {FLOORS[name]}" for name in older)
        found = _listed(f"{name} {version}" for name, version in older.items())
        remedy = " ".join(f"'{name}>={FLOORS[name]}'" for name in older)
        warn_once(f"pjit_inspect needs {needed} or later, and finds {found}: pip install --upgrade {remedy}")


def older_versions() -> dict[str, str]:
    """Dependencies whose installed version is below its floor -> that version.

    Dependencies that are not installed, or whose version begins with no number, are left out.
    """
    installed = {name: _installed(name) for name in FLOORS}
    return {name: version for name, version in installed.items() if () < _numbers(version) < _numbers(FLOORS[name])}


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of the release without trailing zeros, so that 8 equals 8.0.0.

    A pre-release counts as its release.
    """
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _listed(items: Iterable[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last
