"""What is alive in the memory of one device while a program runs: at the peak, and over the schedule.

Not its job: finding it out (`analyze.memory`), or drawing it (`view.memory`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.memory.suggestion import MemorySuggestion
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.collective import Phase

MemoryKind = Literal[
    "argument",
    "optimizer state",
    "saved for backward",
    "gradient",
    "collective buffer",
    "result",
    "temporary",
    "constant",
]
"""What a buffer is for; of temporaries a rule on the phases of their maker and last user, not a fact of the program."""

MemorySource = Literal["counted", "modelled"]
"""Whether XLA's own buffer assignment says it, or live ranges derived from the schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveValue:
    """One buffer that is alive.

    Attributes:
      name: the argument's path, or the piece of source it was written as, or JAX's name of the operation.
      bytes: on one device, padding of tiles included.
      kind: what it is for.
      spec: the mesh axes each dimension is split over, as in `ArrayLayout.spec`; None when it is not known.
      source: the user's frames of the operation that makes it, innermost first; () when there are none.
      dtype: XLA's short name of the element type ("bf16").
      local_shape: the shape on one device.
      global_shape: the whole array's shape; None when it is not known.
      scope: JAX's name of the operation that makes it, without the operation itself ("layer0/attn"); "" for none.
      layers: the layer numbers in its name, in order; () for none.
      begins, ends: the first and the last kernel at which it is alive, as numbers of `MemoryUse.kernels`.
      phase, last_phase: the phases of training in which it is made and used last; None when nothing says.
      made_by, last_used_by: names of the HLO instructions; "" where there is none.
      turns: turns of a loop that each write a part of it, as a scan that saves its activations does; None for none.
      space: XLA's number of the memory it is in; 0 is the device's main memory.
      unpadded_bytes: the same without padding of tiles.
      lies_in: "argument" or "result" for a temporary that XLA put into memory of one; "" for none, or not known.
      written_dtype: the element type that the program has it in before optimization ("bf16" where CPUs compute it as
        f32); "" where that is not known.
      collective_axes: the mesh axes of collectives that take it, make it, or make what it follows from;
        () where it has no spec.
    """

    name: str
    bytes: int
    kind: MemoryKind
    spec: tuple[SpecEntry, ...] | None = None
    source: tuple[Frame, ...] = ()
    dtype: str = ""
    local_shape: tuple[int, ...] = ()
    global_shape: tuple[int, ...] | None = None
    scope: str = ""
    layers: tuple[int, ...] = ()
    begins: int = 0
    ends: int = 0
    phase: Phase = None
    last_phase: Phase = None
    made_by: str = ""
    last_used_by: str = ""
    turns: int | None = None
    space: int = 0
    unpadded_bytes: int | None = None
    lies_in: str = ""
    written_dtype: str = ""
    collective_axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTable(Table[LiveValue]):
    """Buffers that are alive at one moment, largest first. A sequence of `LiveValue`.

    Attributes:
      rows: the buffers.
    """

    rows: tuple[LiveValue, ...] = ()

    @property
    def bytes(self) -> int:
        """Of all of them, on one device."""
        return sum(row.bytes for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCurve:
    """Bytes that are alive over the schedule, in one memory.

    Attributes:
      space: XLA's number of the memory; 0 is the device's main memory.
      name: "HBM", "device memory" or "memory" for the main one, or "host".
      bytes: for each kernel, in schedule order, the most that is alive from its beginning to the next one's.
    """

    space: int
    name: str
    bytes: tuple[int, ...] = field(repr=False)

    @property
    def peak_bytes(self) -> int:
        """The most at any moment."""
        return max(self.bytes, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A place in the schedule.

    Attributes:
      kernel: which kernel, counted from 0.
      kernels: how many there are.
      name: the kernel's HLO name.
      phase: its phase of training; None when nothing says.
      source: the user's frames of it, innermost first.
    """

    kernel: int
    kernels: int
    name: str = ""
    phase: Phase = None
    source: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """What one device's main memory holds while a program runs.

    Attributes:
      peak_bytes: all that is alive at the peak, arguments and results included; None where the program has no schedule.
      total_bytes: all that XLA reserves of it, gaps included: its whole buffer assignment; None where it is not known.
      temporary_bytes: what XLA reserves of that for temporaries; where XLA does not say, the most of them that is alive
        at once; None where neither is known.
      at: the kernel of the peak; None likewise.
      live: what is alive at the peak, largest first; its bytes add up to `peak_bytes`. Without a schedule: the
        arguments and results.
      largest: the largest buffers whenever they are alive, arguments and constants included, largest first.
      curves: bytes over the schedule, the main memory first, then the host's where the program uses it; on-chip memory
        is left out.
      by_kind, by_scope, by_layer, by_source: bytes at the peak by what each buffer is for, by the outermost scope, by
        layer number, and by line of source; largest first. "" stands for what has none.
      source: "counted" where size and place of every buffer are XLA's own (its buffer assignment), so that memory that
        several share counts once; "modelled" where sizes are those of shapes, and an operand of one shape with the
        result, used for the last time, gives it its memory. When each is alive follows from the schedule in both.
      suggestions: what would make the peak smaller, at most five changes, those that save most first; all modelled.
      beside: why temporaries have memory of their own while that of a donated argument is free, a sentence for each.
      unknown: how many buffers have no known size, and count as nothing.
      missing: why there is no schedule; "" when there is one.
    """

    peak_bytes: int | None = None
    total_bytes: int | None = None
    temporary_bytes: int | None = None
    at: Moment | None = None
    live: LiveTable = LiveTable()
    largest: LiveTable = LiveTable()
    curves: tuple[MemoryCurve, ...] = ()
    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_scope: Mapping[str, int] = field(default_factory=dict)
    by_layer: Mapping[str, int] = field(default_factory=dict)
    by_source: Mapping[str, int] = field(default_factory=dict)
    source: MemorySource = "modelled"
    suggestions: tuple[MemorySuggestion, ...] = ()
    beside: tuple[str, ...] = ()
    unknown: int = 0
    missing: str = ""

    @property
    def curve(self) -> MemoryCurve | None:
        """Bytes of the main memory over the schedule; None where there is no schedule."""
        return self.curves[0] if self.curves else None
