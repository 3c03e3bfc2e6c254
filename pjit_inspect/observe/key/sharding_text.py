"""JAX's shardings, meshes and devices as one line of text.

Not its job: slices (`observe.live.shardings`).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

import jax

from pjit_inspect.observe.contract._jax import cleared_with_jax, only_device
from pjit_inspect.observe.live.shardings import entries_of


def sharding_text(sharding: Any) -> str:
    """`P('data', None) on data=2 x model=4 on devices 0-7`, `device 3`, or the sharding's type and devices.

    Two shardings that differ in their meshes, devices or memory have different texts.
    """
    return _text(sharding, only_device(sharding))


@cleared_with_jax
@functools.lru_cache(maxsize=1024)
def _text(sharding: Any, only: int | None) -> str:
    # Kept by that device, too: to JAX such a sharding equals one that is replicated.
    memory = getattr(sharding, "memory_kind", None)
    suffix = f" in {memory}" if memory not in (None, "device", "unpinned_host") else ""
    if hasattr(sharding, "spec") and getattr(sharding, "mesh", None) is not None:
        where = mesh_text(sharding.mesh, devices=False)
        devices = mesh_text(sharding.mesh).removeprefix(where)
        return f"{_spec_text(sharding.spec)} on {where}{suffix}{devices}"
    ids = sorted(int(device.id) for device in getattr(sharding, "device_set", ())) if only is None else [only]
    if len(ids) == 1:
        return f"device {ids[0]}{suffix}"
    return f"{type(sharding).__name__} on devices {_ranges_text(ids)}{suffix}"


def _spec_text(spec: Any) -> str:
    extra = [f"unreduced={sorted(map(str, spec.unreduced))}"] if getattr(spec, "unreduced", None) else []
    return f"P({', '.join([*map(repr, entries_of(spec)), *extra])})"


@cleared_with_jax
@functools.lru_cache(maxsize=64)
def mesh_text(mesh: Any, *, devices: bool = True) -> str:
    """`data=2 x model=4 on devices 0-7`; axis types other than "auto" are named."""
    kinds = getattr(mesh, "axis_types", None) or (None,) * len(mesh.axis_names)
    words = [str(getattr(kind, "name", "auto")).lower() for kind in kinds]
    axes = [
        f"{name}={mesh.shape[name]}" + (f" ({word})" if word != "auto" else "")
        for name, word in zip(mesh.axis_names, words, strict=True)
    ]
    # To ask an AbstractMesh for its devices is a ValueError.
    has_devices = devices and isinstance(mesh, jax.sharding.Mesh) and mesh.devices.size
    where = f" on devices {_ranges_text([int(device.id) for device in mesh.devices.flat])}" if has_devices else ""
    return " x ".join(axes) + where


def _ranges_text(numbers: Sequence[int]) -> str:
    """Numbers with runs of neighbours joined, in the given order, which tells meshes apart: "0-3 8 6".

    More than eight runs are cut to the first eight, with a hash of all numbers.
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:8]]
    if len(runs) <= 8:
        return " ".join(shown)
    digest = hashlib.sha1(repr(list(numbers)).encode(), usedforsecurity=False).hexdigest()[:6]
    return f"{' '.join(shown)} ... (order {digest})"


@cleared_with_jax
@functools.lru_cache(maxsize=256)
def device_ranges(devices: tuple[Any, ...]) -> str:
    """`cpu 0-7`; "" for no devices."""
    return f"{devices[0].platform} {_ranges_text([int(device.id) for device in devices])}" if devices else ""
