"""Programs recorded before, as far as JAX still holds them, and the arrays that they took and returned.

An array that is still alive can be named by its path. Nothing here keeps a program or an array alive. Not its job: the
rest of the key (`observe.key.compile_key`).
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

import jax

from pjit_inspect.model.record.compile_key import FedBack, MadeBy
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_user_file, user_frame
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.untouched import is_a

_MAX_OF_ONE, _MAX_FUNCTIONS, _MAX_ARRAYS = 64, 2_000, 100_000

# A signal handler may compile while the same thread is in here.
_lock = threading.RLock()
# By the name and place of the function.
_past: dict[str, tuple[_Past, ...]] = {}
# By the address of an array: the function of the newest call that was given it, and its path there.
_given: dict[int, tuple[weakref.ref[Any], str, str]] = {}


# Compared by identity: a hash of thousands of results takes its time.
@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """One recorded program of a function; `called` is the user's jitted function that was called, "" for others.

    `results` are the paths of its results, `site` is the instruction that called it.
    """

    function: str
    serial: int
    computation: weakref.ref[Any]
    results: tuple[str, ...]
    site: tuple[weakref.ref[CodeType], int] | None
    called: str

    def is_called_at(self, code: CodeType | None, last: int) -> bool:
        """True if this instruction called it."""
        return code is not None and self.site is not None and self.site[0]() is code and self.site[1] == last


def remember_program(
    function: str, serial: int, program: LiveProgram, results: Sequence[str], frame: FrameType | None, *, called: str
) -> None:
    """Notes a program of a function and the instruction that called it; `results` and `called` as in `_Past`."""
    if program.computation is None:
        return
    caller = user_frame(frame)
    site = None if caller is None else (weakref.ref(caller.f_code), caller.f_lasti)
    past = _Past(function, serial, weakref.ref(program.computation), tuple(results), site, called)
    with _lock:
        if len(_past) >= _MAX_FUNCTIONS:
            _past.clear()
        # Of one that is gone its serial is enough.
        known = (p if p.computation() is not None else replace(p, results=()) for p in _past.get(function, ()))
        _past[function] = (*known, past)[-_MAX_OF_ONE:]


def dropped_before(function: str) -> tuple[int, ...]:
    """The serials of the function's newest programs that neither JAX nor the user holds any more."""
    return tuple([past.serial for past in _past.get(function, ()) if past.computation() is None])


# ---------------------------------------------------------------- who returned an array


def fed_back(function: str, paths: Sequence[str], arguments: Sequence[Any]) -> tuple[FedBack, ...]:
    """The arguments that are results of an earlier program of the same function."""
    known = _results(_past.get(function, ())) if arguments and len(paths) == len(arguments) else {}
    found = []
    for path, argument in zip(paths, arguments, strict=True) if known else ():
        if is_a(argument, jax.Array) and (makers := _makers(argument, known)):
            past, results = makers[-1]
            found.append(FedBack(path=path, serial=past.serial, result=results[0] if len(results) == 1 else ""))
    return tuple(found)


def made_by(paths: Sequence[str], arguments: Sequence[Any], *, devices: int) -> tuple[MadeBy, ...]:
    """The arguments on fewer devices than `devices` that a call of another user function returned.

    Arguments that fit several functions are left out. Others are not looked at: they arrive where the program runs.
    """
    if len(paths) != len(arguments):
        return ()
    on_fewer = {
        path: argument
        for path, argument in zip(paths, arguments, strict=True)
        if is_a(argument, jax.Array) and len(argument.sharding.device_set) < devices
    }
    sites = {_site_of(argument) for argument in on_fewer.values()}
    pasts = (
        [past for past in _all() if past.called and any(past.is_called_at(*site) for site in sites)] if sites else []
    )
    known, found = _results(pasts), []
    for path, argument in on_fewer.items() if known else ():
        makers = [past for past, _ in _makers(argument, known)]
        if len({past.called for past in makers}) == 1:
            found.append(MadeBy(path=path, serial=makers[-1].serial, function=makers[-1].called))
    return tuple(found)


def result_finder() -> Callable[[Any], tuple[str, str] | None]:
    """A function that finds the captured call that returned an array: its function and path; None for no such call.

    The path is "" if several results are of the array's kind.
    """
    known = _results(_all())

    def find(array: Any) -> tuple[str, str] | None:
        found = {(_name_of(past.function), path) for past, paths in _makers(array, known) for path in paths}
        names = {name for name, _ in found}
        if len(names) != 1:
            return None
        return names.pop(), (found.pop()[1] if len(found) == 1 else "")

    return find


def _all() -> list[_Past]:
    with _lock:
        return [past for own in _past.values() for past in own]


def _results(pasts: Iterable[_Past]) -> dict[tuple[int, int], dict[_Past, list[str]]]:
    """The results of programs that JAX holds, by the objects for their type and sharding."""
    found: dict[tuple[int, int], dict[_Past, list[str]]] = defaultdict(dict)
    for past in pasts:
        for path, result in zip(past.results, _jax.results_of(past.computation()), strict=False):
            found[_objects(*result)].setdefault(past, []).append(path)
    return found


def _makers(array: Any, known: dict[tuple[int, int], dict[_Past, list[str]]]) -> list[tuple[_Past, list[str]]]:
    """The programs that returned an array, oldest first, each with the results it may be.

    Two facts must agree: the array has the very objects for its type and its sharding that this program gives its
    results, and it was made by the instruction that called this program.
    """
    made = known.get(_objects(array.aval, array.sharding))
    site = _site_of(array) if made else (None, 0)
    return [(past, paths) for past, paths in (made or {}).items() if past.is_called_at(*site)]


def _objects(aval: Any, sharding: Any) -> tuple[int, int]:
    # Of objects that are alive while they are compared: their program holds them.
    return id(aval), id(sharding)


def _site_of(array: Any) -> tuple[CodeType | None, int]:
    """The user's instruction that made an array; None if unknown."""
    return next((pair for pair in _jax.made_at(array) if is_user_file(pair[0].co_filename)), (None, 0))


def _name_of(function: str) -> str:
    """A function's own name, from the text that identifies it: XLA's name, JAX's name with its place."""
    own, _, place = function.partition(" ")
    return place.partition(" ")[0] or own


# ---------------------------------------------------------------- arguments


def remember_arguments(function: str, paths: Sequence[str], arguments: Sequence[Any]) -> None:
    """Notes the arguments of a call of a function, within that call."""
    if len(paths) != len(arguments):
        return
    if len(_given) + len(arguments) > _MAX_ARRAYS:
        _given.clear()
    for path, argument in zip(paths, arguments, strict=True):
        if is_a(argument, jax.Array):
            key = id(argument)
            try:
                _given[key] = (weakref.ref(argument, functools.partial(_forget, key)), function, path)
            except TypeError:
                # A tracer, or an array of a kind that allows no weak reference.
                continue


def _forget(key: int, gone: weakref.ref[Any]) -> None:
    # A newer object may have the address already.
    entry = _given.get(key)
    if entry is not None and entry[0] is gone:
        del _given[key]


def argument_of(array: Any) -> tuple[str, str] | None:
    """The function whose newest captured call was given this very array, and its path there; None for no such call."""
    entry = _given.get(id(array))
    return (entry[1], entry[2]) if entry is not None and entry[0]() is array else None
