"""One binary column store for the inspector: a JSON header, numbers as little-endian columns, tables of strings.

A browser reads columns in place, without parsing them. `front/src/core/blob.js` is the reader.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

MAGIC = b"PJITVIEW"
_VERSION = 1
_ALIGNMENT = 8
_MOST = 2**53
"""The largest integer up to which a browser, whose numbers are floats, tells all integers apart."""
_FEW = 64
"""The longest columns that are not worth another form."""
_TYPES = {"int32": "i4", "uint8": "u1", "uint32": "u4", "float64": "f8"}


def pack_blob(header: Mapping[str, Any], columns: Mapping[str, Any], strings: Mapping[str, Sequence[str]]) -> bytes:
    """The store as bytes.

    Layout: `MAGIC`, the version and the length of the header (u32 each), the header (JSON, padded with spaces), then
    every column, each at a multiple of 8 bytes from the end of the header. `header["columns"]` has name -> [type,
    offset, count]. A table of strings is two columns: its UTF-8 bytes, and where each string ends (`name.ends`).
    Increasing numbers (ends, line numbers) are written as differences ("s4"), which compress to half.
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


def deflated(blob: bytes) -> bytes:
    """The store for pages and widgets: compressed with zlib, which every browser can undo."""
    return zlib.compress(blob, 9)


def whole_numbers(values: Iterable[int]) -> np.ndarray:
    """A column of numbers from a file. Raises ValueError for one that a browser cannot hold."""
    numbers = [int(value) for value in values]
    largest = max(map(abs, numbers), default=0)
    if largest > _MOST:
        raise ValueError(f"the number {largest} is more than a browser can hold")
    return np.array(numbers, np.int32 if largest < 2**31 else np.float64)


def ends_of(rows: Iterable[Sequence[Any]]) -> np.ndarray:
    """The end of each of several runs of entries in a column that holds them one after the other."""
    return np.cumsum([len(row) for row in rows], dtype=np.int64).astype(np.uint32)


def lists_of(name: str, rows: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Lists of numbers as two columns: all numbers, and `name.ends`."""
    return {name: whole_numbers(value for row in rows for value in row), f"{name}.ends": ends_of(rows)}


def numbers_of(name: str, items: Sequence[Any], *, whole: str = "", real: str = "") -> dict[str, np.ndarray]:
    """Attributes of some objects as columns `name.attribute`; None becomes -1.

    Args:
      name: what the columns' names begin with.
      items: the objects.
      whole: names of attributes that are whole numbers or flags, separated by spaces.
      real: the same of numbers that may be large or have fractions.
    """
    found = {f"{name}.{one}": whole_numbers(getattr(item, one) for item in items) for one in whole.split()}
    return found | {f"{name}.{one}": real_numbers(getattr(item, one) for item in items) for one in real.split()}


def real_numbers(values: Iterable[float | None]) -> np.ndarray:
    """A column of numbers that may be large; -1 for unknown."""
    return np.array([-1 if value is None else float(value) for value in values], np.float64)


def json_text(value: Any) -> str:
    """Compact JSON that is safe in a script element: no character can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _string_columns(strings: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    for name, values in strings.items():
        encoded = [value.encode("utf-8", "replace") for value in values]
        columns[name] = np.frombuffer(b"".join(encoded), np.uint8)
        columns[f"{name}.ends"] = ends_of(encoded)
    return columns


def _column(values: Any) -> tuple[bytes, str]:
    array = np.ascontiguousarray(values)
    kind = _TYPES[array.dtype.name]
    if kind in ("i4", "u4") and len(array) > _FEW and array[0] >= 0 and (array[1:] >= array[:-1]).all():
        return np.diff(array.astype(np.int64), prepend=0).astype("<u4").tobytes(), "s4"
    return array.astype(f"<{kind}", copy=False).tobytes(), kind
