"""The arrays that a process holds on its devices.

Not its job: looking for them (`observe.key.live_arrays`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.program.table import Table

ArrayRole = Literal["argument", "result", ""]
"""Of a call that was captured; "" where none knows the array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveArray:
    """One array. All bytes are those of its elements, without padding of tiles.

    Attributes:
      name: its path in a captured call ("params['w1']", "result[0]['w1']"); "" where none knows it, or where several
        results of the call are of its kind.
      program: the function of that call; "" likewise.
      role: what it is in that call.
      source: the user's line that made it; () when that is not known.
      dtype: XLA's short name of the element type.
      global_shape: its shape.
      local_shape: the shape of the largest piece on a device; None when it is not known.
      spec: the mesh axes each dimension is split over; None where it lies on no mesh.
      bytes: on each of its devices; None when it is not known.
      global_bytes: its elements once.
      held_bytes: on all its devices of this process together; None likewise.
      copied_bytes: those of them that are copies of elements which another device of this process has, too.
      device_ids: the devices of this process it is on.
      memory_kind: the kind of memory ("device", "pinned_host"); "" for unknown.
      is_committed: whether somebody put it there (JAX moves it to no other device); None when JAX does not say.
    """

    name: str = ""
    program: str = ""
    role: ArrayRole = ""
    source: tuple[Frame, ...] = ()
    dtype: str = ""
    global_shape: tuple[int, ...] = ()
    local_shape: tuple[int, ...] | None = None
    spec: tuple[SpecEntry, ...] | None = None
    bytes: int | None = None
    global_bytes: int = 0
    held_bytes: int | None = None
    copied_bytes: int | None = None
    device_ids: tuple[int, ...] = ()
    memory_kind: str = ""
    is_committed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHolding:
    """What one device holds.

    Attributes:
      id: JAX's number of the device.
      platform: "cpu", "gpu", "tpu".
      arrays: how many of the arrays have a piece on it.
      bytes: of these pieces in its own memory, not the host's.
      in_use_bytes: what its allocator has given out, for programs, too (measured); None where JAX does not say.
      limit_bytes: what its allocator may give out; None likewise.
    """

    id: int
    platform: str
    arrays: int
    bytes: int
    in_use_bytes: int | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveArrayTable(Table[LiveArray]):
    """Arrays that a process holds, most bytes on one device first. A sequence of `LiveArray`.

    Attributes:
      rows: the arrays.
      devices: what each device of the process holds.
      mesh_axes: the axes of their meshes, outermost first.
      deleted: how many more there are whose data is gone.
      unread: how many more could not be read.
    """

    rows: tuple[LiveArray, ...] = ()
    devices: tuple[DeviceHolding, ...] = ()
    mesh_axes: tuple[str, ...] = ()
    deleted: int = 0
    unread: int = 0

    @property
    def held_bytes(self) -> int:
        """Of all of them on all devices of the process."""
        return sum(row.held_bytes or 0 for row in self.rows)

    @property
    def copied_bytes(self) -> int:
        """Those of them that are copies."""
        return sum(row.copied_bytes or 0 for row in self.rows)
