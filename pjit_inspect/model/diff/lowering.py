"""Two programs as JAX lowered them to StableHLO, before XLA compiled that: the operations in which they differ.

Not its job: finding these (`analyze.diff.lowering`), laying them out (`view.diff`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationChange:
    """How many operations of one name there are in two programs before optimization.

    Attributes:
      name: the operation ("stablehlo.transpose").
      before, after: how many there are in each.
      removed, added: how many of these the other program has not: of another type, or with other attributes.
      example: one that only one of the programs has, as MLIR writes it, without the names of what it takes.
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
      before, after: how many operations there are (counted).
      is_same: whether each operation of one is one of the other, and is computed from the same.
      changes: the operations in whose numbers, types or attributes they differ, most first; () where they differ in
        what is computed from what alone.
    """

    before: int
    after: int
    is_same: bool
    changes: tuple[OperationChange, ...] = ()
