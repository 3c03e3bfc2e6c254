"""The axes a user gives to a program whose file names none: dumps of XLA's have groups of devices, and no mesh.

Not its job: which axes groups follow (`analyze.program.mesh_axes`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.record import RecordData

_MOST_DEVICES = 1 << 20


def given_mesh(axes: Mapping[str, int]) -> Mesh:
    """A mesh of these axes, outermost first, over devices 0, 1, ... in order.

    Raises ValueError for an invalid mesh.
    """
    for name, size in axes.items():
        if not isinstance(name, str) or not name or isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(
                f"a mesh is axis names with sizes, as in {{'data': 2, 'model': 4}}, not {name!r}: {size!r}"
            )
    size = math.prod(axes.values())
    if not axes or size > _MOST_DEVICES:
        raise ValueError(f"a mesh of {len(axes)} axes and {size:,} devices cannot be named")
    return Mesh(axis_names=tuple(axes), shape=tuple(axes.values()), device_ids=tuple(range(size)))


def with_mesh(data: RecordData, module: HloModule | None, mesh: Mesh) -> RecordData:
    """The record with these axes. Raises ValueError if it has another mesh, or is for other devices."""
    if data.mesh is not None:
        raise ValueError(f"{data.name} has a mesh of its own, {data.mesh}; only programs without one can be given axes")
    counts = None if module is None else module.device_counts
    devices = None if counts is None else math.prod(counts)
    if devices is not None and devices != mesh.size:
        raise ValueError(f"{data.name} is for {devices:,} devices, and {mesh} is {mesh.size:,}")
    missing = {field: why for field, why in data.missing.items() if field != "mesh"}
    return replace(data, mesh=mesh, meshes=(mesh,), missing=missing)
