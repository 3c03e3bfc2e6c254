"""One collective of an optimized program, and the table of all of them.

Not its job: finding them (`analyze.collectives.collectives`) or their cost (`analyze.collectives.traffic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.cause import Cause, Phase

Decomposed = Literal["all-gather", "reduce-scatter"] | None
"""What a ring of permutes does piece by piece."""

KINDS = (
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
)
"""Every kind of collective, as `Collective.kind` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """One logical collective, as every device of a group runs it.

    Attributes:
      kind: XLA's opcode without async parts: "all-gather", "all-reduce", "reduce-scatter", "all-to-all",
        "collective-permute", "collective-broadcast" or "ragged-all-to-all"; "reduce-scatter" too for an all-reduce that
        a TPU fuses with slicing its result.
      axes: the user's mesh axes the groups follow, in mesh order, axes of size 1 left out; () when every group is one
        device; None when the groups follow no axes. A part of an axis is written "tp:(1)2": the devices along the axis
        before the part, and those of the part (`pjit_inspect.model.sharding.sharded_program.axis_name` gives the axis).
        For a collective-permute, the axes along which it moves something.
      groups: which devices talk to each other, as positions in the program's first mesh; for a collective-permute,
        (source, target) pairs.
      mesh: which of the program's meshes has these axes, as an index into `RecordData.meshes`; 0 where there are none.
      other_axes: what the axes may be as well: those that the groups follow in other meshes of the program, under other
        names. The program does not tell which mesh was meant; `axes` are those of the first that fits.
      dtype: the element type moved; "f32, s32" when a combined collective moves several.
      local_shape: the per-device shape of the largest operand.
      operands: how many arrays it moves together (more than 1 when XLA combined several).
      payload_bytes: bytes of all operands on one device, each time it runs (counted); None when the size of one is
        unknown.
      wire_bytes: bytes the busiest device sends, each time it runs (modelled: ring); None when `payload_bytes` is, or
        the groups are unknown.
      count: how often it runs per call; None when a loop's trip count is unknown. For a ring, how many permutes run.
      count_min: the same where a conditional may skip it; equal to `count` otherwise.
      implicit: True when the partitioner inserted it, False when the user wrote it, None when that is unknown.
        Transposes of written collectives count as written.
      phase: "forward", "backward", "recompute", "optimizer", or None when nothing says: the marks of differentiation in
        its name, then frames of optax's updates, then the user's scope `optimizer`.
      op_name: JAX's name of the operation it belongs to, with scopes ("jit(f)/layer0/dot_general"). Where XLA gives
        none, that of the nearest neighbour: for sums what is summed, for anything else what needs the value.
      source: the user's frames, innermost first; found like `op_name`; () when the program does not say.
      moved: where the program names no operation: type and shape of what it moves on one device, and what that is
        ("f32[8,16] of parameter w", "f32[8,16] of dot"); "" elsewhere.
      instructions: names of the HLO instructions it consists of (start and done, ...).
      channel_id: XLA's channel, or None.
      is_async: whether XLA starts it at one instruction and waits for it at another.
      overlaps: names of the kernels and loops that XLA has scheduled between start and done, in that order; the first
        100 when there are more. Arithmetic on single numbers is left out. Whether they hide the transfer is not told.
      overlap_count: how many there are (counted); 0 when it is not asynchronous, None when the program has no schedule
        or does not tell which instruction waits for it.
      is_cross_host: whether devices of several hosts (processes) talk to each other; None when their hosts are unknown.
      host_bytes: bytes that all devices together send to devices of other hosts per call, loops included (modelled:
        ring in the order of the groups); None when hosts, groups or the trip count are unknown.
      causes: why it is there: one for each operand of a combined collective, in order; one for any other; () when
        nobody has looked for causes.
      decomposed: "all-gather" or "reduce-scatter" for a collective-permute that stands for a ring: permutes in a loop
        (and right before or after it) that do one of these piece by piece, as the data flow proves; the pieces are
        multiplied, or summed, in between. None for everything else.
    """

    kind: str
    axes: tuple[str, ...] | None
    groups: tuple[tuple[int, ...], ...]
    dtype: str
    local_shape: tuple[int, ...]
    mesh: int = 0
    other_axes: tuple[tuple[str, ...], ...] = ()
    operands: int = 1
    payload_bytes: int | None
    wire_bytes: int | None
    count: int | None = 1
    count_min: int | None = 1
    implicit: bool | None = None
    phase: Phase = None
    op_name: str = ""
    moved: str = ""
    source: tuple[Frame, ...] = ()
    instructions: tuple[str, ...] = ()
    channel_id: int | None = None
    is_async: bool = False
    overlaps: tuple[str, ...] = ()
    overlap_count: int | None = 0
    is_cross_host: bool | None = None
    host_bytes: int | None = None
    causes: tuple[Cause, ...] = ()
    decomposed: Decomposed = None

    @property
    def cause(self) -> Cause | None:
        """The cause that moves most bytes; None when nobody has looked for causes."""
        return max(self.causes, key=lambda cause: cause.payload_bytes, default=None)

    @property
    def is_combined(self) -> bool:
        """Whether XLA joined several collectives into it, each with a cause of its own."""
        return len(self.causes) > 1

    @property
    def sent_bytes(self) -> int | None:
        """Bytes the busiest device sends for it per call: `wire_bytes` times `count` (modelled); None when unknown."""
        return None if self.count is None or self.wire_bytes is None else self.wire_bytes * self.count

    @property
    def least_sent_bytes(self) -> int:
        """The same as far as it is known: runs of unknown number count once, unknown bytes not at all."""
        return (self.wire_bytes or 0) * (1 if self.count is None else self.count)

    @property
    def is_unsized(self) -> bool:
        """Whether it runs and nobody knows how many bytes it moves: a sum over it is then a least one."""
        return self.count != 0 and (self.payload_bytes is None or self.wire_bytes is None)

    @property
    def global_bytes(self) -> int | None:
        """Bytes all devices together send for it per call, loops included (modelled: ring).

        None when the trip count, the groups or the size of an array are unknown.
        """
        if self.count is None or not self.groups or self.payload_bytes is None or self.wire_bytes is None:
            return None
        if self.kind == "collective-permute":
            return sum(source != target for source, target in self.groups) * self.payload_bytes * self.count
        if self.kind == "collective-broadcast":
            # The last device of a chain passes nothing on.
            return sum(len(group) - 1 for group in self.groups) * self.payload_bytes * self.count
        return sum(map(len, self.groups)) * self.wire_bytes * self.count

    @property
    def axes_text(self) -> str:
        """The axes as a person reads them: "data x model", "no axis", "one device"."""
        if self.axes is None:
            return "no axis"
        return " x ".join(self.axes) or "one device"


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTotal:
    """What all collectives over the same axes do per call, on the busiest device.

    Attributes:
      axes: as in `Collective.axes`.
      mesh: as in `Collective.mesh`.
      collectives: how many distinct collectives there are.
      runs: how often they run per call; None when a trip count is unknown.
      payload_bytes: bytes of their operands per call (counted); runs of unknown number count once, and unknown bytes
        not at all.
      sent_bytes: bytes one device sends per call (modelled: ring); likewise.
      is_bound: True when no device may send that much: a conditional may skip some, or not every device takes part.
      is_payload_least, is_sent_least: True when the bytes of one are unknown, so that these are sums of the others.
    """

    axes: tuple[str, ...] | None
    collectives: int
    runs: int | None
    payload_bytes: int
    sent_bytes: int
    is_bound: bool = False
    mesh: int = 0
    is_payload_least: bool = False
    is_sent_least: bool = False


@dataclass(frozen=True, slots=True)
class CollectiveTable(Table[Collective]):
    """All collectives of one program, most bytes sent first. A sequence of `Collective`; a slice is a table again.

    Attributes:
      rows: the collectives.
    """

    rows: tuple[Collective, ...]

    computed: ClassVar[tuple[str, ...]] = ("sent_bytes", "global_bytes")

    def _hint(self, name: str) -> str:
        return '; .of_kind("all-gather") and .over("model") choose rows'

    def over(self, *axes: str) -> Self:
        """Only the collectives over exactly these mesh axes (in any order), of any mesh that has such axes.

        Collectives over a part of an axis only are those over the part, by its name: `over("tp:(1)2")`.
        """
        wanted = set(axes)
        return self._of_rows(tuple(row for row in self.rows if row.axes is not None and set(row.axes) == wanted))

    def of_kind(self, kind: str) -> Self:
        """Only the collectives of one kind, such as "all-gather". Raises ValueError for what is no kind."""
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
        return self._of_rows(tuple(row for row in self.rows if row.kind == kind))

    def __repr__(self) -> str:
        return f"CollectiveTable({len(self.rows)} collective{'s' * (len(self.rows) != 1)})"
