"""One logical collective, as the instructions it consists of.

Not its job: finding them (`analyze.collectives.collective_sites`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.report.collective import Decomposed


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveOp:
    """One logical collective.

    Attributes:
      kind: one of `KINDS`; "reduce-scatter" also for an all-reduce that is fused with slicing its result.
      op: the instruction that says what it does (groups, operands); a `send` for a permute written as send and
        receive; the first permute of a ring.
      instructions: those it consists of where it is scheduled, in order: one, or start and done.
      pairs: (source, target) ids of a collective-permute; () for anything else.
      is_async: whether it starts at one instruction and is waited for at another.
      members: the permutes of a ring, in the order they are scheduled in; () for anything else.
      decomposed: what a ring does piece by piece.
    """

    kind: str
    op: Instruction
    instructions: tuple[Instruction, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    is_async: bool = False
    members: tuple[CollectiveOp, ...] = ()
    decomposed: Decomposed = None
