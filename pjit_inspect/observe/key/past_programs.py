"""The programs that were recorded before, as far as JAX still holds them: which are gone, which returned an argument.

Nothing here keeps a program or an array alive. Not its job: the rest of the key (`observe.key.compile_key`).
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import jax

from pjit_inspect.model.record.compile_key import FedBack, MadeBy
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_user_file, user_frame
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.untouched import is_a

_MAX_OF_ONE, _MAX_FUNCTIONS = 64, 2_000

# A signal handler may compile while the same thread is in here.
_lock = threading.RLock()
# By the name and place of the function.
_past: dict[str, _Function] = {}


# Compared by identity: a hash of thousands of results takes its time.
@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """One recorded program; `called` is the user's own jitted function that was called, "" for anything else."""

    serial: int
    computation: weakref.ref[Any]
    results: tuple[str, ...]
    site: tuple[weakref.ref[CodeType], int] | None
    called: str


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
    function: str,
    serial: int,
    program: LiveProgram,
    results: Sequence[str],
    frame: FrameType | None,
    *,
    called: str = "",
) -> None:
    """Note a program of a function and the instruction that called it.

    `results` are the paths of what it returns, `called` as in `_Past`.
    """
    if program.computation is None:
        return
    caller = user_frame(frame)
    site = None if caller is None else (weakref.ref(caller.f_code), caller.f_lasti)
    past = _Past(serial, weakref.ref(program.computation), tuple(results), site, called)
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
    known = _results(function) if arguments and len(paths) == len(arguments) else {}
    if not known:
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
    return past.site is not None and _is_site(_site_of(array), past)


def _site_of(array: Any) -> tuple[CodeType | None, int]:
    """The user's instruction that made an array; None where that is not known."""
    return next((pair for pair in _jax.made_at(array) if is_user_file(pair[0].co_filename)), (None, 0))


def _is_site(site: tuple[CodeType | None, int], past: _Past) -> bool:
    code, last = site
    return code is not None and past.site is not None and code is past.site[0]() and last == past.site[1]


# ---------------------------------------------------------------- results of other functions


def made_by(paths: Sequence[str], arguments: Sequence[Any], *, devices: int) -> tuple[MadeBy, ...]:
    """The arguments that a call of another function of the user's returned, of those on fewer devices than `devices`.

    The same two things must say so as for `fed_back`; what fits several functions is nobody's. Others are not looked
    at: they arrive where the program runs.
    """
    if len(paths) != len(arguments):
        return ()
    on_fewer = [
        (path, argument)
        for path, argument in zip(paths, arguments, strict=True)
        if is_a(argument, jax.Array) and len(argument.sharding.device_set) < devices
    ]
    by_code = _by_code() if on_fewer else {}
    found = []
    for path, argument in on_fewer if by_code else ():
        makers = _makers(argument, by_code)
        if len({past.called for past in makers}) == 1:
            found.append(MadeBy(path=path, serial=makers[-1].serial, function=makers[-1].called))
    return tuple(found)


def _by_code() -> dict[CodeType, list[_Past]]:
    """The programs of functions that the user's code called by name, by the code that called them."""
    found: dict[CodeType, list[_Past]] = defaultdict(list)
    with _lock:
        pasts = [past for own in _past.values() for past in own.held if past.called and past.results]
    for past in pasts:
        code = None if past.site is None else past.site[0]()
        if code is not None:
            found[code].append(past)
    return found


def result_finder() -> Callable[[Any], tuple[str, str] | None]:
    """What tells of an array which function of a captured call returned it, and as what; None for no such call.

    The same two things must say so as for `fed_back`. The path is "" where several results are of the array's kind.
    """
    by_site: dict[tuple[CodeType, int], list[tuple[str, _Past]]] = defaultdict(list)
    with _lock:
        pasts = [(function, past) for function, own in _past.items() for past in own.held if past.results]
    for function, past in pasts:
        code = None if past.site is None else past.site[0]()
        if code is not None and past.site is not None:
            by_site[code, past.site[1]].append((function, past))

    def find(array: Any) -> tuple[str, str] | None:
        code, last = _site_of(array)
        if code is None or not (makers := by_site.get((code, last))):
            return None
        objects = _objects(array.aval, array.sharding)
        found = {
            (_name_of(function), path)
            for function, past in makers
            for path, result in zip(past.results, _jax.results_of(past.computation()), strict=False)
            if _objects(*result) == objects
        }
        names = {name for name, _ in found}
        if len(names) != 1:
            return None
        return names.pop(), (found.pop()[1] if len(found) == 1 else "")

    return find


def _name_of(function: str) -> str:
    """A function's own name, of the text that it is known by: XLA's name, JAX's with its place."""
    own, _, place = function.partition(" ")
    return place.partition(" ")[0] or own


def _makers(array: Any, by_code: dict[CodeType, list[_Past]]) -> list[_Past]:
    """The programs that the instruction which made an array calls, and whose results are of its kind."""
    site = _site_of(array)
    if site[0] is None:
        return []
    objects = _objects(array.aval, array.sharding)
    return [
        past
        for past in by_code.get(site[0], ())
        if _is_site(site, past) and any(_objects(*one) == objects for one in _jax.results_of(past.computation()))
    ]
