"""Values that are computed when somebody first looks at them, once, whichever threads look.

Not its job: what is computed (`analyses`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["Computed", "once"]

T = TypeVar("T")


class Computed:
    """The base of a class with values marked `once`; `known` are those that were computed, or given, by name."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = dict(known)
        self._locks: dict[str, threading.RLock] = {}

    def value(self, name: str, compute: Callable[[Any], T]) -> T:
        """What is known under a name; computed by the first who asks, while others who ask for the same wait.

        Nothing is kept of a computation that fails: it is made again the next time.
        """
        if name in self.known:
            return self.known[name]
        # A lock for each value: a question of many seconds to XLA must not keep others from reading the program. Values
        # need one another in one direction only, so no two threads can wait for each other.
        with self._locks.setdefault(name, threading.RLock()):
            if name not in self.known:
                self.known[name] = compute(self)
                self._locks.pop(name, None)
            return self.known[name]


class once(Generic[T]):  # noqa: N801  (it is used as `property` is)
    """Marks a value of a `Computed`, as `functools.cached_property` does for any class and without its races."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...
    @overload
    def __get__(self, owner: Computed, kind: type | None = None) -> T: ...
    def __get__(self, owner: Computed | None, kind: type | None = None) -> Self | T:
        return self if owner is None else owner.value(self._name, self._compute)
