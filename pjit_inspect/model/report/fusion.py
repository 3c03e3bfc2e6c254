"""One fused kernel of an optimized program, and the table of all of them.

Not its job: finding them (`analyze.program.fusions`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table

__all__ = ["Fusion", "FusionTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """One fused kernel: several operations that run without writing their intermediate results to memory.

    Attributes:
      kind: XLA's fusion kind ("loop", "input", "output", "custom"), or "custom-call" for a library kernel.
      name: the HLO instruction.
      instructions: opcodes of what it contains with how often each stands there, most frequent first:
        (("multiply", 3), ("add", 2)). Parameters and constants are left out.
      inputs, outputs: the shapes it reads and writes, as XLA prints them ("f32[16,32]").
      bytes_read, bytes_written: bytes it touches of its operands and results on one device (counted from shapes, as
        XLA's cost analysis does: of an operand that is only sliced, the slices; of one that is updated in place, the
        part that is); None when a width is unknown.
      bytes_saved: bytes its intermediate results would have cost in memory traffic, one write and one read each
        (modelled: as if every intermediate result were stored, except constants, and numbers counted up or repeated);
        None when a width is unknown.
      target: the custom call's target, or None.
      count: how often it runs per call; None when a loop's trip count is unknown.
      op_name: JAX's name of the operation it ends in, with scopes.
      source: the user's frames, innermost first.
    """

    kind: str
    name: str
    instructions: tuple[tuple[str, int], ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    bytes_read: int | None = None
    bytes_written: int | None = None
    bytes_saved: int | None = None
    target: str | None = None
    count: int | None = 1
    op_name: str = ""
    source: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class FusionTable(Table[Fusion]):
    """All fused kernels of one program, in schedule order. A sequence of `Fusion`; a slice is a table again.

    Attributes:
      rows: the kernels.
    """

    rows: tuple[Fusion, ...]

    def __repr__(self) -> str:
        return f"FusionTable({len(self.rows)} fused kernel{'s' * (len(self.rows) != 1)})"
