"""The meshes of the corpus, on eight devices, and arguments that are only described."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

__all__ = ["CUBE", "EXPLICIT", "LINE", "MESH", "PERMUTED", "array", "named"]

_DEVICES = np.array(jax.devices()[:8])
MESH = Mesh(_DEVICES.reshape(2, 4), ("data", "model"))
LINE = Mesh(_DEVICES, ("x",))
CUBE = Mesh(_DEVICES.reshape(2, 2, 2), ("data", "fsdp", "tp"))
PERMUTED = Mesh(_DEVICES[[3, 1, 7, 5, 0, 2, 6, 4]].reshape(2, 4), ("data", "model"))
EXPLICIT = Mesh(_DEVICES.reshape(2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)


def named(*spec: object, mesh: Mesh = MESH) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*spec))


def array(
    shape: tuple[int, ...], *spec: object, mesh: Mesh = MESH, dtype: object = jnp.float32
) -> jax.ShapeDtypeStruct:
    """An argument of this global shape, sharded by `spec` (replicated over what it leaves out)."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=named(*spec, mesh=mesh))
