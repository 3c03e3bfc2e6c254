"""The records of several processes side by side: which programs they share, and where a process differs.

Not its job: finding differences (`analyze.processes.merge`), reading files (`merged`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence

DifferenceKind = Literal["no records", "missing", "extra", "order", "program", "compiled differently"]
"""How a process differs from the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFacts:
    """One record of one process, as far as processes are compared.

    Attributes:
      process: the process that made it.
      position: its place among all records of that process, from 0.
      name, transform: as in `RecordData`.
      where: the user's line that led to the compile; None when no user code was on the stack.
      devices: the ids of the program's devices, in the order of its partitions.
      processes: the processes these devices belong to, in ascending order.
      fingerprint: a hash of the program before optimization, and of `devices` where it has those of several processes.
        Programs with one fingerprint are one program. What may differ from process to process is not in it: source
        positions, and the numbers that JAX gives callbacks.
      optimized: a hash of the optimized program's bytes; "" when the record has none.
      file: where the record was read from.
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
        """Whether it runs on devices of several processes, so that all of them must run it, in one order."""
        return len(self.processes) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedProgram:
    """One program, and who compiled it.

    Attributes:
      name, transform, where, fingerprint, processes: as in `ProgramFacts`, of its first record.
      records: its records, process by process, each in the order of its process.
      collectives: how many collectives its optimized program has; None when that was not looked at or is unknown.
      host_bytes: bytes that cross between hosts each time it is called (modelled: ring); None when that is unknown.
      beside: communication of it that is no HLO collective, in words; "" where there is none, or nobody looked.
      incomplete: the processes whose optimized program is there in part only, or cannot be read, each with what is
        missing: its collectives are neither counted nor compared. Those that nobody looked at are left out.
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
        """Process -> how many records of the program it has (counted); processes without one are left out."""
        counts: dict[int, int] = {}
        for record in self.records:
            counts[record.process] = counts.get(record.process, 0) + 1
        return counts

    @property
    def missing_in(self) -> tuple[int, ...]:
        """The processes that take part in the program and have no record of it."""
        return tuple(process for process in self.processes if process not in self.compiles)

    @property
    def is_shared(self) -> bool:
        """Whether it runs on devices of several processes."""
        return len(self.processes) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedProcess:
    """One process and what was found of it.

    Attributes:
      index: as `jax.process_index()` counts.
      records: how many of its records were read.
      shared: how many different programs among them run on devices of several processes.
      unread: how many of its files could not be read.
      has_saved: whether a file or folder of it was found at all.
    """

    index: int
    records: int = 0
    shared: int = 0
    unread: int = 0
    has_saved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessDifference:
    """Where one process first differs from another.

    Attributes:
      process: the process that differs: those who are fewer. Where they are as many, nobody can tell who is wrong; it
        is then the one that has a program more, else the one with the higher index.
      other: the process it was compared with; None when it was compared with none.
      kind: "no records"; "missing": it lacks a program; "extra": it has one that no other has; "order": it has the
        same programs in another order; "program": it has another program in the place of one of the same name;
        "compiled differently": the program is the same, and its collectives after optimization are not.
      position: the place among the programs that run on several processes, from 0, as `other` counts.
      name, where: the function at which they differ, and the user's line that led to its compile.
      sentence: all of that in words.
      details: what differs between two programs, the most telling first, each a sentence; () for the other kinds.
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
      notes: what else is to be known: files that were not read, records of another run.
    """

    processes: tuple[MergedProcess, ...] = ()
    programs: tuple[MergedProgram, ...] = ()
    local: tuple[MergedProgram, ...] = ()
    differences: tuple[ProcessDifference, ...] = ()
    notes: tuple[str, ...] = ()
