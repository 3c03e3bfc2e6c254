"""Eight fake CPU devices for every test, set before JAX starts a backend; and the suite's own options.

Under `--gpu` the default backend is a GPU, and the fake CPU devices are there beside it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from pjit_inspect import guard

# JAX reads it when it is imported, which is before pytest has parsed its options. Workers of pytest-xdist inherit it.
os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu" if "--gpu" in sys.argv else "cpu")
os.environ["JAX_NUM_CPU_DEVICES"] = "8"

# Hypothesis would fail a test for the time that it takes, which on a busy machine says nothing.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`: see tests/view/conftest.py; `--all`: see tests/causes/test_causes.py."""
    parser.addoption("--all", action="store_true", help="whole corpora where the normal run takes a sample")
    parser.addoption("--browser", action="store_true", help="tests in headless Chromium and a real JupyterLab, too")
    parser.addoption("--gpu", action="store_true", help="tests marked gpu, on this machine's GPU, and no others")
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Browser tests take minutes and need Chromium, marked ones a GPU: they run when asked for.

    With a GPU the others are left out: they count on devices that are all fake CPUs.
    """
    asked = bool(config.getoption("--gpu"))
    other = pytest.mark.skip(
        reason="a test for CPU devices, left out with --gpu" if asked else "needs a GPU: scripts/test --gpu runs it"
    )
    for item in items:
        if (item.get_closest_marker("gpu") is not None) != asked:
            item.add_marker(other)
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
