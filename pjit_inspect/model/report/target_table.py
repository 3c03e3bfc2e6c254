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
      name: how its targets are named: "tpu:v5e:AxB".
      example: one of them.
      platform: "cpu", "tpu" or "cuda".
      chip: "v5e", "h100"; "" on CPU.
      topologies: what may stand for the letters; () where any numbers up to a limit may, which `limit` says.
      limit: in words, where there is no list; "" where there is one.
      devices_per_chip: how many devices JAX has for one chip; 1 on CPU.
      memory: of one device, by each source that says it; () where it is the machine's.
      ready: whether this process can compile for it.
      missing: what is missing, with the line that adds it; "" when it is ready.
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
        """Only those of one platform. Raises ValueError for what is none."""
        if platform not in get_args(Platform):
            raise ValueError(f"there is no platform {platform!r}; the platforms are {', '.join(get_args(Platform))}")
        return self._of_rows(tuple(row for row in self.rows if row.platform == platform))
