"""What of a collective crosses from one host (process) to another.

Links between hosts are slower than those within one. The model is that of `analyze.collectives.traffic`: a ring in the
order of each group. Not its job: how long it takes, or which links a machine has.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.report.collective import Collective

__all__ = ["with_hosts"]


def with_hosts(row: Collective, hosts: Sequence[int]) -> Collective:
    """The collective with `is_cross_host` and `host_bytes`; `hosts` has the host of each position in the mesh."""
    if not row.groups or any(not 0 <= device < len(hosts) for group in row.groups for device in group):
        return row
    groups = [tuple(hosts[device] for device in group) for group in row.groups]
    crosses = any(len(set(group)) > 1 for group in groups)
    once = sum(_crossing_bytes(row, group) for group in groups) if crosses else 0
    return replace(row, is_cross_host=crosses, host_bytes=None if row.count is None else once * row.count)


def _crossing_bytes(row: Collective, group: tuple[int, ...]) -> int:
    """Bytes that cross between hosts each time one group runs; `group` has the host of each of its devices."""
    if row.kind == "collective-permute":
        return row.payload_bytes if group[0] != group[-1] else 0
    if row.kind in ("all-to-all", "ragged-all-to-all"):
        # Every device sends one part of its operands to every other.
        same = sum(count * count for count in Counter(group).values())
        return -(-row.payload_bytes * (len(group) ** 2 - same) // len(group))
    crossings = sum(source != target for source, target in itertools.pairwise(group))
    # A broadcast passes along a chain; all others go round.
    crossings += row.kind != "collective-broadcast" and group[0] != group[-1]
    return crossings * row.wire_bytes
