"""Meshes: named axes, and the devices they are laid over; and PartitionSpecs as plain data.

An entry of a spec is None, a mesh axis, or several axes, outermost first, as in JAX; `("a",)` and `"a"` are the same.
Where a program is analyzed, every entry is a tuple of axes (`Dimensions`).

Not its job: finding which axes a replica group follows (`analyze.program.mesh_axes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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


SpecEntry = str | tuple[str, ...] | None
"""The mesh axes of one dimension: none, one, or several (outermost first)."""

PartitionSpec = tuple[SpecEntry, ...]

Dimensions = tuple[tuple[str, ...], ...]
"""The mesh axes each dimension is split over, outermost first; () for a dimension that is not split."""


def axes_of(entry: SpecEntry) -> tuple[str, ...]:
    """The axes of one entry, outermost first."""
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


def entry_of(axes: Sequence[str]) -> SpecEntry:
    """Axes as one entry: nothing, a name, or a tuple of names."""
    return tuple(axes) if len(axes) > 1 else axes[0] if axes else None


def spec_text(spec: Iterable[SpecEntry], *, unreduced: Iterable[str] = ()) -> str:
    """A spec as the user would write it: "P('data', None)"."""
    entries = [repr(entry_of(axes_of(entry))) for entry in spec]
    partial = sorted(unreduced)
    return f"P({', '.join([*entries, *([f'unreduced={partial}'] if partial else [])])})"


def local_shape(shape: Sequence[int], pieces: Sequence[int]) -> tuple[int, ...]:
    """The shape of the largest piece of an array that is split into `pieces` along each dimension."""
    return tuple(-(-length // number) for length, number in zip(shape, pieces, strict=True))
