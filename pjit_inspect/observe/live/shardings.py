"""JAX's sharding and mesh objects as frozen facts.

Not its job: shardings of HLO instructions (`parse`), shardings of intermediates.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Device, Mesh, PartitionSpec, SpecEntry, entry_of
from pjit_inspect.model.sharding.laid import laid
from pjit_inspect.observe.contract import _jax


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=64)
def to_devices(devices: tuple[Any, ...]) -> tuple[Device, ...]:
    """Every `jax.Device` as frozen facts; records of programs on the same devices share them."""
    return tuple(_to_device(device) for device in devices)


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=8192)
def _to_device(device: Any) -> Device:
    """Fields that its backend does not know are left at their defaults."""
    coords = getattr(device, "coords", None)
    return Device(
        id=int(device.id),
        platform=str(device.platform),
        kind=str(device.device_kind),
        process=int(device.process_index),
        coords=tuple(int(c) for c in coords) if coords is not None else None,
    )


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=64)
def to_mesh(mesh: Any) -> Mesh:
    """A concrete `jax.sharding.Mesh` as frozen facts."""
    return Mesh(
        axis_names=tuple(_axis_name(name) for name in mesh.axis_names),
        shape=tuple(int(n) for n in mesh.devices.shape),
        device_ids=tuple(int(d.id) for d in mesh.devices.flat),
        axis_types=tuple(getattr(t, "name", str(t)).lower() for t in getattr(mesh, "axis_types", None) or ()),
    )


def _axis_name(name: Any) -> str:
    # `pmap` without an axis name makes one up: a placeholder, or an object's address.
    is_made_up = not isinstance(name, str) or name.startswith(("_internal", "<axis 0x"))
    return "unnamed" if is_made_up else name


def find_meshes(shardings: Iterable[Any], extra: Iterable[Any] = ()) -> tuple[Mesh, ...]:
    """Every concrete mesh among shardings and further meshes, the most used first, each once."""
    named = [getattr(sharding, "mesh", None) for sharding in shardings]
    # Thousands of arrays share a mesh or two: each object is asked once.
    known = {id(mesh): mesh for mesh in (*named, *extra) if mesh is not None}
    concrete = {number: mesh for number, mesh in known.items() if is_concrete(mesh)}
    every = dict.fromkeys(concrete.values())
    if len(every) < 2:
        # The usual case: for its hash a mesh of ours looks at every device.
        return tuple(map(to_mesh, every))
    ranked = {to_mesh(mesh): 0 for mesh in every}
    for mesh in named:
        if id(mesh) in concrete:
            ranked[to_mesh(mesh)] += 1
    return tuple(sorted(ranked, key=lambda m: -ranked[m]))


def is_concrete(mesh: Any) -> bool:
    """True if it is a mesh of devices; `Mesh()` without axes means no mesh, and an AbstractMesh has no devices."""
    # Not by `hasattr`: to ask an AbstractMesh for its devices is a ValueError.
    return isinstance(mesh, jax.sharding.Mesh) and not mesh.empty


def has_devices(sharding: Any) -> bool:
    """True if a sharding has devices; one on an AbstractMesh has only a tiling."""
    is_abstract = isinstance(getattr(sharding, "mesh", None), jax.sharding.AbstractMesh)
    return isinstance(sharding, jax.sharding.Sharding) and not is_abstract


def to_sharding(sharding: Any, shape: Sequence[int]) -> Sharding:
    """A `jax.sharding.Sharding` of an array of this shape as frozen facts.

    Passes on JAX's error for a sharding that does not fit the shape.
    """
    if hasattr(sharding, "spec") and is_concrete(getattr(sharding, "mesh", None)):
        return _named(sharding, len(shape))
    # Not in a cache: to JAX a sharding on one of eight devices equals one that is replicated over them.
    if (device := _jax.only_device(sharding)) is not None:
        kind, memory = type(sharding).__name__, getattr(sharding, "memory_kind", None)
        return Sharding(
            spec=None, tiles=(1,) * len(shape), device_ids=(device,), tile_of=(0,), kind=kind, memory_kind=memory
        )
    return _tiled(sharding, tuple(shape))


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=1024)
def _named(sharding: Any, rank: int) -> Sharding:
    return dataclasses.replace(
        laid(to_mesh(sharding.mesh), full_spec(sharding.spec, rank)),
        kind=type(sharding).__name__,
        memory_kind=sharding.memory_kind,
        unreduced=tuple(sorted(_axis_name(a) for a in getattr(sharding.spec, "unreduced", None) or ())),
    )


def full_spec(spec: Any, rank: int) -> PartitionSpec:
    """A `jax.sharding.PartitionSpec` with one entry for each dimension, in the record's form."""
    entries = [_entry(entry) for entry in entries_of(spec)]
    return tuple(entries + [None] * (rank - len(entries)))


def entries_of(spec: Any) -> Sequence[Any]:
    """The entries of a `jax.sharding.PartitionSpec`, one per dimension, as written."""
    # A spec with unreduced axes refuses to be iterated; before 0.10 it had no public name for its entries.
    return getattr(spec, "partitions", None) or spec._partitions  # noqa: SLF001


def _entry(entry: Any) -> SpecEntry:
    # UNCONSTRAINED stands in no final sharding; a tuple of one name is the name, of none is None.
    if not isinstance(entry, tuple):
        is_open = entry is None or type(entry).__name__ == "UnconstrainedSingleton"
        return None if is_open else _axis_name(entry)
    names = tuple(_axis_name(name) for name in entry)
    return entry_of(names)


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=1024)
def _tiled(sharding: Any, shape: tuple[int, ...]) -> Sharding:
    """Any other sharding, from the slices JAX says its devices hold."""
    slices = sharding.devices_indices_map(shape)
    starts = {d.id: tuple(s.start or 0 for s in index) for d, index in slices.items()}
    borders = [sorted({start[dim] for start in starts.values()}) for dim in range(len(shape))]
    tiles = tuple(len(b) for b in borders)
    numbers = []
    for start in starts.values():
        tile = 0
        for dim, value in enumerate(start):
            tile = tile * tiles[dim] + borders[dim].index(value)
        numbers.append(tile)
    return Sharding(
        spec=None,
        tiles=tiles,
        device_ids=tuple(starts),
        tile_of=tuple(numbers),
        kind=type(sharding).__name__,
        memory_kind=getattr(sharding, "memory_kind", None),
    )


def on_mesh(sharding: Sharding, mesh: Mesh) -> Sharding:
    """The same tiling with a spec in the axis names of `mesh`, if it follows them; if not, unchanged.

    XLA returns shardings it chose as tiles and devices only. Axes of size 1 are omitted.
    """
    if sharding.spec is not None or sorted(sharding.device_ids) != sorted(mesh.device_ids):
        return sharding
    tile_at = dict(zip(sharding.device_ids, sharding.tile_of, strict=True))
    tile = np.array([tile_at[device] for device in mesh.device_ids])
    along = np.unravel_index(tile, sharding.tiles) if sharding.tiles else ()
    entries = [_entry_for(column, count, mesh) for column, count in zip(along, sharding.tiles, strict=True)]
    used = [axis for entry in entries if entry is not None for axis in entry]
    if any(entry is None for entry in entries) or len(set(used)) < len(used):
        return sharding
    return dataclasses.replace(sharding, spec=tuple(_entry(entry) for entry in entries))


def _entry_for(tile: np.ndarray, count: int, mesh: Mesh) -> tuple[str, ...] | None:
    """The axes, outermost first, whose coordinates number these tiles; None when no axes do."""
    axes = [axis for axis in mesh.axis_names if mesh.sizes[axis] > 1]
    for length in range(len(axes) + 1):
        for names in itertools.permutations(axes, length):
            if math.prod(mesh.sizes[name] for name in names) == count and (
                np.array_equal(tile, laid(mesh, (names,)).tile_of)
            ):
                return names
    return None


def attached_devices() -> int:
    """The number of devices `jax.jit` would run on here. Starts JAX's backend if it is not started."""
    return jax.device_count()
