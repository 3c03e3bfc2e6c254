"""A user's settings of a program's controls: the question to XLA.

Not its job: the controls (`model.play.controls`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
