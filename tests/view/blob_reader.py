"""An independent reader of what the inspector is given. Not its job: what must be in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pjit_inspect.view.inspector.blob import MAGIC


def read_blob(blob: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """An independent reader of the store, after the words of `pack_blob`."""
    assert blob[:8] == MAGIC
    version, length = np.frombuffer(blob, "<u4", 2, 8).tolist()
    assert version == 1
    header = json.loads(blob[16 : 16 + length])
    start = 16 + length
    assert start % 8 == 0
    columns = {}
    for name, (kind, offset, count) in header["columns"].items():
        assert offset % 8 == 0
        if kind == "s4":  # steps
            columns[name] = np.cumsum(np.frombuffer(blob, "<u4", count, start + offset), dtype=np.int64)
        else:
            columns[name] = np.frombuffer(blob, f"<{kind}", count, start + offset)
    return header, columns


def strings(columns: dict[str, np.ndarray], name: str) -> list[str]:
    data, ends = columns[name].tobytes(), columns[f"{name}.ends"].tolist()
    return [data[a:b].decode() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
