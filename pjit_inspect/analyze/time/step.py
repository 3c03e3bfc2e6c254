"""Puts the time of a call together: the work and the seconds of every kernel, the network, and the schedule.

Not its job: any of these (`kernel_work`, `kernel_seconds`, `network`, `schedule`), or what shares and ceilings follow
from them (`model.time.step_time`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pjit_inspect.analyze.program.backend_config import BackendConfig, read_backend_config
from pjit_inspect.analyze.program.loops import details_of, find_running, find_running_instructions
from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.analyze.program.source import UNKNOWN_FILES, UserFiles, user_frames
from pjit_inspect.analyze.time.kernel_seconds import (
    UNTIMED,
    RunSeconds,
    compute_seconds,
    memory_seconds,
    run_seconds,
)
from pjit_inspect.analyze.time.kernel_work import KernelWork, WorkFinder
from pjit_inspect.analyze.time.network import NetworkModel, Transfer
from pjit_inspect.analyze.time.schedule import Clock, Costs, Schedule, find_sites
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.program.opcodes import PRODUCTS, operations
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.time.hardware import Hardware, first
from pjit_inspect.model.time.rows import (
    Home,
    TimedCollective,
    TimedCollectives,
    TimedKernel,
    TimedKernels,
    TimelineSpan,
)
from pjit_inspect.model.time.step_time import StepTime

_WRITES = operations("write")
_TOO_MUCH, _NOTABLE = 1.2, 0.02
"""From this factor over its roofline a product is told of, if that is this share of the time of kernels."""
_HOST_SPACE = 5
"""XLA's number of the host's memory."""
QUICK = (
    "a quick estimate, before XLA fuses or schedules anything: products at their roofline, other arithmetic in no "
    "time, all communication hidden or none"
)
"""What the range of a program that XLA's partitioner alone has seen is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInput:
    """The facts that the time of a program follows from.

    Attributes:
      module: the program.
      graph: its kernels with their scopes and phases; None for a quick estimate without them: of products alone.
      collectives: its collectives.
      hardware: the speeds; None if nobody knows them.
      devices: the device at each position of the mesh.
      is_partial: whether it is as XLA's partitioner left it, before anything is fused or scheduled: a quick estimate.
      trusts_xla: whether XLA's estimates count: not those of a compile that was cut short.
      files: which files are the user's.
      measured: what a profiler saw; None if it did not run.
      missing: why seconds are unknown, for a program without hardware and without a profile.
    """

    module: HloModule
    graph: ProgramGraph | None
    collectives: Sequence[Collective]
    hardware: Hardware | None
    devices: Sequence[Device]
    is_partial: bool = False
    trusts_xla: bool = True
    files: UserFiles = UNKNOWN_FILES
    measured: KernelTimes | None = None
    missing: str = ""


def find_step_time(given: TimeInput) -> StepTime:
    """Where the time of one call goes."""
    return _Step(given).found()


class _Step:
    """The time of one program on the way."""

    def __init__(self, given: TimeInput) -> None:
        self._given, self._module = given, given.module
        running = find_running(self._module)
        self._work = WorkFinder(self._module, running)
        self._computations = running.computations
        kernels = [] if given.graph is None else given.graph.kernels.instruction.tolist()
        self._number = {index: number for number, index in enumerate(kernels)}
        self._sites = find_sites(given.collectives, find_running_instructions(self._module))
        is_kernel = self._module.is_opcode(
            frozenset(("copy",) if given.graph is not None else (*PRODUCTS, "custom-call", "fusion"))
        )
        self._kernels = [
            index
            for index in running.order
            if (index in self._number or bool(is_kernel[index]))
            and index not in self._sites
            and not self._is_write(index)
        ]
        self._seconds = {index: self._run_of(index) for index in self._kernels}
        self._transfers = self._find_transfers()
        self._host_copies = 0
        self._schedule = self._run()
        rows = () if given.measured is None else given.measured.rows
        self._measured = {row.instruction: row for row in rows if not row.holds_others}

    def _run_of(self, index: int) -> RunSeconds:
        if self._given.hardware is None:
            return UNTIMED
        work = self._work.of(index)
        if self._given.is_partial and not work.products and work.declared is None:
            # XLA will fuse it into something, or not: nobody knows what it will read and write then.
            return UNTIMED
        config = self._config(index)
        return run_seconds(work, config, self._given.hardware, trusts_xla=self._given.trusts_xla)

    def _config(self, index: int) -> BackendConfig:
        return read_backend_config(details_of(self._module, index).backend_config)

    def _find_transfers(self) -> list[Transfer]:
        if self._given.hardware is None:
            return [Transfer(seconds=None, formula="")] * len(self._given.collectives)
        network = NetworkModel(self._given.hardware, self._given.devices)
        return [network.transfer(row) for row in self._given.collectives]

    def _run(self) -> Schedule:
        costs = Costs(
            kernel={index: own.seconds for index, own in self._seconds.items()},
            copy_s=self._copy_s,
            flops={index: self._work.of(index).flops or 0 for index in self._kernels},
            transfers=[transfer.seconds for transfer in self._transfers],
            streams=[
                transfer.links or row.axes or ("",)
                for row, transfer in zip(self._given.collectives, self._transfers, strict=True)
            ],
            lanes=[row.axes or ("",) for row in self._given.collectives],
        )
        return Clock(self._module, self._sites, costs).run(self._computations)

    def _is_write(self, index: int) -> bool:
        """True if an instruction starts to write a part of an array while kernels run."""
        module = self._module
        called = module.instructions.called[index].tolist()
        return (
            module.opcodes[module.instructions.opcode[index]] == "async-start"
            and bool(called)
            and module.instruction(int(module.computations.root[called[0]])).opcode in _WRITES
        )

    def _copy_s(self, index: int) -> float:
        """Seconds of a copy that runs beside kernels: its bytes are read and written once."""
        module, called = self._module, self._module.instructions.called[index].tolist()
        operands = module.instructions.operands[index].tolist()
        moved = int(module.computations.root[called[0]]) if called else operands[0] if operands else -1
        if self._is_write(index):
            # The part that is written, not the array around it.
            moved = int(module.instructions.operands[moved][1])
        size = int(module.result_bytes[moved]) if moved >= 0 else 0
        if self._given.hardware is None or size <= 0:
            return 0.0
        if self._is_on_host(index):
            self._host_copies += 1
            return 0.0
        work = KernelWork(read=size, written=0)
        return memory_seconds(work, self._given.hardware) or 0.0

    def _is_on_host(self, index: int) -> bool:
        leaves = self._module.reader.shape(int(self._module.instructions.shape[index])).leaves
        return any(leaf.layout is not None and leaf.layout.memory_space == _HOST_SPACE for leaf in leaves)

    # ------------------------------------------------------------ rows

    def found(self) -> StepTime:
        """The result."""
        given, schedule = self._given, self._schedule
        kernels = [self._kernel(index) for index in self._kernels if schedule.runs[index]]
        collectives = [
            self._collective(number) for number in range(len(given.collectives)) if schedule.transfer_runs[number]
        ]
        step = StepTime(
            hardware=given.hardware,
            devices=len(given.devices),
            kernels=TimedKernels(tuple(sorted(kernels, key=_longest))),
            collectives=TimedCollectives(tuple(sorted(collectives, key=_most_exposed))),
            notes=tuple(self._notes(kernels, collectives)),
            missing=given.missing,
            measured_s=None if given.measured is None else given.measured.mean_call_us / 1e6,
        )
        if given.hardware is not None and given.is_partial:
            return _as_quick(step, self._products_s(), self._borders_s())
        if given.hardware is not None:
            return replace(_with_sums(step, schedule), timeline=self._timeline())
        return step if given.measured is None else _as_measured(step)

    def _borders_s(self) -> float:
        """Seconds for arguments and results: each is read or written once, whatever is fused."""
        module = self._module
        root = int(module.computations.root[module.entry])
        is_tuple = module.opcodes[module.instructions.opcode[root]] == "tuple"
        ends = module.instructions.operands[root].tolist() if is_tuple else [root]
        begins = [
            index
            for index in module.with_opcode("parameter").tolist()
            if module.instructions.computation[index] == module.entry
        ]
        size = sum(max(0, int(module.result_bytes[index])) for index in (*begins, *ends))
        speed = None if self._given.hardware is None else first(self._given.hardware.memory_bytes_per_s)
        return size / speed if speed else 0.0

    def _products_s(self) -> float:
        """Seconds of all products at the peak, whatever they read and write."""
        hardware, runs = self._given.hardware, self._schedule.runs
        assert hardware is not None
        return sum((compute_seconds(self._work.of(index), hardware) or 0.0) * runs[index] for index in self._kernels)

    def _kernel(self, index: int) -> TimedKernel:
        seconds, work = self._seconds[index], self._work.of(index)
        runs = self._schedule.runs[index]
        place, flops = self._place(index), work.flops
        measured_s, fastest_s = self._measured_of((self._module.reader.name(index),))
        return TimedKernel(
            name=self._module.reader.name(index),
            label=self._label(index),
            runs=None if ("kernel", index) in self._schedule.uncertain else runs,
            flops=None if flops is None else flops * runs,
            product_flops=None if flops is None else (work.declared or sum(work.products.values())) * runs,
            flops_from="unknown" if flops is None else "shapes" if work.declared is None else "cost estimate",
            number=max(work.products, key=lambda kind: work.products[kind], default=""),
            kind=work.kind,
            bytes_read=None if work.read is None else work.read * runs,
            bytes_written=None if work.written is None else work.written * runs,
            seconds=None if seconds.seconds is None else seconds.seconds * runs,
            floor_s=None if seconds.floor_s is None else seconds.floor_s * runs,
            known_by=seconds.known_by,
            bound_by=seconds.bound_by,
            measured_s=measured_s,
            fastest_s=fastest_s,
            phase=place.phase,
            scope=place.scope,
            layer=place.layer,
            source=place.source,
        )

    def _collective(self, number: int) -> TimedCollective:
        row, transfer = self._given.collectives[number], self._transfers[number]
        runs, graph = self._schedule.transfer_runs[number], self._given.graph
        kernel = -1 if graph is None else graph.collective_kernels[number]
        place = self._place_of_kernel(kernel) if kernel >= 0 else Home()
        is_known = transfer.seconds is not None
        measured_s, fastest_s = self._measured_of(row.instructions)
        return TimedCollective(
            collective=number,
            name=row.instructions[0] if row.instructions else "",
            kind=row.kind,
            axes=row.axes,
            runs=None if ("collective", number) in self._schedule.uncertain else runs,
            sent_bytes=None if row.wire_bytes is None else row.wire_bytes * runs,
            seconds=transfer.seconds * runs if transfer.seconds is not None else None,
            exposed_s=self._schedule.exposed_s[number] if is_known else None,
            formula=transfer.formula,
            links=transfer.links,
            known_by="modelled" if is_known else "unknown",
            measured_s=measured_s,
            fastest_s=fastest_s,
            is_async=row.is_async,
            phase=_phase_name(row.phase) or place.phase,
            scope=place.scope,
            layer=place.layer,
            source=row.source or place.source,
        )

    def _measured_of(self, names: Sequence[str]) -> tuple[float | None, float | None]:
        """Seconds of some instructions together, the mean and those of the fastest call; None unless all were seen."""
        seen = [self._measured[name] for name in names if name in self._measured]
        if not seen or len(seen) != len(names):
            return None, None
        mean = sum(row.mean_us for row in seen)
        return mean / 1e6, sum(row.mean_us if row.least_us is None else row.least_us for row in seen) / 1e6

    def _timeline(self) -> tuple[TimelineSpan, ...]:
        return tuple(
            TimelineSpan(
                lane=span.lane or "no axis",
                name=self._module.reader.name(span.instruction),
                label=self._label(span.instruction),
                begin_s=span.begin,
                end_s=span.end,
                turns=span.turns,
            )
            for span in sorted(self._schedule.spans, key=lambda own: (own.begin, own.lane))
        )

    def _label(self, index: int) -> str:
        """The name of an instruction for people."""
        graph, number = self._given.graph, self._number.get(index)
        if (site := self._sites.get(index)) is not None:
            return self._given.collectives[site.collective].kind
        if number is not None and graph is not None:
            kernels = graph.kernels
            return kernels.labels[kernels.label[number]]
        return self._module.opcodes[self._module.instructions.opcode[index]]

    # ------------------------------------------------------------ places

    def _place(self, index: int) -> Home:
        module, number = self._module, self._number.get(index)
        frames = user_frames(module.frames(index), self._given.files)
        if number is not None:
            return replace(self._place_of_kernel(number), source=frames)
        name = module.op_names[module.instructions.op_name[index]]
        return Home(phase=_phase_name(find_phase(name, frames)), source=frames)

    def _place_of_kernel(self, number: int) -> Home:
        graph = self._given.graph
        assert graph is not None
        box = graph.boxes[int(graph.kernels.box[number])]
        scope, layer = self._rows[box.row]
        phase = PHASES[box.phase] if graph.is_differentiated else ""
        return Home(phase="optimizer" if phase == "update" else phase, scope=scope, layer=layer)

    @cached_property
    def _rows(self) -> list[tuple[str, str]]:
        """For each row of the graph its scopes, and its layer."""
        found: list[tuple[str, str]] = []
        for row in () if self._given.graph is None else self._given.graph.rows:
            scope, layer = found[row.parent] if row.parent >= 0 else ("", "")
            if row.parent >= 0:
                scope = f"{scope}/{row.label}" if scope else row.label
                layer = layer or (row.label if row.fold >= 0 or row.kind != "loop" else "")
            found.append((scope, layer))
        return found

    # ------------------------------------------------------------ what is left out

    def _notes(self, kernels: Sequence[TimedKernel], collectives: Sequence[TimedCollective]) -> list[str]:
        notes = []
        if loops := self._schedule.loops:
            one = "1 loop has" if loops == 1 else f"{loops:,} loops have"
            notes.append(f"{one} an unknown number of turns: one turn is counted")
        if branches := len(self._schedule.branches):
            one = "1 conditional counts as its" if branches == 1 else f"{branches:,} conditionals count as their"
            notes.append(f"{one} dearest branch, whichever a call takes")
        if unknown := sum(row.flops is None for row in kernels):
            one = "1 kernel has" if unknown == 1 else f"{unknown:,} kernels have"
            notes.append(f"{one} an unknown number of operations")
        if self._given.hardware is None:
            return notes
        if self._given.is_partial:
            lost = sum(row.seconds is None for row in collectives)
            return [*notes, *([f"{lost:,} collectives take an unknown time, counted as none"] if lost else [])]
        if unlike := self._unlike(kernels):
            notes.append(unlike)
        lost = sum(row.seconds is None for row in (*kernels, *collectives))
        if lost:
            notes.append(f"{lost:,} {'row takes' if lost == 1 else 'rows take'} an unknown time, counted as none")
        if self._given.hardware.network == "torus" and (above := _overcharged(kernels)):
            notes.append(above)
        if self._host_copies:
            notes.append("copies to and from the host's memory are not modelled")
        return notes

    def _unlike(self, kernels: Sequence[TimedKernel]) -> str:
        """Kernels that no measured one is like; "" for none, and where nothing was measured."""
        hardware = self._given.hardware
        if hardware is None or not hardware.is_measured:
            return ""
        rows = [row for row in kernels if row.size and not hardware.has_measured(row.kind, row.size)]
        whole = sum(row.seconds or 0.0 for row in kernels)
        if not rows or not whole:
            return ""
        share = sum(row.seconds or 0.0 for row in rows) / whole
        one = "1 kernel is" if len(rows) == 1 else f"{len(rows):,} kernels are"
        return f"{one} of a kind or a size that was not measured; they are {100 * share:.0f} % of the time of kernels"


def _overcharged(kernels: Sequence[TimedKernel]) -> str:
    """Products on a TPU that XLA's estimate charges far more than their operations take; "" for none."""
    rows = [
        row
        for row in kernels
        if row.known_by == "XLA's estimate" and row.product_flops and (row.of_roofline or 1.0) < 1 / _TOO_MUCH
    ]
    more = sum((row.seconds or 0.0) - (row.floor_s or 0.0) for row in rows)
    whole = sum(row.seconds or 0.0 for row in kernels)
    if not rows or more < _NOTABLE * whole:
        return ""
    one = "1 product" if len(rows) == 1 else f"{len(rows):,} products"
    return (
        f"XLA's estimate of {one} is over {_TOO_MUCH} times their roofline, together {100 * more / whole:.0f} % of the "
        f"time of kernels: it charges what is fused into a product as if nothing of it overlapped"
    )


def _with_sums(step: StepTime, schedule: Schedule) -> StepTime:
    kernels_s = sum(row.seconds or 0.0 for row in step.kernels)
    floor = sum(row.floor_s if row.floor_s is not None else row.seconds or 0.0 for row in step.kernels)
    network = sum(row.seconds or 0.0 for row in step.collectives)
    return replace(
        step,
        copies_s=schedule.copies_s,
        floor_s=max(floor, step.busiest_link_s),
        kernels_s=kernels_s,
        step_s=schedule.step_s,
        serial_s=kernels_s + schedule.copies_s + network,
        exposed_s=sum(row.exposed_s or 0.0 for row in step.collectives),
    )


def _as_quick(step: StepTime, products_s: float, borders_s: float) -> StepTime:
    """The step of a program that is not fused or scheduled yet: from all communication hidden to none."""
    kernels = max(sum(row.seconds or 0.0 for row in step.kernels), borders_s)
    network = sum(row.seconds or 0.0 for row in step.collectives)
    return replace(
        step,
        collectives=TimedCollectives(tuple(replace(row, exposed_s=None) for row in step.collectives)),
        floor_s=max(products_s, borders_s, step.busiest_link_s),
        kernels_s=kernels,
        serial_s=kernels + network,
        missing=step.missing or QUICK,
    )


def _as_measured(step: StepTime) -> StepTime:
    """The step with the seconds that a profiler saw in place of estimates."""
    kernels = [
        replace(row, seconds=row.measured_s, known_by="unknown" if row.measured_s is None else "measured")
        for row in step.kernels
    ]
    collectives = [
        replace(
            row,
            seconds=row.measured_s,
            exposed_s=row.measured_s,
            known_by="unknown" if row.measured_s is None else "measured",
        )
        for row in step.collectives
    ]
    busy = sum(row.seconds or 0.0 for row in (*kernels, *collectives))
    step_s = step.measured_s or 0.0
    unseen = sum(row.seconds is None for row in (*kernels, *collectives))
    return replace(
        step,
        kernels=TimedKernels(tuple(sorted(kernels, key=_longest))),
        collectives=TimedCollectives(tuple(sorted(collectives, key=_most_exposed))),
        copies_s=0.0,
        kernels_s=sum(row.seconds or 0.0 for row in kernels),
        step_s=step_s,
        exposed_s=sum(row.seconds or 0.0 for row in collectives),
        idle_s=max(0.0, step_s - busy),
        is_measured=True,
        missing="",
        notes=(*step.notes, *([f"the profiler saw no time of {unseen:,} kernels and collectives"] if unseen else [])),
    )


def _phase_name(phase: str | None) -> str:
    return phase or ""


def _longest(row: TimedKernel) -> tuple[float, int, str]:
    return -(row.seconds or 0.0), -(row.flops or 0), row.name


def _most_exposed(row: TimedCollective) -> tuple[float, float, str]:
    return -(row.exposed_s or 0.0), -(row.seconds or 0.0), row.name
