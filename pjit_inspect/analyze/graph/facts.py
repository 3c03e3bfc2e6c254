"""Facts of the kernels of one program, before any of them has a place: collectives, inputs, matrix products, runs.

The collectives come from a `CollectiveTable`. Not its job: finding kernels (`analyze.graph.kernels`) or collectives
(`analyze.collectives.collectives`), the places of kernels (`analyze.graph.placing`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pjit_inspect.analyze.graph.kernels import KernelList, find_kernels
from pjit_inspect.analyze.graph.work import count_work
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import SUMS, may_communicate
from pjit_inspect.model.report.collective import Collective, CollectiveTable

Input = tuple[int, int, int, int]
"""One value a kernel takes: its source kernel or -1, the element, the argument's number or -1, its bytes."""


class KernelFacts:
    """Facts by kernel, and by collective.

    Attributes:
      module: the program.
      kernels: its kernels.
      table: its collectives.
      sites: the kernel of each collective; -1 for one in an unreachable computation.
      ends: the kernel before which each ends: the next one if it is not asynchronous; -1 as in `sites`.
      collectives: the collectives of each kernel that is one.
      kinds: the kind of each of these kernels.
      combined: those that move several arrays at once; each result is one operand.
      inputs: for each kernel the values it takes, in operand order.
      by_operand: for each combined collective its inputs by operand.
      takers: for each combined collective the kernels that take each element of its result.
      matmuls, flops: for each kernel, as in `GraphKernels`.
      runs: likewise.
    """

    def __init__(self, module: HloModule, table: CollectiveTable) -> None:
        self.module: HloModule = module
        self.table: CollectiveTable = table
        self.kernels: KernelList = find_kernels(module)
        sites = _find_sites(self.kernels, table)
        self.sites: tuple[int, ...] = tuple(kernel for kernel, _ in sites)
        self.ends: tuple[int, ...] = tuple(end for _, end in sites)
        self.collectives: dict[int, list[int]] = {}
        for number, kernel in enumerate(self.sites):
            if kernel >= 0:
                self.collectives.setdefault(kernel, []).append(number)
        first = {kernel: table.rows[numbers[0]] for kernel, numbers in self.collectives.items()}
        self.kinds: dict[int, str] = {kernel: row.kind for kernel, row in first.items()}
        self.combined: set[int] = {kernel for kernel, row in first.items() if row.operands > 1}
        work = count_work(self.kernels)
        self.matmuls: list[int] = work.matmuls
        self.flops: list[int] = work.flops
        runs = count_runs(module)
        most = (runs[c].most for c in module.instructions.computation[self.kernels.rows].tolist())
        self.runs: np.ndarray = np.array([-1 if each is None else each for each in most], np.int64)
        self._add_inputs()

    def __len__(self) -> int:
        return len(self.kernels)

    def _add_inputs(self) -> None:
        reads = self.kernels.reads
        self.inputs: list[list[Input]] = [[] for _ in range(len(self))]
        self.by_operand: dict[int, dict[int, list[Input]]] = {kernel: {} for kernel in self.combined}
        self.takers: dict[int, dict[int, list[int]]] = {kernel: {} for kernel in self.combined}
        columns = (reads.source, reads.element, reads.argument, reads.bytes)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for taken, target, operand in zip(rows, reads.target.tolist(), reads.operand.tolist(), strict=True):
            self.inputs[target].append(taken)
            if target in self.combined:
                self.by_operand[target].setdefault(operand, []).append(taken)
            if taken[0] in self.combined:
                self.takers[taken[0]].setdefault(taken[1], []).append(target)

    def is_sum(self, kernel: int) -> bool:
        """True if a kernel is an all-reduce or a reduce-scatter."""
        return self.kinds.get(kernel) in SUMS

    def argument_name(self, number: int) -> str:
        """The name of an argument of the program ("params['w']"); "" for none."""
        row = self.kernels.parameters.get(number)
        return "" if row is None else self.module.instruction(row).op_name

    def origin(self, taken: Input) -> tuple[int, int]:
        """The kernel and the argument a value came from before XLA combined it with others; -1 for the other."""
        operand = self.by_operand.get(taken[0], {}).get(taken[1])
        source, _, argument, _ = operand[0] if operand else taken
        return source, argument

    def argument_of(self, taken: Input) -> int:
        """The argument that a value is, or is made of alone (gathered, cast); -1 for none."""
        source, argument = self.origin(taken)
        inputs = self.inputs[source] if source >= 0 else []
        return inputs[0][2] if len(inputs) == 1 else argument


def _find_sites(kernels: KernelList, table: CollectiveTable) -> list[tuple[int, int]]:
    """The kernel of every collective and the kernel before which it ends, by the names of its instructions."""
    names = _instructions_by_name(kernels.module)
    taken: set[int] = set()
    sites: list[tuple[int, int]] = []
    for row in table.rows:
        parts = [_pick(names.get(name, ()), row, taken, kernels) for name in row.instructions]
        taken.update(part for part in parts if part >= 0)
        sites.append(_site(parts, row, kernels))
    return sites


def _instructions_by_name(module: HloModule) -> dict[str, list[int]]:
    """Instructions that may be (a part of) a collective, by name: XLA repeats names now and then."""
    opcodes = filter(may_communicate, module.opcodes)
    by_name: dict[str, list[int]] = {}
    for index in module.with_opcode(*opcodes).tolist():
        by_name.setdefault(module.reader.name(index), []).append(index)
    return by_name


def _pick(candidates: Sequence[int], row: Collective, taken: set[int], kernels: KernelList) -> int:
    """The instruction that is meant: one that runs, has the channel, and is no other collective's; -1 for none."""

    def fitness(index: int) -> tuple[bool, bool, bool]:
        channel = int(kernels.module.instructions.channel[index]) or None
        return kernels.before[index] >= 0, index not in taken, channel == row.channel_id

    return max(candidates, key=fitness, default=-1)


def _site(parts: Sequence[int], row: Collective, kernels: KernelList) -> tuple[int, int]:
    hosts = [kernels.host(part) if part >= 0 else -1 for part in parts]
    kernel = next((host for host in hosts if host >= 0), -1)
    if kernel < 0:
        return -1, -1
    last = parts[-1]
    end = int(kernels.before[last]) if row.is_async and last >= 0 else -1
    if row.is_async and end < 0:
        end = _end_of(kernel, kernels)
    return kernel, max(end, kernel + 1)


def _end_of(kernel: int, kernels: KernelList) -> int:
    """The position at which the operation around a collective is awaited; -1 if it is not."""
    module = kernels.module
    users = module.users[int(kernels.rows[kernel])].tolist()
    dones = [user for user in users if module.opcodes[module.instructions.opcode[user]].endswith("-done")]
    return max((int(kernels.before[done]) for done in dones), default=-1)
