"""Converts one run on a GPU to HLO instructions: kernels of CUDA graphs get owners, loops the times of their content.

A GPU's events are those of kernels and copies. A loop or a conditional took the time during which at least one of its
instructions ran; overlapping time counts once. Not its job: checking the number of runs (`kernel_times`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from pjit_inspect.analyze.measured.command_buffers import owners_of_nodes
from pjit_inspect.analyze.measured.launches import Launches
from pjit_inspect.model.record.kernel_times import GraphNode, ProfiledRun, Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRun:
    """A run, and its unresolved parts.

    Attributes:
      run: the run; its `ops` include each region that ran something.
      busy_ns: time during which at least one kernel or copy ran.
      ownerless: command buffer -> its nodes without a known instruction.
      unknown: instruction -> why its time is unknown; may include instructions that did not run.
    """

    run: ProfiledRun
    busy_ns: float
    ownerless: Mapping[str, tuple[GraphNode, ...]] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def gpu_run(
    run: ProfiledRun,
    opcodes: Mapping[str, str],
    launches: Launches,
    contents: Mapping[str, frozenset[str] | None],
    counts: Mapping[str, tuple[int, int]],
    beside: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> GpuRun:
    """A run with its `spans`; the rest is as in `kernel_times.MeasuredProgram`."""
    # Events of a graph that was made while the profiler was on name the instruction, mostly.
    named = {node: node.buffer for node in run.nodes if node.buffer in opcodes}
    owners = owners_of_nodes(tuple(run.nodes), launches, named, run.ops.keys())
    ops, spans = dict(run.ops), {op: [found] for op, found in (run.spans or {}).items() if isinstance(op, str)}
    ownerless: dict[str, tuple[GraphNode, ...]] = {}
    member_of: dict[int, str] = {}
    for node, (count, total_ns) in run.nodes.items():
        op = owners.get(node)
        if op is None:
            ownerless[node.buffer] = (*ownerless.get(node.buffer, ()), node)
            continue
        before = ops.get(op, (0, 0.0))
        ops[op] = (before[0] + count, before[1] + total_ns)
        spans.setdefault(op, []).append(_spans(run, node))
        # A graph belongs to one computation: a region with one of its instructions runs all of it.
        member_of[node.graph] = op
    for op, (count, total_ns) in ops.items():
        if sum(len(began) for began, _ in spans.get(op, ())) > count:
            # Several kernels of one run may overlap, or be reported twice.
            ops[op] = (count, min(total_ns, _union_ns(spans[op])))
    unowned = [node for nodes in ownerless.values() for node in nodes]
    lost = sorted(node.buffer for node in unowned if node.graph not in member_of)
    unknown = _doubtful(unowned, launches, owners.values(), counts)
    for region, inside in contents.items():
        parts = [part for op in sorted(inside or ()) for part in spans.get(op, ())]
        parts += (_spans(run, node) for node in unowned if member_of.get(node.graph) in (inside or ()))
        if not (parts or region in ops):
            continue
        # Also for an instruction with an unknown number of runs: the region around it took as long.
        parts += spans.get(region, ())
        spans[region] = parts
        count = ops[region][0] if region in ops else _count(counts.get(region))
        if count is None:
            runs = {ops[one][0] for one in beside.get(region, ()) if one in ops}
            count = runs.pop() if len(runs) == 1 else None
        if count is None:
            continue
        ops[region] = count, _union_ns(parts)
        if inside is None:
            unknown[region] = "what it runs is run by other instructions too"
        elif lost:
            unknown[region] = f"kernels of `{lost[0]}`, whose place in the program is unknown, may be its"
    busy_ns = _union_ns((run.spans or {}).values())
    return GpuRun(run=replace(run, ops=ops), busy_ns=busy_ns, ownerless=ownerless, unknown=unknown)


def _doubtful(
    ownerless: Sequence[GraphNode],
    launches: Launches,
    owners: Collection[str],
    counts: Mapping[str, tuple[int, int]],
) -> dict[str, str]:
    """The instructions that may have run more often than known: nodes without an owner may be theirs.

    If the program gives the number of runs, a missing run is noticed. For an instruction of one or several nodes, such
    as a sort with copies, a missing node is not noticed.
    """
    found: dict[str, str] = {}
    functions = {node: launches.function(node.kernel) for node in ownerless}
    unnamed = [node for node, function in functions.items() if function is None]
    commands = [one for of in launches.commands.values() for one in of] if unnamed else []
    may_be = {one.instruction: node for one in commands for node in unnamed if one.may_launch(node.kernel)}
    several = {one.instruction for one in commands if one.may_be_several} & set(owners)
    for node, function in functions.items():
        names = () if function is None else function.instructions.values()
        may_be |= {name: node for of in names for name in of}
    for name, node in may_be.items():
        if name in several or _count(counts.get(name)) is None:
            found[name] = f"kernels of `{node.buffer}`, whose instruction is unknown, may be its"
    return found


def _count(counts: tuple[int, int] | None) -> int | None:
    """The number of runs per call; None if it varies between calls, or is unknown."""
    return counts[0] if counts is not None and counts[0] == counts[1] else None


def _spans(run: ProfiledRun, node: GraphNode) -> Spans:
    return (run.spans or {})[node]


def _union_ns(parts: Iterable[Spans]) -> float:
    """The time during which at least one of these spans lasted."""
    parts = tuple(parts)
    if not parts:
        return 0.0
    began, ended = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    order = np.argsort(began, kind="stable")
    began, ended = began[order], ended[order]
    # Each span adds the time it lasts beyond the latest end of the earlier ones.
    before = np.concatenate(([-np.inf], np.maximum.accumulate(ended)[:-1]))
    return float(np.maximum(0.0, ended - np.maximum(began, before)).sum())
