"""The functions for users: capturing, compiling on request, reading files, the ledger, errors explained.

Names that one record does not need load when they are used first. Not its job: what is known about a record
(`handles`), watching (`observe`), reading (`parse`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pjit_inspect.handles.asked.targets import check_target, target_names
from pjit_inspect.handles.background import user_code_begins, user_code_ends
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.session.by_name import newest_record, record_names
from pjit_inspect.handles.session.captured import remember
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.handles.session.log import Log
from pjit_inspect.handles.session.session import capture, is_started, session_log, start, stop, watch
from pjit_inspect.handles.time.step import calibrated
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.model.time.hardware import Hardware

if TYPE_CHECKING:
    from pjit_inspect.handles.asked.targets import Targets
    from pjit_inspect.handles.diff import Diff
    from pjit_inspect.handles.displays import View
    from pjit_inspect.handles.error import ErrorExplanation, explain_error, explain_known_error
    from pjit_inspect.handles.ledger import Ledger
    from pjit_inspect.handles.live import LaterAdvice
    from pjit_inspect.handles.memory.live_arrays import LiveArrays
    from pjit_inspect.handles.merged import Merged, merge
    from pjit_inspect.handles.opened import load
    from pjit_inspect.handles.opened import open as open  # noqa: A004
    from pjit_inspect.handles.play.history import History
    from pjit_inspect.handles.play.playground import Playground
    from pjit_inspect.handles.result import result_text
    from pjit_inspect.handles.tables import REPORTS, UNITS, ReportTable
    from pjit_inspect.handles.upgrade.apart import compile_in
    from pjit_inspect.handles.upgrade.upgrade import compare_upgrade
    from pjit_inspect.model.play.search import SearchProgress
    from pjit_inspect.model.play.variant import Goal

__all__ = [
    "REPORTS",
    "UNITS",
    "CompileRecord",
    "Diff",
    "ErrorExplanation",
    "History",
    "LaterAdvice",
    "Ledger",
    "LiveArrays",
    "Log",
    "Merged",
    "Playground",
    "ReportTable",
    "Targets",
    "View",
    "as_advice_comes",
    "calibrate",
    "capture",
    "check_target",
    "compare_upgrade",
    "compile_in",
    "diff",
    "explain_error",
    "explain_known_error",
    "inspect",
    "is_started",
    "later_advice",
    "ledger",
    "live_arrays",
    "load",
    "merge",
    "newest_record",
    "open",
    "playground",
    "record_names",
    "result_text",
    "search",
    "session_log",
    "start",
    "stop",
    "target_names",
    "targets",
    "user_code_begins",
    "user_code_ends",
    "watch",
    "when_explained",
]

_LATER = {
    "Diff": "diff",
    "ErrorExplanation": "error",
    "History": "play.history",
    "LaterAdvice": "live",
    "Ledger": "ledger",
    "LiveArrays": "memory.live_arrays",
    "Merged": "merged",
    "Playground": "play.playground",
    "REPORTS": "tables",
    "ReportTable": "tables",
    "Targets": "asked.targets",
    "UNITS": "tables",
    "View": "displays",
    "compare_upgrade": "upgrade.upgrade",
    "compile_in": "upgrade.apart",
    "explain_error": "error",
    "explain_known_error": "error",
    "load": "opened",
    "merge": "merged",
    "open": "opened",
    "result_text": "result",
}
"""Names that load when they are used first, with their modules in `handles`: one record needs none of them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"pjit_inspect.handles.{_LATER[name]}"), name)


# ---------------------------------------------------------------- one function


def later_advice(record: CompileRecord, *, is_still: bool = False) -> LaterAdvice | None:
    """The record's advice for a notebook to show as it comes; None when all is known, or nothing can be asked.

    With `is_still` it belongs to a display without an inspector, and is read where it is.
    """
    from pjit_inspect.handles.live import later_advice_of

    return later_advice_of(record.state.displayed, is_still=is_still)


def as_advice_comes(record: CompileRecord, tell: Callable[[], None]) -> None:
    """Have XLA asked what to change, while no cell runs; `tell` is called as answers come, until all are there."""
    from pjit_inspect.handles.live import follow_advice

    follow_advice(record.state, tell)


def when_explained(record: CompileRecord, tell: Callable[[], None]) -> bool:
    """Ask XLA why a large program communicates, which displays do not wait for, and call `tell` then, in a thread.

    False where nothing is missing of them.
    """
    from pjit_inspect.handles.live import when_asked

    return when_asked(record.state, tell)


def ledger(log: Log | None = None) -> Ledger:
    """The repeated compiles of a log, or of the session's log: why, and at which cost.

    It shows itself in a notebook; `rows`, `patterns` and `timeline()` are for more.
    """
    from pjit_inspect.handles.ledger import Ledger

    records = tuple(session_log() if log is None else log)
    return Ledger((record.data, record.reason, record.state.sent_bytes) for record in records)


def inspect(
    fn: Callable[..., Any] | Any,
    *args: Any,
    target: str | Target | None = None,
    mesh: Mapping[str, int] | None = None,
    effort: Effort | None = None,
    passes: bool = False,
    **kwargs: Any,
) -> CompileRecord:
    """Compile a function for these arguments without running it, and return its record.

    `fn` is a jitted function, a plain one (jitted here with the defaults), or, without arguments, a `jax.stages.Traced`
    or `Lowered`; the arguments are arrays, or `jax.ShapeDtypeStruct`s with shardings. A function JAX has compiled
    already is not compiled again.

    With a `target` ("tpu:v5e:4x4"; `targets()` lists them), a `mesh` of other sizes (`{"data": 4, "model": 4}`) or an
    `effort`, it is lowered for that machine, and compiled as far as `effort` says ("partition" where none is given) in
    a process apart, as `CompileRecord.what_if` does: the devices need not be there. The meshes that the function and
    its arguments name may be of any devices. With `passes`, XLA's passes (`CompileRecord.passes`) are asked at once,
    and the default effort is "full". (A function whose own keyword has one of these names takes it from
    `functools.partial`.)

    Errors of tracing and compiling pass through. Raises CaptureError when `fn` is no function, and as `what_if` does.
    """
    from pjit_inspect.observe.watch.again import live_function
    from pjit_inspect.observe.watch.on_request import compile_record, lower_record

    live = live_function(fn, args, kwargs)
    if target is not None or mesh is not None or effort is not None:
        from pjit_inspect.observe.partitioner.targets import find_target

        place = find_target(target) if isinstance(target, str) else target
        data = lower_record(fn, args, kwargs, "cpu" if place is None else place.platform)
        lowered = CompileRecord(data, live=True, again=live)
        effort = effort or ("full" if passes else "partition")
        record = lowered.what_if(mesh=mesh, target=place, effort=effort, passes=passes)
    else:
        data = compile_record(fn, args, kwargs)
        HISTORY.add(data)
        record = CompileRecord(data, live=True, again=live)
    remember(record)
    if passes:
        _ = record.passes
    return record


def playground(fn: Callable[..., Any] | Any, *args: Any, **kwargs: Any) -> Playground:
    """The shardings of a function, to be changed and looked at again: `inspect(fn, *args).playground()`.

    Nothing runs. The function is lowered for these arguments and its program not compiled: XLA's partitioner is asked
    about copies of it, after each `Playground.set`. Arrays on no mesh are replicated on one of all attached devices,
    so that no line has to be changed first. Takes what `inspect` takes but `target`, `mesh` and `effort`, which
    the playground sets. The playground refers to the function, to trace it again where a copy cannot be changed and to
    prove the code it writes. Raises what `inspect` and `CompileRecord.playground` raise.
    """
    from pjit_inspect.observe.watch.again import live_function
    from pjit_inspect.observe.watch.on_request import lower_record

    live = live_function(fn, args, kwargs)
    data = lower_record(fn, args, kwargs, "cpu")
    play = CompileRecord(data, live=True, again=live).playground()
    play.holds = fn
    return play


def search(
    record: CompileRecord | Playground,
    *,
    goal: Goal = "bytes",
    budget_s: float = 30.0,
    keep: Mapping[str, Any] | Collection[str] = (),
    fits: str | None = None,
    most_work: float = 1.1,
    most_memory: int | None = None,
    on_progress: Callable[[SearchProgress], object] | None = None,
) -> History:
    """Look for a better sharding of a program: XLA's own partitioner is asked about many, and counted. Nothing runs.

    Args:
      record: the program, with whose shardings the search begins; or a playground, with what is chosen there, whose
        history then has all that was tried. `Playground.stop` ends it with what it has.
      goal: what is made small: "bytes" sent, "memory" of arguments and results, or "time" (modelled, needs a chip).
      budget_s: for how long questions to XLA begin.
      keep: what must stay: labels or paths of arguments and results, "mesh", "constraints"; as a mapping with the
        specs they get.
      fits: the chip whose memory arguments and results must fit into, and whose speed "time" is of ("tpu:v5e").
      most_work: how many times its equal share of the matrix products each device may do. Everything on every device
        would send nothing: that is no better sharding, but none.
      most_memory: bytes of arguments and results on a device; by default what `fits` has, or else what the program
        needs as it is.
      on_progress: called after each answer, in the thread that searches or in one that keeps time.

    Results that are the next value of an argument come back split as that is, so that a step can follow a step.
    Returns the history: `.best(goal)` is the best variant, `.notes` say what was tried and what was not.
    Raises ChangeError where nothing is known of the program's operations, for a playground that was closed, and as
    `CompileRecord.playground`.
    """
    from pjit_inspect.handles.play.playground import Playground
    from pjit_inspect.handles.play.search import Search

    play = record if isinstance(record, Playground) else record.playground(fits=fits)
    try:
        return Search(
            play,
            goal=goal,
            budget_s=budget_s,
            keep=keep,
            most_work=most_work,
            most_memory=most_memory,
            on_progress=on_progress,
        ).run()
    finally:
        if play is not record:
            # Its variants can still be looked at; what that takes is started anew.
            play.subject.close()


def calibrate(record: CompileRecord) -> Hardware:
    """The speeds of this machine, fitted to the measured times of one program, for `record.time_on` of others.

    The program must have been captured with `measure=True`, and run at least twice. `fit` says how well its own kernels
    agree. Raises CaptureError for a record without measured times.
    """
    return calibrated(record.state.analyses)


def diff(before: CompileRecord, after: CompileRecord) -> Diff:
    """The changes between two programs, and their reasons.

    Rows are joined by what they are (the value a collective moves, its operation and line, the path of an argument,
    what a kernel contains), never by instruction names or numbers; what no evidence joins was added or removed. It
    shows itself; `sentence` is the answer, `collectives`, `arguments`, `shardings`, `kernels` have `.added`,
    `.removed`, `.changed` and `.same`. The records may come from files, of other processes, machines and versions of
    JAX.
    """
    return after.diff(before)


def targets() -> Targets:
    """The machines that programs can be compiled for, attached or not, and what is missing here for the others.

    A name from it, such as "tpu:v5e:4x4", is what `inspect` and `CompileRecord.what_if` take as `target`. Nothing is
    compiled, and no device is started.
    """
    from pjit_inspect.handles.asked.targets import find_targets

    return find_targets()


def live_arrays() -> LiveArrays:
    """A table of the arrays that this process holds on its devices: those of `jax.live_arrays()` whose data is there.

    Each row has the array's shape, spec and bytes, how much of it is copies, its devices, and the line that made it. A
    `name` has what a captured call knows: an argument of the newest such call that was given this very array, or a
    result, if JAX's objects for its type and sharding and the instruction that made it are those of the call. Other
    arrays have none. Nothing is computed or waited for, and no array is kept alive.
    """
    from pjit_inspect.handles.memory.live_arrays import find_live_arrays

    return find_live_arrays()
