"""The programs that were recorded before, as far as JAX still holds them: which are gone, which returned an argument.

Nothing here keeps a program or an array alive. Not its job: the rest of the key (`observe.key.compile_key`).
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

_lock = threading.Lock()
# By the name and place of the function.
_past: dict[str, list[_Past]] = {}


# Compared by identity: a hash of thousands of results takes its time.
@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """One recorded program."""

    serial: int
    computation: weakref.ref[Any]
    results: tuple[str, ...]
    site: tuple[weakref.ref[CodeType], int] | None


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
        # Of a program that is gone its number is enough.
        known = [_without_results(old) if old.results else old for old in _past.get(function, ())]
        _past[function] = [*known, past][-_MAX_OF_ONE:]


def _without_results(past: _Past) -> _Past:
    return past if past.computation() is not None else replace(past, results=())


def dropped_before(function: str) -> tuple[int, ...]:
    """The serials of the function's newest programs that are gone: neither JAX nor the user holds them any more."""
    return tuple([past.serial for past in _past.get(function, ()) if past.computation() is None])


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
    for past in _past.get(function, ()):
        if not past.results:
            continue
        for path, result in zip(past.results, _jax.results_of(past.computation()), strict=False):
            found[_objects(*result)].setdefault(past, []).append(path)
    return found


def _is_made_at(array: Any, past: _Past) -> bool:
    if past.site is None:
        return False
    code, last = next((pair for pair in _jax.made_at(array) if is_user_file(pair[0].co_filename)), (None, 0))
    return code is not None and code is past.site[0]() and last == past.site[1]
