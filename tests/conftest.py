"""Eight fake CPU devices for every test, set before JAX starts a backend; and the option that writes golden files."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pjit_inspect import guard

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["JAX_NUM_CPU_DEVICES"] = "8"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`: see tests/view/conftest.py; `--all`: see tests/causes/test_shardings_equal_xla.py."""
    parser.addoption("--all", action="store_true", help="whole corpora where the normal run takes a sample")
    parser.addoption("--browser", action="store_true", help="tests in headless Chromium and a real JupyterLab, too")
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Browser tests take minutes and need Chromium: they run when asked for."""
    if config.getoption("--browser"):
        return
    skip = pytest.mark.skip(reason="a browser test: scripts/test --browser tests/browser runs it")
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def no_step_of_ours_fails() -> Iterator[None]:
    """A step that fails is only warned of, once; a test during which one does must expect it.

    Such a test gives `guard._warned` a set of its own (monkeypatch).
    """
    before = set(guard._warned)
    yield
    assert guard._warned <= before, guard._warned - before
