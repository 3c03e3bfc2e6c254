"""The platform a test is run on, and records kept with their origin.

Not its job: leaving out what needs a GPU (`tests/conftest.py`).
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import jax
import pytest

import pjit_inspect as pi

Keep = Callable[[pi.CompileRecord, str], None]


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> jax.Device:
    """The first device of the platform, which is JAX's default one. No GPU where one was asked for is a failure."""
    found = jax.devices(request.param)[0]
    assert jax.default_backend() == found.platform == request.param
    return found


@pytest.fixture
def keep(device: jax.Device) -> Keep:
    """Saves a record under a name to the folder in the environment variable OUT, with its origin; nothing without it.

    `<name>.<device kind>.pjit` and, beside it, a `.json`: both are meant for `tests/data`.
    """

    def save(record: pi.CompileRecord, name: str) -> None:
        if not os.environ.get("OUT"):
            return
        kind = re.sub(r"\W+", "_", device.device_kind).lower()
        path = Path(os.environ["OUT"]) / f"{name}.{kind}.pjit"
        record.save(path)
        origin = {
            "test": os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0],
            "device": device.device_kind,
            "platform": device.client.platform_version,
            "versions": record.versions,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        }
        path.with_suffix(".json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")

    return save
