"""What a user has set of a program's controls, and nothing else: the question to XLA.

Not its job: what can be set (`model.play.controls`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pjit_inspect.model.program.spec import PartitionSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaySetting:
    """A mesh, a machine, and the specs that are not those of the record.

    Attributes:
      mesh: axes with their sizes, outermost first.
      target: the machine.
      arguments: path of an argument -> its spec, sorted by path.
      results: path of a result -> its spec, sorted; None leaves it to XLA.
      constraints: place of a constraint -> its spec, sorted; None takes it out.
      added: a constraint to put in -> its spec, sorted by name; presets and the search know such places.
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
        """How many devices the mesh has."""
        return math.prod(size for _, size in self.mesh)
