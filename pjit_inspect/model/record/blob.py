"""Bytes that are made at most once, on first read.

A compile must not wait for its HLO to be serialised (measured: up to a twentieth of the compile): capture hands over a
function that makes the bytes. Not its job: the meaning of the bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Blob:
    """Bytes, or a way to make them that is used once and then dropped.

    Two blobs are equal when their bytes are. `read()` is safe from several threads.
    """

    __slots__ = ("_lock", "_make", "_value")

    def __init__(self, value: bytes | None = None, *, make: Callable[[], bytes] | None = None) -> None:
        if (value is None) == (make is None):
            raise ValueError("a Blob is given either its bytes or a way to make them")
        self._value, self._make = value, make
        self._lock = None if make is None else threading.Lock()

    def read(self) -> bytes:
        """The bytes. Passes on errors of making them, and tries again on the next read."""
        if self._lock is not None:
            with self._lock:
                if self._make is not None:
                    self._value, self._make = self._make(), None
        assert self._value is not None
        return self._value

    @property
    def size(self) -> int | None:
        """The number of bytes; None before the first read."""
        return None if self._value is None else len(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and self.read() == other.read()

    def __hash__(self) -> int:
        return hash(self.read())

    def __repr__(self) -> str:
        return f"Blob({len(self._value)} bytes)" if self._value is not None else "Blob(not made yet)"
