"""The jaxpr of a small program, kept until its text is read: printing is slow, and most are never read.

What is kept is a copy that holds plain data only: no array, no function, nothing of the user's, and not the jaxpr
itself, by which JAX finds the program it compiled. Where it would hold more, it is printed at once. All copies together
have a bounded number of equations; the oldest are printed to make room. Not its job: the text of a jaxpr
(`observe.live.contents`).
"""

from __future__ import annotations

import enum
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from types import NoneType
from typing import Any

import numpy as np

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.untouched import is_a, is_one_of, is_trusted, is_trusted_type, once_for_each_type

_MOST_EQUATIONS = 300
"""Of one program; it takes a kilobyte or two for each."""

_MOST_WAITING = 20_000
"""Equations of all that wait."""

_MOST_ITEMS, _DEEPEST = 1_000, 8

_ATOMS = (NoneType, bool, int, float, complex, str, bytes)
_ATOM_IDS = frozenset(map(id, _ATOMS))
"""For the usual case, which is to cost no call: it runs within a compile of the user's, right after XLA."""
_PLAIN_OF_JAX = frozenset((
    "AbstractMesh", "ConvDimensionNumbers", "DotAlgorithm", "Format", "GSPMDSharding", "GatherDimensionNumbers",
    "Layout", "Mesh", "NamedAxisEffect", "NamedSharding", "P", "PRNGImpl", "PartitionSpec", "RaggedDotDimensionNumbers",
    "ScatterDimensionNumbers", "ShapedArray", "SingleDeviceSharding", "UnspecifiedValue",
))  # fmt: skip
"""Types of JAX's that hold neither arrays nor functions, but for a PRNGImpl, which JAX itself holds for good.

A PartitionSpec is called `P` since JAX 0.10.
"""


class _HoldsMoreError(Exception):
    """The jaxpr has something that must not be kept, or is unknown here."""


class WaitingJaxpr:
    """A jaxpr that is printed when its text is read."""

    def __init__(self, jaxpr: Any, equations: int, text_of: Callable[[Any], str | None]) -> None:
        self._jaxpr, self._text_of, self._text = jaxpr, text_of, ""
        self._lock = threading.RLock()
        self.equations = equations
        """The number of those that are kept."""

    def text(self) -> str | None:
        """The jaxpr as text. Passes on errors of printing it."""
        with self._lock:
            if self._jaxpr is not None:
                self._text = self._text_of(self._jaxpr)
                self._jaxpr = None
            return self._text


_lock = threading.RLock()
_waiting: deque[tuple[weakref.ref[WaitingJaxpr], int]] = deque()
_equations = 0


def waiting_jaxpr(jaxpr: Any, text_of: Callable[[Any], str | None]) -> WaitingJaxpr | None:
    """A jaxpr that `text_of` prints later; None for one that is too large, or holds more than plain data."""
    copies = _Copies()
    try:
        made = WaitingJaxpr(copies.of(jaxpr), copies.equations, text_of)
    except _HoldsMoreError:
        return None
    for oldest in _enter(made):
        # Who reads it gets the error.
        with suppress(Exception):
            oldest.text()
    return made


def _enter(made: WaitingJaxpr) -> list[WaitingJaxpr]:
    """Counts one in; returns those that must make room."""
    global _equations
    oldest: list[WaitingJaxpr] = []
    with _lock:
        _waiting.append((weakref.ref(made), made.equations))
        _equations += made.equations
        while _equations > _MOST_WAITING:
            reference, number = _waiting.popleft()
            _equations -= number
            if (found := reference()) is not None:
                oldest.append(found)
    return oldest


class _Copies:
    """Copies of a jaxpr and its inner jaxprs. A jaxpr that occurs twice is copied once: JAX prints it once."""

    def __init__(self) -> None:
        self.equations = 0
        self._known: dict[int, Any] = {}

    def of(self, jaxpr: Any) -> Any:
        """The copy. Raises _HoldsMoreError."""
        if id(jaxpr) not in self._known:
            # From JAX 0.12 on an open jaxpr has constants, too: the arrays that a function closes over.
            if getattr(jaxpr, "consts", ()):
                raise _HoldsMoreError
            inner = getattr(jaxpr, "jaxpr", jaxpr)
            if inner is jaxpr:
                self._known[id(jaxpr)] = self._open(jaxpr)
            else:
                self._known[id(jaxpr)] = jaxpr.replace(jaxpr=self.of(inner))
        return self._known[id(jaxpr)]

    def _open(self, jaxpr: Any) -> Any:
        self._check_effects(jaxpr.effects)
        _check(jaxpr.debug_info, _DEEPEST)
        self._check_atoms(jaxpr.outvars)
        return jaxpr.replace(eqns=[self._equation(equation) for equation in jaxpr.eqns])

    def _equation(self, equation: Any) -> Any:
        self.equations += 1
        if self.equations > _MOST_EQUATIONS:
            raise _HoldsMoreError
        self._check_effects(equation.effects)
        self._check_atoms(equation.invars)
        changed = {}
        for name, value in equation.params.items():
            kind = type(value)
            if id(kind) in _ATOM_IDS or (kind is tuple and not value):
                continue
            if _is_jaxpr(kind):
                changed[name] = self.of(value)
            elif kind is tuple and any(_is_jaxpr(type(item)) for item in value):
                _check([item for item in value if not _is_jaxpr(type(item))], _DEEPEST)
                changed[name] = tuple(self.of(item) if _is_jaxpr(type(item)) else item for item in value)
            else:
                _check((value,), _DEEPEST)
        # Without its place in the user's code: that holds the code objects of every frame.
        return equation.replace(params={**equation.params, **changed}, source_info=_jax.no_source())

    def _check_effects(self, effects: Any) -> None:
        if effects and not all(_is_atom(type(effect)) for effect in effects):
            raise _HoldsMoreError

    def _check_atoms(self, atoms: Any) -> None:
        for atom in atoms:
            if hasattr(atom, "val") and not _is_number(atom.val):
                raise _HoldsMoreError


def _check(values: Collection[Any], depth: int) -> None:
    """Raises _HoldsMoreError where they are not all plain data."""
    for value in values:
        kind = type(value)
        if id(kind) in _ATOM_IDS or _is_atom(kind):
            continue
        if kind is tuple or kind is frozenset:
            # No list or dictionary: it could change meanwhile.
            if depth == 0 or len(value) > _MOST_ITEMS:
                raise _HoldsMoreError
            _check(value, depth - 1)
        elif kind is not type or not is_trusted_type(value):
            raise _HoldsMoreError


@once_for_each_type
def _is_jaxpr(kind: type) -> bool:
    return is_trusted_type(kind) and kind.__name__ in ("Jaxpr", "ClosedJaxpr")


def _is_number(value: Any) -> bool:
    # JAX has types of its own for Python's numbers and for NumPy's arrays.
    if is_trusted(value) and type(value).__name__ == "TypedNdArray":
        return value.shape == ()
    return _is_atom(type(value)) or (is_trusted(value) and is_a(value, int, float, complex))


@once_for_each_type
def _is_atom(kind: type) -> bool:
    """True if values of a type are themselves all that they hold."""
    if is_one_of(kind, _ATOMS) or issubclass(kind, (np.generic, np.dtype)):
        return True
    return is_trusted_type(kind) and (kind.__name__ in _PLAIN_OF_JAX or issubclass(kind, enum.Enum))
