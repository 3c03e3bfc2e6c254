"""The rows of the time of a call: kernels, collectives, shares, lines; and the tables of them.

All seconds and counts are of one call on one device, loops included. Not its job: adding them up
(`model.time.shares`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table

KnownBy = Literal["XLA's estimate", "modelled", "measured", "unknown"]
"""
XLA's estimate: XLA's cost model wrote it into the program.
modelled: a roofline, or a formula for the network, with the figures of the hardware.
measured: JAX's profiler saw it.
unknown: nobody says; it counts as no time, and the row is "not modelled".
"""

Bound = Literal["compute", "memory", "neither", "unknown"]
"""What limits a kernel: the nearer side of its roofline; "neither" if it takes far longer than both."""

Overlap = Literal["hidden", "partial", "exposed", "unknown"]
"""How much of a transfer kernels hide: at least nine tenths, some, at most a tenth."""

FlopsFrom = Literal["shapes", "cost estimate", "unknown"]
"""
shapes: counted from the shapes of products and of other arithmetic.
cost estimate: what the author of a kernel declared (`pallas_call(cost_estimate=...)`).
unknown: a kernel of a library, or one that declares nothing.
"""

Heading = Literal["phase", "scope", "layer", "axis", "line", "kernel", "bound", "known by"]
"""What rows can be added up by."""

NOT_MODELLED = "not modelled"
"""The share of what takes an unknown time."""

HIDDEN, EXPOSED = 0.9, 0.1
"""From this share a transfer is hidden, and up to this it is exposed; as XProf says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where in the user's program something belongs.

    Attributes:
      phase: "forward", "backward", "recompute", "optimizer", or "" if unknown.
      scope: the user's scopes around it, outermost first, "/" between them; "" for none.
      layer: the layer or group that it belongs to; "" for none.
      source: the user's frames, innermost first.
    """

    phase: str = ""
    scope: str = ""
    layer: str = ""
    source: tuple[Frame, ...] = ()

    @property
    def line(self) -> str:
        """The innermost line of the user's source; "" if unknown."""
        return self.source[0].where if self.source else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel(Home):
    """One kernel, with its work and its time.

    Attributes:
      name: its HLO instruction.
      label: what it computes, for people.
      runs: runs per call; None if a trip count is unknown (then all its figures are of one run).
      flops: operations per call: two per multiply-add, one per element of other arithmetic; None if unknown.
      product_flops: the part of them in products; None likewise.
      flops_from: where the number comes from.
      number: the kind of number that it multiplies most ("bf16", "f32"); "" if it has no products.
      kind: the sort of kernel: with products, the opcode and `number`; else the slowest sort of its operations
        ("copy in another order", "another order", "function", "reduction", "arithmetic"). Kernels of one kind differ
        in size.
      bytes_read, bytes_written: bytes of operands and results that it touches per call (counted); None if unknown.
      seconds: seconds per call; None if unknown.
      floor_s: seconds per call at its roofline, the least that the hardware allows; None if unknown.
      known_by: where `seconds` come from.
      bound_by: what limits it.
      measured_s: seconds per call that a profiler saw, a mean over calls and devices; None if it did not.
      fastest_s: those of the fastest call on the fastest device, which other work of the machine disturbs least; None
        likewise.
      phase, scope, layer, source: as in `Home`.
    """

    name: str
    label: str
    runs: int | None
    flops: int | None
    product_flops: int | None
    flops_from: FlopsFrom
    number: str = ""
    kind: str = ""
    bytes_read: int | None
    bytes_written: int | None
    seconds: float | None
    floor_s: float | None
    known_by: KnownBy
    bound_by: Bound
    measured_s: float | None = None
    fastest_s: float | None = None

    @property
    def of_roofline(self) -> float | None:
        """Its roofline over its time: 1.0 for a kernel that takes no longer than it must; None if unknown."""
        return self.floor_s / self.seconds if self.floor_s is not None and self.seconds else None

    @property
    def size(self) -> float | None:
        """The size of one run, as `Hardware.by_kind` has it: operations in products, else bytes; None if unknown."""
        whole = self.product_flops or self.bytes
        return None if whole is None else whole / max(1, self.runs or 1)

    @property
    def bytes(self) -> int | None:
        """Bytes read and written; None if unknown."""
        return None if self.bytes_read is None or self.bytes_written is None else self.bytes_read + self.bytes_written


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCollective(Home):
    """One collective, with its time and how much of it kernels hide.

    Attributes:
      collective: its number in the record's collectives.
      name: its first HLO instruction.
      kind, axes: as in `Collective`.
      runs: runs per call; None if a trip count is unknown (then its figures are of one run).
      sent_bytes: bytes the busiest device sends per call (modelled: ring); None if unknown.
      seconds: seconds that the network needs for it per call; None if unknown.
      exposed_s: seconds per call in which kernels wait for it; None if unknown.
      formula: how `seconds` follow from bytes, in words; "" if they do not.
      links: the links that it takes: dimensions of the torus in a direction ("x+"), or those "in a host" and "between
        hosts"; () if they are unknown.
      known_by: where `seconds` come from.
      measured_s, fastest_s: as in `TimedKernel`; `measured_s` includes waiting for other devices.
      is_async: whether XLA starts it at one instruction and waits for it at another.
      phase, scope, layer, source: as in `Home`.
    """

    collective: int
    name: str
    kind: str
    axes: tuple[str, ...] | None
    runs: int | None
    sent_bytes: int | None
    seconds: float | None
    exposed_s: float | None
    formula: str = ""
    links: tuple[str, ...] = ()
    known_by: KnownBy
    measured_s: float | None = None
    fastest_s: float | None = None
    is_async: bool = False

    @property
    def hidden_s(self) -> float | None:
        """Seconds per call in which kernels run meanwhile; None if unknown."""
        return None if self.seconds is None or self.exposed_s is None else max(0.0, self.seconds - self.exposed_s)

    @property
    def overlap(self) -> Overlap:
        """The part of it that is hidden."""
        if self.hidden_s is None or self.seconds is None:
            return "unknown"
        share = self.hidden_s / self.seconds if self.seconds else 1.0
        return "hidden" if share >= HIDDEN else "exposed" if share <= EXPOSED else "partial"

    @property
    def axes_text(self) -> str:
        """The axes as a person reads them."""
        return "no axis" if self.axes is None else " x ".join(self.axes) or "one device"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeShare:
    """The share of a call that one heading takes.

    Attributes:
      name: the phase, scope, axis, line or kernel.
      seconds: kernels and waits for collectives; None if unknown.
      share: their share of the call; where seconds are unknown, the share of its operations; None if neither is known.
      flops: operations of its kernels; None if one is unknown.
      rows: number of kernels and collectives.
    """

    name: str
    seconds: float | None
    share: float | None
    flops: int | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLine:
    """Kernels of one line of the user's source that are limited alike, or the waits for its collectives over some axes.

    Attributes:
      seconds: their seconds per call; None if unknown.
      share: their share of the call, or of its operations where no seconds are known.
      bound_by: what limits them: as in `TimedKernel`, or the axes of a wait.
      of_roofline: their roofline over their time; None for waits, and if unknown.
      runs: kernels or collectives per call.
      known_by: where the seconds come from.
      where: the line ("train.py:41"); "" if unknown.
      what: what they compute, or "waits: " and the kinds of collectives.
      flops: their operations; None if one is unknown.
      is_wait: whether they are waits for collectives.
      axes: the mesh axes of these, as in `TimedCollective`; () for kernels.
    """

    seconds: float | None
    share: float | None
    bound_by: str
    of_roofline: float | None
    runs: int
    known_by: KnownBy
    where: str
    what: str
    flops: int | None
    is_wait: bool = False
    axes: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineSpan:
    """One kernel, transfer or loop on the estimated timeline; what is in a loop is there for its first turn.

    Attributes:
      lane: "compute", "loops", "memory" for copies, or the mesh axis of a transfer.
      name: the HLO instruction.
      label: what it is, for people.
      begin_s, end_s: seconds since the beginning of the call.
      turns: turns of a loop; 1 for anything else.
    """

    lane: str
    name: str
    label: str
    begin_s: float
    end_s: float
    turns: int = 1


def tracks_of(spans: Iterable[TimelineSpan]) -> list[list[TimelineSpan]]:
    """The spans of one lane, in as few tracks as have no two at once: transfers in two directions share an axis."""
    tracks: list[list[TimelineSpan]] = []
    for span in sorted(spans, key=lambda one: one.begin_s):
        free = next((own for own in tracks if own[-1].end_s <= span.begin_s), None)
        if free is None:
            tracks.append(free := [])
        free.append(span)
    return tracks


@dataclass(frozen=True, slots=True)
class TimedKernels(Table[TimedKernel]):
    """Every kernel that runs, the one that takes longest first.

    Attributes:
      rows: the kernels.
    """

    rows: tuple[TimedKernel, ...]

    computed: ClassVar[tuple[str, ...]] = ("of_roofline", "line")


@dataclass(frozen=True, slots=True)
class TimedCollectives(Table[TimedCollective]):
    """Every collective that runs, the one that is waited for longest first.

    Attributes:
      rows: the collectives.
    """

    rows: tuple[TimedCollective, ...]

    computed: ClassVar[tuple[str, ...]] = ("hidden_s", "overlap", "line")


@dataclass(frozen=True, slots=True)
class TimeShares(Table[TimeShare]):
    """The share of a call that each heading takes, the largest first.

    Attributes:
      rows: the shares.
    """

    rows: tuple[TimeShare, ...]


@dataclass(frozen=True, slots=True)
class TimeLines(Table[TimeLine]):
    """A call by lines of source and by what limits them, the most first; shares add up to 1.

    Attributes:
      rows: the lines.
    """

    rows: tuple[TimeLine, ...]
