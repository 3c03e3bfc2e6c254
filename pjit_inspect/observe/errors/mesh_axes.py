"""Meshes and types of arrays as facts of an explained error: names, sizes and specs.

Not its job: records' meshes and slices (`observe.live.shardings`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import jax
from jax.core import Tracer

from pjit_inspect.model.program.spec import SpecEntry, entry_of
from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.sharding.mesh import Mesh, MeshAxes

_MOST_VARIABLES = 20_000
_MOST_MESHES = 16


def to_mesh_axes(mesh: Any) -> MeshAxes | None:
    """A `Mesh` with its devices, an `AbstractMesh` without; None for one without axes."""
    if mesh is None or mesh.empty:
        return None
    names, shape = tuple(map(str, mesh.shape)), tuple(map(int, mesh.shape.values()))
    types = tuple(getattr(kind, "name", "auto").lower() for kind in getattr(mesh, "axis_types", None) or ())
    if not isinstance(mesh, jax.sharding.Mesh):
        return MeshAxes(axis_names=names, shape=shape, axis_types=types)
    ids = tuple(int(device.id) for device in mesh.devices.flat)
    return Mesh(axis_names=names, shape=shape, axis_types=types, device_ids=ids)


def find_meshes(frames: Iterable[tuple[Mapping[str, Any], bool]]) -> dict[Mesh, str]:
    """The concrete meshes among the variables of some frames, the first frame's first, each once, and its variable.

    Beside its variables, each frame says whether the user's line sees them: only then has a mesh a name.
    """
    meshes: dict[Mesh, str] = {}
    for names, is_seen in frames:
        named = [(name, value) for name, value in islice(names.items(), _MOST_VARIABLES) if _is_mesh(value)]
        # IPython keeps results in `_`, `_3`: no name of the user's.
        for name, value in sorted(named, key=lambda item: item[0].startswith("_")):
            mesh = to_mesh_axes(value)
            if isinstance(mesh, Mesh) and len(meshes) < _MOST_MESHES:
                meshes.setdefault(mesh, name if is_seen else "")
    return meshes


def _is_mesh(value: Any) -> bool:
    return isinstance(value, jax.sharding.Mesh)


def is_array(value: Any) -> bool:
    """Whether it is an array of JAX's or numpy's, a tracer, or a `ShapeDtypeStruct`."""
    return isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype")


def to_error_array(name: str, value: Any) -> ErrorArray | None:
    """An array's type and sharding under a name of the user's; None when it has no plain shape."""
    try:
        shape = tuple(int(length) for length in value.shape)
        dtype = str(value.dtype)
    except Exception:
        return None
    plain = ErrorArray(name=name, dtype=dtype, shape=shape, is_named=True)
    try:
        return _placed(plain, _sharding_of(value))
    except Exception:
        return plain


def _sharding_of(value: Any) -> Any:
    # A tracer knows its type only; its `sharding` attribute may raise.
    holder = value.aval if isinstance(value, Tracer) else value
    return getattr(holder, "sharding", None)


def _placed(array: ErrorArray, sharding: Any) -> ErrorArray:
    if sharding is None:
        return array
    spec = getattr(sharding, "spec", None)
    mesh = to_mesh_axes(getattr(sharding, "mesh", None)) if spec is not None else None
    ids = _device_ids(sharding)
    entries = spec_entries(spec, len(array.shape or ())) if mesh is not None else None
    return ErrorArray(
        name=array.name, dtype=array.dtype, shape=array.shape, spec=entries, mesh=mesh, device_ids=ids, is_named=True
    )


def _device_ids(sharding: Any) -> tuple[int, ...]:
    if isinstance(getattr(sharding, "mesh", None), jax.sharding.AbstractMesh):
        return ()
    if isinstance(getattr(sharding, "mesh", None), jax.sharding.Mesh):
        return tuple(int(device.id) for device in sharding.mesh.devices.flat)
    return tuple(sorted(int(device.id) for device in sharding.device_set))


def spec_entries(spec: Any, rank: int) -> tuple[SpecEntry, ...] | None:
    """The entries of a PartitionSpec, one for each dimension; those it has for rank 0. None when there are too many."""
    # A spec with unreduced axes refuses to be iterated; before 0.10 it had no public name for its entries.
    if getattr(spec, "unreduced", None):
        return None
    held = list(getattr(spec, "partitions", None) or spec._partitions)  # noqa: SLF001
    entries = [_entry(entry) for entry in held]
    return tuple(entries + [None] * (rank - len(entries))) if len(entries) <= rank or not rank else None


def _entry(entry: Any) -> SpecEntry:
    if not isinstance(entry, tuple):
        return entry if isinstance(entry, str) else None
    return entry_of([str(name) for name in entry])
