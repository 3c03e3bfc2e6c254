"""A collective of XLA's partitioner between two operations, with the need that it serves there.

Not its job: finding the need (`analyze.causes.need_finder`), what is told of it (`analyze.causes.cause_subject`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.analyze.sharding.needs import Need
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, Taker


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A collective between two operations, and the need it serves there.

    Attributes:
      edge: the collective, as the partitioner made it.
      need: the need; None if the operations on both sides are known and none of their needs is over these axes.
      taker: the operation that takes its result; None for a sum, and for a result of the program.
      taken: the value (in `ShardedProgram.values`) that the taker takes; None if unknown.
      moves_result: True if it moves the result of the need's operation, which was computed as its operands are split.
      had: the sharding of the moved array before; None for a sum, or if unknown.
      wanted: the sharding at the end; None for a sum, or if unknown.
      way: the collectives that bring it there, or sum it, one after the other, this one among them; () if it is the
        only one, or if the layouts between them are not known.
      is_doubted: True if the shardings found cannot be those before and after.
    """

    edge: PartitionedCollective
    need: Need | None = None
    taker: Taker | None = None
    taken: int | None = None
    moves_result: bool = False
    had: Dimensions | None = None
    wanted: Dimensions | None = None
    way: tuple[PartitionedCollective, ...] = ()
    is_doubted: bool = False

    @property
    def step(self) -> tuple[int, int] | None:
        """Its number on the way, from 1, and the count of them; None if it is the only one, or if unknown."""
        return (self.way.index(self.edge) + 1, len(self.way)) if self.way else None
