"""Joins the records of several processes, read from their files, into one object.

Joins the rooms for many records as `analyses` does for one. Everything comes from files: no device and no other process
is asked. Not its job: matching programs (`analyze.processes.merge`), laying out (`view.pages.merge`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pjit_inspect.analyze.processes.merge import Session, choose_sessions, merge_programs
from pjit_inspect.analyze.processes.program_differences import ProgramSide, collective_differences, program_differences
from pjit_inspect.analyze.program.other_communication import find_other_communication
from pjit_inspect.analyze.report.report import user_files_of
from pjit_inspect.errors import ParseError, RecordNotFoundError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.merged import MergedData, MergedProcess, MergedProgram, ProcessDifference, ProgramFacts
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import CollectiveTable, OtherCommunication, other_words
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.parse.files.record_file import read_record
from pjit_inspect.parse.files.record_folder import FoundFile, FoundFolder, find_records
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.messages.stablehlo_text import line_place, stablehlo_lines
from pjit_inspect.view.pages.merge import merge_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn


class Merged(Displayable):
    """The records of several processes, joined by program; shared programs, and the first difference of a process.

    In a notebook it shows itself; `differences` and `programs` are for programs. True when no process differs.
    """

    def __init__(self, data: MergedData) -> None:
        self.data = data
        """The frozen data under it."""

    @property
    def differences(self) -> tuple[ProcessDifference, ...]:
        """The first difference of each process that has one, the earliest first; () when all agree."""
        return self.data.differences

    @property
    def programs(self) -> tuple[MergedProgram, ...]:
        """Every program that runs on several processes, in the order they were compiled."""
        return self.data.programs

    @property
    def processes(self) -> tuple[MergedProcess, ...]:
        """Every process that has or should have records."""
        return self.data.processes

    @property
    def notes(self) -> tuple[str, ...]:
        """Further remarks: files that were not read, records of another run."""
        return self.data.notes

    def record(self, name: str, process: int) -> CompileRecord:
        """The newest record of that name that one process has, read from its file once more.

        Raises RecordNotFoundError if there is none, and the errors of `pjit_inspect.load` if the file has changed.
        """
        programs = (*self.data.programs, *self.data.local)
        found = [r for p in programs for r in p.records if (r.name, r.process) == (name, process)]
        if not found:
            known = ", ".join(sorted({repr(r.name) for p in programs for r in p.records if r.process == process}))
            raise RecordNotFoundError(f"process {process} has no record of {name!r}; it has {known or 'none at all'}")
        return CompileRecord(read_record(max(found, key=lambda facts: facts.position).file))

    def show(self) -> Shown:
        """An object to display: whether the processes agree, where one differs first, and every shared program."""
        return Shown(drawn(merge_view(self.data)))

    def __bool__(self) -> bool:
        return not self.data.differences

    def __repr__(self) -> str:
        state = "agree" if self else f"{len(self.differences)} differ"
        return f"<Merged {len(self.processes)} processes, {len(self.programs)} shared programs, {state}>"


def merge(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Merged:
    """Join the records that the processes of one program saved, and find where one of them differs. Needs no JAX.

    `paths` are `.pjit` files and folders that hold some, at any depth: the folder given to `Log.save` has all of them.
    Programs are joined by content, not by name. A program that runs on devices of several processes must be compiled by
    each of them, in one order; a process that does not is in `differences`. An unreadable file is omitted and named in
    `notes`.

    Raises ParseError if there is no record to read.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files, folders = find_records(given)
    read, notes, unread = _read_all(files)
    if not read and not folders:
        detail = f": {notes[0]}" if notes else ""
        where = os.fspath(given[0]) if len(given) == 1 else None
        raise ParseError(
            f"there is no record to merge{detail}", path=where, expected=".pjit files of several processes"
        )
    chosen, more = choose_sessions([one.session for one in read])
    kept = [one for one in read if one.session in chosen]
    optimized = _Optimized()
    data = merge_programs(
        _numbered(kept),
        _known_processes(folders, unread, {session.count for session in chosen}),
        compare=_compare,
        compare_optimized=optimized.compare,
    )
    programs = tuple(optimized.looked_at(program) for program in data.programs)
    return Merged(replace(data, programs=programs, notes=(*data.notes, *notes, *more)))


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """Facts kept of one file, without its programs: many processes have many."""

    facts: ProgramFacts
    session: Session
    serial: int


def _read_all(files: Sequence[FoundFile]) -> tuple[list[_Read], list[str], dict[int, int]]:
    """The records read, a note for each unreadable file, and the number of these per process's folder."""
    read: list[_Read] = []
    notes: list[str] = []
    unread: dict[int, int] = {}
    known: dict[str, str] = {}
    for file in files:
        try:
            read.append(_read(file, known))
        except (OSError, ParseError) as error:
            notes.append(f"left out: {error}")
            if file.folder is not None:
                unread[file.folder.process] = unread.get(file.folder.process, 0) + 1
    return read, notes, unread


def _read(file: FoundFile, known: dict[str, str]) -> _Read:
    data = read_record(file.path)
    if data.process_index is None or data.process_count is None:
        raise ParseError("the record does not say which process made it", path=os.fspath(file.path))
    key = data.key
    session = Session(
        process=data.process_index,
        count=data.process_count,
        name=key.process if key is not None else "",
        began_s=key.began_s if key is not None else 0.0,
        ended_s=key.ended_s if key is not None else 0.0,
    )
    return _Read(facts=_facts(data, file, known), session=session, serial=key.serial if key is not None else 0)


def _facts(data: RecordData, file: FoundFile, known: dict[str, str]) -> ProgramFacts:
    devices = tuple(device.id for device in data.devices)
    processes = tuple(sorted({device.process for device in data.devices}))
    return ProgramFacts(
        process=data.process_index or 0,
        position=0,
        name=data.primitive or data.name,
        transform=data.transform,
        where=data.user_frame,
        devices=devices,
        processes=processes,
        fingerprint=_fingerprint(data, devices if len(processes) > 1 else (), known, file.path),
        optimized=_hash(data.hlo.read()) if data.hlo is not None else "",
        file=os.fspath(file.path),
    )


def _fingerprint(data: RecordData, devices: tuple[int, ...], known: dict[str, str], path: Path) -> str:
    """A hash of the program before optimization; where there is none, of the optimized one, which may differ more.

    `known` has the hashes of the programs of other files, by the hash of their text.
    """
    text = CompileRecord(data).stablehlo
    program = _program_hash(text, known) if text is not None else ""
    if not program and data.hlo is not None:
        lacks = why_incomplete(parse_program(data.hlo.read()).unknown)
        if lacks:
            raise ParseError(f"its only program is {lacks}", path=os.fspath(path))
        program = _hash(data.hlo.read())
    return _hash(f"{devices!r}\n{program}".encode())


def _program_hash(text: str, known: dict[str, str]) -> str:
    """A hash of the parts of a program that all its processes share; "" without a program."""
    # The texts of most processes are byte-identical: differences are found once for all of them.
    exact = _hash(text.encode("utf-8", "surrogatepass"))
    if exact not in known:
        program = "\n".join(stablehlo_lines(text)).encode("utf-8", "surrogatepass")
        known[exact] = _hash(program) if program else ""
    return known[exact]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _numbered(read: Iterable[_Read]) -> Iterator[ProgramFacts]:
    """The facts with their places: compiles are numbered as they end; where they are not, by their files' names."""
    places: dict[int, int] = {}
    for one in sorted(read, key=lambda one: (one.facts.process, one.serial)):
        place = places.get(one.facts.process, 0)
        places[one.facts.process] = place + 1
        yield replace(one.facts, position=place)


def _known_processes(
    folders: Iterable[FoundFolder], unread: dict[int, int], counts: set[int]
) -> tuple[MergedProcess, ...]:
    """The processes that left a folder; folders of another number of processes belong to another run."""
    indices = {folder.process for folder in folders if not counts or folder.count in counts}
    return tuple(MergedProcess(index=index, unread=unread.get(index, 0)) for index in sorted(indices | unread.keys()))


# ---------------------------------------------------------------- looking closer


def _compare(one: ProgramFacts, two: ProgramFacts) -> tuple[Sentence, ...]:
    return program_differences(*(_side(facts) for facts in (one, two)))


def _side(facts: ProgramFacts) -> ProgramSide:
    record = CompileRecord(read_record(facts.file))
    text, cells = record.stablehlo or "", user_files_of(record.data).cells

    def place(number: int) -> Frame | None:
        found = line_place(text, number)
        return None if found is None else replace(found, cell=cells.get(found.file))

    return ProgramSide(process=facts.process, data=record.data, lines=stablehlo_lines(text), place=place)


@dataclass(slots=True)
class _Optimized:
    """The optimized programs of records, as far as they are there."""

    lacking: dict[str, str] = field(default_factory=dict)
    """`ProgramFacts.optimized` -> the missing part, for programs that were looked at."""

    def compare(self, one: ProgramFacts, two: ProgramFacts) -> tuple[Sentence, ...]:
        """The differences between the collectives of two; () if unknown, because one is incomplete."""
        (first, a), (second, b) = self._read(one), self._read(two)
        if a is None or b is None:
            return ()
        left, right = (ProgramSide(process=f.process, data=r.data) for f, r in ((one, first), (two, second)))
        return collective_differences(left, right, a, b)

    def looked_at(self, program: MergedProgram) -> MergedProgram:
        """The program with its collectives and the bytes between hosts counted, of its first complete record."""
        found = next((rows for facts in program.records if (rows := self._communication(facts)) is not None), None)
        lacking = {r.process: self.lacking[r.optimized] for r in program.records if r.optimized in self.lacking}
        program = replace(program, incomplete=tuple(sorted(lacking.items())))
        if found is None:
            return program
        rows, others = found
        sizes = [row.host_bytes for row in rows]
        known = [size for size in sizes if size is not None]
        is_known = len(known) == len(sizes) and all(one.what == "host" for one in others)
        host_bytes = sum(known) if is_known else None
        return replace(program, collectives=len(rows), host_bytes=host_bytes, beside=other_words(others))

    def _communication(self, facts: ProgramFacts) -> tuple[CollectiveTable, tuple[OtherCommunication, ...]] | None:
        """The collectives of a record, and its other communication; None if unknown."""
        if not facts.optimized or facts.optimized in self.lacking:
            return None
        record, module = self._read(facts)
        if module is None:
            return None
        return record.collectives, find_other_communication(module, len(record.data.devices))

    def _read(self, facts: ProgramFacts) -> tuple[CompileRecord, HloModule | None]:
        """A record, and its optimized program if that is complete."""
        record = CompileRecord(read_record(facts.file))
        try:
            module = record.hlo
        except ParseError as error:
            self.lacking[facts.optimized] = f"unreadable: {error}"
            return record, None
        lacks = "" if module is None else why_incomplete(module.unknown)
        if lacks:
            self.lacking[facts.optimized] = lacks
        return record, None if lacks else module
