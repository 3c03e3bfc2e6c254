"""Eight fake CPU devices for every test, set before JAX starts a backend; and the option that writes golden files."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["JAX_NUM_CPU_DEVICES"] = "8"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`: see tests/view/conftest.py; `--all`: see tests/causes/test_shardings_equal_xla.py."""
    parser.addoption("--all", action="store_true", help="whole corpora where the normal run takes a sample")
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")
