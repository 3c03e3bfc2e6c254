"""Which devices the ids in a collective's groups stand for.

An id counts replicas, partitions, or both, depending on the instruction. Here all become logical ids: replica times
number of partitions plus partition, which is the index of the device in the program's device list.
Not its job: reading groups (`parse.wire.replica_groups`), mesh axes (`analyze.program.mesh_axes`).

*Source*: `GetCollectiveOpGroupMode` and `GetParticipatingDevicesGroups` in `xla/service/collective_ops_utils.cc`.
"""

from __future__ import annotations

from typing import Literal

from pjit_inspect.model.program.hlo import Details

Groups = tuple[tuple[int, ...], ...]

Mode = Literal["cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"]
"""What the ids count, as XLA calls it: replicas, separately in each partition; partitions, separately in each replica;
replicas, each with all its partitions; or replica times number of partitions plus partition."""

_BOTH_MODES = frozenset(("all-gather", "all-reduce", "reduce-scatter"))
"""Kinds that say in `use_global_device_ids` what their ids count; the others count partitions when they can."""

_MOST_DEVICES = 1 << 18
"""More devices than any program has; a larger claim is damage."""


def find_mode(kind: str, channel_id: int | None, use_global_device_ids: bool | None) -> Mode | None:
    """What the ids of a collective count; None for a combination that XLA refuses.

    Args:
      kind: the collective's kind without async parts.
      channel_id: None when it has none.
      use_global_device_ids: as in `Details`; None means False.
    """
    if channel_id is None:
        return None if use_global_device_ids else "cross_replica"
    if kind not in _BOTH_MODES:
        return "cross_partition"
    return "flattened_id" if use_global_device_ids else "cross_replica_and_partition"


def logical_groups(
    kind: str, details: Details, channel_id: int | None, device_counts: tuple[int, int] | None, devices: int | None
) -> Groups | None:
    """The groups of one collective as logical ids; () when all devices form one group, None when unknown.

    Where the program does not say how many replicas and partitions there are, its groups do: XLA has them name each
    replica (or partition) once. Groups that name nobody then mean all devices, since a JAX program has several
    replicas (the old `pmap`) or several partitions, never both.

    Args:
      kind: the collective's kind without async parts.
      details: what the instruction says.
      channel_id: None when it has none.
      device_counts: (replicas, partitions), or None when the program does not say.
      devices: how many devices the program has, or None.
    """
    if details.replica_groups is None and (details.unknown or "replica_groups" in details.other):
        # The groups may be what was not understood, or a text that was kept as it is.
        return None
    mode, ids = find_mode(kind, channel_id, details.use_global_device_ids), details.replica_groups or ()
    if mode is None:
        return None
    if mode == "flattened_id" or (device_counts is None and not ids):
        return ids
    counts = device_counts or _counts_from(mode, ids, devices)
    return None if counts is None else _expand(mode, ids, *counts)


def _counts_from(mode: Mode, ids: Groups, devices: int | None) -> tuple[int, int] | None:
    """(replicas, partitions), from groups that name each of one sort; None when the devices do not fit them."""
    named = 1 + max((max(group, default=0) for group in ids), default=0)
    if named < 1:
        return None
    if devices is None:
        if mode == "cross_replica_and_partition":
            return None
        devices = named
    if devices % named:
        return None
    return (devices // named, named) if mode == "cross_partition" else (named, devices // named)


def _expand(mode: Mode, ids: Groups, replicas: int, partitions: int) -> Groups | None:
    """Groups of replica or partition ids as groups of logical ids; None when they do not fit the counts."""
    if min(replicas, partitions) < 1 or replicas * partitions > _MOST_DEVICES:
        return None
    named = partitions if mode == "cross_partition" else replicas
    if sum(map(len, ids)) > 8 * named:
        # Groups name everybody once; pairs twice, and those of a ring in both directions four times.
        return None
    ids = ids or (tuple(range(named)),)
    if any(not 0 <= i < named for group in ids for i in group):
        return None
    if mode == "cross_replica":
        return tuple(tuple(r * partitions + p for r in group) for group in ids for p in range(partitions))
    if mode == "cross_partition":
        return tuple(tuple(r * partitions + p for p in group) for group in ids for r in range(replicas))
    return tuple(tuple(r * partitions + p for r in group for p in range(partitions)) for group in ids)


def logical_pairs(pairs: Groups, channel_id: int | None, device_counts: tuple[int, int] | None) -> Groups | None:
    """The (source, target) pairs of a collective-permute as logical ids; None when they do not fit the counts.

    With a channel they count partitions, and every replica moves its own data; without one they count replicas.
    Where the program does not say how many there are, it has one sort only (see `logical_groups`).
    """
    if device_counts is None or not pairs:
        return pairs
    return _expand("cross_replica" if channel_id is None else "cross_partition", pairs, *device_counts)
