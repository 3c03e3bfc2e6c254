"""Numbers for objects, to distinguish two objects later without keeping either alive.

`id()` is not enough: Python reuses the address of a dead object. Not its job: describing objects.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

_lock = threading.RLock()
_numbers = itertools.count(1)
_known: dict[int, tuple[weakref.ref[Any], int]] = {}
# Objects that compare by value, by the number of their type and by hash: of those that are equal the first, with its
# number.
_alike: dict[tuple[int | None, int | None], list[tuple[weakref.ref[Any], int]]] = {}
_MAX_ALIKE, _MAX_KINDS = 16, 1_000


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


def equal_serial(item: Any, digest: int | None, equals: Callable[[Any, Any], bool | None]) -> int | None:
    """The number of the first object that was equal to this one.

    None for objects that allow no weak reference, where `equals` does not say, and when an object with which it would
    have to be compared has gone.
    """
    number = serial_of(item)
    if number is None:
        return None
    kind = serial_of(type(item)), digest
    with _lock:
        known = list(_alike.get(kind, ()))
    for ref, first in known:
        other = ref()
        # Foreign code runs here, so without the lock.
        same = None if other is None else True if other is item else equals(other, item)
        if same:
            return first
        if same is None:
            return None
    with _lock:
        if len(_alike) >= _MAX_KINDS:
            _alike.clear()
        if len(known) < _MAX_ALIKE:
            _alike[kind] = [*known, (weakref.ref(item), number)]
    return number if len(known) < _MAX_ALIKE else None
