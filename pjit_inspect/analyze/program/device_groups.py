"""Finds the devices that the ids in a collective's groups denote.

An id counts replicas, partitions, or both, depending on the instruction. Here all become logical ids: replica times
number of partitions plus partition, which is the index of the device in the program's device list.

Groups of a program take no more memory than those of any program there is: a line of text can name 131,072 devices,
and a file can have thousands of such lines. Past a total, groups are unknown; so are those with devices that no machine
has, and those that contradict themselves.

Not its job: reading groups (`parse.wire.replica_groups`), mesh axes (`analyze.program.mesh_axes`).

*Source*: `GetCollectiveOpGroupMode` and `GetParticipatingDevicesGroups` in `xla/service/collective_ops_utils.cc`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details, HloModule, HloReader
from pjit_inspect.model.report.collective import KINDS

Groups = tuple[tuple[int, ...], ...]

Mode = Literal["cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"]
"""The meaning of ids, in XLA's words: replicas, separately in each partition; partitions, separately in each replica;
replicas, each with all its partitions; or replica times number of partitions plus partition."""

_BOTH_MODES = frozenset(("all-gather", "all-reduce", "reduce-scatter"))
"""Kinds that say in `use_global_device_ids` what their ids count; the others count partitions when they can."""

_MOST_DEVICES = 1 << 18
"""More devices than any program has; a larger claim is damage."""

MOST_MEMBERS = 1 << 21
"""Members of all different groups of one program together: 200 lists of all devices of the largest machine there is."""

_COLLECTIVES = frozenset(name for kind in KINDS for name in (kind, f"{kind}-start"))
_UNKNOWN = Details(unknown=((0, b""),))
"""Details of which nothing is known, not even whether there are groups."""


def find_mode(kind: str, channel_id: int | None, use_global_device_ids: bool | None) -> Mode | None:
    """The meaning of the ids of a collective; None for a combination that XLA refuses.

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


# ---------------------------------------------------------------- groups of no more members than a program has


def with_bounded_groups(module: HloModule) -> HloModule:
    """The same program, its collectives without details where these are damaged or their groups are too many.

    `Details.unknown` of such a collective is not empty.
    """
    return module if isinstance(module.reader, _Reader) else replace(module, reader=_Reader(module))


def are_devices(groups: Iterable[Sequence[int]]) -> bool:
    """True if all these numbers can be those of devices."""
    return all(0 <= min(group, default=0) <= max(group, default=0) < MOST_MEMBERS for group in groups)


class _Reader:
    """A reader of the same program that decodes the details of each collective once."""

    def __init__(self, module: HloModule) -> None:
        reader: HloReader = module.reader
        # All else is the program's own.
        self.name, self.names, self.number, self.kernel = reader.name, reader.names, reader.number, reader.kernel
        self.shape, self.entry_shapes, self.module_fields = reader.shape, reader.entry_shapes, reader.module_fields
        self.ids, self.raw = reader.ids, reader.raw
        self._of_program = reader.details
        self._collectives = set(module.with_opcode(*_COLLECTIVES).tolist())
        self._details: dict[int, Details] = {}
        self._groups: dict[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] = {}
        self._members = 0
        self._permutes = set(module.with_opcode("collective-permute", "collective-permute-start").tolist())

    def groups(self, index: int) -> tuple[tuple[int, ...], ...] | None:
        """As `details`."""
        return self.details(index).replica_groups

    def details(self, index: int) -> Details:
        """The details of an instruction; without groups for collectives that are damaged or have too many."""
        if index not in self._collectives:
            return self._of_program(index)
        if index not in self._details:
            self._details[index] = self._bounded(index)
        return self._details[index]

    def _bounded(self, index: int) -> Details:
        if self._members > MOST_MEMBERS and index not in self._permutes:
            # To decode more of them only to drop them would take the time, if not the memory.
            return _UNKNOWN
        try:
            details = self._of_program(index)
        except ParseError:
            return _UNKNOWN
        groups = details.replica_groups
        if not are_devices(groups or ()) or not are_devices(details.source_target_pairs):
            unknown = (*details.unknown, *_UNKNOWN.unknown)
            return replace(details, replica_groups=None, source_target_pairs=(), unknown=unknown)
        if not groups:
            return details
        if groups not in self._groups:
            self._members += sum(map(len, groups))
            if self._members > MOST_MEMBERS:
                return replace(details, replica_groups=None, unknown=(*details.unknown, *_UNKNOWN.unknown))
            self._groups[groups] = groups
        return replace(details, replica_groups=self._groups[groups])
