"""The arrays that captured calls were given, by identity, so that one that lives on can be told by its path.

Nothing here keeps an array alive. Not its job: results (`observe.key.past_programs`).
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any

import jax

from pjit_inspect.observe.live.untouched import is_a

_MOST = 100_000
_known: dict[int, tuple[weakref.ref[Any], str, str]] = {}


def remember_arguments(function: str, paths: Sequence[str], arguments: Sequence[Any]) -> None:
    """Take note of the arguments of a call of a function, within that call."""
    if len(paths) != len(arguments):
        return
    if len(_known) + len(arguments) > _MOST:
        _known.clear()
    for path, argument in zip(paths, arguments, strict=True):
        if is_a(argument, jax.Array):
            key = id(argument)
            try:
                _known[key] = (weakref.ref(argument, functools.partial(_forget, key)), function, path)
            except TypeError:
                # A tracer, or an array of a kind that allows no weak reference.
                continue


def _forget(key: int, gone: weakref.ref[Any]) -> None:
    # A newer object may have the address already.
    entry = _known.get(key)
    if entry is not None and entry[0] is gone:
        del _known[key]


def argument_of(array: Any) -> tuple[str, str] | None:
    """The function whose newest captured call was given this very array, and its path there; None for no such call."""
    entry = _known.get(id(array))
    return (entry[1], entry[2]) if entry is not None and entry[0]() is array else None
