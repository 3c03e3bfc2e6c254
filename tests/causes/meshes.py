"""The meshes of the corpus, on eight devices, and arguments that are only described.

`what_if.resized` says when they have other sizes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from what_if.resized import order_of, resized

__all__ = ["CUBE", "EXPLICIT", "LINE", "MESH", "PERMUTED", "array", "named"]


def _mesh(order: list[int] | None = None, *, explicit: bool = False, **axes: int) -> Mesh:
    sizes = resized(axes)
    shape = tuple(sizes.values())
    places = range(int(np.prod(shape))) if order is None else order_of(order, sizes)
    devices = np.array(jax.devices())[list(places)].reshape(shape)
    kind = AxisType.Explicit if explicit else AxisType.Auto
    return Mesh(devices, tuple(sizes), axis_types=(kind,) * len(shape))


MESH = _mesh(data=2, model=4)
LINE = _mesh(x=8)
CUBE = _mesh(data=2, fsdp=2, tp=2)
PERMUTED = _mesh([3, 1, 7, 5, 0, 2, 6, 4], data=2, model=4)
EXPLICIT = _mesh(explicit=True, data=2, model=4)


def named(*spec: object, mesh: Mesh = MESH) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*spec))


def array(
    shape: tuple[int, ...], *spec: object, mesh: Mesh = MESH, dtype: object = jnp.float32
) -> jax.ShapeDtypeStruct:
    """An argument of this global shape, sharded by `spec` (replicated over what it leaves out)."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=named(*spec, mesh=mesh))
