"""The oldest version of each dependency that this package works with, and a warning where an older one is installed.

Run before anything else is imported: an older version may not even let the extension load, or may end the process
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
"""Dependency -> its oldest version; why each is the oldest, docs/versions.md says."""


def warn_of_older_versions() -> None:
    """Say once, in one sentence, which dependencies are too old and what brings newer ones. Raises nothing."""
    try:
        older = older_versions()
    except Exception:  # somebody's own finder of packages: it must not keep the extension from loading
        return
    if older:
        needed = _listed(f"{name} {FLOORS[name]}" for name in older)
        found = _listed(f"{name} {version}" for name, version in older.items())
        remedy = " ".join(f"'{name}>={FLOORS[name]}'" for name in older)
        warn_once(f"pjit_inspect needs {needed} or later, and finds {found}: pip install --upgrade {remedy}")


def older_versions() -> dict[str, str]:
    """Dependencies whose installed version is below its floor -> that version.

    What is not installed, or has a version that begins with no number, is left out.
    """
    installed = {name: _installed(name) for name in FLOORS}
    return {name: version for name, version in installed.items() if () < _numbers(version) < _numbers(FLOORS[name])}


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    """The release's numbers without zeros at the end, so that 8 is 8.0.0. A pre-release counts as its release."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _listed(items: Iterable[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last
