"""Reads the user's objects without running any of their code.

A compile is watched within the user's call. No additional user code may run there: no `__repr__`, which may be slow, no
`__getattr__`, which may end the program, and not even `isinstance`, which reads an object's `__class__`. Python's types
and attribute tables are enough. Not its job: wording (`observe.live.short_text`).
"""

from __future__ import annotations

import builtins
import functools
import weakref
from collections.abc import Callable, Collection
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

_OWN = (FunctionType, BuiltinFunctionType, functools.partial, type, ModuleType)
_TRUSTED = ("jax", "jaxlib", "numpy", "ml_dtypes")
_ABSENT: Any = object()
_BUILT_IN = frozenset(found for found in vars(builtins).values() if isinstance(found, type))
# A metaclass may answer for its classes; these are Python's own tables.
_mro_of = type.__dict__["__mro__"].__get__
_table_of = type.__dict__["__dict__"].__get__
type_name: Callable[[type], str] = type.__dict__["__name__"].__get__
type_qualname: Callable[[type], str] = type.__dict__["__qualname__"].__get__


def is_a(value: Any, *kinds: type) -> bool:
    """As `isinstance`, by the object's real type."""
    return issubclass(type(value), kinds)


def is_one_of(kind: type, kinds: Collection[type]) -> bool:
    """True if a type is one of these builtin types.

    A metaclass may define comparison and hashing of its classes; the metaclass of builtin types is `type`.
    """
    return type(kind) is type and kind in kinds


def once_for_each_type(found_of: Callable[[type], T]) -> Callable[[type], T]:
    """Caches a function's result for a type as long as the type lives.

    Not by `lru_cache`, which would keep the type alive, with all that its attributes hold, and ask its metaclass for a
    hash.
    """
    known: dict[int, tuple[weakref.ref[type], T]] = {}

    def found(kind: type) -> T:
        entry = known.get(id(kind))
        if entry is not None and entry[0]() is kind:
            return entry[1]
        result, key = found_of(kind), id(kind)
        known[key] = weakref.ref(kind, lambda _: known.pop(key, None)), result
        return result

    return functools.wraps(found_of)(found)


@once_for_each_type
def is_trusted_type(kind: type) -> bool:
    """True if a type is of JAX or NumPy."""
    home = type.__getattribute__(kind, "__module__")
    return isinstance(home, str) and home.split(".")[0] in _TRUSTED


def type_attribute(kind: type, name: str) -> Any:
    """The value a type, or the first of its bases that has it, stores under a name; None if none does."""
    return None if (found := _held_by_type(kind, name)) is _ABSENT else found


def _held_by_type(kind: type, name: str) -> Any:
    return next((table[name] for base in _mro_of(kind) if name in (table := _table_of(base))), _ABSENT)


def trusted_base(kind: type) -> type:
    """The first of a type and its bases that is of JAX, NumPy, or Python itself."""
    return next(base for base in _mro_of(kind) if is_trusted_type(base) or is_one_of(base, _BUILT_IN))


def is_trusted(value: Any) -> bool:
    """True if its type is of JAX or NumPy, whose attributes run none of the user's code."""
    return is_trusted_type(type(value))


def plain_attribute(value: Any, name: str, default: Any = None) -> Any:
    """The value stored under a name in an object or its class; `default` if user code would have to compute it."""
    kind = type(value)
    if is_one_of(kind, _OWN) or is_trusted_type(kind):
        return getattr(value, name, default)
    if kind is MethodType:
        # It has the attributes of its function, which may be anything that can be called.
        return plain_attribute(value.__func__, name, default)
    of_class = _held_by_type(kind, name)
    if type(of_class) is MemberDescriptorType:
        # A slot: reading it is Python's own doing.
        try:
            return of_class.__get__(value, kind)
        except AttributeError:
            return default
    if not _has(of_class, "__set__"):
        own = _held_by_type(value, name) if is_a(value, type) else _own_item(value, name)
        if own is not _ABSENT:
            return own
    # Of everything else that is computed, what computes it is found, and not what it would say.
    is_computed = _has(of_class, "__get__") and type(of_class) not in (FunctionType, BuiltinFunctionType)
    return default if is_computed or of_class is _ABSENT else of_class


def _own_item(value: Any, name: str) -> Any:
    table = _own_table(value)
    return table.get(name, _ABSENT) if type(table) is dict else _ABSENT


def _has(value: Any, name: str) -> bool:
    return _held_by_type(type(value), name) is not _ABSENT


def stored_fields(value: Any) -> dict[str, Any]:
    """The public attributes stored in an object itself, by name; {} if it stores them in another way."""
    return {name: item for name, item in _stored(value).items() if not name.startswith("_")}


def held(value: Any) -> list[Any]:
    """Everything that an object itself holds."""
    return list(_stored(value).values())


def _stored(value: Any) -> dict[str, Any]:
    kind = type(value)
    found: dict[str, Any] = {}
    for base in reversed(_mro_of(kind)):
        for name, member in _table_of(base).items():
            if type(member) is MemberDescriptorType:
                try:
                    found[name] = member.__get__(value, kind)
                except AttributeError:
                    continue
    table = _own_table(value)
    if type(table) is dict:
        found |= {name: item for name, item in table.items() if type(name) is str}
    return found


def _own_table(value: Any) -> Any:
    for base in _mro_of(type(value)):
        member = _table_of(base).get("__dict__")
        if member is not None:
            # A class may have an attribute of that name; only Python's own descriptor is asked.
            is_pythons = type(member).__name__ == "getset_descriptor" and member.__objclass__ is base
            return member.__get__(value, type(value)) if is_pythons else None
    return None


def array_facts(value: Any) -> tuple[str, tuple[int, ...]] | None:
    """The type and shape of a NumPy array; None for anything else."""
    if not is_a(value, np.ndarray):
        return None
    return str(np.ndarray.dtype.__get__(value)), np.ndarray.shape.__get__(value)
