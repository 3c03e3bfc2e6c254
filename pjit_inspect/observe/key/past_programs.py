"""The programs that were recorded before, as far as JAX still holds them: which are gone, which returned an argument.

Nothing here keeps a program or an array alive. Not its job: the rest of the key (`observe.key.compile_key`).
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import jax

from pjit_inspect.model.record.compile_key import FedBack
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_user_file, user_frame
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.untouched import is_a

__all__ = ["dropped_before", "fed_back", "remember_program"]

_MAX_OF_ONE, _MAX_FUNCTIONS = 64, 2_000

# A signal handler may compile while the same thread is in here.
_lock = threading.RLock()
# By the name and place of the function.
_past: dict[str, _Function] = {}


# Compared by identity: a hash of thousands of results takes its time.
@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """One recorded program."""

    serial: int
    computation: weakref.ref[Any]
    results: tuple[str, ...]
    site: tuple[weakref.ref[CodeType], int] | None


@dataclass(frozen=True, slots=True)
class _Function:
    """The newest programs of one function: of those that were seen to be gone their serials are enough."""

    held: tuple[_Past, ...] = ()
    gone: tuple[int, ...] = ()

    def looked_at(self) -> _Function:
        """As it is now; itself where nothing more is gone."""
        lost = [past.serial for past in self.held if past.computation() is None]
        if not lost:
            return self
        held = tuple([past for past in self.held if past.serial not in lost])
        return _Function(held, tuple(sorted((*self.gone, *lost))))

    def with_newest(self, past: _Past) -> _Function:
        """With one more; the oldest makes room."""
        more = len(self.held) + len(self.gone) + 1 - _MAX_OF_ONE
        if more > 0 and self.gone and (not self.held or self.gone[0] < self.held[0].serial):
            return _Function((*self.held, past), self.gone[more:])
        return _Function((*self.held, past)[max(0, more) :], self.gone)


_NONE = _Function()


def remember_program(
    function: str, serial: int, program: LiveProgram, results: Sequence[str], frame: FrameType | None
) -> None:
    """Note a program of a function and the instruction that called it; `results` are the paths of what it returns."""
    if program.computation is None:
        return
    caller = user_frame(frame)
    site = None if caller is None else (weakref.ref(caller.f_code), caller.f_lasti)
    past = _Past(serial, weakref.ref(program.computation), tuple(results), site)
    with _lock:
        if len(_past) >= _MAX_FUNCTIONS:
            _past.clear()
        _past[function] = _past.get(function, _NONE).looked_at().with_newest(past)


def dropped_before(function: str) -> tuple[int, ...]:
    """The serials of the function's newest programs that are gone: neither JAX nor the user holds them any more."""
    with _lock:
        known = _past.get(function)
        if known is None:
            return ()
        now = known.looked_at()
        if now is not known:
            _past[function] = now
    return now.gone


# ---------------------------------------------------------------- results that come back


def fed_back(function: str, paths: Sequence[str], arguments: Sequence[Any]) -> tuple[FedBack, ...]:
    """The arguments that are results of an earlier program of the same function.

    Two things must say so: the array has the very objects for its type and its sharding that this program gives its
    results, and it was made by the instruction that called this program.
    """
    known = _results(function)
    if not known or len(paths) != len(arguments):
        return ()
    found = []
    for path, argument in zip(paths, arguments, strict=True):
        if is_a(argument, jax.Array) and (made := known.get(_objects(argument.aval, argument.sharding))):
            past = next((past for past in reversed(made) if _is_made_at(argument, past)), None)
            if past is not None:
                results = made[past]
                found.append(FedBack(path=path, serial=past.serial, result=results[0] if len(results) == 1 else ""))
    return tuple(found)


def _objects(aval: Any, sharding: Any) -> tuple[int, int]:
    # Of objects that are alive while they are compared: their program holds them.
    return id(aval), id(sharding)


def _results(function: str) -> dict[tuple[int, int], dict[_Past, list[str]]]:
    """The results of the function's earlier programs that JAX holds, by what their arrays have in common."""
    found: dict[tuple[int, int], dict[_Past, list[str]]] = defaultdict(dict)
    for past in _past.get(function, _NONE).held:
        for path, result in zip(past.results, _jax.results_of(past.computation()), strict=False):
            found[_objects(*result)].setdefault(past, []).append(path)
    return found


def _is_made_at(array: Any, past: _Past) -> bool:
    if past.site is None:
        return False
    code, last = next((pair for pair in _jax.made_at(array) if is_user_file(pair[0].co_filename)), (None, 0))
    return code is not None and code is past.site[0]() and last == past.site[1]
