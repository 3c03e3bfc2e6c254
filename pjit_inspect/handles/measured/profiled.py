"""A profile that somebody else's run left: its programs with their measured times, and the saved records they are of.

Not its job: profiling a block (`handles.measured.measuring`), the file (`parse.profile`), whose each run is
(`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pjit_inspect.analyze.measured.kernel_times import find_kernel_times, measured_program, program_content
from pjit_inspect.errors import ParseError, PjitInspectError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.recognise import Program, program_of, unreadable_program
from pjit_inspect.parse.files.record_file import read_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.profile.runs import read_runs
from pjit_inspect.parse.profile.xplane import read_trace_notes

_MOST_FILES = 1_000
"""Profiles of a folder, and records of one, that are read at the most."""


def find_profiles(folder: Path) -> list[Path]:
    """The files `*.xplane.pb` of a folder, or of the newest run below it, one for each process; [] if there are none.

    JAX's profiler writes each run to `plugins/profile/<time>` of the folder it is given.
    """
    runs = sorted(one for one in folder.glob("plugins/profile/*") if one.is_dir() and not one.is_symlink())
    for place in (folder, *reversed(runs)):
        if found := heapq.nsmallest(_MOST_FILES, _files(place, "*.xplane.pb")):
            return found
    return []


def saved_records(*folders: Path) -> list[CompileRecord]:
    """The saved records (`*.pjit`) of these folders, without those that cannot be read."""
    found: list[CompileRecord] = []
    for path in (path for folder in folders for path in heapq.nsmallest(_MOST_FILES, _files(folder, "*.pjit"))):
        try:
            found.append(CompileRecord(read_record(path)))
        except (PjitInspectError, OSError):
            continue
    return found


def _files(folder: Path, pattern: str) -> Iterable[Path]:
    return (path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())


def read_profile(trace: bytes, beside: Sequence[CompileRecord]) -> list[Program | CompileRecord]:
    """What ran in a profile, the longest first: a program with its times, or the record beside it that is of that.

    A record is of the program with the same instructions. Raises ParseError for damaged bytes.
    """
    notes = read_trace_notes(trace)
    runs = read_runs(trace, notes)
    took: dict[tuple[str, int | None], float] = {}
    for run in runs:
        took[run.module, run.program] = took.get((run.module, run.program), 0.0) + run.ended_ns - run.began_ns
    of_content = {program_content(record.hlo): record for record in reversed(beside) if record.hlo is not None}
    found: list[Program | CompileRecord] = []
    for name, number in sorted(took, key=lambda whose: -took[whose]):
        content = None if number is None else notes.programs.get(name, {}).get(number)
        if number is None or content is None:
            found.append(unreadable_program(name, "the profile does not hold this program"))
            continue
        try:
            module = parse_program(content)
        except ParseError as error:
            found.append(unreadable_program(name, f"the profile's copy of it: {error.message}"))
            continue
        own = [run for run in runs if (run.module, run.program) == (name, number)]
        (times,) = find_kernel_times(own, [measured_program(module, own, numbers=frozenset({number}))])
        record = of_content.get(program_content(module))
        if record is not None:
            found.append(CompileRecord(with_times(record.data, times), hlo=module))
        else:
            program = program_of(module, content)
            found.append(replace(program, data=with_times(program.data, times)))
    return found


def with_times(data: RecordData, times: KernelTimes | str) -> RecordData:
    """The data with these times, or with the reason why there are none."""
    if isinstance(times, KernelTimes):
        missing = {name: why for name, why in data.missing.items() if name != "kernel_times"}
        return replace(data, kernel_times=times, missing=missing)
    return replace(data, missing={**data.missing, "kernel_times": times})
