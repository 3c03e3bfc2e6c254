"""Finds the kernel of each collective, its end, and the kernels that need the data it moves.

The collectives come from a `CollectiveTable`. Not its job: finding them (`analyze.collectives.collectives`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.report.collective import Collective, CollectiveTable

_NAMED = ("fusion", "call", "custom-call", "async-start", "send", "recv")
_PARTS = ("all-", "collective-", "reduce-scatter", "ragged-all-to-all")
_ENDS = ("-done", "-start")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectiveSites:
    """The kernels of the collectives.

    Attributes:
      kernels: the kernel of each; -1 for one in an unreachable computation.
      ends: the kernel before which each ends: the next one if it is not asynchronous; -1 as in `kernels`.
      by_kernel: the collectives of each kernel that is one.
    """

    kernels: tuple[int, ...]
    ends: tuple[int, ...]
    by_kernel: Mapping[int, tuple[int, ...]]

    def kinds(self, table: CollectiveTable) -> dict[int, str]:
        """The kind of each kernel that is a collective."""
        return {kernel: table.rows[rows[0]].kind for kernel, rows in self.by_kernel.items()}

    def sums(self, table: CollectiveTable) -> frozenset[int]:
        """The kernels that sum."""
        return frozenset(kernel for kernel, kind in self.kinds(table).items() if kind in SUMS)

    def combined(self, table: CollectiveTable) -> dict[int, str]:
        """The kernels that move several arrays at once, and their kinds."""
        kinds = self.kinds(table)
        return {kernel: kinds[kernel] for kernel, rows in self.by_kernel.items() if table.rows[rows[0]].operands > 1}


def find_collective_kernels(kernels: KernelList, table: CollectiveTable) -> CollectiveSites:
    """Looks every collective of the table up by the names of its instructions."""
    names = _instructions_by_name(kernels.module)
    taken: set[int] = set()
    sites: list[tuple[int, int]] = []
    for row in table.rows:
        parts = [_pick(names.get(name, ()), row, taken, kernels) for name in row.instructions]
        taken.update(part for part in parts if part >= 0)
        sites.append(_site(parts, row, kernels))
    by_kernel: dict[int, list[int]] = {}
    for number, (kernel, _) in enumerate(sites):
        if kernel >= 0:
            by_kernel.setdefault(kernel, []).append(number)
    return CollectiveSites(
        kernels=tuple(kernel for kernel, _ in sites),
        ends=tuple(end for _, end in sites),
        by_kernel={kernel: tuple(rows) for kernel, rows in by_kernel.items()},
    )


def _instructions_by_name(module: HloModule) -> dict[str, list[int]]:
    """Instructions that may be (a part of) a collective, by name: XLA repeats names now and then."""
    opcodes = [name for name in module.opcodes if name in _NAMED or name.startswith(_PARTS) or name.endswith(_ENDS)]
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
