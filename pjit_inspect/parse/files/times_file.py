"""Measured times as JSON and back, as stored in a `.pjit` file.

Not its job: the file (`parse.files.record_file`), or measuring (`observe.profiler.profiler`).
"""

from __future__ import annotations

import json

from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, parse_json, to_json


def times_bytes(times: KernelTimes) -> bytes:
    """The times as JSON. Equal times give equal bytes."""
    body = to_json(times, KernelTimes, TableWriter())
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_times(content: bytes, name: str) -> KernelTimes:
    """The times that `times_bytes` wrote; `name` is their name in errors. Raises ParseError."""
    return from_json(parse_json(content, name), KernelTimes, (None, f"{name}: $"))
