"""The records of several processes side by side: which programs they share, and where a process differs.

Not its job: finding differences (`analyze.processes.merge`), reading files (`merged`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence

DifferenceKind = Literal["no records", "missing", "extra", "order", "program", "compiled differently"]
"""Kinds of differences between a process and the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFacts:
    """One record of one process, reduced to the facts that processes are compared by.

    Attributes:
      process: the process that made it.
      position: its place among all records of that process, from 0.
      name, transform: as in `RecordData`.
      where: the user's line that led to the compile; None without user code on the stack.
      devices: the ids of the program's devices, in the order of its partitions.
      processes: the processes of these devices, in ascending order.
      fingerprint: a hash of the program before optimization, and of `devices` if they belong to several processes.
        Programs with the same fingerprint are one program. It excludes facts that may differ between processes: source
        positions, and JAX's numbers of callbacks.
      optimized: a hash of the optimized program's bytes; "" if the record has none.
      file: the file of the record.
    """

    process: int
    position: int
    name: str
    transform: str = "jit"
    where: Frame | None = None
    devices: tuple[int, ...] = ()
    processes: tuple[int, ...] = ()
    fingerprint: str = ""
    optimized: str = ""
    file: str = ""

    @property
    def is_shared(self) -> bool:
        """True if it runs on devices of several processes: all of these must run their shared programs in one order."""
        return len(self.processes) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedProgram:
    """One program, and the processes that compiled it.

    Attributes:
      name, transform, where, fingerprint, processes: as in `ProgramFacts`, of its first record.
      records: its records, process by process, each in the order of its process.
      collectives: number of collectives in its optimized program; None if not counted or unknown.
      host_bytes: bytes sent between hosts per call (modelled: ring); None if unknown.
      beside: its communication outside HLO collectives, in words; "" for none, or if not looked for.
      incomplete: the processes whose optimized program is incomplete or unreadable, each with the missing part: its
        collectives are neither counted nor compared. Programs that were not looked at are omitted.
    """

    name: str
    transform: str
    where: Frame | None
    fingerprint: str
    processes: tuple[int, ...]
    records: tuple[ProgramFacts, ...]
    collectives: int | None = None
    host_bytes: int | None = None
    beside: str = ""
    incomplete: tuple[tuple[int, str], ...] = ()

    @property
    def compiles(self) -> dict[int, int]:
        """Process -> its number of records of the program (counted); processes without one are omitted."""
        counts: dict[int, int] = {}
        for record in self.records:
            counts[record.process] = counts.get(record.process, 0) + 1
        return counts

    @property
    def missing_in(self) -> tuple[int, ...]:
        """The processes that take part in the program and have no record for it."""
        return tuple(process for process in self.processes if process not in self.compiles)

    @property
    def is_shared(self) -> bool:
        """True if it runs on devices of several processes."""
        return len(self.processes) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedProcess:
    """One process and the files found of it.

    Attributes:
      index: the number from `jax.process_index()`.
      records: number of its records that were read.
      shared: number of its distinct programs that run on devices of several processes.
      unread: number of its unreadable files.
      has_saved: whether any file or folder of it was found.
    """

    index: int
    records: int = 0
    shared: int = 0
    unread: int = 0
    has_saved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessDifference:
    """The first difference of one process from another.

    Attributes:
      process: the process that differs, taken from the minority. If the sides are equal, it is the process with one
        more program, or else the one with the higher index.
      other: the process it was compared with; None for none.
      kind: "no records"; "missing": it lacks a program; "extra": it has a program that no other has; "order": it has
        the same programs in another order; "program": it has a different program of the same name in that place;
        "compiled differently": the program is the same, but the collectives after optimization differ.
      position: the index among `other`'s programs that run on several processes, from 0.
      name, where: the function at which they differ, and the user's line that led to its compile.
      sentence: the difference in words.
      details: differences between the two programs, the most telling first, each a sentence; () for other kinds.
    """

    process: int
    other: int | None
    kind: DifferenceKind
    position: int
    name: str
    where: Frame | None
    sentence: Sentence
    details: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedData:
    """The records of all processes, joined.

    Attributes:
      processes: every process that has or should have records, in ascending order.
      programs: every program that runs on several processes, in the order they were compiled.
      local: every program that runs on the devices of one process alone; these need not agree.
      differences: the first difference of each process that has one, the earliest first; () when all agree.
      notes: further remarks: files that were not read, records of another run.
    """

    processes: tuple[MergedProcess, ...] = ()
    programs: tuple[MergedProgram, ...] = ()
    local: tuple[MergedProgram, ...] = ()
    differences: tuple[ProcessDifference, ...] = ()
    notes: tuple[str, ...] = ()
