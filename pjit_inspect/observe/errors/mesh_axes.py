"""Meshes and types of arrays as facts of an explained error: names, sizes and specs.

Not its job: records' meshes and slices (`observe.live.shardings`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import jax
from jax.core import Tracer

from pjit_inspect.model.program.mesh import Mesh, MeshAxes, SpecEntry
from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.observe.live.shardings import entries_of, full_spec, to_mesh

_MOST_VARIABLES = 20_000
_MOST_MESHES = 16


def to_mesh_axes(mesh: Any) -> MeshAxes | None:
    """A `Mesh` with its devices, an `AbstractMesh` without; None for one without axes."""
    if mesh is None or mesh.empty or isinstance(mesh, jax.sharding.Mesh):
        return to_mesh(mesh) if mesh is not None and not mesh.empty else None
    types = tuple(getattr(kind, "name", "auto").lower() for kind in getattr(mesh, "axis_types", None) or ())
    return MeshAxes(
        axis_names=tuple(map(str, mesh.shape)), shape=tuple(map(int, mesh.shape.values())), axis_types=types
    )


def find_meshes(frames: Iterable[tuple[Mapping[str, Any], bool]]) -> dict[Mesh, str]:
    """The concrete meshes among the variables of some frames, the first frame's first, each once, and its variable.

    Beside its variables, each frame says whether the user's line sees them: only then has a mesh a name.
    """
    meshes: dict[Mesh, str] = {}
    for names, is_seen in frames:
        some = islice(names.items(), _MOST_VARIABLES)
        named = [(name, value) for name, value in some if isinstance(value, jax.sharding.Mesh)]
        # IPython keeps results in `_`, `_3`: no name of the user's.
        for name, value in sorted(named, key=lambda item: item[0].startswith("_")):
            mesh = to_mesh_axes(value)
            if isinstance(mesh, Mesh) and len(meshes) < _MOST_MESHES:
                meshes.setdefault(mesh, name if is_seen else "")
    return meshes


def is_array(value: Any) -> bool:
    """Tells whether a value is an array of JAX's or numpy's, a tracer, or a `ShapeDtypeStruct`."""
    return isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype")


def to_error_array(name: str, value: Any) -> ErrorArray | None:
    """An array's type and sharding under a name of the user's; None when it has no plain shape."""
    try:
        shape = tuple(map(int, value.shape))
        plain = ErrorArray(name=name, dtype=str(value.dtype), shape=shape, is_named=True)
    except Exception:
        return None
    try:
        # A tracer knows its type only; its `sharding` attribute may raise.
        sharding = getattr(value.aval if isinstance(value, Tracer) else value, "sharding", None)
        spec, mesh = getattr(sharding, "spec", None), getattr(sharding, "mesh", None)
        axes = to_mesh_axes(mesh) if spec is not None else None
        ids: tuple[int, ...] = axes.device_ids if isinstance(axes, Mesh) else ()
        if sharding is not None and not isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh)):
            ids = tuple(sorted(int(device.id) for device in sharding.device_set))
        return replace(plain, spec=spec_entries(spec, len(shape)) if axes else None, mesh=axes, device_ids=ids)
    except Exception:
        return plain


def spec_entries(spec: Any, rank: int) -> tuple[SpecEntry, ...] | None:
    """The entries of a PartitionSpec, one for each dimension; those it has for rank 0. None when there are too many."""
    if getattr(spec, "unreduced", None):
        return None
    return full_spec(spec, rank) if len(entries_of(spec)) <= rank or not rank else None
