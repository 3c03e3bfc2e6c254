"""One binary column store for the inspector: a JSON header, numbers as little-endian columns, tables of strings.

A browser reads columns in place, without parsing them. `front/src/core/blob.js` is the reader. Not its job: what the
columns mean (`view.inspector.payload`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["MAGIC", "json_text", "pack_blob"]

MAGIC = b"PJITVIEW"
_VERSION = 1
_ALIGNMENT = 8
_TYPES = {"int32": "i4", "uint8": "u1", "uint32": "u4", "float64": "f8"}


def pack_blob(header: Mapping[str, Any], columns: Mapping[str, Any], strings: Mapping[str, Sequence[str]]) -> bytes:
    """The store as bytes.

    Layout: `MAGIC`, the version and the length of the header (u32 each), the header (JSON, padded with spaces), then
    every column, each at a multiple of 8 bytes from the end of the header. `header["columns"]` has name -> [type,
    offset, count]. A table of strings is two columns: its UTF-8 bytes, and where each string ends (`name.ends`).
    """
    parts: list[bytes] = []
    index: dict[str, list[Any]] = {}
    offset = 0
    for name, values in {**columns, **_string_columns(strings)}.items():
        data, kind = _column(values)
        index[name] = [kind, offset, len(values)]
        padded = data + b"\0" * (-len(data) % _ALIGNMENT)
        parts.append(padded)
        offset += len(padded)
    head = json_text({**header, "columns": index}).encode()
    head += b" " * (-(len(head) + len(MAGIC) + 8) % _ALIGNMENT)
    sizes = np.array([_VERSION, len(head)], "<u4").tobytes()
    return b"".join([MAGIC, sizes, head, *parts])


def json_text(value: Any) -> str:
    """Compact JSON that can stand in a script element: no character of it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _string_columns(strings: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    for name, values in strings.items():
        encoded = [value.encode("utf-8", "replace") for value in values]
        columns[name] = np.frombuffer(b"".join(encoded), np.uint8)
        columns[f"{name}.ends"] = np.cumsum([len(one) for one in encoded], dtype=np.int64).astype(np.uint32)
    return columns


def _column(values: Any) -> tuple[bytes, str]:
    array = np.ascontiguousarray(values)
    kind = _TYPES[array.dtype.name]
    return array.astype(f"<{kind}", copy=False).tobytes(), kind
