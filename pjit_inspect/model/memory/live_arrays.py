"""The arrays that a process holds on its devices.

Not its job: looking for them (`observe.key.live_arrays`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table

ArrayRole = Literal["argument", "result", ""]
"""Of a call that was captured; "" where none knows the array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveArray:
    """One array. All bytes are those of its elements, without tile padding.

    Attributes:
      name: its path in a captured call ("params['w1']", "result[0]['w1']"); "" if unknown, or if several results of the
        call look the same.
      program: the function of that call; "" likewise.
      role: its role in that call.
      source: the user's line that made it; () if unknown.
      dtype: XLA's short name of the element type.
      global_shape: its shape.
      local_shape: the shape of the largest piece on a device; None if unknown.
      spec: the mesh axes each dimension is split over; None if it is on no mesh.
      bytes: bytes on each of its devices; None if unknown.
      global_bytes: bytes of its elements, counted once.
      held_bytes: bytes on all its devices of this process together; None likewise.
      copied_bytes: the part of these bytes that duplicates elements on another device of this process.
      device_ids: the devices of this process it is on.
      memory_kind: the kind of memory ("device", "pinned_host"); "" for unknown.
      is_committed: whether it was placed explicitly (JAX then moves it to no other device); None if JAX does not say.
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
    """The arrays and bytes on one device.

    Attributes:
      id: JAX's number of the device.
      platform: "cpu", "gpu", "tpu".
      arrays: number of arrays with a piece on it.
      bytes: bytes of these pieces in device memory, not the host's.
      in_use_bytes: bytes its allocator has given out, including programs (measured); None if JAX does not say.
      limit_bytes: bytes its allocator may give out; None likewise.
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
      devices: the arrays and bytes on each device of the process.
      mesh_axes: the axes of their meshes, outermost first.
      deleted: number of further arrays whose data is gone.
      unread: number of further arrays that could not be read.
    """

    rows: tuple[LiveArray, ...] = ()
    devices: tuple[DeviceHolding, ...] = ()
    mesh_axes: tuple[str, ...] = ()
    deleted: int = 0
    unread: int = 0

    @property
    def held_bytes(self) -> int:
        """Bytes of all arrays on all devices of the process."""
        return sum(row.held_bytes or 0 for row in self.rows)

    @property
    def copied_bytes(self) -> int:
        """The part of these bytes that are copies."""
        return sum(row.copied_bytes or 0 for row in self.rows)
