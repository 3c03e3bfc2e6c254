"""Runs background work in a daemon thread, only while the user's code does not run.

Python runs one thread at a time: work beside a running cell would slow the cell down. Long work calls `wait_for_idle`
between its steps. Not its job: the work (`findings`, `trials`), or the use of its result.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from pjit_inspect.guard import Guard

_local = threading.local()
_turn = threading.Condition()
_one_at_a_time = threading.Lock()
_running = 0
_waiting = 0
_is_ending = False

_PATIENCE_S = 20.0
"""Time an ending process waits for a thread: longer than the lowering of a large program."""
_stops: WeakKeyDictionary[threading.Thread, Callable[[], object]] = WeakKeyDictionary()


def user_code_begins() -> None:
    """Marks that user code begins to run, such as a notebook cell; calls may overlap."""
    global _running
    with _turn:
        _running += 1


def user_code_ends() -> None:
    """Marks that user code has ended."""
    global _running
    with _turn:
        _running = max(0, _running - 1)
        _turn.notify_all()


def in_background(work: Callable[[], Any]) -> threading.Thread:
    """Run `work` in a daemon thread, after earlier work; between its steps it waits while user code runs.

    What it raises is reported once. A daemon thread does not keep the process from ending.
    """

    def run() -> None:
        _local.is_ours = True
        with _one_at_a_time:
            wait_for_idle()
            Guard().run("work in the background", work, None)

    thread = threading.Thread(target=run, name="pjit_inspect background", daemon=True)
    thread.start()
    return thread


def wait_for_idle() -> float:
    """In a thread of `in_background`: wait until user code does not run, or a caller waits for the work.

    Returns the seconds waited; 0 at once in any other thread.
    """
    if not getattr(_local, "is_ours", False):
        return 0.0
    start = time.monotonic()
    with _turn:
        # A thread in native code while Python ends would crash the process: it is kept here.
        _turn.wait_for(lambda: (not _running or _waiting) and not _is_ending)
    return time.monotonic() - start


def stop_at_exit(thread: threading.Thread, stop: Callable[[], object]) -> None:
    """Have `stop` called when Python ends, and wait for `thread`: in native code it would take the process with it."""
    _stops[thread] = stop


def _end() -> None:
    global _is_ending
    _is_ending = True
    stops = [(thread, stop) for thread, stop in _stops.items() if thread.is_alive()]
    for _, stop in stops:
        Guard().run("stopping at exit", stop, None)
    for thread, _ in stops:
        thread.join(_PATIENCE_S)


atexit.register(_end)


@contextmanager
def somebody_waits() -> Iterator[None]:
    """While this lasts, background work does not wait: the user's code may need its result."""
    global _waiting
    with _turn:
        _waiting += 1
        _turn.notify_all()
    try:
        yield
    finally:
        with _turn:
            _waiting -= 1
