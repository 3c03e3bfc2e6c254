"""A machine that a program is compiled for, attached or not.

Not its job: which there are, and whether this process can compile for them (`observe.partitioner.targets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
class Speed:
    """The speed of one device of a kind, by its maker's figures.

    Attributes:
      flops_per_s: peak operations per second of dense bfloat16 matrix products.
      link_bytes_per_s: bytes per second of one link in one direction.
      source: the source.
    """

    flops_per_s: float
    link_bytes_per_s: float
    source: str
