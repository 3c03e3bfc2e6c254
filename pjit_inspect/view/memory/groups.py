"""Equal buffers of several layers as one row: "18 x x @ p['w1'], saved for backward"."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pjit_inspect.model.memory.memory_use import LiveValue
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.grouping import grouped, shared_name


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGroup:
    """Buffers that differ only in their layer, and in when they are alive.

    Attributes:
      name: their name, layer numbers starred when there are several.
      members: the buffers.
    """

    name: str
    members: tuple[LiveValue, ...]

    @property
    def first(self) -> LiveValue:
        """The buffer that represents the group."""
        return self.members[0]

    @property
    def bytes(self) -> int:
        """Bytes of all members, on one device."""
        return sum(member.bytes for member in self.members)

    @property
    def begins(self) -> int:
        """The first kernel at which any is alive."""
        return min(member.begins for member in self.members)

    @property
    def ends(self) -> int:
        """The last kernel at which any is alive."""
        return max(member.ends for member in self.members)


def group_live(rows: Sequence[LiveValue]) -> tuple[LiveGroup, ...]:
    """Buffers grouped by everything but layer and time, most bytes first."""
    found = [LiveGroup(name=group_name(members), members=members) for members in grouped(rows, group_key).values()]
    return tuple(sorted(found, key=lambda group: (-group.bytes, group.begins, group.name)))


def group_key(row: LiveValue) -> Hashable:
    """The key that buffers of one group share."""
    place = (row.source[0].file, row.source[0].line) if row.source else None
    return scope_pattern(row.name), row.kind, row.bytes, row.spec, row.dtype, row.local_shape, row.turns, place


def group_name(members: Sequence[LiveValue]) -> str:
    """The name of a group: layer numbers are starred when there are several."""
    return shared_name((member.name for member in members), scope_pattern)
