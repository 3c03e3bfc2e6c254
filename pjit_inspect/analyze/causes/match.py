"""A collective of XLA's partitioner between two operations, with the need that it serves there; and checks of that.

What a match claims is held against facts that it was not found by, and each claim that fails is dropped. The facts are
counted in XLA's partitioned program: the pieces that the maker took and made, and those that a collective is given and
yields. A dropped sharding is told as unknown ("way unknown"); a dropped dimension is not told. Not its job: finding the
need (`analyze.causes.need_finder`), what is told of it (`analyze.causes.cause_subject`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.causes.layouts import HeldPieces, Ways
from pjit_inspect.analyze.sharding.needs import RESHARDS, Need, Part
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram, Taker, axis_name


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


def checked(match: Match, program: ShardedProgram, ways: Ways) -> Match:
    """The match, without the dimensions and the shardings that cannot be as it claims."""
    need = match.need
    if need is not None and need.is_sum and match.edge.kind in SUMS:
        parts = _cut(need.parts, match.edge, program)
        return replace(match, need=replace(need, parts=parts))
    if (need is None or need.kind in RESHARDS) and not _moves(match, program, ways):
        return replace(match, had=None, wanted=None, way=(), is_doubted=True)
    return match


def _cut(parts: Sequence[Part], edge: PartitionedCollective, program: ShardedProgram) -> tuple[Part, ...]:
    """The summed dimensions that the maker took in as many pieces as the axes told cut them into."""
    maker = program.op_of(edge.makers[0]) if edge.makers else None
    if maker is None or edge.makers[0] not in maker.results or len(edge.made_of) != len(maker.operands):
        return tuple(parts)

    def is_cut(part: Part) -> bool:
        if part.operand is None or maker.operands[part.operand : part.operand + 1] != (part.value,):
            return True
        pieces, length = edge.made_of[part.operand], program.values[part.value].shape[part.dimension]
        is_known = len(pieces) == len(program.values[part.value].shape)
        return not is_known or pieces[part.dimension] <= -(-length // program.pieces(part.axes))

    return tuple(filter(is_cut, parts))


def _moves(match: Match, program: ShardedProgram, ways: Ways) -> bool:
    """False if the collective cannot bring the array from the one sharding told to the other."""
    edge, moved = match.edge, _moved(match)
    if moved is None or match.had is None or match.wanted in (None, match.had) or edge.kind in SUMS:
        return True
    way, had = ways.of(edge, match.taker), ways.layout(moved, match.had)
    # What was moved before, as to be put back, no longer has the pieces that were made.
    if had is None or way[0] is not (match.way or (edge,))[0]:
        return True
    if not match.moves_result and edge.makers[:1] == (moved,) and not _is_of(edge.made_shape, had):
        return False
    if match.way:
        return True
    pieces = program.local_shape(moved, match.wanted) if match.taker is None else match.taker.shape
    behind = had.after(edge, pieces) if len(way) == 1 else None
    return behind is None or behind.holds(match.wanted)


def _moved(match: Match) -> int | None:
    if match.moves_result:
        return next(iter(match.edge.makers), None)
    return match.taken if match.taken is not None or match.need is None else match.need.value


def _is_of(shape: tuple[int, ...], held: HeldPieces) -> bool:
    """True if a counted shape may be that of the pieces held; one of another rank says nothing."""
    return not shape or len(shape) != len(held.pieces) or shape == held.pieces


def axes_told(parts: Sequence[Part], over: Sequence[str]) -> tuple[str, ...]:
    """Of the axes that a sum goes over, those that cut the dimensions told; all if none does."""
    cutting = {axis_name(axis) for part in parts for axis in part.axes}
    return tuple(axis for axis in over if axis_name(axis) in cutting) or tuple(over)
