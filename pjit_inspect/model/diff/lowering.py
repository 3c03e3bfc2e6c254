"""Two programs as JAX lowered them to StableHLO, before XLA compiled that: the operations in which they differ.

Not its job: finding these (`analyze.diff.lowering`), laying them out (`view.diff`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationChange:
    """The number of operations of one name in two programs before optimization.

    Attributes:
      name: the operation ("stablehlo.transpose").
      before, after: their number in each.
      removed, added: the number that the other program lacks, because types or attributes differ.
      example: one that only one of the programs has, in MLIR without operand names.
    """

    name: str
    before: int
    after: int
    removed: int
    added: int
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringDiff:
    """Two programs as JAX lowered them, compared without names, source lines and the order of independent operations.

    Attributes:
      before, after: number of operations (counted).
      is_same: whether the operations of both, and their operands, are the same.
      changes: the operations whose number, types or attributes differ, most first; () if only operands differ.
    """

    before: int
    after: int
    is_same: bool
    changes: tuple[OperationChange, ...] = ()
