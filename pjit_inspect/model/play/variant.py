"""One setting of the controls with XLA's result, and the table of all variants.

Not its job: asking XLA (`handles.play`), or showing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pjit_inspect.model.play.controls import Controls
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.target import SentOver

Stage = Literal["asked", "arguments", "partitioned", "full", "refused"]
"""
asked: nothing is known yet.
arguments: the bytes of arguments are counted; XLA's answer is pending or was not awaited.
partitioned: XLA's partitioner has answered: shardings, collectives, bytes of results.
full: XLA compiled it to the end: peak memory is known, too.
refused: it is impossible; `Variant.problem` says why.
"""

MemorySource = Literal["arguments", "arguments and results", "xla"]
"""
arguments: what arguments hold (counted); results that XLA is to split are not in it.
arguments and results: both (counted), without temporaries: at least so much is needed.
xla: XLA's own account of arguments, results and temporaries.
"""

Goal = Literal["bytes", "memory", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSent:
    """The collectives of one kind.

    Attributes:
      kind: "all-gather", ...
      collectives: number of collectives (counted).
      sent_bytes: bytes the busiest device sends per call (modelled: ring).
    """

    kind: str
    collectives: int
    sent_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a setting is impossible, or will not run.

    Attributes:
      text: the problem, with the arithmetic.
      control: the control that causes it: the label of a group or result, the place of a constraint, "mesh", "target";
        "" if unknown.
      remedy: a remedy; "" if none is known.
      meshes: meshes of as many devices without this problem, for `Playground.set(mesh=...)`.
      may_pass: whether XLA only failed to answer (a process died, time ran out): setting it again asks again.
    """

    text: str
    control: str = ""
    remedy: str = ""
    meshes: tuple[tuple[tuple[str, int], ...], ...] = ()
    may_pass: bool = False

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One setting of the controls, and the facts known about it. Per device and call, unless it says otherwise.

    Attributes:
      number: number from 0; 0 is the captured program.
      name: the name the user gave it; "" for none.
      sentence: the variant in words.
      change: differences from the base, each in words; () for the base.
      controls: the setting.
      stage: how much is known.
      sent_bytes: bytes the busiest device sends (modelled from counted collectives: ring); None if unknown.
      collectives: number of collectives (counted) after partitioning, even if it was compiled to the end.
      by_kind: the same for each kind, most bytes first.
      by_axis: the same for each set of mesh axes, most bytes first.
      beside: its communication outside HLO collectives, in words; not part of `sent_bytes`; "" for none.
      flops: operations in matrix products and convolutions (counted in the partitioned program).
      runs_once: whether `sent_bytes`, `flops` and figures derived from them hold only if loops of unknown length run
        once; with more turns another variant may be better.
      work: `flops` relative to an equal share per device; 1.0 is ideal, `devices` means that each device does
        everything.
      argument_bytes: bytes of the arguments (counted).
      result_bytes: bytes of the results that reuse no argument (counted); None until XLA has split them.
      memory_bytes: known bytes of memory needed; `memory_source` says which.
      memory_source: the origin of `memory_bytes`; None if that is unknown.
      available_bytes: the part of the chip's memory that programs may use; None for a target without a limit.
      time_s: seconds per call, from all communication hidden to none (modelled): `floor_s` and `serial_s` of the
        partitioned record's `time`; None if the chip's speed is unknown.
      step_s: `step_s` of the record's `time`, once it is compiled to the end; None before, and if unknown.
      fits: whether it fits into the chip's memory; None if unknown, and for targets without a limit.
      problem: why it is impossible or would not run; None for no known problem.
      seconds: seconds XLA took (measured); None before it has answered.
      parent: the number of the variant it was made from; None for the base, presets and layouts.
      step: differences from the parent, each in words.
      origin: its origin: "user", "base", "search", "constraint" (a search, at a line where an axis is lost), or the
        name of a layout that a search tried ("FSDP").
      preset: the name of the chosen `Preset`; "" for others.
    """

    number: int
    name: str = ""
    sentence: str = ""
    change: tuple[str, ...] = ()
    controls: Controls
    stage: Stage = "asked"
    sent_bytes: int | None = None
    collectives: int | None = None
    by_kind: tuple[KindSent, ...] = ()
    by_axis: tuple[SentOver, ...] = ()
    beside: str = ""
    flops: int | None = None
    runs_once: bool = False
    work: float | None = None
    argument_bytes: int | None = None
    result_bytes: int | None = None
    memory_bytes: int | None = None
    memory_source: MemorySource | None = None
    available_bytes: int | None = None
    time_s: tuple[float, float] | None = None
    step_s: float | None = None
    fits: bool | None = None
    problem: Problem | None = None
    seconds: float | None = None
    parent: int | None = None
    step: tuple[str, ...] = ()
    origin: str = "user"
    preset: str = ""

    @property
    def devices(self) -> int:
        """The number of devices it is for."""
        return self.controls.devices

    @property
    def counted_bytes(self) -> int | None:
        """Bytes of the arguments and of the results that take no argument's place; None where one is not known."""
        if self.argument_bytes is None or self.result_bytes is None:
            return None
        return self.argument_bytes + self.result_bytes

    @property
    def record(self) -> Any:
        """XLA's result as a `CompileRecord`; None for a variant outside a playground."""
        return None

    @property
    def title(self) -> str:
        """Its name, or else its differences."""
        return self.name or "; ".join(self.said) or self.sentence

    @property
    def said(self) -> tuple[str, ...]:
        """Differences, each in words: from the parent variant if these are fewer, or else from the base.

        A preset or a textbook layout is named first.
        """
        if self.preset:
            return (f"preset: {self.preset}", *self.change)
        if self.origin not in ("user", "base", "search", "constraint"):
            return (f"layout: {self.origin}", *self.change)
        if self.parent is not None and self.step and len(self.step) + 1 < len(self.change):
            return (f"as #{self.parent}", *self.step)
        return self.change

    @property
    def is_answered(self) -> bool:
        """True if XLA has answered, or need not be asked."""
        return self.stage in ("partitioned", "full", "refused")


@dataclass(frozen=True, slots=True)
class HistoryTable(Table[Variant]):
    """Every variant that was looked at, in order. A sequence of `Variant`; a slice is a table again.

    Attributes:
      rows: the variants.
      chosen: the number of the one that is looked at.
    """

    rows: tuple[Variant, ...] = ()
    chosen: int = 0

    computed: ClassVar[tuple[str, ...]] = ("devices", "title")

    @property
    def axes(self) -> tuple[str, ...]:
        """Every mesh axis of every variant; those of the captured program come first: an axis keeps its color."""
        return tuple(dict.fromkeys(name for row in self.rows for name, _ in row.controls.mesh))

    @property
    def front(self) -> tuple[Variant, ...]:
        """The rows that no other row on as many devices beats in both memory and bytes sent.

        Only rows with the same kind of memory figure are compared.
        """
        known = [row for row in self.rows if row.sent_bytes is not None and row.memory_bytes is not None]
        return tuple(row for row in known if row.fits is not False and not any(_is_better(one, row) for one in known))


def _is_better(one: Variant, other: Variant) -> bool:
    if (one.devices, one.memory_source) != (other.devices, other.memory_source) or one.fits is False:
        return False
    ours = one.memory_bytes or 0, one.sent_bytes or 0
    theirs = other.memory_bytes or 0, other.sent_bytes or 0
    return ours != theirs and all(own <= its for own, its in zip(ours, theirs, strict=True))
