"""A memory that was too small, beside the program it was too small for.

Not its job: joining the two (`analyze.memory.autopsy`), or explaining the shortage (`analyze.memory.autopsy`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.memory.memory_use import MemoryKind, MemoryUse
from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.report.collective import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedValue:
    """One buffer of XLA's list of the largest, in the user's terms if it was found in the program.

    Attributes:
      name: as `LiveValue.name`; if it was not found, the end of JAX's operation name, or XLA's instruction name.
      bytes: on one device, as XLA rounds it, padding of tiles included.
      kind: its purpose; None if it was not found in a program with a schedule.
      spec: the mesh axes each dimension is split over; None if unknown.
      source: the user's frames, innermost first; if it was not found, the line that XLA gives.
      dtype: XLA's short name of the element type; "" for a tuple.
      local_shape: the shape on one device.
      phase: the phase of training in which it is made; None if unknown.
      unpadded_bytes: the same without padding of tiles; None if XLA does not say.
      instruction: the HLO instruction that makes it; "" where XLA does not say.
      is_found: whether it was found in the program.
    """

    name: str
    bytes: int
    kind: MemoryKind | None = None
    spec: tuple[SpecEntry, ...] | None = None
    source: tuple[Frame, ...] = ()
    dtype: str = ""
    local_shape: tuple[int, ...] = ()
    phase: Phase = None
    unpadded_bytes: int | None = None
    instruction: str = ""
    is_found: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTable(Table[ReportedValue]):
    """XLA's list of the largest buffers, in its order. A sequence of `ReportedValue`.

    Attributes:
      rows: the buffers.
    """

    rows: tuple[ReportedValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Autopsy:
    """Explains a memory that was too small.

    Attributes:
      shortage: XLA's report.
      program: the function's name; "" if no record matches.
      what: the use of the piece that could not be allocated ("the temporaries", "`result[0]`"); "" if unknown.
      largest: XLA's list of the largest buffers, joined to the program.
      use: the live values while the program runs, with remedies; None if no record matches.
    """

    shortage: MemoryShortage
    program: str = ""
    what: str = ""
    largest: ReportedTable = ReportedTable()
    use: MemoryUse | None = None
