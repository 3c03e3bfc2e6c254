"""One setting of the controls, and what XLA made of it; and all of them as a table.

Not its job: asking XLA (`handles.play`), or showing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pjit_inspect.model.play.controls import Controls
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.hypothesis import SentOver

Stage = Literal["asked", "arguments", "partitioned", "full", "refused"]
"""
asked: nothing is known yet.
arguments: what arguments hold is counted; XLA is being asked, or was not waited for.
partitioned: XLA's partitioner has answered: shardings, collectives, what results hold.
full: XLA compiled it to the end: memory at the peak, too.
refused: it cannot be; `Variant.problem` says why.
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
      collectives: how many there are (counted).
      sent_bytes: bytes the busiest device sends per call (modelled: ring).
    """

    kind: str
    collectives: int
    sent_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a setting cannot be, or will not run.

    Attributes:
      text: what is wrong, with the arithmetic.
      control: what of the controls causes it: the label of a group or result, the place of a constraint, "mesh",
        "target"; "" where that is not known.
      remedy: what to do instead; "" where nothing is known.
      meshes: meshes of as many devices for which it would be no problem, as `Playground.set(mesh=...)` takes them.
      may_pass: whether XLA only gave no answer (a process died, time was over): set again, it is asked again.
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
    """One setting of the controls, and what is known of it by now. Per device and call, unless it says otherwise.

    Attributes:
      number: counted from 0, which is the program as captured.
      name: what the user called it; "" for none.
      sentence: what it is, in words.
      change: what is different from the base, each in words; () for the base.
      controls: the setting.
      stage: how far it is known.
      sent_bytes: bytes the busiest device sends (modelled from counted collectives: ring); None while unknown.
      collectives: how many there are (counted), as partitioned, also where it was compiled to the end.
      by_kind: the same for each kind, most bytes first.
      by_axis: the same for each set of mesh axes, most bytes first.
      beside: its communication that is no HLO collective, in words, which `sent_bytes` lacks; "" where there is none.
      flops: operations of matrix products and convolutions (counted in the partitioned program).
      runs_once: whether `sent_bytes`, `flops` and what is made of them hold only if what is in loops of unknown length
        runs once; with more turns another variant may be better.
      work: `flops` against an equal share of the work for each device; 1.0 is ideal, `devices` is everything on each.
      argument_bytes: bytes of the arguments (counted).
      result_bytes: bytes of the results that take no argument's place (counted); None until XLA has split them.
      memory_bytes: what is known of the memory needed; `memory_source` says what that is.
      memory_source: whence `memory_bytes` is; None while it is unknown.
      available_bytes: what programs may use of the chip's memory; None for a target without such a limit.
      time_s: seconds per call, all communication hidden to none (modelled); None where the chip's speed is not known.
      fits: whether it fits into the chip's memory; None while that is open, and for targets without a limit.
      problem: why it cannot be, or would not run; None where nothing is known against it.
      seconds: how long XLA took (measured); None before it has answered.
      parent: the number of the variant that it was made of; None for the base, presets and layouts.
      step: what is different from that one, each in words.
      origin: who thought of it: "user", "base", "search", "constraint" (a search, of a line where an axis is lost), or
        the name of a layout that a search tried ("FSDP").
      preset: the name of the `Preset` that it is, where somebody took one; "" for others.
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
    fits: bool | None = None
    problem: Problem | None = None
    seconds: float | None = None
    parent: int | None = None
    step: tuple[str, ...] = ()
    origin: str = "user"
    preset: str = ""

    @property
    def devices(self) -> int:
        """How many devices it is for."""
        return self.controls.devices

    @property
    def counted_bytes(self) -> int | None:
        """Bytes of the arguments and of the results that take no argument's place; None where one is not known."""
        if self.argument_bytes is None or self.result_bytes is None:
            return None
        return self.argument_bytes + self.result_bytes

    @property
    def record(self) -> Any:
        """What XLA made of it, as a `CompileRecord`; None for a variant that no playground hands out."""
        return None

    @property
    def title(self) -> str:
        """Its name, or else what is different."""
        return self.name or "; ".join(self.said) or self.sentence

    @property
    def said(self) -> tuple[str, ...]:
        """What is different, each in words: from the variant it was made of where that is less, or else from the base.

        A preset or a textbook's layout is named first.
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
        """Whether XLA has said what it makes of it, or nobody needs to ask."""
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
    def front(self) -> tuple[Variant, ...]:
        """The rows that no other for as many devices is better than in memory and in bytes sent.

        Only those whose memory is known alike are compared.
        """
        known = [row for row in self.rows if row.sent_bytes is not None and row.memory_bytes is not None]
        return tuple(row for row in known if row.fits is not False and not any(_is_better(one, row) for one in known))


def _is_better(one: Variant, other: Variant) -> bool:
    if (one.devices, one.memory_source) != (other.devices, other.memory_source) or one.fits is False:
        return False
    ours = one.memory_bytes or 0, one.sent_bytes or 0
    theirs = other.memory_bytes or 0, other.sent_bytes or 0
    return ours != theirs and all(own <= its for own, its in zip(ours, theirs, strict=True))
