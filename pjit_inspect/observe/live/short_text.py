"""Any value of the user's as a short text that keeps nothing of it alive.

The values are foreign: their `repr` may raise, be very long, or hold addresses. Not its job: which values are looked
at (`observe.key.definitions`, `observe.key.compile_key`).
"""

from __future__ import annotations

import enum
import re
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from jax.core import Tracer

from pjit_inspect.model.record.compile_key import NamedText
from pjit_inspect.observe.live.serials import equal_serial, serial_of

__all__ = ["named_text", "short_text", "static_text"]

_LENGTH = 80
_ITEMS = 6
_DEPTH = 3
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS = (tuple, list, set, frozenset, dict)


def named_text(name: str, value: Any) -> NamedText:
    """A value that a function carries with it, told apart by identity unless its text says all."""
    if isinstance(value, (*_PLAIN, *_CONTAINERS, np.generic, enum.Enum)):
        return NamedText(name=name, text=short_text(value), digest=_digest(value))
    return NamedText(name=name, text=short_text(value), serial=serial_of(value))


def static_text(name: str, value: Any) -> NamedText:
    """A value that JAX compares with `==` and `hash`, and by identity before that."""
    unequal = _equals(value, value) is False
    if type(value).__eq__ is object.__eq__:
        # Without an `__eq__` of its own an object equals only itself.
        return NamedText(name=name, text=short_text(value), serial=serial_of(value))
    digest = _digest(value)
    serial = None if isinstance(value, (*_PLAIN, *_CONTAINERS)) else equal_serial(value, digest, _equals)
    return NamedText(name=name, text=short_text(value), serial=serial, digest=digest, unequal=unequal)


def _equals(one: Any, other: Any) -> bool | None:
    """Whether two foreign values are equal; None when they do not say."""
    try:
        return bool(one == other)
    except Exception:
        return None


def _digest(value: Any) -> int | None:
    try:
        return hash(value) & 0xFFFF_FFFF_FFFF
    except Exception:
        return None


def short_text(value: Any) -> str:
    """The value on one line of at most 80 characters, without addresses; arrays as their type and shape."""
    try:
        text = _text(value, _DEPTH)
    except Exception:
        text = _an_object(value)
    text = " ".join(text.split())
    return text if len(text) <= _LENGTH else text[: _LENGTH - 3] + "..."


def _text(value: Any, depth: int) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (str, bytes)):
        return repr(value[:_LENGTH])
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >> 256:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (*_PLAIN, np.generic, np.dtype)):
        return repr(value)
    if isinstance(value, _CONTAINERS):
        return _container_text(value, depth)
    if isinstance(value, (type, FunctionType, MethodType)):
        return value.__qualname__
    if isinstance(value, ModuleType):
        return value.__name__
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return _array_text(value)
    if type(value).__repr__ is object.__repr__:
        return _an_object(value)
    return _ADDRESS.sub("", repr(value))


def _an_object(value: Any) -> str:
    return f"<{type(value).__name__}>"


def _array_text(value: Any) -> str:
    shape = ",".join(str(length) for length in value.shape)
    kind = "traced " if isinstance(value, Tracer) else ""
    return f"{kind}{value.dtype}[{shape}]"


def _container_text(value: Any, depth: int) -> str:
    if not depth:
        return "..."
    pairs = isinstance(value, dict)
    items = list(value.items() if pairs else value)[:_ITEMS] if len(value) <= 10_000 else []
    if isinstance(value, (set, frozenset)):
        items = sorted(items, key=repr)
    texts = [
        f"{_text(item[0], depth - 1)}: {_text(item[1], depth - 1)}" if pairs else _text(item, depth - 1)
        for item in items
    ]
    if len(value) > len(items):
        texts.append(f"... {len(value)} in all")
    inner = ", ".join(texts)
    if isinstance(value, tuple):
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return f"[{inner}]" if isinstance(value, list) else f"{{{inner}}}"
