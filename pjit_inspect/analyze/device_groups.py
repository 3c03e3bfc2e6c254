"""Which devices the ids in a collective's groups stand for.

An id counts replicas, partitions, or both, depending on the instruction. Here all become logical ids: replica times
number of partitions plus partition, which is the index of the device in the program's device list.
Not its job: reading groups (`parse.replica_groups`), mesh axes (`analyze.mesh_axes`).

*Source*: `GetCollectiveOpGroupMode` in `xla/service/collective_ops_utils.cc`.
"""

from __future__ import annotations

from pjit_inspect.model.hlo import Details

__all__ = ["Groups", "logical_groups", "logical_pairs"]

Groups = tuple[tuple[int, ...], ...]

_BOTH_MODES = frozenset(("all-gather", "all-reduce", "reduce-scatter"))
"""Kinds that say in `use_global_device_ids` what their ids count; the others always count partitions."""


def logical_groups(
    kind: str, details: Details, channel_id: int | None, device_counts: tuple[int, int] | None, devices: int | None
) -> Groups | None:
    """The groups of one collective as logical ids; () when all devices form one group, None when unknown.

    Args:
      kind: the collective's kind without async parts.
      details: what the instruction says.
      channel_id: None when it has none; its ids then count replicas.
      device_counts: (replicas, partitions), or None when the program does not say. A JAX program has either several
        replicas (the old `pmap`) or several partitions, so ids of one kind are logical ids as they stand.
      devices: how many devices the program has, or None.
    """
    if details.replica_groups is None and details.unknown:
        # The groups may be what was not understood.
        return None
    groups = details.replica_groups or ()
    spans_partitions = channel_id is not None and kind in _BOTH_MODES and not details.use_global_device_ids
    if not spans_partitions:
        return groups
    replicas, partitions = device_counts or _guess_counts(groups, devices)
    if not partitions:
        return None
    groups = groups or (tuple(range(replicas)),)
    return tuple(tuple(r * partitions + p for r in group for p in range(partitions)) for group in groups)


def _guess_counts(groups: Groups, devices: int | None) -> tuple[int, int]:
    """(replicas, partitions): groups name every replica, so the largest id tells how many there are."""
    replicas = 1 + max((max(group, default=0) for group in groups), default=0)
    return (replicas, devices // replicas) if devices else (replicas, 0)


def logical_pairs(details: Details) -> Groups:
    """The (source, target) pairs of a collective-permute as logical ids."""
    return details.source_target_pairs
