"""Models the bytes a collective sends, the totals per mesh axis, and the traffic between devices.

All formulas are those of a ring: each device sends to one neighbour, and no link carries more than necessary. n is the
size of a group, V the bytes of the operands on one device. Between two devices, rings and chains send to the next
device of their group, an all-to-all an equal part to each other device, permutes to their target (counted). Links
between hosts (processes) are slower than links within one: bytes between hosts are counted separately, for the same
ring.

Kernels between start and done of an asynchronous collective, in XLA's schedule, are issued meanwhile; whether they hide
the transfer depends on the times of both. Not its job: times, or the links of a machine.

*Source*: "How to scale your model", chapter on sharded matrices (https://jax-ml.github.io/scaling-book/sharding).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.custom_calls import runs_kernel
from pjit_inspect.analyze.program.device_groups import Groups
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import REGIONS, operations
from pjit_inspect.model.report.collective import AxisTotal, Collective, LinkTraffic

RING: dict[str, Callable[[int, int], int]] = {
    "all-gather": lambda v, n: v * (n - 1),
    "reduce-scatter": lambda v, n: _share(v * (n - 1), n),
    "all-reduce": lambda v, n: _share(2 * v * (n - 1), n),
    "all-to-all": lambda v, n: _share(v * (n - 1), n),
    "ragged-all-to-all": lambda v, n: _share(v * (n - 1), n),
    "collective-permute": lambda v, n: v,
    "collective-broadcast": lambda v, n: v,
}
"""Kind -> bytes the busiest device sends, from V and n. An all-gather passes every other shard on once; a
reduce-scatter passes on all but its own share; an all-reduce is one of each over the same bytes; an all-to-all keeps
its own share; a permute and a broadcast send everything once. Rounded up to whole bytes."""


def _share(amount: int, parts: int) -> int:
    return -(-amount // parts)


def wire_bytes(kind: str, payload_bytes: int, group_size: int) -> int:
    """Bytes the busiest device sends each time the collective runs (modelled: `RING`).

    0 for a group of one device. For a collective-permute, `group_size` is 2 when any pair moves data, else 1.
    Raises `KeyError` for a kind without a formula.
    """
    return RING[kind](payload_bytes, group_size) if group_size > 1 else 0


def total_by_axes(collectives: Iterable[Collective], devices: int = 0) -> tuple[AxisTotal, ...]:
    """One total for each set of mesh axes, most bytes sent first.

    `devices` is the number of the program's devices, 0 if unknown. Collectives that run an unknown number of times
    count once.
    """
    by_axes: dict[tuple[int, tuple[str, ...] | None], list[Collective]] = {}
    for collective in collectives:
        # Axes of the same name in two meshes are two things.
        mesh = collective.mesh if collective.axes else 0
        by_axes.setdefault((mesh, collective.axes), []).append(collective)
    totals = [_total(mesh, axes, rows, devices) for (mesh, axes), rows in by_axes.items()]
    return tuple(sorted(totals, key=lambda t: (-t.sent_bytes, t.axes is None, t.axes or (), t.mesh)))


def _total(mesh: int, axes: tuple[str, ...] | None, rows: list[Collective], devices: int) -> AxisTotal:
    counts = [row.count for row in rows]
    runs = [1 if count is None else count for count in counts]
    return AxisTotal(
        axes=axes,
        mesh=mesh,
        collectives=len(rows),
        runs=None if None in counts else sum(runs),
        payload_bytes=sum((row.payload_bytes or 0) * run for row, run in zip(rows, runs, strict=True)),
        sent_bytes=sum((row.wire_bytes or 0) * run for row, run in zip(rows, runs, strict=True)),
        is_payload_least=any(row.payload_bytes is None and row.count != 0 for row in rows),
        is_sent_least=any(row.wire_bytes is None and row.count != 0 for row in rows),
        is_bound=any(_may_be_skipped(row) or not _loads_all_alike(row, devices) for row in rows),
    )


def _may_be_skipped(row: Collective) -> bool:
    return row.count is not None and row.count_min != row.count


def _loads_all_alike(row: Collective, devices: int) -> bool:
    """True if every device of the program sends as much as the busiest."""
    if row.kind == "collective-permute":
        senders = {source for source, target in row.groups if source != target}
        return not senders or len(senders) == (devices or len({place for pair in row.groups for place in pair}))
    if row.kind == "collective-broadcast":
        return False
    # Without the number of devices, groups of one size are all there is to go by.
    return len({len(group) for group in row.groups}) <= 1 and devices in (0, sum(map(len, row.groups)))


def with_hosts(rows: Sequence[Collective], hosts: Sequence[int]) -> list[Collective]:
    """The collectives with `is_cross_host` and `host_bytes`; `hosts` has the host of each position in the mesh."""
    # A model has thousands of collectives, and few groupings of its thousands of devices.
    known: dict[tuple[str, Groups], _Crossings | None] = {}
    found = []
    for row in rows:
        key = _pattern_between_hosts(row.kind), row.groups
        if key not in known:
            known[key] = _crossings(*key, hosts)
        crossings = known[key]
        found.append(row if crossings is None else _with_crossings(row, crossings))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crossings:
    """Sends between hosts each time all groups run.

    Attributes:
      is_any: whether a group has devices of several hosts.
      sends: number of times a device sends to the next of its group on another host.
      exchanges: (devices of a group, ordered pairs of them on one host) -> the number of these groups, if every device
        sends a part to every other.
    """

    is_any: bool
    sends: int = 0
    exchanges: Counter[tuple[int, int]] = field(default_factory=Counter)


def _pattern_between_hosts(kind: str) -> str:
    """Kinds that send along the same ways have one word."""
    if kind in ("all-to-all", "ragged-all-to-all"):
        return "exchange"
    return {"collective-permute": "pair", "collective-broadcast": "chain"}.get(kind, "ring")


def _crossings(pattern: str, groups: Groups, hosts: Sequence[int]) -> _Crossings | None:
    """Sends between hosts; None if the groups are unknown, or a device is outside the mesh."""
    if not groups or not all(group and 0 <= min(group) <= max(group) < len(hosts) for group in groups):
        return None
    hosts_of = [tuple(hosts[device] for device in group) for group in groups]
    is_any = any(len(set(group)) > 1 for group in hosts_of)
    if pattern == "exchange":
        same = ((len(own), sum(count * count for count in Counter(own).values())) for own in hosts_of)
        return _Crossings(is_any=is_any, exchanges=Counter(same))
    if pattern == "pair":
        return _Crossings(is_any=is_any, sends=sum(own[0] != own[-1] for own in hosts_of))
    sends = sum(source != target for own in hosts_of for source, target in itertools.pairwise(own))
    # A broadcast passes along a chain; all others go round.
    sends += sum(own[0] != own[-1] for own in hosts_of) if pattern == "ring" else 0
    return _Crossings(is_any=is_any, sends=sends)


def _with_crossings(row: Collective, crossings: _Crossings) -> Collective:
    payload, wire = row.payload_bytes, row.wire_bytes
    if row.count is None or payload is None or wire is None:
        return replace(row, is_cross_host=crossings.is_any, host_bytes=None)
    sent = payload if row.kind == "collective-permute" else wire
    # Every device sends one part of its operands to every other.
    parts = (count * -(-payload * (size**2 - same) // size) for (size, same), count in crossings.exchanges.items())
    once = crossings.sends * sent + sum(parts)
    return replace(row, is_cross_host=crossings.is_any, host_bytes=once * row.count)


_MOST_PAIRS = 400_000


def find_link_traffic(rows: Sequence[Collective]) -> LinkTraffic:
    """The traffic of all collectives; a run of unknown number counts once."""
    sums: dict[tuple[str, tuple[tuple[int, ...], ...]], float] = {}
    left_out = 0
    for row in rows:
        pattern, size = _pattern(row)
        if not row.groups or size is None:
            left_out += 1
            continue
        # Equal groups are added up before they become pairs: a model has thousands of collectives and few groupings.
        times = 1 if row.count is None else row.count
        sums[pattern, row.groups] = sums.get((pattern, row.groups), 0.0) + float(size) * times
    pairs, sizes, budget = [], [], _MOST_PAIRS
    for (pattern, groups), size in sums.items():
        links = _pairs(pattern, groups, budget)
        if links is None:
            left_out += 1
            continue
        budget -= len(links)
        pairs.append(links)
        share = max(1, len(groups[0]) - 1) if pattern == "all" else 1
        sizes.append(np.full(len(links), size / share))
    return _summed(pairs, sizes, left_out)


def _pattern(row: Collective) -> tuple[str, int | None]:
    """The pattern of sends, and the bytes over each link (for "all": to all others together)."""
    if row.kind == "collective-permute":
        return "pairs", row.payload_bytes
    if row.kind == "collective-broadcast":
        return "chain", row.payload_bytes
    return ("all" if row.kind in ("all-to-all", "ragged-all-to-all") else "ring"), row.wire_bytes


def _pairs(pattern: str, groups: tuple[tuple[int, ...], ...], budget: int) -> np.ndarray | None:
    number = sum(len(group) ** 2 if pattern == "all" else len(group) for group in groups)
    if number > budget:
        return None
    pairs: list[tuple[int, int]] = []
    for group in groups:
        if pattern == "all":
            pairs += [(a, b) for a in group for b in group if a != b]
        elif pattern == "ring" and len(group) > 1:
            pairs += list(zip(group, (*group[1:], group[0]), strict=True))
        elif pattern in ("pairs", "chain"):
            pairs += [(a, b) for a, b in itertools.pairwise(group) if a != b]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _summed(pairs: list[np.ndarray], sizes: list[np.ndarray], left_out: int) -> LinkTraffic:
    both = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
    weights = np.concatenate([np.zeros(0), *sizes])
    span = int(both.max(initial=0)) + 1
    keys, inverse = np.unique(both[:, 0] * span + both[:, 1], return_inverse=True)
    return LinkTraffic(
        sources=(keys // span).astype(np.int32),
        targets=(keys % span).astype(np.int32),
        sent_bytes=np.bincount(inverse.ravel(), weights=weights, minlength=len(keys)).astype(np.float64),
        left_out=left_out,
    )


MOST_NAMES = 100
"""More overlapping kernels than these are counted, not named."""

_NO_WORK = operations("idle", "transfer")
"""Opcodes that run no kernel, besides those that only start, update or wait for something else."""

_HALVES = ("-start", "-done", "-update")


class Overlap(NamedTuple):
    """Kernels between start and done: names in schedule order (at most `MOST_NAMES`), and their number.

    `count` is None if the program does not say.
    """

    names: tuple[str, ...]
    count: int | None


NOTHING = Overlap((), 0)
UNKNOWN = Overlap((), None)


class OverlapFinder:
    """Finds overlaps with collectives of one program; each computation is searched once."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        idle = [row for row, opcode in enumerate(module.opcodes) if opcode in _NO_WORK or opcode.endswith(_HALVES)]
        self._works = ~np.isin(module.instructions.opcode, idle)
        self._kernels: dict[int, np.ndarray] = {}
        self._many: dict[int, bool] = {}

    def find(self, site: CollectiveOp) -> Overlap:
        """The kernels between start and end of a collective; for a ring, within any of its permutes."""
        if not site.is_async:
            return NOTHING
        members = site.members or (site,)
        spans = [span for member in members if (span := self._span(member)) is not None]
        if len(spans) < len(members):
            return UNKNOWN
        # Permutes of a ring may overlap with the same kernels.
        kernels = (
            spans[0] if len(spans) == 1 else np.array(list(dict.fromkeys(np.concatenate(spans).tolist())), np.int64)
        )
        return Overlap(tuple(map(self._module.reader.name, kernels[:MOST_NAMES].tolist())), len(kernels))

    def _span(self, site: CollectiveOp) -> np.ndarray | None:
        """The kernels between the first and the last instruction of a site; None where there is no schedule."""
        parts = site.instructions
        if not self._module.is_scheduled or len(parts) < 2 or len({part.computation.index for part in parts}) > 1:
            return None
        places = [int(self._module.places[part.index]) for part in parts]
        kernels = self._kernels_of(parts[0])
        first, last = np.searchsorted(kernels, (min(places), max(places)))
        return self._module.order[kernels[first:last]]

    def _kernels_of(self, part: Instruction) -> np.ndarray:
        """Places of all kernels in the computation of `part`, ascending."""
        computation = part.computation
        if computation.index not in self._kernels:
            order = computation.order
            places = computation.range.start + np.flatnonzero(self._works[order])
            runs = [self._runs_kernel(int(self._module.order[place])) for place in places]
            self._kernels[computation.index] = places[np.array(runs, bool)]
        return self._kernels[computation.index]

    def _runs_kernel(self, index: int) -> bool:
        instruction = self._module.instruction(index)
        if instruction.opcode in ("fusion", "custom-call"):
            return runs_kernel(instruction)
        # Arithmetic on single numbers (indices, counters) hides nothing.
        return instruction.opcode in REGIONS or any(map(self._has_many, (instruction, *instruction.operands)))

    def _has_many(self, instruction: Instruction) -> bool:
        """True if a value is more than one number."""
        row = int(self._module.instructions.shape[instruction.index])
        if row not in self._many:
            leaves = self._module.reader.shape(row).leaves
            self._many[row] = any(leaf.is_array and leaf.count != 1 for leaf in leaves)
        return self._many[row]
