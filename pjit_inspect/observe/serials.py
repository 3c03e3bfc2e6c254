"""Numbers for objects, so that two objects can be told apart later without keeping either alive.

`id()` will not do: Python gives the address of a dead object to the next one. Not its job: what an object is.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from typing import Any

__all__ = ["serial_of"]

_lock = threading.Lock()
_numbers = itertools.count(1)
_known: dict[int, tuple[weakref.ref[Any], int]] = {}


def serial_of(item: Any) -> int | None:
    """The number of this very object, from 1, never used twice; None for objects that allow no weak reference."""
    key = id(item)
    with _lock:
        entry = _known.get(key)
        if entry is not None and entry[0]() is item:
            return entry[1]
        number = next(_numbers)
        try:
            _known[key] = (weakref.ref(item, functools.partial(_forget, key, number)), number)
        except TypeError:
            return None
        return number


def _forget(key: int, number: int, _: Any) -> None:
    # No lock: the collector may run this while the lock is held. A newer object may have the address already.
    entry = _known.get(key)
    if entry is not None and entry[1] == number:
        del _known[key]
