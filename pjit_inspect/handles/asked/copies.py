"""The program of one record that this process captured, and changed copies of it.

Joins the rooms: meshes and shardings are changed in `observe.shardy`. Not its job: programs from files
(`copies_apart`), or asking XLA about a copy (`what_if`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.asked.what_if import Again, ChangedProgram, Planned, change_program
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

Positions = tuple[int | None, ...]
"""The index of each op of a `ShardedProgram` in the program as captured; None for ops added by passes."""

_ONLY_AXIS, _IMAGINED = "devices", 8
"""Mesh of a program that names none: all attached devices along one axis, or `_IMAGINED` if one is attached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the program.

    Attributes:
      mesh: axes with their sizes, outermost first.
      target: the machine.
      specs: path of an argument or result -> its spec, for a function that has to be traced again.
      edits: all edits, by index of operations in `Copies.program`; None if that is unknown.
      said: the change, in words.
    """

    mesh: tuple[tuple[str, int], ...]
    target: str
    specs: dict[str, PartitionSpec | None]
    edits: tuple[Edit, ...] | None
    said: tuple[str, ...] = ()


class Copies:
    """The captured program, with its mesh.

    Attributes:
      data: the record; its program names a mesh.
      mesh: the axes of that, outermost first.
      is_mesh_given: whether it named none, and arrays lay on none.
      program: the program with its operations; None where they cannot be had.
      trips: index of a loop in `program.ops` -> its number of turns.
    """

    def __init__(self, data: RecordData, again: Again | None, attached: Callable[[], int]) -> None:
        """Hold a record of this process; `again` traces its function, `attached` gives the number of devices.

        Raises ChangeError where the program's mesh cannot be changed.
        """
        from pjit_inspect.observe.live.library_names import with_paths
        from pjit_inspect.observe.shardy.propagation import propagate
        from pjit_inspect.observe.shardy.what_if import WhatIf

        self._again = again
        self.data, self.mesh, self.is_mesh_given = _with_mesh(data, attached)
        self._changer = WhatIf(_bytes(self.data), propagate)
        self.program: ShardedProgram | None = None
        self.trips: dict[int, int] = {}
        try:
            trial = self._changer.propagate()
            self.program, self.trips = with_paths(trial.program, self.data), trial.trips
        except CaptureError:
            # Its arguments and results can still be changed.
            pass

    @property
    def positions(self) -> Positions:
        """The index of each op of `program` in the program as captured."""
        return self._changer.positions

    def changed(self, change: Change) -> ChangedProgram:
        """The copy. Raises ChangeError where it cannot be."""
        edits = change.edits
        planned = (
            None if edits is None else Planned(edits=edits, said=change.said, changer=self._changer, axes=self.mesh)
        )
        return change_program(
            self.data,
            mesh=dict(change.mesh),
            specs=change.specs,
            target=change.target,
            again=self._again,
            planned=planned,
        )

    def propagated(self, change: Change) -> tuple[ShardedProgram, Positions]:
        """The copy after Shardy's passes, and the index of its ops in the copy. Raises as `changed` does."""
        from pjit_inspect.observe.live.library_names import with_paths
        from pjit_inspect.observe.shardy.what_if import WhatIf

        own = WhatIf(self.changed(change).program)
        return with_paths(own.propagate().program, self.data), own.positions

    def close(self) -> None:
        """There is nothing to end."""


def _with_mesh(data: RecordData, attached: Callable[[], int]) -> tuple[RecordData, tuple[tuple[str, int], ...], bool]:
    from pjit_inspect.observe.shardy.remesh import mesh_axes, remeshed

    named = mesh_axes(_bytes(data))
    if named:
        return data, tuple(named.items()), False
    # Under `jax.set_mesh` arrays may lie on a mesh that the program does not name.
    sizes = _sizes(attached()) if data.mesh is None else data.mesh.sizes
    given = replace(data, stablehlo=Blob(remeshed(_bytes(data), sizes)), stablehlo_text=None)
    return given, tuple(sizes.items()), data.mesh is None


def _sizes(devices: int) -> dict[str, int]:
    return {_ONLY_AXIS: devices if devices > 1 else _IMAGINED}


def _bytes(data: RecordData) -> bytes:
    if data.stablehlo is None:
        raise ChangeError("the record has no program before optimization, so no change of it can be tried")
    return data.stablehlo.read()
