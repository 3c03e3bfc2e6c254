"""Meshes of eight devices, and trees of arrays that are only described, with their shardings.

Not its job: models (each program has its own).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from what_if.resized import order_of, resized

__all__ = ["described", "grid", "one", "placed", "split_as", "state_of"]


def grid(order: Sequence[int] | None = None, *, explicit: bool = False, **axes: int) -> Mesh:
    """A mesh of the first devices, `axes` outermost first; `order` permutes the devices.

    `what_if.resized` says when it has other sizes.
    """
    own = resized(axes)
    sizes = tuple(own.values())
    places = range(int(np.prod(sizes))) if order is None else order_of(list(order), own)
    devices = np.array(jax.devices())[list(places)]
    kind = AxisType.Explicit if explicit else AxisType.Auto
    return Mesh(devices.reshape(sizes), tuple(axes), axis_types=(kind,) * len(axes))


def one(mesh: Mesh, shape: Sequence[int], *spec: object, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """An array of this global shape, sharded by `spec`."""
    return jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def placed(mesh: Mesh, shapes: Mapping[str, Any], dtype: Any = jnp.float32) -> Any:
    """A tree of `{name: ((shape), spec, ...)}` as arrays."""
    if isinstance(shapes, Mapping):
        return {name: placed(mesh, shape, dtype) for name, shape in shapes.items()}
    if isinstance(shapes, list):
        return [placed(mesh, shape, dtype) for shape in shapes]
    shape, *spec = shapes
    return one(mesh, shape, *spec, dtype=dtype)


def described(mesh: Mesh, tree: Any, rule: Callable[[str, Any], PartitionSpec]) -> Any:
    """The same tree of shapes, each leaf with the sharding that `rule(path, leaf)` says."""

    def leaf(path: Any, value: Any) -> Any:
        spec = rule(jax.tree_util.keystr(path), value)
        return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=NamedSharding(mesh, spec))

    return jax.tree_util.tree_map_with_path(leaf, tree)


def state_of(mesh: Mesh, optimizer: Any, params: Any) -> Any:
    """The optimizer's state, what belongs to a parameter sharded as the parameter, anything else replicated."""
    return split_as(mesh, jax.eval_shape(optimizer.init, params), params)


def split_as(mesh: Mesh, tree: Any, params: Any) -> Any:
    """A tree whose leaves are sharded as the parameter of the same path and shape; else replicated."""
    known = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]}

    def rule(path: str, value: Any) -> PartitionSpec:
        # The longest path that fits: `['w']` ends `['layers'][0]['w']` too.
        fits = [key for key, p in known.items() if path.endswith(key) and p.shape == value.shape]
        return known[max(fits, key=len)].sharding.spec if fits else PartitionSpec()

    return described(mesh, tree, rule)
