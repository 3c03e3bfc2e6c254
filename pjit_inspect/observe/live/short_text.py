"""Writes any user value as a short text, without keeping any of it alive or running its code.

A value whose type has code for printing is shown by its contents: `Config(width=3)`, as a dataclass would print. Not
its job: choosing values (`observe.key.definitions`, `observe.key.compile_key`), or reading objects
(`observe.live.untouched`).
"""

from __future__ import annotations

import enum
import functools
import re
import time
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import jax
import numpy as np
from jax.core import Tracer

from pjit_inspect.model.record.compile_key import NamedText
from pjit_inspect.observe.live.serials import equal_serial, serial_of
from pjit_inspect.observe.live.untouched import (
    array_facts,
    is_a,
    is_one_of,
    is_trusted,
    is_trusted_type,
    plain_attribute,
    stored_fields,
    trusted_base,
    type_attribute,
    type_name,
    type_qualname,
)

T = TypeVar("T")

_LENGTH = 80
_ITEMS = 6
_DEPTH = 3
_MAX_PLAIN = 10_000
_PATIENCE_S = 0.1
_slow: set[int | None] = set()
"""The numbers of types whose `__hash__` or `__eq__` took longer than that within the user's call."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Types of JAX's that print something of the user's: programs with their parameters, functions around functions.
_HOLDS_FOREIGN = re.compile("(?i)jaxpr|callback|partial|wrapped|function|custom|thunk")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_SHORT = frozenset((type(None), bool, float, complex))
"""The plain types whose values always print short."""
_CONTAINERS = (tuple, list, set, frozenset, dict)


def named_text(name: str, value: Any) -> NamedText:
    """A value that a function carries with it, distinguished by identity unless its text is complete.

    JAX does not look at these values: their hash is used only for Python's builtin types.
    """
    if is_a(value, *_PLAIN, *_CONTAINERS, np.generic, enum.Enum):
        return NamedText(name=name, text=short_text(value), digest=_digest(value) if _is_plain(value, _DEPTH) else None)
    return NamedText(name=name, text=short_text(value), serial=serial_of(value))


def static_text(name: str, value: Any) -> NamedText:
    """A value that JAX compares with `==` and `hash`, and by identity before that."""
    if type_attribute(type(value), "__eq__") is object.__eq__:
        # Without an `__eq__` of its own an object equals only itself.
        return NamedText(name=name, text=short_text(value), serial=serial_of(value))
    digest = _digest(value)
    unequal = _equals(value, value) is False
    serial = None if is_a(value, *_PLAIN, *_CONTAINERS) else equal_serial(value, digest, _equals)
    return NamedText(name=name, text=short_text(value), serial=serial, digest=digest, unequal=unequal)


def _equals(one: Any, other: Any) -> bool | None:
    """True if two foreign values are equal; None when they do not say."""
    return _asked(type(one), lambda: bool(one == other))


def _digest(value: Any) -> int | None:
    return _asked(type(value), lambda: hash(value) & 0xFFFF_FFFF_FFFF)


def _asked(kind: type, ask: Callable[[], T]) -> T | None:
    """The result of a foreign type's code; None if it fails, or was slow once: then it is not called again."""
    began = time.perf_counter()
    try:
        return None if _slow and serial_of(kind) in _slow else ask()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    finally:
        # Python's own types and JAX's are quick: there it was the machine.
        if (
            time.perf_counter() - began > _PATIENCE_S
            and not is_one_of(kind, (*_PLAIN, *_CONTAINERS))
            and not is_trusted_type(kind)
        ):
            _slow.add(serial_of(kind))


def _is_plain(value: Any, depth: int) -> bool:
    """True if its hash is Python's: that of its value, or of an object's identity."""
    own = type_attribute(type(value), "__hash__")
    if own in (tuple.__hash__, frozenset.__hash__):
        items = list(tuple.__iter__(value) if is_a(value, tuple) else frozenset.__iter__(value))
        return depth > 0 and len(items) <= _MAX_PLAIN and all(_is_plain(item, depth - 1) for item in items)
    return own in (object.__hash__, enum.Enum.__hash__) or is_one_of(type(value), _PLAIN) or is_a(value, np.generic)


def short_text(value: Any) -> str:
    """The value on one line of at most 80 characters, without addresses; arrays as their type and shape."""
    if is_one_of(type(value), _SHORT):
        return repr(value)
    try:
        text = _text(value, _DEPTH)
    except Exception:
        text = _an_object(value)
    text = " ".join(text.split())
    return text if len(text) <= _LENGTH else text[: _LENGTH - 3] + "..."


def _text(value: Any, depth: int) -> str:
    kind = type(value)
    if issubclass(kind, enum.Enum):
        return f"{type_name(kind)}.{plain_attribute(value, '_name_', '?')}"
    if issubclass(kind, _PLAIN):
        return _plain_text(value)
    if issubclass(kind, _CONTAINERS):
        return _container_text(value, depth)
    if issubclass(kind, (np.dtype, np.generic)):
        # A subclass of the user's may print itself otherwise.
        base: Any = trusted_base(kind)
        return base.__repr__(value)
    if issubclass(kind, (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)):
        return _named(value)
    if kind is functools.partial:
        inner = [_text(value.func, depth - 1), *(_text(item, depth - 1) for item in value.args[:_ITEMS])]
        inner += [f"{name}={_text(item, depth - 1)}" for name, item in list(value.keywords.items())[:_ITEMS]]
        return f"functools.partial({', '.join(inner)})" if depth else "..."
    if (array := _array_text(value)) is not None:
        return array
    return _object_text(value, depth)


def _plain_text(value: Any) -> str:
    """The text of a value of Python's simplest types, by Python's methods: a subclass may override them."""
    if is_a(value, str):
        return repr(str.__getitem__(value, slice(_LENGTH)))
    if is_a(value, bytes):
        return repr(bytes.__getitem__(value, slice(_LENGTH)))
    if is_a(value, int) and type(value) is not bool and int.bit_length(value) > 256:
        return f"an integer of {int.bit_length(value)} bits"
    kind: Any = type(value) if is_one_of(type(value), _PLAIN) else next(kind for kind in _PLAIN if is_a(value, kind))
    return kind.__repr__(value)


def _named(value: Any) -> str:
    if is_a(value, type):
        return type.__dict__["__qualname__"].__get__(value)
    if is_a(value, ModuleType):
        return str(ModuleType.__getattribute__(value, "__dict__").get("__name__", "a module"))
    if is_a(value, MethodType):
        return (
            f"{type_name(type(value.__self__))}.{value.__func__.__name__}"
            if is_a(value.__func__, FunctionType)
            else (_an_object(value))
        )
    return value.__qualname__


def _object_text(value: Any, depth: int) -> str:
    kind = type(value)
    prints_itself = type_attribute(kind, "__repr__") is not object.__repr__
    if is_trusted(value) and not _HOLDS_FOREIGN.search(type_name(kind)):
        return _ADDRESS.sub("", repr(value)) if prints_itself else _an_object(value)
    fields = stored_fields(value) if prints_itself else {}
    if not fields or not depth:
        return _an_object(value)
    texts = [f"{name}={_text(item, depth - 1)}" for name, item in list(fields.items())[:_ITEMS]]
    return f"{type_qualname(kind)}({', '.join(texts)}{', ...' if len(fields) > _ITEMS else ''})"


def _an_object(value: Any) -> str:
    return f"<{type_name(type(value))}>"


def _array_text(value: Any) -> str | None:
    facts = array_facts(value)
    if facts is None and is_trusted(value) and is_a(value, jax.Array, Tracer):
        facts = str(value.dtype), value.shape
    if facts is None:
        return None
    kind = "traced " if is_a(value, Tracer) else ""
    return f"{kind}{facts[0]}[{','.join(str(length) for length in facts[1])}]"


def _container_text(value: Any, depth: int) -> str:
    if not depth:
        return "..."
    kind: Any = next(kind for kind in _CONTAINERS if is_a(value, kind))
    length = kind.__len__(value)
    found = dict.items(value) if kind is dict else kind.__iter__(value)
    items = list(found)[:_ITEMS] if length <= 10_000 else []
    if kind is dict:
        texts = [f"{_text(key, depth - 1)}: {_text(item, depth - 1)}" for key, item in items]
    else:
        texts = [_text(item, depth - 1) for item in items]
    texts = sorted(texts) if kind in (set, frozenset) else texts
    if length > len(items):
        texts.append(f"... {length} in all")
    inner = ", ".join(texts)
    if kind is tuple:
        return f"({inner},)" if length == 1 else f"({inner})"
    return f"[{inner}]" if kind is list else f"{{{inner}}}"
