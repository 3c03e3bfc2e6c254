"""Guards around steps of our own: one that fails costs its own result, and neither the others nor the user's call.

What failed is reported once, as a warning that names the step. Interrupts pass: Ctrl-C, and whatever a signal handler
of the program raises while a step runs, such as the TimeoutError of an alarm. Not its job: errors that users are to see
(`errors`).
"""

from __future__ import annotations

import gc
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

_LONGEST = 300
_MOST_WARNINGS = 1_000
_warned: set[str] = set()


@dataclass(slots=True)
class Guard:
    """Runs steps that need not all succeed.

    Attributes:
      failed: step -> its error, on one line; each was warned of.
    """

    failed: dict[str, str] = field(default_factory=dict)

    def run(self, name: str, compute: Callable[[], T], default: T) -> T:
        """The result of `compute`; `default` if it fails."""
        try:
            return compute()
        except Exception as error:
            if is_interrupt(error):
                raise
            self.failed[name] = one_line(error)
            warn_once(f"pjit_inspect could not make {name}: {self.failed[name]}. Everything else is there.")
            return default


class shielded:  # noqa: N801  (it is used as a function is)
    """Keep an error of ours out of the user's call; say it once for each step."""

    __slots__ = ("_step",)

    def __init__(self, step: str) -> None:
        self._step = step

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if error is None or is_interrupt(error):
            return False
        said = f"pjit_inspect could not record {self._step}: {one_line(error)}."
        warn_once(f"{said} Your call is not affected; the record is lost.")
        return True


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep Python's garbage collector away while many small objects are made that all stay.

    It would look through them again and again: a quarter of the time of an analysis of 86,000 instructions.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_fact(missing: dict[str, str], name: str, get: Callable[[], T], default: T) -> T:
    """The result of `get`, or `default` with the error noted in `missing`: one fact that fails costs no other."""
    try:
        return get()
    except Exception as error:
        if is_interrupt(error):
            raise
        missing[name] = one_line(error)
        return default


def is_interrupt(error: BaseException) -> bool:
    """True if it interrupts a step, and is no failure of it: Ctrl-C, or what a signal handler of the program raised.

    A handler runs between any two instructions of ours, so its exception goes through our frames like one of ours. What
    tells it is the code that it went through: that of a handler that is set.
    """
    if not isinstance(error, Exception):
        return True
    passed, step = set[object](), error.__traceback__
    while step is not None:
        passed.add(step.tb_frame.f_code)
        step = step.tb_next
    return any(_code_of(signal.getsignal(number)) in passed for number in signal.valid_signals())


def _code_of(handler: object) -> object:
    """The code of a function or method; what is none has no code that an exception could go through."""
    return getattr(getattr(handler, "__func__", handler), "__code__", handler)


def one_line(error: BaseException) -> str:
    """The kind of an error and what it says, on one line of bounded length."""
    try:
        said = str(error).partition("\n")[0]
    except Exception:
        # A class of the user's may not be able to say it.
        said = ""
    return f"{type(error).__name__}: {said}"[:_LONGEST] if said else type(error).__name__


def warn_once(message: str) -> None:
    """Warn, if the same was not said before in this process.

    It may be called within the user's call, and nothing but Ctrl-C comes out of it: neither where warnings are errors,
    nor where whoever shows them fails or leaves, nor where standard error is closed.
    """
    if message in _warned or len(_warned) >= _MOST_WARNINGS:
        return
    _warned.add(message)
    try:
        _warn(message)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # Nobody is left who could be told.
        pass


def _warn(message: str) -> None:
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    except Warning:
        # Under `-W error` a warning is an exception.
        if sys.stderr is not None:
            print(message, file=sys.stderr)  # noqa: T201
