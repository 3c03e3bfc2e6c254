"""One fused kernel of an optimized program, and the table of all of them.

Not its job: finding them (`analyze.program.fusions`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """One fused kernel: several operations that run without writing their intermediate results to memory.

    Attributes:
      kind: XLA's fusion kind ("loop", "input", "output", "custom"); "custom-call" for a library kernel, or "fft" for
        XLA's FFT instruction.
      name: the HLO instruction.
      instructions: opcodes in it with their counts, most frequent first: (("multiply", 3), ("add", 2)). Parameters and
        constants are omitted.
      inputs, outputs: the shapes it reads and writes, as XLA prints them ("f32[16,32]").
      bytes_read, bytes_written: bytes it touches of its operands and results on one device (counted from shapes, as
        XLA's cost analysis does: of an operand that is only sliced, the slices; of one that is updated in place, the
        part that is); None if a width is unknown.
      workspace_bytes: scratch memory for a library (cuBLAS, cuDNN), not part of `bytes_written`.
      bytes_saved: bytes its intermediate results would have cost in memory traffic, one write and one read each
        (modelled: as if every intermediate result were stored, except constants, and numbers counted up or repeated);
        None when a width is unknown.
      target: the custom call's target, or None.
      library: the common name of the library that implements it ("Triton", "cuBLASLt", "cuDNN", "Mosaic TPU (Pallas)");
        "" for XLA itself, or if unknown.
      routine: the library routine that a custom call runs ("matmul", "convBackwardFilter"), or the kernel's name in the
        program (Pallas, Triton); "" for others.
      count: runs per call; None if a loop's trip count is unknown.
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
    workspace_bytes: int = 0
    bytes_saved: int | None = None
    target: str | None = None
    library: str = ""
    routine: str = ""
    count: int | None = 1
    op_name: str = ""
    source: tuple[Frame, ...] = ()

    @property
    def sort(self) -> str:
        """The sort of kernel in a word: the library that implements it, or XLA's kind."""
        return self.library.partition(" (")[0] if self.kind in ("custom", "custom-call") and self.library else self.kind


class DistinctFusion(NamedTuple):
    """A fused kernel, and the places of all kernels that differ from it only by name.

    Attributes:
      first: the first of these kernels.
      places: the rows of these kernels, the first included, ascending.
    """

    first: Fusion
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FusionTable(Table[Fusion]):
    """All fused kernels of one program, in schedule order. A sequence of `Fusion`; a slice is a table again.

    Attributes:
      rows: the kernels.
    """

    rows: tuple[Fusion, ...]
    _distinct: tuple[DistinctFusion, ...] = field(default=(), repr=False, compare=False)

    @property
    def distinct(self) -> tuple[DistinctFusion, ...]:
        """The kernels, grouped if they differ only by name; in a part of a table, each alone."""
        return self._distinct or tuple(DistinctFusion(row, (place,)) for place, row in enumerate(self.rows))

    def _of_rows(self, rows: tuple[Fusion, ...], **changes: Any) -> Self:
        return super(FusionTable, self)._of_rows(rows, **{"_distinct": (), **changes})

    def __repr__(self) -> str:
        return f"FusionTable({len(self.rows)} fused kernel{'s' * (len(self.rows) != 1)})"
