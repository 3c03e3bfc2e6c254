"""Records read from files: those that were saved, HLO, StableHLO, profiles, and directories that XLA dumped into.

Not its job: the formats (`parse.files`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pjit_inspect.errors import ParseError
from pjit_inspect.handles.asked.dumped_passes import DumpedSteps
from pjit_inspect.handles.hlo_layouts import given_mesh, with_hlo_layouts, with_mesh, with_stablehlo_layouts
from pjit_inspect.handles.measured.profiled import find_profiles, read_profile, saved_records
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.session.log import Log
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.parse.files.dump_directory import read_dump_directory
from pjit_inspect.parse.files.recognise import EXPECTED, Profile, Program, read_programs, read_whole, unreadable_program
from pjit_inspect.parse.files.record_file import read_record


def load(path: str | os.PathLike[str]) -> CompileRecord:
    """Read a record that `CompileRecord.save` wrote. Needs no JAX.

    Raises ParseError (with file and offset) when the file is damaged or something else, VersionError when a newer
    version of this package wrote it, and OSError when it cannot be opened.
    """
    return CompileRecord(read_record(path))


def open(path: str | os.PathLike[str], *, mesh: Mapping[str, int] | None = None) -> CompileRecord | Log:
    """Read an optimized program from a file, or all of them from a directory or a profile. Needs no JAX.

    A file gives a record: HLO text or an HLO proto, gzip of either, or what `CompileRecord.save` wrote. Text of any XLA
    version is read; `record.hlo.unknown` counts what was not understood. A directory gives a log with a record for
    each program, however many they are; one whose file is damaged or missing has no HLO and says why. So does a text
    that holds several programs. Inputs, devices and the mesh are those of the shardings in the text, where it has them:
    axes without names are `axis_0`, `axis_1`, ... StableHLO, such as `lowered.as_text()`, gives a record without an
    optimized program; jaxlib reads it, in a process apart, and `record.what_if` can be asked of it.

    A profile, as the folder that `jax.profiler.start_trace` was given or a file of it (`*.xplane.pb`), gives a log: a
    record with measured times (`kernel_times`) for each program that ran, the longest first. A saved record (`*.pjit`)
    in the folder that is opened, or beside the profile, is known by its instructions: it gets the times, and has the
    shardings, causes and source lines that no profile holds. Each process has a file, and records of its own.

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
    if not os.path.isdir(path):
        return _open_file(path, axes)
    profiles = find_profiles(Path(path))
    return _open_profiles(profiles, Path(path), axes) if profiles else _open_directory(path, axes)


def _open_file(
    path: str | os.PathLike[str], mesh: Mesh | None, *, is_strict: bool = True, buffers: Path | None = None
) -> CompileRecord | Log:
    programs = read_programs(path)
    if isinstance(programs, Profile):
        return Log(_records_of(programs, Path(path), saved_records(Path(path).parent), mesh))
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


def _open_profiles(paths: Sequence[Path], folder: Path, mesh: Mesh | None) -> Log:
    records: list[CompileRecord] = []
    for path in paths:
        profile = read_programs(path)
        if not isinstance(profile, Profile):
            raise ParseError("this is no profile, for all its name", path=os.fspath(path), expected=EXPECTED)
        beside = saved_records(*dict.fromkeys((folder, path.parent)))
        records += _records_of(profile, path, beside, mesh)
    return Log(records)


def _records_of(
    profile: Profile, path: Path, beside: Sequence[CompileRecord], mesh: Mesh | None
) -> list[CompileRecord]:
    """The records of the programs that ran in a profile."""
    try:
        found = read_profile(profile.trace, beside)
    except ParseError as error:
        raise ParseError(error.message, path=os.fspath(path), offset=error.offset, expected=error.expected) from error
    if not found:
        raise ParseError("no program ran in this profile", path=os.fspath(path), expected=EXPECTED)
    records: list[CompileRecord] = []
    for one in found:
        known = isinstance(one, CompileRecord)
        records.append(one if known else _record_of(one, mesh, is_strict=False, buffers=None))
    return records


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
        if module.passes:
            found.state.analyses.known["pass_steps"] = DumpedSteps(module)
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
