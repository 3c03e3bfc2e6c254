"""Meshes: named axes, and the devices they are laid over.

Not its job: finding which axes a replica group follows (`analyze.program.mesh_axes`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device of a program.

    Attributes:
      id: the number JAX gives the device, unique in the process group.
      platform: "cpu", "gpu", "tpu", ...
      kind: the hardware's name, such as "TPU v5 lite".
      process: the index of the process (host) it belongs to.
      coords: physical coordinates in the interconnect, or None if the backend has none.
    """

    id: int
    platform: str
    kind: str
    process: int = 0
    coords: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshAxes:
    """Named axes without devices, as JAX's `AbstractMesh` and the messages of errors have them.

    Attributes:
      axis_names: the user's names, outermost first.
      shape: devices along each axis, in the same order.
      axis_types: "auto", "explicit" or "manual" for each axis; () when it is not known.
    """

    axis_names: tuple[str, ...]
    shape: tuple[int, ...]
    axis_types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.axis_names) != len(self.shape):
            raise ValueError(f"{len(self.axis_names)} axis names for {len(self.shape)} axis sizes")
        if any(size < 0 for size in self.shape):
            raise ValueError(f"an axis cannot have {min(self.shape)} devices")
        if len(set(self.axis_names)) != len(self.axis_names):
            raise ValueError(f"axis names repeat: {self.axis_names}")

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        """(name, size) of each axis, outermost first."""
        return tuple(zip(self.axis_names, self.shape, strict=True))

    @property
    def sizes(self) -> dict[str, int]:
        """Devices along each axis, by axis name."""
        return dict(self.axes)

    def __str__(self) -> str:
        return " x ".join(f"{name}={size}" for name, size in self.axes) or "no axes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh(MeshAxes):
    """Named axes over devices, as the user built them.

    A device's *position* is its index in row-major order over the axes: the last axis varies fastest.

    Attributes:
      axis_names: the user's names, outermost first.
      shape: devices along each axis, in the same order.
      axis_types: "auto", "explicit" or "manual" for each axis; () when it is not known.
      device_ids: the device at each position (length: the product of `shape`).
    """

    device_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        MeshAxes.__post_init__(self)
        if math.prod(self.shape) != len(self.device_ids):
            raise ValueError(f"{len(self.device_ids)} devices do not fill a mesh of shape {self.shape}")

    @property
    def size(self) -> int:
        """The number of devices in the mesh."""
        return len(self.device_ids)
