"""A user's settings of a program's controls, which is the question to XLA; and a textbook's settings of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pjit_inspect.model.program.mesh import PartitionSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaySetting:
    """A mesh, a machine, and the specs that differ from the record.

    Attributes:
      mesh: axes with their sizes, outermost first.
      target: the machine.
      arguments: path of an argument -> its spec, sorted by path.
      results: path of a result -> its spec, sorted; None leaves it to XLA.
      constraints: place of a constraint -> its spec, sorted; None removes it.
      added: a constraint to add -> its spec, sorted by name; presets and the search find these places.
    """

    mesh: tuple[tuple[str, int], ...]
    target: str
    arguments: tuple[tuple[str, PartitionSpec | None], ...] = ()
    results: tuple[tuple[str, PartitionSpec | None], ...] = ()
    constraints: tuple[tuple[str, PartitionSpec | None], ...] = ()
    added: tuple[tuple[str, PartitionSpec], ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """Devices along each axis."""
        return dict(self.mesh)

    @property
    def devices(self) -> int:
        """The number of devices in the mesh."""
        return math.prod(size for _, size in self.mesh)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A textbook's layout for a program.

    Attributes:
      name: as the textbooks call it: "replicated", "data parallel", "FSDP", "Megatron", "2-D", "sequence parallel".
      sentence: a description of its split axes.
      why_not: why it is none for this program on this mesh; "" where it is one.
      setting: all controls as it has them; None where it is none.
    """

    name: str
    sentence: str = ""
    why_not: str = ""
    setting: PlaySetting | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.why_not or self.sentence}"
