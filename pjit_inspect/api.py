"""The functions for users: capturing, compiling on request, reading files, the ledger, errors explained.

Not its job: what is known about a record (`handles`), watching (`observe`), reading (`parse`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pjit_inspect.errors import ParseError
from pjit_inspect.handles.asked.targets import Targets, check_target, find_targets, target_names
from pjit_inspect.handles.background import user_code_begins, user_code_ends
from pjit_inspect.handles.diff import Diff
from pjit_inspect.handles.error import ErrorExplanation, explain_error, explain_known_error
from pjit_inspect.handles.given_mesh import given_mesh, with_mesh
from pjit_inspect.handles.hlo_layouts import with_hlo_layouts, with_stablehlo_layouts
from pjit_inspect.handles.ledger import Ledger
from pjit_inspect.handles.live import LaterFindings, later_findings_of, when_asked
from pjit_inspect.handles.memory.live_arrays import LiveArrays, find_live_arrays
from pjit_inspect.handles.merged import Merged, merge
from pjit_inspect.handles.play.history import History
from pjit_inspect.handles.play.playground import Playground
from pjit_inspect.handles.record import CompileRecord, View
from pjit_inspect.handles.result import result_text
from pjit_inspect.handles.session.by_name import newest_record, record_names
from pjit_inspect.handles.session.captured import remember
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.handles.session.log import Log
from pjit_inspect.handles.session.session import capture, is_started, session_log, start, stop, watch
from pjit_inspect.handles.upgrade.upgrade import compare_upgrade
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.parse.files.dump_directory import read_dump_directory
from pjit_inspect.parse.files.recognise import EXPECTED, Program, read_programs, read_whole, unreadable_program
from pjit_inspect.parse.files.record_file import read_record

if TYPE_CHECKING:
    from pjit_inspect.model.play.search import SearchProgress
    from pjit_inspect.model.play.variant import Goal

__all__ = [
    "CompileRecord",
    "Diff",
    "ErrorExplanation",
    "History",
    "LaterFindings",
    "Ledger",
    "LiveArrays",
    "Log",
    "Merged",
    "Playground",
    "Targets",
    "View",
    "capture",
    "check_target",
    "compare_upgrade",
    "diff",
    "explain_error",
    "explain_known_error",
    "inspect",
    "is_started",
    "later_findings",
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


# ---------------------------------------------------------------- one function


def later_findings(record: CompileRecord, *, is_still: bool = False) -> LaterFindings | None:
    """The record's findings for a notebook to show when they are there; None when all are known, or none can come.

    With `is_still` they belong to a display without an inspector, and are read where they are.
    """
    return later_findings_of(record.state.displayed, is_still=is_still)


def when_explained(record: CompileRecord, tell: Callable[[], None]) -> bool:
    """Ask XLA why a large program communicates, which displays do not wait for, and call `tell` then, in a thread.

    False where nothing is missing of them.
    """
    return when_asked(record.state, tell)


def ledger(log: Log | None = None) -> Ledger:
    """The repeated compiles of a log, or of the session's log: why, and at which cost.

    It shows itself in a notebook; `rows`, `patterns` and `timeline()` are for more.
    """
    records = tuple(session_log() if log is None else log)
    return Ledger((record.data, record.reason, record.state.sent_bytes) for record in records)


def inspect(
    fn: Callable[..., Any] | Any,
    *args: Any,
    target: str | Target | None = None,
    mesh: Mapping[str, int] | None = None,
    effort: Effort | None = None,
    **kwargs: Any,
) -> CompileRecord:
    """Compile a function for these arguments without running it, and return its record.

    `fn` is a jitted function, a plain one (jitted here with the defaults), or, without arguments, a `jax.stages.Traced`
    or `Lowered`; the arguments are arrays, or `jax.ShapeDtypeStruct`s with shardings. A function JAX has compiled
    already is not compiled again.

    With a `target` ("tpu:v5e:4x4"; `targets()` lists them), a `mesh` of other sizes (`{"data": 4, "model": 4}`) or an
    `effort`, it is lowered for that machine, and compiled as far as `effort` says ("partition" where none is given) in
    a process apart, as `CompileRecord.what_if` does: the devices need not be there. The meshes that the function and
    its arguments name may be of any devices. (A function whose own keyword has one of these names takes it from
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
        record = lowered.what_if(mesh=mesh, target=place, effort=effort or "partition")
    else:
        data = compile_record(fn, args, kwargs)
        HISTORY.add(data)
        record = CompileRecord(data, live=True, again=live)
    remember(record)
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
    return find_targets()


def live_arrays() -> LiveArrays:
    """A table of the arrays that this process holds on its devices: those of `jax.live_arrays()` whose data is there.

    Each row has the array's shape, spec and bytes, how much of it is copies, its devices, and the line that made it. A
    `name` has what a captured call knows: an argument of the newest such call that was given this very array, or a
    result, if JAX's objects for its type and sharding and the instruction that made it are those of the call. Other
    arrays have none. Nothing is computed or waited for, and no array is kept alive.
    """
    return find_live_arrays()


def load(path: str | os.PathLike[str]) -> CompileRecord:
    """Read a record that `CompileRecord.save` wrote. Needs no JAX.

    Raises ParseError (with file and offset) when the file is damaged or something else, VersionError when a newer
    version of this package wrote it, and OSError when it cannot be opened.
    """
    return CompileRecord(read_record(path))


def open(path: str | os.PathLike[str], *, mesh: Mapping[str, int] | None = None) -> CompileRecord | Log:
    """Read an optimized program from a file, or all of them from a directory that XLA dumped into. Needs no JAX.

    A file gives a record: HLO text or an HLO proto, gzip of either, or what `CompileRecord.save` wrote. Text of any XLA
    version is read; `record.hlo.unknown` counts what was not understood. A directory gives a log with a record for
    each program, however many they are; one whose file is damaged or missing has no HLO and says why. So does a text
    that holds several programs. Inputs, devices and the mesh are those of the shardings in the text, where it has them:
    axes without names are `axis_0`, `axis_1`, ... StableHLO, such as `lowered.as_text()`, gives a record without an
    optimized program; jaxlib reads it, in a process apart, and `record.what_if` can be asked of it.

    A text that does not end as HLO ends, and a program without its entry computation, are read as far as they go:
    `record.data.missing["hlo"]` says what is missing, displays say so first and tell what there is at least.

    `mesh` names the axes of programs whose file names none, outermost first (`mesh={"data": 2, "model": 4}`), over
    partitions 0, 1, ... in order, as a mesh of the program's own devices in order has them. In a directory it holds for
    the programs of as many devices; the others say in `data.missing["mesh"]` why they have none.

    Raises ParseError (with file and line or offset) when there is no program, VersionError for a record that a newer
    version of this package wrote, OSError when the file cannot be opened, and ValueError for a mesh that is none, has
    another number of devices than the program, or is given to a record that has its own.
    """
    axes = None if mesh is None else given_mesh(mesh)
    return _open_directory(path, axes) if os.path.isdir(path) else _open_file(path, axes)


def _open_file(
    path: str | os.PathLike[str], mesh: Mesh | None, *, is_strict: bool = True, buffers: Path | None = None
) -> CompileRecord | Log:
    programs = read_programs(path)
    is_strict = is_strict and len(programs) == 1
    records = [_record_of(program, mesh, is_strict=is_strict, buffers=buffers) for program in programs]
    return records[0] if len(records) == 1 else Log(records)


def _record_of(program: Program, mesh: Mesh | None, *, is_strict: bool, buffers: Path | None) -> CompileRecord:
    data = program.data
    if buffers is not None:
        try:
            data = replace(data, buffers=Blob(read_whole(buffers)))
        except (ParseError, OSError) as error:
            data = replace(data, missing=data.missing | {"buffers": f"XLA's buffer assignment: {error}"})
    if mesh is not None:
        try:
            data = with_mesh(data, program.module, mesh)
        except ValueError as error:
            if is_strict:
                raise
            data, mesh = replace(data, missing=data.missing | {"mesh": str(error)}), None
    if program.module is not None:
        data = with_hlo_layouts(data, program.module, mesh)
    elif data.stablehlo is not None or data.stablehlo_text is not None:
        data = with_stablehlo_layouts(data, mesh)
    return CompileRecord(data, hlo=program.module, hlo_text=program.text)


def _open_directory(path: str | os.PathLike[str], mesh: Mesh | None) -> Log:
    modules = read_dump_directory(path)
    if all(module.optimized is None for module in modules):
        message = "the directory has programs before and between passes only"
        raise ParseError(message, path=os.fspath(path), expected=EXPECTED)
    records: list[CompileRecord] = []
    for module in modules:
        if module.optimized is None:
            reason = "the directory has no file of its optimized program"
            records.append(CompileRecord(unreadable_program(module.name, reason).data))
            continue
        found = _open_module(module.name, (module.optimized, *module.copies), mesh, module.buffer_assignment)
        records.append(found)
    return Log(records)


def _open_module(name: str, paths: Sequence[Path], mesh: Mesh | None, buffers: Path | None) -> CompileRecord:
    """The record of a program that was dumped to several files: of the first that can be read, and its `buffers`."""
    reasons: list[str] = []
    for path in paths:
        try:
            found = _open_file(path, mesh, is_strict=False, buffers=buffers)
            # XLA dumps one program to a file.
            return found[0] if isinstance(found, Log) else found
        except ParseError as error:
            reasons.append(f"{path.name}: {error.message}")
    return CompileRecord(unreadable_program(name, "; ".join(reasons)).data)
