"""Live values in the memory of one device while a program runs: at the peak, over the schedule, and ways to lower it.

Not its job: finding it out (`analyze.memory`), or drawing it (`view.memory`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.program.mesh import PartitionSpec, SpecEntry
from pjit_inspect.model.program.source import Frame
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
"""The purpose of a buffer.

For temporaries it follows a rule on the phases of their maker and last user, and is not a fact of the program.
"""

MemorySource = Literal["counted", "modelled"]
"""Origin of memory figures: XLA's buffer assignment, or live ranges derived from the schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveValue:
    """One live buffer.

    Attributes:
      name: the argument's path, its source text, or JAX's name of the operation.
      bytes: on one device, padding of tiles included.
      kind: its purpose.
      spec: the mesh axes each dimension is split over, as in `ArrayLayout.spec`; None if unknown.
      source: the user's frames of the operation that makes it, innermost first; () for none.
      dtype: XLA's short name of the element type ("bf16").
      local_shape: the shape on one device.
      global_shape: the whole array's shape; None if unknown.
      scope: the scopes in JAX's name of the operation that makes it ("layer0/attn"); "" for none.
      layers: the layer numbers in its name, in order; () for none.
      begins, ends: the first and the last kernel at which it is alive, by number.
      phase, last_phase: the phases of training in which it is made and used last; None if unknown.
      made_by, last_used_by: names of the HLO instructions; "" for none.
      turns: the turns of the loop that writes it part by part, such as a scan that saves its activations; None for
        none.
      space: XLA's number of the memory it is in; 0 is the device's main memory.
      unpadded_bytes: the same without padding of tiles.
      lies_in: "argument" or "result" for a temporary that XLA put into its memory; "" for none or unknown.
      written_dtype: its element type before optimization ("bf16" where CPUs compute it as f32); "" if unknown.
      collective_axes: the mesh axes of collectives that take it, make it, or make one of its sources; () without a
        spec.
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
        """Bytes of all rows, on one device."""
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
    """A position in the schedule.

    Attributes:
      kernel: the kernel's number, from 0.
      kernels: the number of kernels.
      name: the kernel's HLO name.
      phase: its phase of training; None if unknown.
      source: its user frames, innermost first.
    """

    kernel: int
    kernels: int
    name: str = ""
    phase: Phase = None
    source: tuple[Frame, ...] = ()


SuggestionKind = Literal["shard", "donate", "recompute", "smaller type", "offload"]
"""The kind of change. `shard` splits over a mesh axis that divides the array and is not used.

`donate` lets results take over arguments. `recompute` computes saved values again in the backward pass. `smaller type`
keeps them, or optimizer state, in half as many bits. `offload` keeps them in host memory.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySuggestion:
    """One change, and its modelled effect on one device.

    Attributes:
      kind: the kind of change.
      name: the buffers it applies to, layer numbers starred.
      count: the number of buffers.
      bytes: their bytes at the peak.
      saved_bytes: bytes saved (modelled: nothing else changes).
      sentence: the suggestion in one line.
      specs: for arguments to be sharded differently, the specs with which `record.what_if(specs=...)` checks it; {} for
        others.
      flops: upper bound of additional floating-point operations on one device (modelled: the forward pass once more);
        None for none or unknown.
    """

    kind: SuggestionKind
    name: str
    count: int
    bytes: int
    saved_bytes: int
    sentence: str
    specs: Mapping[str, PartitionSpec] = field(default_factory=dict)
    flops: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Contents of one device's main memory while a program runs.

    Attributes:
      peak_bytes: bytes alive at the peak, arguments and results included; None without a schedule.
      total_bytes: bytes that XLA reserves, gaps included: its whole buffer assignment; None if unknown.
      temporary_bytes: the part reserved for temporaries; if XLA does not say, the most temporary bytes alive at once;
        None if neither is known.
      at: the kernel of the peak; None likewise.
      live: the buffers alive at the peak, largest first; their bytes add up to `peak_bytes`. Without a schedule: the
        arguments and results.
      largest: the largest buffers at any time, arguments and constants included, largest first.
      curves: bytes over the schedule, the main memory first, then host memory if the program uses it; on-chip memory is
        omitted.
      by_kind, by_scope, by_layer, by_source: bytes at the peak by purpose, outermost scope, layer number and source
        line; largest first. "" is the key of buffers without one.
      source: "counted" if size and place of every buffer come from XLA's buffer assignment, where shared memory counts
        once; "modelled" if sizes come from shapes: an operand used for the last time gives its memory to a result of
        the same shape. Live ranges follow from the schedule in both cases.
      suggestions: at most five changes that lower the peak, the largest saving first; all modelled.
      beside: why temporaries do not use the free memory of a donated argument, a sentence for each.
      unknown: number of buffers of unknown size; they count 0.
      missing: why there is no schedule; "" if there is one.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedValue:
    """One buffer and its live range.

    Attributes:
      value: the buffer.
      spans: disjoint ranges of kernels at which it is alive, ends included, ascending; each kernel at its moment of
        most live bytes, as in `MemoryCurve.bytes`. () for a buffer that is alive only between these moments.
      maker, last_user: the kernels that make it and use it last; -1 for none.
    """

    value: LiveValue
    spans: tuple[tuple[int, int], ...]
    maker: int = -1
    last_user: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """One memory over the schedule.

    At each kernel, the live buffers and the nameless ones add up to the curve.

    Attributes:
      curve: live bytes, kernel by kernel.
      values: the largest buffers, largest first.
      nameless: the number of smaller buffers.
      phases: the phase of training of each kernel, None for unknown; () for a program without differentiation.
    """

    curve: MemoryCurve
    values: tuple[TimedValue, ...] = ()
    nameless: int = 0
    phases: tuple[Phase, ...] = field(default=(), repr=False)
