"""The platform a test is run on, and what it saw, kept with its origin.

Not its job: leaving out what needs a GPU (`tests/conftest.py`).
"""

from __future__ import annotations

import datetime
import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import pytest

import pjit_inspect as pi
from pjit_inspect.observe.profiler import profiler
from pjit_inspect.parse.wire.wire import split_message

Keep = Callable[..., None]


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> jax.Device:
    """The first device of the platform, which is JAX's default one. No GPU where one was asked for is a failure."""
    found = jax.devices(request.param)[0]
    assert jax.default_backend() == found.platform == request.param
    return found


@pytest.fixture
def keep(device: jax.Device, monkeypatch: pytest.MonkeyPatch) -> Keep:
    """Saves a record under a name to the folder in the environment variable OUT, with its origin; nothing without it.

    `<name>.<device kind>.pjit` and, beside it, a `.json`, and a `.xplane.pb.gz` where the profiler ran last for it: all
    are meant for `tests/data/gpu`. Named facts go into the `.json`.
    """
    traces: list[bytes] = []
    read = profiler.read_trace
    monkeypatch.setattr(profiler, "read_trace", lambda folder: traces.append(read(folder)) or traces[-1])

    def save(record: pi.CompileRecord, name: str, **facts: Any) -> None:
        if not os.environ.get("OUT"):
            return
        kind = re.sub(r"\W+", "_", device.device_kind).lower()
        path = Path(os.environ["OUT"]) / f"{name}.{kind}.pjit"
        record.save(path)
        if traces:
            path.with_suffix(".xplane.pb.gz").write_bytes(gzip.compress(_of_devices(traces.pop()), mtime=0))
        origin = {
            "test": os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0],
            "device": device.device_kind,
            "platform": device.client.platform_version,
            "versions": record.versions,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            **facts,
        }
        path.with_suffix(".json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")

    return save


def _of_devices(trace: bytes) -> bytes:
    """A trace without what the host did, which is most of it, and of which nothing is read for a GPU."""
    planes = split_message(trace, 0, len(trace))
    return b"".join(trace[one.tag : one.end] for one in planes if b"/host:CPU" not in trace[one.start : one.start + 64])
