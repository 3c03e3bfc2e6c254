"""A capture whose programs are measured: JAX's profiler around its block, and the records that ran in it, joined.

Not its job: the profiler (`observe.profiler.profiler`), or which run is whose (`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pjit_inspect.analyze.measured.kernel_times import (
    MeasuredProgram,
    TimedProgram,
    find_kernel_times,
    measured_program,
    numbers_of,
    program_content,
)
from pjit_inspect.errors import ParseError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.measured.profiled import with_times
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.kernel_times import KernelTimes, ProfiledRun
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.profile.runs import read_runs
from pjit_inspect.parse.profile.xplane import TraceNotes, read_trace_notes

_STEP = "measured times of kernels"


@contextmanager
def measured(records: Iterable[CompileRecord], twins: Iterable[CompileRecord] = ()) -> Iterator[None]:
    """Run JAX's profiler during the block; then the records that are there by then get their times.

    `twins` are looked through for records of the same data, which get them too. Errors of ours cost the times only.
    """
    from pjit_inspect.observe.profiler.profiler import Profiler

    profiler, is_interrupted, guard = Profiler(), True, Guard()
    try:
        guard.run(_STEP, profiler.open, None)
        yield
        is_interrupted = False
    except Exception:
        is_interrupted = False
        raise
    finally:
        guard.run(_STEP, lambda: profiler.close(is_interrupted=is_interrupted), None)
        guard.run(_STEP, lambda: _give(tuple(records), tuple(twins), profiler.trace, profiler.missing), None)


def _give(
    records: tuple[CompileRecord, ...],
    twins: tuple[CompileRecord, ...],
    trace: bytes,
    missing: str,
) -> None:
    guard = Guard()
    found = None if missing else guard.run(_STEP, lambda: find_times(records, trace), None)
    missing = missing or "".join(guard.failed.values())
    times_of = [missing] * len(records) if found is None else found
    # Records of one compile share their data, and continue to.
    made: dict[int, RecordData] = {}
    kept = [record.data for record in records]
    for data, times in zip(kept, times_of, strict=True):
        made[id(data)] = with_times(data, times)
    for record in (*records, *twins):
        if (data := made.get(id(record.data))) is not None:
            record.add_times(data)


def find_times(records: Sequence[CompileRecord], trace: bytes) -> list[KernelTimes | str]:
    """The times of each record, or the reason why it has none."""
    notes = read_trace_notes(trace)
    runs = read_runs(trace, notes)
    if not runs:
        # A program of our own at least has run.
        return ["JAX's profiler names no HLO instructions on this platform"] * len(records)
    names = {run.module for run in runs}
    modules: dict[int, HloModule] = {}
    reasons: dict[int, str] = {}
    for row, record in enumerate(records):
        guard = Guard()
        # The record keeps the parsed program only if somebody has looked at it.
        module = guard.run("hlo", record.state.analyses.hlo_for_now, None)
        if module is None:
            reasons[row] = record.data.missing.get("hlo", "") or "".join(guard.failed.values()) or "it has no HLO"
        elif module.name not in names:
            reasons[row] = "the profiler saw no run of it"
        else:
            modules[row] = module
    programs = _programs({row: (records[row].data, module) for row, module in modules.items()}, runs, notes)
    times = dict(zip(modules, find_kernel_times(runs, programs), strict=True))
    return [times[row] if row in times else reasons[row] for row in range(len(records))]


def _programs(
    of: Mapping[int, tuple[RecordData, HloModule]], runs: tuple[ProfiledRun, ...], notes: TraceNotes
) -> list[MeasuredProgram]:
    """Identifies the runs of each recorded program."""
    numbers: dict[int, frozenset[int]] = {}
    for name in {module.name for _, module in of.values()}:
        rows = [row for row, (_, module) in of.items() if module.name == name]
        held = _held(notes.programs.get(name, {}), [of[row][1] for row in rows])
        ran = {run.program for run in runs if run.module == name and run.program is not None}
        numbers |= zip(rows, numbers_of([_candidate(*of[row]) for row in rows], held, ran), strict=True)
    return [
        measured_program(
            module,
            [run for run in runs if run.module == module.name],
            devices=_own_devices(data),
            numbers=numbers[row],
        )
        for row, (data, module) in of.items()
    ]


_TELLING = 16
"""Names of instructions that are looked for in a program before it is read."""


def _held(programs: Mapping[int, bytes], like: Sequence[HloModule]) -> dict[int, str]:
    """Digest of each program that could match one of `like`; "" for the others (most)."""
    telling = [_longest_names(module) for module in like]
    return {
        number: _content(program) if any(all(name in program for name in names) for names in telling) else ""
        for number, program in programs.items()
    }


def _longest_names(module: HloModule) -> list[bytes]:
    names = (name.encode("utf-8", "replace") for name in module.reader.names(range(len(module))))
    return heapq.nlargest(_TELLING, names, key=len)


def _content(program: bytes) -> str:
    try:
        return program_content(parse_program(program))
    except ParseError:
        # Every record that has a program could be read.
        return ""


def _candidate(data: RecordData, module: HloModule) -> TimedProgram:
    return TimedProgram(
        content=program_content(module),
        number=None if _is_from_disk(data) else int(module.other.get("id", 0)),
        is_new=data.cached != "memory",
    )


def _own_devices(data: RecordData) -> int | None:
    """The number of its devices in the recording process; None if unknown."""
    return sum(device.process == data.process_index for device in data.devices) or None


def _is_from_disk(data: RecordData) -> bool:
    """True if it may have come from the compilation cache on disk: XLA gives it a new, unrecorded number."""
    from pjit_inspect.observe.contract._jax import has_disk_cache

    return data.cached == "persistent" or (data.cached == "memory" and has_disk_cache())
