"""Finds the program of each profiled run, and the times of its HLO instructions.

A run belongs to the program with its module name, the profiler's number, and all instructions that ran. A run that fits
several programs is assigned to none, not to the likelier one. The events of one program must also agree with each
other. On CPU the event of a loop ends when the loop first waits, while its instructions go on: the loop gets their
time. On a GPU a loop has no event, and gets the joint time of its kernels (`gpu_runs`). Not its job: measuring
(`observe.profiler.profiler`), the numbers of programs (`profiled_programs`), the instructions of kernels of CUDA graphs
(`command_buffers`).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.analyze.measured.gpu_runs import GpuRun, gpu_run
from pjit_inspect.analyze.measured.launches import Launches, launches_of
from pjit_inspect.analyze.program.loops import NEVER, UNKNOWN, count_runs
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import DOTS, REGIONS
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes, ProfiledRun, UnknownTime

_NOT_RUN = "the profiler saw no run of it"
_NO_NUMBERS = "this platform's profiler does not say which program and which run a time is of"
_ALIKE = "the profiler cannot tell it from another program with the same name"
# Seen on a CPU, JAX 0.10: 0.2 ms for a product of 335 ms. Events of fusions, YNN's too, sorts and reductions are whole.
_HANDED_OVER = "XLA hands it to other threads, and the profiler's event ends before they do"
_UNFINISHED = "no call of it ran from begin to end while the profiler was on"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredProgram:
    """Facts that identify the runs of one program.

    Attributes:
      name: the HLO module's name.
      numbers: the possible profiler numbers of the program.
      opcodes: HLO instruction -> opcode.
      once: the instructions that every call runs exactly once: those of the entry computation.
      devices: number of devices of this process that run it; None if unknown.
      runs: HLO instruction -> its least and most runs per call; absent if unknown.
      pieces: HLO instruction -> the most events of one run, if more than one.
      contents: instruction that runs others -> the instructions it runs, inner ones before outer ones; None if
        something else also runs them.
      beside: instruction that runs others an unknown number of times -> instructions that run as often, one event each.
      launches: its launches on a GPU.
    """

    name: str
    numbers: frozenset[int]
    opcodes: Mapping[str, str]
    once: frozenset[str]
    devices: int | None = None
    runs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    pieces: Mapping[str, int] = field(default_factory=dict)
    contents: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    launches: Launches = field(default_factory=Launches)


def measured_program(module: HloModule, runs: Sequence[ProfiledRun], **facts: Any) -> MeasuredProgram:
    """The program of a parsed module; `facts` are the other attributes, `runs` may be runs of it."""
    on_gpu = any(run.spans is not None for run in runs)
    names = list(module.reader.names(range(len(module))))
    opcodes = module.instructions.opcode.tolist()
    entry = module.computation(module.entry).range
    runs_of, pieces = _runs(module, names), _pieces(module, names, on_gpu=on_gpu)
    contents = _contents(module, names, on_gpu=on_gpu)
    return MeasuredProgram(
        name=module.name,
        opcodes={name: module.opcodes[opcode] for name, opcode in zip(names, opcodes, strict=True)},
        once=frozenset(names[entry.start : entry.stop]),
        runs=runs_of,
        pieces=pieces,
        contents=contents,
        beside=_beside(module, names, [one for one in contents if one not in runs_of], pieces) if on_gpu else {},
        launches=launches_of(module) if any(run.nodes for run in runs) else Launches(),
        **facts,
    )


_PIECES_OF_CALL = 8
"""Most kernels and copies of XLA before and after those of a library."""


def _pieces(module: HloModule, names: list[str], *, on_gpu: bool) -> dict[str, int]:
    """The most events of one run of instructions with several: a sort copies operands that it may not overwrite.

    All events have the sort's name. On a GPU, where the profiler counts launches, a sort has several stages, which have
    the name of the fusion around it; a custom call may be a copy plus the library's kernels.
    """
    sorts = module.with_opcode("sort").tolist()
    found = {names[row]: 1 + len(module.instructions.operands[row]) for row in sorts}
    if on_gpu:
        found = {names[row]: found[names[row]] + _stages(module.instruction(row)) for row in sorts}
        fusions = {row: module.computation(int(module.instructions.computation[row])).callers for row in sorts}
        found |= {caller.name: found[names[row]] for row, callers in fusions.items() for caller in callers}
        found |= {names[row]: _PIECES_OF_CALL for row in module.with_opcode("custom-call").tolist()}
    return found


def _stages(sort: Instruction) -> int:
    """Kernels of a bitonic sort, at most: of each power of two up to its length as many as it has powers below."""
    longest = max((size for leaf in sort.shape.leaves for size in leaf.dimensions), default=1)
    powers = max(1, (longest - 1).bit_length())
    return powers * (powers + 1) // 2


def _runs(module: HloModule, names: list[str]) -> dict[str, tuple[int, int]]:
    """The runs per call of each instruction, if known and if its name is unique."""
    counts, runs_of = count_runs(module), dict[str, tuple[int, int]]()
    repeated = {name for name, number in Counter(names).items() if number > 1}
    for name, computation in zip(names, module.instructions.computation.tolist(), strict=True):
        runs = counts[computation]
        if name not in repeated and runs not in (NEVER, UNKNOWN) and runs.least is not None and runs.most is not None:
            runs_of[name] = runs.least, runs.most
    return runs_of


def _contents(module: HloModule, names: list[str], *, on_gpu: bool) -> dict[str, frozenset[str] | None]:
    """The instructions that each region runs, inner regions first: a computation precedes its callers."""
    contents, often = dict[str, frozenset[str] | None](), Counter(names)
    starts, callers = module.callers.starts.tolist(), module.callers.items.tolist()
    begun_in: dict[int, list[int]] = {}
    # On a GPU events name the instruction that an asynchronous start begins, which is in a separate computation.
    for start in module.with_opcode("async-start").tolist() if on_gpu else ():
        begun_in.setdefault(int(module.instructions.computation[start]), []).extend(
            module.instructions.called[start].tolist()
        )
    for region in module.with_opcode(*REGIONS).tolist():
        called = set(module.instructions.called[region].tolist())
        run = {*called, *(begun for one in called for begun in begun_in.get(one, ()))}
        inside = [names[i] for one in run for i in module.computation(one).range]
        others = {caller for one in called for caller in callers[starts[one] : starts[one + 1]]} - {region}
        is_clear = not others and all(often[name] == 1 for name in (names[region], *inside))
        contents[names[region]] = frozenset(inside) if is_clear else None
    return contents


def _beside(
    module: HloModule, names: list[str], regions: Iterable[str], pieces: Mapping[str, int]
) -> dict[str, frozenset[str]]:
    """The other instructions of each region's computation, except those with several events per run."""
    often, found = Counter(names), dict[str, frozenset[str]]()
    for region in regions:
        if often[region] == 1 and (instruction := module.find(region)) is not None:
            others = (names[row] for row in instruction.computation.range)
            found[region] = frozenset(one for one in others if often[one] == 1 and one not in pieces) - {region}
    return found


def find_kernel_times(runs: Sequence[ProfiledRun], programs: Sequence[MeasuredProgram]) -> list[KernelTimes | str]:
    """The measured times of each program, or the reason why there are none."""
    groups: dict[tuple[str, int | None], list[ProfiledRun]] = {}
    for run in runs:
        groups.setdefault((run.module, run.program), []).append(run)
    return [_times_of(program, programs, groups) for program in programs]


def _times_of(
    program: MeasuredProgram,
    programs: Sequence[MeasuredProgram],
    groups: Mapping[tuple[str, int | None], list[ProfiledRun]],
) -> KernelTimes | str:
    named = {key: group for key, group in groups.items() if key[0] == program.name}
    if any(key[1] is None or run.run is None for key, group in named.items() for run in group):
        return _NO_NUMBERS
    found = [key for key in named if key[1] in program.numbers and _has_all(program, named[key])]
    if not found:
        return _NOT_RUN
    # What may have several numbers, or a number that another may have too, may have none of these runs.
    if len(program.numbers) > 1 or any(one is not program and one.numbers & program.numbers for one in programs):
        return _ALIKE
    return _added(named[found[0]], program)


def _has_all(program: MeasuredProgram, runs: Sequence[ProfiledRun]) -> bool:
    """True if the program has every instruction that ran."""
    return all(op in program.opcodes for run in runs for op in run.ops)


# ---------------------------------------------------------------- adding up


@dataclass(slots=True)
class _Sum:
    """One instruction in all measured calls."""

    count: int = 0
    total_ns: float = 0.0
    least_ns: float = math.inf
    by_device: dict[int, float] = field(default_factory=dict)
    unknown: str = ""

    def add(self, device: int, count: int, total_ns: float) -> None:
        self.count += count
        self.total_ns += total_ns
        self.least_ns = min(self.least_ns, total_ns)
        self.by_device[device] = self.by_device.get(device, 0.0) + total_ns


def _added(runs: Sequence[ProfiledRun], program: MeasuredProgram) -> KernelTimes | str:
    """The means over all whole calls of one program but the first."""
    on_gpu = [_on_gpu(run, program) for run in runs if run.spans is not None]
    calls: dict[int | None, list[ProfiledRun]] = {}
    for run in [one.run for one in on_gpu] or runs:
        calls.setdefault(run.run, []).append(run)
    whole = _whole(list(calls.values()), program)
    if not whole:
        return _UNFINISHED
    first = min(calls.values(), key=_begin)
    warm_up = first if len(whole) > 1 and any(call is first for call in whole) else None
    used = [call for call in whole if call is not warm_up]
    number, devices = len(used), len({run.device for call in used for run in call})
    of_used = [one for one in on_gpu if any(one.run is run for call in used for run in call)]
    rows, unknown = _rows([run for call in used for run in call], of_used, program, number, devices)
    spans = _spans([run for call in used for run in call])
    return KernelTimes(
        calls=number,
        left_out=len(calls) - len(whole),
        warm_up_us=None if warm_up is None else max(_spans(warm_up).values()) / 1e3,
        devices=devices,
        call_us=max(spans.values()) / number / 1e3,
        mean_call_us=sum(spans.values()) / number / devices / 1e3,
        busy_us=sum(one.busy_ns for one in of_used) / number / devices / 1e3 if of_used else None,
        rows=rows,
        unknown=unknown,
    )


def _begin(call: Sequence[ProfiledRun]) -> float:
    return min(run.began_ns for run in call)


def _spans(runs: Sequence[ProfiledRun]) -> dict[int, float]:
    """Nanoseconds from begin to end of runs, added up on each device."""
    spans: dict[int, float] = {}
    for run in runs:
        spans[run.device] = spans.get(run.device, 0.0) + run.ended_ns - run.began_ns
    return spans


def _on_gpu(run: ProfiledRun, program: MeasuredProgram) -> GpuRun:
    return gpu_run(run, program.opcodes, program.launches, program.contents, program.runs, program.beside)


def _rows(
    runs: Sequence[ProfiledRun], on_gpu: Sequence[GpuRun], program: MeasuredProgram, calls: int, devices: int
) -> tuple[tuple[KernelTime, ...], tuple[UnknownTime, ...]]:
    """The rows of instructions whose events agree with the program, and the unknown times of the others."""
    seen = dict.fromkeys(op for run in runs for op in run.ops)
    sums = {op: _Sum(unknown=_miscounted(op, runs, program.runs, program.pieces.get(op, 1))) for op in seen}
    for op, found in sums.items():
        if program.opcodes[op] in DOTS and any(run.on_host for run in runs):
            found.unknown = found.unknown or _HANDED_OVER
    told_of = {id(one.run): one for one in on_gpu}
    for run in runs:
        settled = _settled(run, told_of.get(id(run)), program)
        for op, (count, _) in run.ops.items():
            # Several events are still one run.
            _, most = program.runs.get(op, (0, count))
            sums[op].add(run.device, min(count, most), settled.times_ns[op])
        for op in settled.unknown.keys() & sums.keys():
            sums[op].unknown = sums[op].unknown or settled.unknown[op]
    _spread(sums, program.contents)
    rows = [_row(op, program, one, calls, devices) for op, one in sums.items() if not one.unknown]
    unknown = [
        UnknownTime(instruction=op, opcode=program.opcodes[op], why=one.unknown)
        for op, one in sums.items()
        if one.unknown
    ]
    unknown += _ownerless(on_gpu, calls, devices)
    return tuple(sorted(rows, key=lambda row: (-row.slowest_us, row.instruction))), tuple(unknown)


def _ownerless(on_gpu: Sequence[GpuRun], calls: int, devices: int) -> list[UnknownTime]:
    """Unknown times of kernels of command buffers without an instruction."""
    kernels: dict[str, Counter[str]] = {}
    total_ns: dict[str, float] = {}
    for one in on_gpu:
        for buffer, nodes in one.ownerless.items():
            for node in nodes:
                count, ns = one.run.nodes[node]
                kernels.setdefault(buffer, Counter())[node.kernel] += count
                total_ns[buffer] = total_ns.get(buffer, 0.0) + ns
    found: list[UnknownTime] = []
    for buffer, names in kernels.items():
        said = ", ".join(f"`{name[:60]}`" for name in sorted(names)[:3]) + (" and others" if len(names) > 3 else "")
        took = total_ns[buffer] / calls / devices / 1e3
        why = f"its kernels {said} took {took:,.1f} us in a call, and the profiler does not say for which instructions"
        found.append(UnknownTime(instruction=buffer, opcode="command buffer", why=why))
    return found


def _spread(sums: Mapping[str, _Sum], contents: Mapping[str, frozenset[str] | None]) -> None:
    """Marks the time of a region as unknown if it runs an instruction of unknown time."""
    for region, inside in contents.items():
        inner = next((op for op in sorted(inside or ()) if op in sums and sums[op].unknown), None)
        if inner is not None and region in sums and not sums[region].unknown:
            sums[region].unknown = f"the time of `{inner}`, which it runs, is unknown"


def _whole(calls: Sequence[Sequence[ProfiledRun]], program: MeasuredProgram) -> list[Sequence[ProfiledRun]]:
    """The calls that ran on every device, and there every instruction of the entry that runs by itself."""
    seen = {op for call in calls for run in call for op in run.ops if op in program.once}
    devices = program.devices or max(len(call) for call in calls)
    return [call for call in calls if len(call) == devices and all(seen <= run.ops.keys() for run in call)]


def _row(op: str, program: MeasuredProgram, found: _Sum, calls: int, devices: int) -> KernelTime:
    least, most = program.runs.get(op, (0, 1))
    return KernelTime(
        instruction=op,
        opcode=program.opcodes[op],
        # Where the program says it, the events agree with it, or are pieces.
        runs_per_call=float(most) if least == most else found.count / calls / devices,
        slowest_us=max(found.by_device.values()) / calls / 1e3,
        mean_us=found.total_ns / calls / devices / 1e3,
        least_us=found.least_ns / 1e3,
    )


_ROUNDING = 1.001
"""The profiler's clock has picoseconds, our sums of nanoseconds have floats."""

_OVERLAP = "its event ends before what it runs, and what it runs overlaps in time"
_SHARED = "what it runs is run by other instructions too"


@dataclass(slots=True)
class _Settled:
    """The times of one run on one device.

    Attributes:
      times_ns: instruction -> nanoseconds; a region has at least the time of its instructions.
      unknown: instruction -> why its time is unknown.
    """

    times_ns: dict[str, float]
    unknown: dict[str, str] = field(default_factory=dict)


def _miscounted(op: str, runs: Sequence[ProfiledRun], counts: Mapping[str, tuple[int, int]], pieces: int = 1) -> str:
    """A contradiction in the number of runs of an instruction; "" if there is none, or if the number is unknown.

    `pieces` is the most events of one run, the same in all runs.
    """
    if op not in counts:
        return ""
    least, most = counts[op]
    seen = [run.ops[op][0] if op in run.ops else 0 for run in runs]
    if pieces > 1 and least != most > 1:
        return "one run of it is several events, and the profiler does not say how often it ran"
    if any(all(least * k <= number <= most * k for number in seen) for k in range(1, pieces + 1)):
        return ""
    odd = next(number for number in seen if not least <= number <= most)
    wanted = f"{'at most ' if least != most else ''}{_times(most)}"
    return f"the profiler saw it {_times(odd)} in a call, but the program runs it {wanted}"


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _settled(run: ProfiledRun, on_gpu: GpuRun | None, program: MeasuredProgram) -> _Settled:
    """The times of a run."""
    times = {op: total for op, (_, total) in run.ops.items()}
    if on_gpu is not None:
        return _Settled(times_ns=times, unknown=dict(on_gpu.unknown))
    unknown, replaced = dict[str, str](), set[str]()
    for region, inside in program.contents.items():
        if region not in times:
            continue
        if inside is None:
            unknown[region] = _SHARED
            continue
        held = sum(times[op] for op in inside if op in times)
        if held > times[region]:
            times[region] = held
            replaced.add(region)
    # Sequential instructions take no longer than the call; if they do, they overlapped, and a sum is no time.
    if replaced and sum(times[op] for op in program.once if op in times) > (run.ended_ns - run.began_ns) * _ROUNDING:
        unknown |= dict.fromkeys(replaced, _OVERLAP)
    return _Settled(times_ns=times, unknown=unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedProgram:
    """A recorded program, with facts to find its number.

    Attributes:
      content: as from `program_content`.
      number: XLA's number of it at the recording; None if it may have come from disk with that number.
      is_new: whether it was compiled, or came from disk, while the profiler was on.
    """

    content: str
    number: int | None
    is_new: bool


def program_content(module: HloModule) -> str:
    """The same text for programs of the same instructions: names, opcodes and shapes, in their order."""
    instructions, reader = module.instructions, module.reader
    shapes = [str(reader.shape(row)) for row in range(int(instructions.shape.max(initial=-1)) + 1)]
    rows = zip(instructions.opcode.tolist(), instructions.shape.tolist(), strict=True)
    found = hashlib.sha256()
    for name, (opcode, shape) in zip(reader.names(range(len(module))), rows, strict=True):
        found.update(f"{name}\0{module.opcodes[opcode]}\0{shapes[shape]}\0".encode("utf-8", "replace"))
    return found.hexdigest()


def numbers_of(programs: Sequence[TimedProgram], held: Mapping[int, str], ran: Collection[int]) -> list[frozenset[int]]:
    """The possible profiler numbers of each program. All programs have one name.

    `programs` are in compile order. `held` is the content of each program that the profiler kept, by number; `ran` are
    the numbers of programs that ran.
    """
    found = [frozenset[int]()] * len(programs)
    for content in {program.content for program in programs}:
        rows = [row for row, program in enumerate(programs) if program.content == content]
        numbers = sorted(number for number, of in held.items() if of == content)
        for row, may_be in zip(rows, _told_apart([programs[row] for row in rows], numbers), strict=True):
            found[row] = frozenset(may_be)
    strays = frozenset(ran) - held.keys()
    # They may also belong to a program that was not recorded, unless the program ran under its own number.
    others = frozenset(held) - frozenset().union(*found) - frozenset(ran)
    return [
        strays | others if strays and program.number is None and not numbers & frozenset(ran) else numbers
        for program, numbers in zip(programs, found, strict=True)
    ]


def _told_apart(programs: Sequence[TimedProgram], numbers: Sequence[int]) -> list[Iterable[int]]:
    """The same for programs of one content, and all numbers of that content, ascending."""
    own = [program.number for program in programs]
    exact = [number for number in own if number is not None and number in numbers]
    if len(set(exact)) == len(own):
        return [(number,) for number in exact]
    new = [row for row, program in enumerate(programs) if program.is_new]
    old = [row for row, program in enumerate(programs) if not program.is_new]
    if len(new) > len(numbers):
        # Some are gone already, and it is unknown which.
        return [numbers] * len(programs)
    before, latest = numbers[: len(numbers) - len(new)], numbers[len(numbers) - len(new) :]
    may_be: dict[int, Iterable[int]] = {row: (number,) for row, number in zip(new, latest, strict=True)}
    return [may_be.get(row, before if row in old else ()) for row in range(len(programs))]
