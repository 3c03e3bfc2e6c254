"""The single listener: sees every compile of the process and hands a record of it to each open scope.

JAX calls listeners inside the user's own call, where nothing may raise, wait or keep objects. Not its job: the contents
of a record (`observe.watch.record`) or looking up records (`api`).
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from pjit_inspect.guard import shielded, warn_once
from pjit_inspect.model.record.record import RecordData, Timings
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.contract.contract import can_watch_calls, missing_names
from pjit_inspect.observe.key.compile_key import CallFacts, call_facts, remember_trace
from pjit_inspect.observe.live.contents import Finish, jaxpr_text
from pjit_inspect.observe.live.program import program_of_compile, program_of_computation
from pjit_inspect.observe.watch.record import make_record

OnRecord = Callable[[RecordData, Finish], None]
"""Called with each record and a way to complete it later, in the thread that compiled; it must not raise."""

OnBegin = Callable[[str], Callable[[], None]]
"""Called with a function's name when XLA begins to compile it; its result is called when XLA has ended."""

_COMPILED = ("hlo", "hlo_header", "cost", "memory")
"""Fields of a record that only a compiled program has."""

_lock = threading.RLock()
_announced: list[OnBegin] = []
_scopes: list[OnRecord] = []
_local = threading.local()
# Trace and lowering seconds wait here for the compile they belong to, as long as JAX keeps the jaxpr and the module.
_trace_s: weakref.WeakKeyDictionary[Any, tuple[float, float]] = weakref.WeakKeyDictionary()
_lowered: weakref.WeakKeyDictionary[Any, _Lowering] = weakref.WeakKeyDictionary()


def start(on_record: OnRecord) -> None:
    """Hand every record to `on_record` from now on, until `stop(on_record)`."""
    with _lock:
        if not _scopes:
            _warn_of_missing_names()
            _jax.register(_on_duration, _on_event, _on_start)
        _scopes.append(on_record)


def stop(on_record: OnRecord) -> None:
    """End a `start(on_record)`. The last one removes the listener."""
    with _lock:
        if on_record not in _scopes:
            return
        _scopes.remove(on_record)
        if not _scopes:
            _jax.unregister(_on_duration, _on_event, _on_start)


def announce(on_begin: OnBegin) -> Callable[[], None]:
    """Call `on_begin` at the begin of every compile while something is observed; the result ends that."""
    with _lock:
        _announced.append(on_begin)

    def end() -> None:
        with _lock:
            if on_begin in _announced:
                _announced.remove(on_begin)

    return end


@contextmanager
def observed(on_record: OnRecord) -> Iterator[None]:
    """Hand every record made in the block to `on_record`."""
    start(on_record)
    try:
        yield
    finally:
        stop(on_record)


@contextmanager
def observed_calls(on_record: OnRecord) -> Iterator[None]:
    """As `observed`, and report functions that the block calls but that JAX compiled earlier, each once."""
    # Weak: a computation holds its executable, which JAX may let go of before the block ends.
    seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def on_known(computation: Any, jaxpr: Any, frame: FrameType) -> None:
        if computation not in seen:
            seen.add(computation)
            on_record(*_record_of_known(computation, jaxpr, frame))

    def on_compiled(data: RecordData, finish: Finish) -> None:
        if (computation := getattr(_local, "computation", None)) is not None:
            seen.add(computation)
        on_record(data, finish)

    # Where a private name has moved, `observed` says so once, and compiles are still recorded.
    watched = _jax.watched_calls(on_known) if can_watch_calls() else nullcontext()
    with observed(on_compiled), watched:
        yield


@contextmanager
def observed_slow_calls(on_slow: Callable[[str], None]) -> Iterator[None]:
    """Tell the name of a compiled function at each call that passes through Python though nothing is compiled.

    The first such call of each program is not told: JAX's fastest paths are emptied when the block begins.
    """
    seen: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()

    def on_known(computation: Any, jaxpr: Any, frame: FrameType) -> None:
        # A call looks up two methods that are watched; it is counted at the one where it was first seen.
        if computation not in seen:
            data, _ = _record_of_known(computation, jaxpr, frame)
            seen[computation] = data.name, frame.f_lasti
        elif seen[computation][1] == frame.f_lasti:
            on_slow(seen[computation][0])

    with _jax.watched_calls(on_known) if can_watch_calls() else nullcontext():
        yield


@contextmanager
def unseen() -> Iterator[None]:
    """Marks compiles of this thread in the block as ours: no scope gets them."""
    _local.is_ours = True
    try:
        yield
    finally:
        _local.is_ours = False


def refuse(error: Exception) -> None:
    """Ends the user's call that compiles now with an error; for an `OnRecord`, which may not raise itself."""
    _local.refused = error


def _record_of_known(computation: Any, jaxpr: Any, frame: FrameType) -> tuple[RecordData, Finish]:
    program = program_of_computation(computation, jaxpr)
    return make_record(program, _jax.stages_of(frame), frame, cached="memory")


# ---------------------------------------------------------------- JAX's events


def _on_event(event: str, **_: Any) -> None:
    if getattr(_local, "is_ours", False):
        return
    if event == _jax.CACHE_HIT_EVENT:
        _local.disk = "hit"
    elif event == _jax.CACHE_REQUEST_EVENT:
        with shielded("the cache on disk"):
            # JAX asks the cache even where it has no folder.
            _local.disk = "miss" if _jax.has_disk_cache() else None


def _on_start(event: str, _: float, **facts: Any) -> None:
    if event == _jax.COMPILE_EVENT and not getattr(_local, "is_ours", False):
        with shielded("the begin of a compile"):
            _local.closers = [on_begin(str(facts.get("fun_name", ""))) for on_begin in tuple(_announced)]


def _on_duration(event: str, duration: float, **facts: Any) -> None:
    handle = _HANDLERS.get(event)
    if handle is None or getattr(_local, "is_ours", False):
        return
    with shielded(event):
        handle(duration, facts, sys._getframe(1))  # noqa: SLF001
    error, _local.refused = getattr(_local, "refused", None), None
    if error is not None:
        raise error


def _on_traced(duration: float, _: dict[str, Any], frame: FrameType) -> None:
    stages = _jax.stages_of(frame, until=("infer",))
    if "trace" in stages and (jaxpr := stages["trace"].f_locals.get("jaxpr")) is not None:
        _trace_s[_open_jaxpr(jaxpr)] = (duration, time.time() - duration)
        remember_trace(stages, _open_jaxpr(jaxpr), frame)


def _on_lowered(duration: float, _: dict[str, Any], frame: FrameType) -> None:
    stages = _jax.stages_of(frame, until=("call", "ahead_lower"))
    if "lowering" not in stages or (result := stages["lowering"].f_locals.get("lowering_result")) is None:
        return
    jaxpr = stages["lower"].f_locals.get("jaxpr") if "lower" in stages else None
    trace_s, trace_began_s = (None, None) if jaxpr is None else _trace_s.pop(_open_jaxpr(jaxpr), (None, None))
    timings = Timings(
        trace_s=trace_s, trace_began_s=trace_began_s, lower_s=duration, lower_began_s=time.time() - duration
    )
    lowering = _Lowering(timings)
    if "ahead_lower" in stages:
        lowering.call = call_facts(stages, _open_jaxpr(jaxpr))
    if jaxpr is not None:
        lowering.jaxpr = weakref.ref(jaxpr)
        # Between `lower()` and `compile()` the user holds the lowered program; JAX drops the jaxpr.
        lowering.text = jaxpr_text(jaxpr) if "ahead_lower" in stages else None
    _lowered[result.module] = lowering


@dataclass(slots=True)
class _Lowering:
    """Facts about a program between its lowering and its compile. Each second belongs to one record."""

    timings: Timings = field(default_factory=Timings)
    jaxpr: Callable[[], Any] | None = None
    text: str | None = None
    call: CallFacts | None = None

    def spend(self) -> Timings:
        spent, self.timings = self.timings, Timings()
        return spent


def _on_compiled(duration: float, facts: dict[str, Any], frame: FrameType) -> None:
    closers, _local.closers = getattr(_local, "closers", ()), ()
    for close in closers:
        close()
    disk, _local.disk = getattr(_local, "disk", None), None
    stages = _jax.stages_of(frame)
    program = program_of_compile(stages, str(facts.get("fun_name", "")))
    lowering = _lowered.get(program.module) if program.module is not None else None
    lowering = lowering or _Lowering()
    program.jaxpr_text = lowering.text
    if program.jaxpr is None and lowering.jaxpr is not None:
        program.jaxpr = lowering.jaxpr()
    timings = replace(lowering.spend(), compile_s=duration, compile_began_s=time.time() - duration)
    cached = "persistent" if disk == "hit" else None
    data, finish = make_record(program, stages, frame, timings=timings, cached=cached, call=lowering.call, disk=disk)
    if program.executable is None:
        # The compile failed; its error goes on.
        data = replace(data, missing=data.missing | dict.fromkeys(_COMPILED, "XLA did not compile the program"))
    _local.computation = program.computation
    try:
        _deliver(data, finish)
    finally:
        _local.computation = None


_HANDLERS = {_jax.TRACE_EVENT: _on_traced, _jax.LOWER_EVENT: _on_lowered, _jax.COMPILE_EVENT: _on_compiled}


def _open_jaxpr(jaxpr: Any) -> Any:
    # The traced and the lowered program may be two `ClosedJaxpr`s around one jaxpr.
    return getattr(jaxpr, "jaxpr", jaxpr)


def _deliver(data: RecordData, finish: Finish) -> None:
    with _lock:
        scopes = tuple(_scopes)
    for on_record in scopes:
        on_record(data, finish)


def _warn_of_missing_names() -> None:
    missing = missing_names()
    if missing:
        names = "; ".join(f"{name} (costs {cost})" for name, cost in missing.items())
        warn_once(f"this version of JAX lacks names that pjit_inspect reads: {names}. Everything else works.")
