"""Several collectives that a display shows as one.

Not its job: which belong together (`view.record.collectives` by layers, `view.record.cause_groups` by causes).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pjit_inspect.model.report.collective import Collective

__all__ = ["CollectiveGroup", "total_runs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveGroup:
    """Collectives that belong together.

    Attributes:
      members: the collectives, at least one.
    """

    members: tuple[Collective, ...]

    @property
    def first(self) -> Collective:
        """The collective that stands for the group."""
        return self.members[0]

    @property
    def runs(self) -> int | None:
        """How often they run per call, all together; None when a loop's length is unknown."""
        return total_runs(member.count for member in self.members)

    @property
    def payload_bytes(self) -> int:
        """Bytes of their operands per call; a run of unknown number counts once."""
        return sum(member.payload_bytes * _times(member) for member in self.members)

    @property
    def sent_bytes(self) -> int:
        """Bytes one device sends for them per call; likewise."""
        return sum(member.wire_bytes * _times(member) for member in self.members)


def total_runs(counts: Iterable[int | None]) -> int | None:
    """The sum; None when one of them is unknown."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _times(member: Collective) -> int:
    return 1 if member.count is None else member.count
