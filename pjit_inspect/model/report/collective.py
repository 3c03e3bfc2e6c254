"""One collective of an optimized program, the table of all, and other communication: links, hosts, lower bounds.

Not its job: finding them (`analyze.collectives.collectives`) or their cost (`analyze.collectives.traffic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

import numpy as np

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.cause import Cause, Phase

Decomposed = Literal["all-gather", "reduce-scatter"] | None
"""The collective that a ring of permutes performs piece by piece."""

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
      groups: groups of devices that communicate, by position in the program's first mesh; for a collective-permute,
        (source, target) pairs.
      mesh: the mesh with these axes, as an index into `RecordData.meshes`; 0 if there is none.
      other_axes: other possible axes: those that the groups follow in other meshes of the program, under other names.
        The program does not say which mesh was meant; `axes` are those of the first that fits.
      dtype: the element type; "f32, s32" when a combined collective moves several.
      local_shape: the per-device shape of the largest operand.
      operands: number of arrays it moves together (more than 1 if XLA combined several).
      payload_bytes: bytes of all operands on one device, per run (counted); None if the size of one is unknown.
      wire_bytes: bytes the busiest device sends per run (modelled: ring); None if `payload_bytes` is None or the groups
        are unknown.
      count: runs per call; None if a loop's trip count is unknown. For a ring, the number of permutes that run.
      count_min: the least runs per call, if a conditional may skip it; equal to `count` for others.
      implicit: True if the partitioner inserted it, False if the user wrote it, None if unknown. Transposes of written
        collectives count as written.
      phase: "forward", "backward", "recompute", "optimizer", or None if unknown. Decided by the marks of
        differentiation in its name, then frames of optax's updates, then the user's scope `optimizer`.
      op_name: JAX's name of its operation, with scopes ("jit(f)/layer0/dot_general"). If XLA gives none, the name of
        the nearest neighbour: for sums the summed operation, for others the one that needs the value.
      source: the user's frames, innermost first; found like `op_name`; () if the program does not say.
      moved: if the program names no operation: type, shape and origin of the moved array on one device ("f32[8,16] of
        parameter w", "f32[8,16] of dot"); "" for others.
      instructions: names of its HLO instructions (start and done, ...).
      channel_id: XLA's channel, or None.
      is_async: whether XLA starts it at one instruction and waits for it at another.
      overlaps: names of the first 100 kernels and loops that XLA scheduled between start and done, in order. Arithmetic
        on single numbers is omitted. Whether they hide the transfer is unknown.
      overlap_count: number of these kernels and loops (counted); 0 if it is not asynchronous, None if the program has
        no schedule or does not say which instruction waits for it.
      is_cross_host: whether it connects devices of several hosts (processes); None if their hosts are unknown.
      host_bytes: bytes that all devices together send to devices of other hosts per call, loops included (modelled:
        ring in the order of the groups); None if hosts, groups or the trip count are unknown.
      causes: its causes: one for each operand of a combined collective, in order; one for any other; () if causes were
        not looked for.
      decomposed: "all-gather" or "reduce-scatter" for a ring: collective-permutes in a loop (and right before or after
        it) that do one of these piece by piece, as the data flow proves; the pieces are multiplied or summed in
        between. None for everything else.
      life: XLA's passes that made, combined and changed it, on one line; "" unless `CompileRecord.passes` was asked.
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
    life: str = field(default="", compare=False)

    @property
    def cause(self) -> Cause | None:
        """The cause that moves most bytes; None if causes were not looked for."""
        return max(self.causes, key=lambda cause: cause.payload_bytes, default=None)

    @property
    def why(self) -> str:
        """The sentences of its causes, the one that moves most first; "" if causes were not looked for."""
        ranked = sorted(self.causes, key=lambda cause: -cause.payload_bytes)
        return " / ".join(dict.fromkeys(str(cause.sentence) for cause in ranked))

    @property
    def is_combined(self) -> bool:
        """True if XLA joined several collectives into it, each with a separate cause."""
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
        """True if it runs and moves an unknown number of bytes: a sum over it is then a lower bound."""
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
    """Totals of all collectives over the same axes per call, on the busiest device.

    Attributes:
      axes: as in `Collective.axes`.
      mesh: as in `Collective.mesh`.
      collectives: number of distinct collectives.
      runs: runs per call; None if a trip count is unknown.
      payload_bytes: bytes of their operands per call (counted); an unknown number of runs counts as one, unknown bytes
        count 0.
      sent_bytes: bytes one device sends per call (modelled: ring); likewise.
      is_bound: True for an upper bound that no device may reach: a conditional may skip some, or not every device takes
        part.
      is_payload_least, is_sent_least: True if the bytes of one are unknown: the sum is a lower bound.
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

    computed: ClassVar[tuple[str, ...]] = ("sent_bytes", "global_bytes", "why")

    def _hint(self, name: str) -> str:
        return '; .of_kind("all-gather") and .over("model") choose rows'

    def over(self, *axes: str) -> Self:
        """Only the collectives over exactly these mesh axes (in any order), in any mesh that has them.

        One over two axes is `over("data", "model")`, or `over("data x model")` as tables write it, not
        `over("data")`. A part of an axis has a separate name: `over("tp:(1)2")`.
        """
        wanted = {name for axis in axes for name in axis.split(" x ")}
        return self._of_rows(tuple(row for row in self.rows if row.axes is not None and set(row.axes) == wanted))

    def of_kind(self, kind: str) -> Self:
        """Only the collectives of one kind, such as "all-gather". Raises ValueError for an unknown kind."""
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; the kinds are {', '.join(KINDS)}")
        return self._of_rows(tuple(row for row in self.rows if row.kind == kind))

    def __repr__(self) -> str:
        return f"CollectiveTable({len(self.rows)} collective{'s' * (len(self.rows) != 1)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """Lower bounds for every program that begins like this one.

    Attributes:
      collectives: number of collectives; permutes count as one, because a ring of them is one collective.
      sent_bytes: bytes each device sends per call (modelled: ring).
    """

    collectives: int = 0
    sent_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraffic:
    """Bytes per call between pairs of positions.

    Attributes:
      sources, targets: positions; every pair once, in order.
      sent_bytes: bytes the first sends to the second.
      left_out: number of omitted collectives, which have unknown groups or too many pairs.
    """

    sources: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    targets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    sent_bytes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    left_out: int = 0

    def per_position(self, positions: int) -> np.ndarray:
        """Bytes each position sends."""
        sums = np.bincount(self.sources, weights=self.sent_bytes, minlength=positions)
        return sums.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCommunication:
    """Instructions of one kind that communicate, or may. How many bytes they send is unknown.

    Attributes:
      what: "sends" if the program says that they communicate; "may" if that is unknown; "host" for transfers between a
        device and its host.
      name: the target of the custom calls, or the opcode.
      count: number of instructions.
    """

    what: Literal["sends", "may", "host"]
    name: str
    count: int


_WORDS = {
    "sends": ("communicates", "communicate", "bytes unknown"),
    "may": ("may communicate", "may communicate", "not known"),
    "host": ("transfers to or from the host", "transfer to or from the host", "bytes unknown"),
}
_NAMED = 3


def other_words(others: Sequence[OtherCommunication]) -> str:
    """All other communication in words: "1 instruction communicates (nccl_all_reduce; bytes unknown)"; "" for none."""
    said = []
    for what in ("sends", "may", "host"):
        rows = [one for one in others if one.what == what]
        count, (one, several, known) = sum(row.count for row in rows), _WORDS[what]
        names = ", ".join(row.name[:60] for row in rows[:_NAMED]) + (", ..." if len(rows) > _NAMED else "")
        noun, verb = ("instruction", one) if count == 1 else ("instructions", several)
        said += [f"{count:,} {noun} {verb} ({names}; {known})"] if rows else []
    return ", and ".join(said)
