"""Which program each profiled run was a run of, and what its HLO instructions took.

A run belongs to the program that has its module's name and XLA's number of it, and all instructions that ran. XLA
numbers anew what comes from the compilation cache on disk; such a program has the runs of its name that are nobody
else's. What fits several programs is nobody's: a time is never given to the likelier one. Not its job: measuring
(`observe.profiler`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.hlo import HloModule
from pjit_inspect.model.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.profile import ProfiledRun

__all__ = ["MeasuredProgram", "find_kernel_times", "measured_program"]

_NOT_RUN = "the profiler saw no run of it"
_NO_NUMBERS = "this platform's profiler does not say which program and which run a time is of"
_ALIKE = "the profiler cannot tell it from another program with the same name"
_UNFINISHED = "no call of it ran from begin to end while the profiler was on"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredProgram:
    """What tells the runs of one program.

    Attributes:
      name: the HLO module's name.
      number: XLA's number of it.
      opcodes: HLO instruction -> opcode.
      once: the instructions that every call runs exactly once: those of the entry.
      devices: how many devices of this process run it; None when that is not known.
      is_from_disk: whether it may have come from the compilation cache on disk; then its runs have another number.
      others: programs of this name that the process holds beside those that were recorded.
    """

    name: str
    number: int
    opcodes: Mapping[str, str]
    once: frozenset[str]
    devices: int | None = None
    is_from_disk: bool = False
    others: int = 0


def measured_program(module: HloModule, **facts: Any) -> MeasuredProgram:
    """The program of a parsed module; `facts` are the attributes that it does not tell."""
    names = [module.reader.name(index) for index in range(len(module))]
    opcodes = module.instructions.opcode.tolist()
    entry = module.computation(module.entry).range
    return MeasuredProgram(
        name=module.name,
        number=int(module.other.get("id", 0)),
        opcodes={name: module.opcodes[opcode] for name, opcode in zip(names, opcodes, strict=True)},
        once=frozenset(names[entry.start : entry.stop]),
        **facts,
    )


def find_kernel_times(runs: Sequence[ProfiledRun], programs: Sequence[MeasuredProgram]) -> list[KernelTimes | str]:
    """The measured times of each program, or the reason why there are none."""
    groups: dict[tuple[str, int | None], list[ProfiledRun]] = {}
    for run in runs:
        groups.setdefault((run.module, run.program), []).append(run)
    fits = {key: _fitting(group, programs) for key, group in groups.items()}
    owners = _owners(fits, programs)
    return [_times_of(program, row, groups, fits, owners) for row, program in enumerate(programs)]


def _times_of(
    program: MeasuredProgram,
    row: int,
    groups: Mapping[tuple[str, int | None], list[ProfiledRun]],
    fits: Mapping[tuple[str, int | None], list[int]],
    owners: Mapping[int, tuple[str, int | None]],
) -> KernelTimes | str:
    if row in owners:
        return _added(groups[owners[row]], program)
    named = [key for key in groups if key[0] == program.name]
    if any(run.program is None or run.run is None for key in named for run in groups[key]):
        return _NO_NUMBERS
    return _ALIKE if any(row in fits[key] for key in named) else _NOT_RUN


def _fitting(runs: Sequence[ProfiledRun], programs: Sequence[MeasuredProgram]) -> list[int]:
    """The programs that these runs, all of one program, may be of."""
    name, number = runs[0].module, runs[0].program
    if number is None or any(run.run is None for run in runs):
        return []
    ops = {op for run in runs for op in run.ops}
    named = [row for row, one in enumerate(programs) if one.name == name and all(op in one.opcodes for op in ops)]
    # Numbers are given once in a process, also those that programs from disk get.
    exact = [row for row in named if programs[row].number == number and not programs[row].is_from_disk]
    return exact or [row for row in named if programs[row].is_from_disk]


def _owners(
    fits: Mapping[tuple[str, int | None], list[int]], programs: Sequence[MeasuredProgram]
) -> dict[int, tuple[str, int | None]]:
    """Program -> its runs. A program has one number: runs that fit it alone are its, and it takes no others."""
    left = {key: set(rows) for key, rows in fits.items()}
    owners: dict[int, tuple[str, int | None]] = {}
    while True:
        alone: dict[int, list[tuple[str, int | None]]] = {}
        for key, rows in left.items():
            for row in rows if len(rows) == 1 else ():
                alone.setdefault(row, []).append(key)
        settled = {
            row: keys[0]
            for row, keys in alone.items()
            if len(keys) == 1 and not (programs[row].is_from_disk and programs[row].others)
        }
        if not settled:
            return owners
        owners |= settled
        left = {key: rows - settled.keys() for key, rows in left.items() if key not in settled.values()}


# ---------------------------------------------------------------- adding up


@dataclass(slots=True)
class _Sum:
    """One instruction in all measured calls."""

    count: int = 0
    total_ns: float = 0.0
    by_device: dict[int, float] = field(default_factory=dict)

    def add(self, device: int, count: int, total_ns: float) -> None:
        self.count += count
        self.total_ns += total_ns
        self.by_device[device] = self.by_device.get(device, 0.0) + total_ns


def _added(runs: Sequence[ProfiledRun], program: MeasuredProgram) -> KernelTimes | str:
    """The sums over all whole calls of one program."""
    calls: dict[int | None, list[ProfiledRun]] = {}
    for run in runs:
        calls.setdefault(run.run, []).append(run)
    whole = _whole(list(calls.values()), program)
    if not whole:
        return _UNFINISHED
    number, devices = len(whole), len({run.device for call in whole for run in call})
    spans: dict[int, float] = {}
    sums: dict[str, _Sum] = {}
    for run in (run for call in whole for run in call):
        spans[run.device] = spans.get(run.device, 0.0) + run.ended_ns - run.began_ns
        for op, (count, total_ns) in run.ops.items():
            sums.setdefault(op, _Sum()).add(run.device, count, total_ns)
    rows = [_row(op, program.opcodes[op], found, number, devices) for op, found in sums.items()]
    return KernelTimes(
        calls=number,
        left_out=len(calls) - number,
        devices=devices,
        call_us=max(spans.values()) / number / 1e3,
        mean_call_us=sum(spans.values()) / number / devices / 1e3,
        rows=tuple(sorted(rows, key=lambda row: (-row.slowest_us, row.instruction))),
    )


def _whole(calls: Sequence[Sequence[ProfiledRun]], program: MeasuredProgram) -> list[Sequence[ProfiledRun]]:
    """The calls that ran on every device, and there every instruction of the entry that runs by itself."""
    seen = {op for call in calls for run in call for op in run.ops if op in program.once}
    devices = program.devices or max(len(call) for call in calls)
    return [call for call in calls if len(call) == devices and all(seen <= run.ops.keys() for run in call)]


def _row(op: str, opcode: str, found: _Sum, calls: int, devices: int) -> KernelTime:
    return KernelTime(
        instruction=op,
        opcode=opcode,
        runs_per_call=found.count / calls / devices,
        slowest_us=max(found.by_device.values()) / calls / 1e3,
        mean_us=found.total_ns / calls / devices / 1e3,
    )
