"""A PartitionSpec laid over a mesh: which tile of an array each device holds.

Not its job: shardings of JAX's that follow no mesh (`observe.live.shardings`).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec, axes_of
from pjit_inspect.model.sharding.sharded_program import axis_name


@functools.lru_cache(maxsize=1024)
def laid(mesh: Mesh, spec: PartitionSpec) -> Sharding:
    """The sharding of an array with one dimension per entry of `spec`; raises ValueError for an unknown axis."""
    position, tile = np.arange(mesh.size), np.zeros(mesh.size, np.int64)
    parts = [[_part(axis, mesh) for axis in axes_of(entry)] for entry in spec]
    # Tiles are numbered row by row: dimensions outermost first, and their axes likewise.
    for stride, size in (part for entry in parts for part in entry):
        tile = tile * size + position // stride % size
    tiles = tuple(math.prod(size for _, size in entry) for entry in parts)
    return Sharding(spec=spec, tiles=tiles, device_ids=mesh.device_ids, tile_of=tuple(tile.tolist()))


def _part(axis: str, mesh: Mesh) -> tuple[int, int]:
    """The number of positions between two neighbours along an axis, or along a part "x:(1)2" of one, and its length."""
    at = mesh.axis_names.index(axis_name(axis))
    stride, size = math.prod(mesh.shape[at + 1 :]), mesh.shape[at]
    if axis in mesh.axis_names:
        return stride, size
    before, count = map(int, axis.removeprefix(f"{mesh.axis_names[at]}:(").split(")"))
    if before < 1 or count < 1 or size % (before * count):
        raise ValueError(f"{axis} is no part of an axis of {size} devices")
    return stride * (size // (before * count)), count
