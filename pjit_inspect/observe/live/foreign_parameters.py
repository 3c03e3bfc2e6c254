"""Replaces parameters of a jaxpr's operations that would run user code when JAX prints them.

A callback may be an object with a `__repr__`, and so may be a parameter of a user's primitive. Not its job: printing
(`observe.live.contents`).
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pjit_inspect.observe.live.untouched import held, is_a, is_one_of, is_trusted, type_attribute, type_name

_DEPTH = 5
_MOST_ITEMS = 1_000
_PLAIN = (type(None), bool, int, float, complex, str, bytes, FunctionType, BuiltinFunctionType, ModuleType, type)
_CONTAINERS = (tuple, list, dict, set, frozenset)
_HOLDERS = ("Callback", "HashablePartial", "WrappedFun", "custom_jvp", "custom_vjp", "Hashable")
"""Parts of the names of JAX's types that print their contents."""


class _Instead:
    """A stand-in that prints the kind of the object it replaces."""

    __slots__ = ("_text", "debug_info")

    def __init__(self, value: Any) -> None:
        self._text = f"<{type_name(type(value))}>"
        # JAX prints the rules of a custom derivative by the name in here, which JAX made.
        self.debug_info = getattr(value, "debug_info", None) if is_trusted(value) else None

    def __repr__(self) -> str:
        return self._text


def without_foreign(jaxpr: Any) -> Any:
    """The jaxpr itself, or where a parameter would run the user's code, a copy that has its kind in its place."""
    closed = getattr(jaxpr, "jaxpr", jaxpr)
    equations = [_equation(equation) for equation in closed.eqns]
    if all(new is old for new, old in zip(equations, closed.eqns, strict=True)):
        return jaxpr
    made = closed.replace(eqns=equations)
    return made if closed is jaxpr else jaxpr.replace(jaxpr=made)


def _equation(equation: Any) -> Any:
    changed = {name: new for name, value in equation.params.items() if (new := _parameter(value)) is not value}
    return equation.replace(params={**equation.params, **changed}) if changed else equation


def _parameter(value: Any) -> Any:
    if _is_jaxpr(value):
        return without_foreign(value)
    if type(value) is tuple and any(_is_jaxpr(item) for item in value):
        made = tuple(_parameter(item) for item in value)
        return value if all(new is old for new, old in zip(made, value, strict=True)) else made
    return _Instead(value) if _is_foreign(value, _DEPTH) else value


def _is_jaxpr(value: Any) -> bool:
    return is_trusted(value) and type(value).__name__ in ("Jaxpr", "ClosedJaxpr")


def _is_foreign(value: Any, depth: int) -> bool:
    kind = type(value)
    if is_one_of(kind, _PLAIN) or _is_jaxpr(value) or is_a(value, np.dtype, enum.Enum, type):
        return False
    if is_a(value, np.generic):
        return not is_trusted(value)
    if depth == 0:
        return True
    if is_one_of(kind, (*_CONTAINERS, functools.partial, MethodType)):
        return any(_is_foreign(item, depth - 1) for item in _items(value))
    if is_trusted(value):
        is_holder = any(part in kind.__name__ for part in _HOLDERS)
        return is_holder and any(_is_foreign(item, depth - 1) for item in held(value))
    own = type_attribute(kind, "__repr__"), type_attribute(kind, "__str__")
    return own != (object.__repr__, object.__str__)


def _items(value: Any) -> Iterator[Any]:
    if type(value) is functools.partial:
        yield from (value.func, *value.args, *value.keywords.values())
    elif type(value) is MethodType:
        yield from (value.__func__, value.__self__)
    elif type(value) is dict:
        for pair in value.items():
            yield from pair
    elif len(value) <= _MOST_ITEMS:
        yield from value
