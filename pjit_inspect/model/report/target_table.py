"""The machines that programs can be compiled for, as a table.

Not its job: finding them (`handles.asked.targets`) or drawing it (`view.pages.targets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, get_args

from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.target import MemorySize, Platform


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
