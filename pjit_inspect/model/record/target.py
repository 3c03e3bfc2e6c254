"""A machine that a program is compiled for, attached or not; the table of all; and what a record that never ran is of.

Not its job: which there are, and whether this process can compile for them (`observe.partitioner.targets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.shortage import MemoryShortage

Platform = Literal["cpu", "tpu", "cuda"]

Effort = Literal["partition", "full"]
"""
partition: to XLA's partitioner and no further: shardings and collectives, before XLA combines and schedules them.
full: to the end: schedule, kernels, memory.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A platform, a chip and a number of chips.

    Attributes:
      platform: "cpu", "tpu" or "cuda".
      chip: "v5e", "h100"; "" on CPU.
      topology: chips along each dimension ("16x16"), hosts x GPUs each ("4x8"), or the number of devices ("256").
    """

    platform: Platform
    chip: str = ""
    topology: str

    def __str__(self) -> str:
        return ":".join(part for part in (self.platform, self.chip, self.topology) if part)

    @property
    def words(self) -> str:
        """As a person says it: "tpu v5e 16x16", "256 cpu devices"."""
        return f"{self.topology} cpu devices" if self.platform == "cpu" else str(self).replace(":", " ")


@dataclass(frozen=True, slots=True)
class MemorySize:
    """The memory of one device according to one source: sources differ.

    Attributes:
      bytes: bytes of the memory beside the chip, which holds arrays.
      source: the source.
    """

    bytes: int
    source: str

    def __str__(self) -> str:
        return f"{self.bytes / 2**30:.1f} GiB ({self.source})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """One chip, or fake CPU devices.

    Attributes:
      name: the pattern of its targets: "tpu:v5e:AxB".
      example: one of these targets.
      platform: "cpu", "tpu" or "cuda".
      chip: "v5e", "h100"; "" on CPU.
      topologies: the possible values of the letters; () if any numbers up to `limit` are possible.
      limit: the limit in words; "" if there is a list.
      devices_per_chip: number of JAX devices per chip; 1 on CPU.
      memory: memory of one device, per source; () if it is the machine's.
      ready: whether this process can compile for it.
      missing: the missing part, with the line that adds it; "" if it is ready.
    """

    name: str
    example: str
    platform: Platform
    chip: str = ""
    topologies: tuple[str, ...] = ()
    limit: str = ""
    devices_per_chip: int = 1
    memory: tuple[MemorySize, ...] = ()
    ready: bool
    missing: str = ""


@dataclass(frozen=True, slots=True)
class TargetTable(Table[TargetRow]):
    """The targets, a row for each chip. A sequence of `TargetRow`; a slice is a table again.

    Attributes:
      rows: the targets.
    """

    rows: tuple[TargetRow, ...]

    def _hint(self, name: str) -> str:
        return '; .of_platform("tpu") chooses rows'

    def of_platform(self, platform: str) -> Self:
        """Only the targets of one platform. Raises ValueError for an unknown platform."""
        if platform not in get_args(Platform):
            raise ValueError(f"there is no platform {platform!r}; the platforms are {', '.join(get_args(Platform))}")
        return self._of_rows(tuple(row for row in self.rows if row.platform == platform))


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOver:
    """Bytes sent by collectives over the same mesh axes.

    Attributes:
      axes: the axes they follow; () for none, None if unknown.
      sent_bytes: bytes the busiest device sends per call (modelled: ring).
    """

    axes: tuple[str, ...] | None
    sent_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigures:
    """Key figures of a program, to be shown beside another; None for unknown.

    Attributes:
      collectives: number of collectives (counted).
      sent: one entry for each set of mesh axes, most bytes first.
      memory_bytes: arguments, results and temporaries on one device, minus the part that results reuse (XLA's count).
      argument_bytes: arguments on one device (counted).
      kernels: number of fused kernels (counted).
    """

    collectives: int | None = None
    sent: tuple[SentOver, ...] = ()
    memory_bytes: int | None = None
    argument_bytes: int | None = None
    kernels: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A program that needs more memory than the chip has: XLA refused it, or compiled it for a GPU anyway.

    Attributes:
      needed_bytes: its need; None if XLA does not say.
      available_bytes: the chip's memory; None likewise.
      sentence: XLA's message if it refused.
      report: XLA's full report, including its list of the largest buffers; None if there is none.
    """

    needed_bytes: int | None
    available_bytes: int | None
    sentence: str
    report: MemoryShortage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """The question that a record answers.

    Attributes:
      changes: changes, each in words ("mesh data=16 x model=16", "params['w1'] P(None, 'model')").
      target: the machine it was compiled for.
      effort: how far it was compiled.
      seconds: how long the answer took (measured).
      origin: its origin in words ("mesh data=2 x model=4, 8 cpu devices"); "" for a function that was lowered for the
        target.
      before: the key figures of the origin.
      misfit: why it would not run, where it does not fit.
    """

    changes: tuple[str, ...]
    target: Target
    effort: Effort
    seconds: float | None = None
    origin: str = ""
    before: KeyFigures = KeyFigures()
    misfit: Misfit | None = None
