"""What users call: capturing, compiling on request, reading files, the ledger, errors explained.

Not its job: what is known about a record (`handles`), watching (`observe`), reading (`parse`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from pjit_inspect.errors import ParseError
from pjit_inspect.handles.error import ErrorExplanation, explain_error, explain_known_error
from pjit_inspect.handles.ledger import HISTORY, Ledger
from pjit_inspect.handles.log import Log, LogLimit
from pjit_inspect.handles.merged import Merged, merge
from pjit_inspect.handles.record import CompileRecord, View
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.dump_directory import read_dump_directory
from pjit_inspect.parse.files.recognise import EXPECTED, read_program, unreadable_program
from pjit_inspect.parse.files.record_file import read_record

if TYPE_CHECKING:
    from pjit_inspect.observe.watch.listener import OnRecord

__all__ = [
    "CompileRecord",
    "ErrorExplanation",
    "Ledger",
    "Log",
    "Merged",
    "View",
    "capture",
    "explain_error",
    "explain_known_error",
    "inspect",
    "ledger",
    "load",
    "merge",
    "open",
    "session_log",
    "start",
    "stop",
    "watch",
]


# ---------------------------------------------------------------- capturing


@contextmanager
def capture(*, calls: bool = False, measure: bool = False) -> Iterator[Log]:
    """Record every compile of the process while the block runs, whoever called jit.

    With `calls=True`, functions that the block calls but that were compiled earlier are recorded too (`data.cached ==
    "memory"`), without compiling them again. The log may be read inside the block and after it. Scopes may nest.

    With `measure=True` (which implies `calls`) JAX's profiler runs during the block, and after it each record whose
    program ran has `kernel_times`. The profiler slows the block down, and code in it cannot run a profiler of its own.
    JAX's devices start when the block begins, and one tiny program is compiled that waits for them; it ends when all
    that was begun in it has run and the trace is read (a second for some 35,000 runs of an instruction on a device).
    A profiler that cannot start costs the times only.
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
    from pjit_inspect.handles.measuring import measured

    return measured(log, twins=_session)


def _appender(log: Log) -> OnRecord:
    def append(data: RecordData, finish: Callable[[RecordData], RecordData]) -> None:
        HISTORY.add(data)
        log.extend((CompileRecord(data, live=True, finish=finish),))

    return append


_session = Log(limit=LogLimit())
_session_append = _appender(_session)
_session_on = False
_session_lock = threading.Lock()


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
    called with the function's name when XLA begins; what that returns is called when XLA has ended.
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


def ledger(log: Log | None = None) -> Ledger:
    """What was compiled again, why, and what it cost: of a log, or of the session's log.

    It shows itself in a notebook; `rows`, `patterns` and `timeline()` are for more.
    """
    records = tuple(_session if log is None else log)
    return Ledger((record.data, record.reason) for record in records)


def inspect(fn: Callable[..., Any] | Any, *args: Any, **kwargs: Any) -> CompileRecord:
    """Compile a function for these arguments without running it, and return its record.

    `fn` is a jitted function, a plain one (jitted here with the defaults), or, without arguments, a `jax.stages.Traced`
    or `Lowered`; the arguments are arrays, or `jax.ShapeDtypeStruct`s with shardings. A function JAX has compiled
    already is not compiled again.

    Errors of tracing and compiling pass through. Raises
    CaptureError when `fn` is no function.
    """
    from pjit_inspect.observe.watch.on_request import compile_record

    data = compile_record(fn, args, kwargs)
    HISTORY.add(data)
    return CompileRecord(data, live=True)


def load(path: str | os.PathLike[str]) -> CompileRecord:
    """Read a record that `CompileRecord.save` wrote. Needs no JAX.

    Raises ParseError (with file and offset) when the file is damaged or something else, VersionError when a newer
    version of this package wrote it, and OSError when it cannot be opened.
    """
    return CompileRecord(read_record(path))


def open(path: str | os.PathLike[str]) -> CompileRecord | Log:
    """Read an optimized program from a file, or all of them from a directory that XLA dumped into. Needs no JAX.

    A file gives a record: HLO text or an HLO proto, gzip of either, or what `CompileRecord.save` wrote. Text of any XLA
    version is read; `record.hlo.unknown` counts what was not understood. A directory gives a log with a record for
    each program, however many they are; one whose file is damaged has no HLO and says why. HLO does not name the mesh,
    the inputs and the outputs: these are unknown, and groups are partition numbers.

    Raises ParseError (with file and line or offset) when there is no program, VersionError for a record that a newer
    version of this package wrote, and OSError when the file cannot be opened.
    """
    return _open_directory(path) if os.path.isdir(path) else _open_file(path)


def _open_file(path: str | os.PathLike[str]) -> CompileRecord:
    program = read_program(path)
    return CompileRecord(program.data, hlo=program.module, hlo_text=program.text)


def _open_directory(path: str | os.PathLike[str]) -> Log:
    records: list[CompileRecord] = []
    for module in read_dump_directory(path):
        if module.optimized is None:
            continue
        try:
            records.append(_open_file(module.optimized))
        except ParseError as error:
            reason = f"{module.optimized.name}: {error.message}"
            records.append(CompileRecord(unreadable_program(module.name, reason).data))
    if not records:
        message = "the directory has programs before and between passes only"
        raise ParseError(message, path=os.fspath(path), expected=EXPECTED)
    return Log(records)
