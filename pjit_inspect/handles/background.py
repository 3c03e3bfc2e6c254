"""Work that nobody waits for: in a daemon thread, and only while the user's code does not run.

Python runs one thread at a time, so work beside a running cell would slow that cell down. What takes long calls
`wait_for_idle` between its steps. Not its job: the work (`findings`, `suggest`), or where its result goes.
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
"""How long an ending process waits for a thread: longer than a large program is lowered."""
_stops: WeakKeyDictionary[threading.Thread, Callable[[], object]] = WeakKeyDictionary()


def user_code_begins() -> None:
    """Code of the user's begins to run, such as a cell of a notebook; for each of several at once."""
    global _running
    with _turn:
        _running += 1


def user_code_ends() -> None:
    """It has ended."""
    global _running
    with _turn:
        _running = max(0, _running - 1)
        _turn.notify_all()


def in_background(work: Callable[[], Any]) -> threading.Thread:
    """Run `work` in a daemon thread, after what is being worked on; between its steps it waits while user code runs.

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
    """In a thread of `in_background`: wait until the user's code does not run, or somebody waits for the work.

    Returns the seconds waited; 0 at once in any other thread.
    """
    if not getattr(_local, "is_ours", False):
        return 0.0
    start = time.monotonic()
    with _turn:
        # A thread that is in native code while Python ends would take the process with it: it stays here.
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
    """While this lasts, work in the background waits for nothing: the user's code may need what it is making."""
    global _waiting
    with _turn:
        _waiting += 1
        _turn.notify_all()
    try:
        yield
    finally:
        with _turn:
            _waiting -= 1
