"""Capturing: while a block runs, or from `start` to `stop`, every compile of the process becomes an entry of a log.

Not its job: watching (`observe.watch.listener`), the log (`handles.session.log`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from pjit_inspect.handles.session.captured import Captured
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.handles.session.log import Log, LogLimit
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData

if TYPE_CHECKING:
    from pjit_inspect.observe.watch.listener import OnRecord


@contextmanager
def capture(*, calls: bool = False, measure: bool = False) -> Iterator[Log]:
    """Record every compile of the process while the block runs, whoever called jit.

    With `calls=True`, functions that the block calls but that were compiled earlier are recorded too (`data.cached ==
    "memory"`), without compiling them again. The log may be read inside the block and after it. Scopes may nest.

    With `measure=True` (which implies `calls`) JAX's profiler runs during the block, and after it each record whose
    program ran has `kernel_times`. The profiler slows the block down. If code in it starts another profiler, that one
    runs, and there are no times: JAX runs one at a time. On a GPU, call a program once before you measure it: a program
    that is compiled while JAX's profiler runs may fail at its next call afterwards (docs/versions.md). JAX's devices
    start when the block begins, and one tiny program is compiled to wait for them. The block ends when all work begun
    in it has run and the trace is read (a second for about 35,000 runs of an instruction on a device). If the profiler
    cannot start, only the times are missing.
    """
    from pjit_inspect.observe.watch.listener import observed, observed_calls

    log = Log(limit=LogLimit())
    try:
        with (
            _measured(log) if measure else nullcontext(),
            (observed_calls if calls or measure else observed)(_appender(log)),
        ):
            yield log
    finally:
        log.complete()


def _measured(log: Log) -> AbstractContextManager[None]:
    from pjit_inspect.handles.measured.measuring import measured

    return measured(log, twins=_session)


def _appender(log: Log) -> OnRecord:
    def append(data: RecordData, finish: Callable[[RecordData], RecordData]) -> None:
        HISTORY.add(data)
        log._add(Captured(data, finish))  # noqa: SLF001

    return append


_session = Log(limit=LogLimit())
_session_append = _appender(_session)
_session_on = False
_session_lock = threading.RLock()


def start() -> Log:
    """Record every compile of the process from now on; `stop` ends it. Returns the session's log.

    Starting twice is the same as once.
    """
    global _session_on
    from pjit_inspect.observe.watch import listener

    with _session_lock:
        if not _session_on:
            listener.start(_session_append)
            _session_on = True
    return _session


def stop() -> Log:
    """End what `start` began and return the session's log, which keeps its records."""
    global _session_on
    with _session_lock:
        if _session_on:
            from pjit_inspect.observe.watch import listener

            listener.stop(_session_append)
            _session_on = False
    _session.complete()
    return _session


def watch(
    on_compile: Callable[[RecordData, Reason], None], on_begin: Callable[[str], Callable[[], None]] | None = None
) -> Callable[[], None]:
    """Call `on_compile` after every compile of the process, with its data and reason; the result ends that.

    It is called in the thread that compiled, within the user's call: it must be quick and must not raise. `on_begin` is
    called with the function's name when XLA begins; its result is called when XLA has ended.
    """
    from pjit_inspect.observe.watch import listener

    def on_record(data: RecordData, _: Any) -> None:
        HISTORY.add(data)
        if data.cached != "memory":
            on_compile(data, HISTORY.reason(data))

    listener.start(on_record)
    silence = listener.announce(on_begin) if on_begin is not None else None

    def end() -> None:
        listener.stop(on_record)
        if silence is not None:
            silence()

    return end


def session_log() -> Log:
    """The log that `start` and `%pjit` write to."""
    return _session


def is_started() -> bool:
    """True between `start` and `stop`."""
    return _session_on
