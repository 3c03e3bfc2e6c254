"""Finds the user's mesh axes that a list of device groups follows.

XLA writes groups as ids, or under axis names of its own that change from one instruction to the next. The user's
names are recovered from where the devices stand in the user's mesh, never from XLA's names or from sizes.
Not its job: reading groups (`parse.wire.replica_groups`) or which device an id means (`analyze.program.device_groups`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pjit_inspect.analyze.program.device_groups import Groups
from pjit_inspect.model.program.mesh import Mesh


def find_axes_in(
    groups: Groups, meshes: Sequence[Mesh], device_ids: Sequence[int] | None = None, *, is_permute: bool
) -> dict[int, tuple[str, ...]]:
    """The axes that groups, or pairs, follow in each mesh that has such; parts of axes where no mesh has them in full.

    Args:
      groups: groups of logical ids; for a collective-permute its pairs.
      meshes: the user's meshes; the keys are positions among these.
      device_ids: the device each logical id stands for; None when ids are positions in every mesh.
      is_permute: whether these are pairs.
    """
    # Full axes of any mesh before parts of one: with several meshes, parts of a wrong one may fit as well.
    for find in (find_permute_axes,) if is_permute else (find_axes, find_parts):
        answers = enumerate(find(groups, mesh, device_ids) for mesh in meshes)
        fitting = {mesh: axes for mesh, axes in answers if axes is not None}
        if fitting:
            return fitting
    return {}


def find_axes(groups: Groups, mesh: Mesh, device_ids: Sequence[int] | None = None) -> tuple[str, ...] | None:
    """The mesh axes the groups run along, in mesh order, axes of size 1 left out; None when they follow none.

    The groups follow axes (a, b) when every group is all devices that differ in nothing but their coordinates along
    a and b, and the groups together are all devices of the mesh. So () means that every device is alone.

    Args:
      groups: groups of logical ids; () is one group of all devices.
      mesh: the user's mesh.
      device_ids: the device each logical id stands for; None when ids are positions in `mesh`.
    """
    if not groups or not groups[0]:
        return _names(mesh, [size > 1 for size in mesh.shape])
    positions = _everybody(groups, mesh, device_ids)
    if positions is None:
        return None
    coordinates = np.array(np.unravel_index(positions, mesh.shape or (1,)))
    # Devices of one group differ only along axes that vary, and are all different: so when their number is that of
    # all coordinates along these axes, each group is the whole line (plane, ...).
    varies = (coordinates != coordinates[:, :, :1]).any(axis=(1, 2)).tolist()
    line = math.prod(size for size, moves in zip(mesh.shape, varies, strict=False) if moves)
    return _names(mesh, varies) if line == len(groups[0]) else None


def find_parts(groups: Groups, mesh: Mesh, device_ids: Sequence[int] | None = None) -> tuple[str, ...] | None:
    """The mesh axes, or parts of axes, the groups run along, in mesh order; None when they follow none.

    A part is written as Shardy does, "tp:(1)2": the devices along the axis before the part, and those of the part. An
    axis of 8 is (1)2, (2)2 and (4)2, outermost first; neighbouring parts are one. The answer for groups that follow
    full axes is that of `find_axes`.
    """
    axes = find_axes(groups, mesh, device_ids)
    positions = _everybody(groups, mesh, device_ids) if axes is None else None
    if positions is None:
        return axes
    coordinates = np.array(np.unravel_index(positions, mesh.shape or (1,)))
    # One group tells the parts; all groups have to follow them.
    home = coordinates[:, int(np.argmin(positions.min(axis=1)))]
    parts = [_digits(np.unique(own).tolist(), size) for own, size in zip(home, mesh.shape, strict=True)]
    if any(own is None for own in parts):
        return None
    chosen = [own or [] for own in parts]
    if math.prod(part for own in chosen for _, part in own) != positions.shape[1]:
        return None
    for at, own, size in zip(coordinates, chosen, mesh.shape, strict=True):
        fixed = at.copy()
        for before, part in own:
            inside = size // (before * part)
            fixed -= at // inside % part * inside
        if (fixed != fixed[:, :1]).any():
            return None
    return tuple(
        name if part == size else f"{name}:({before}){part}"
        for name, size, own in zip(mesh.axis_names, mesh.shape, chosen, strict=True)
        for before, part in own
    )


def _digits(places: list[int], size: int) -> list[tuple[int, int]] | None:
    """The parts (devices before, size) whose digits `places` along an axis run through; None when none do."""
    if not places or places[0]:
        return None
    digits, known, end, there = list[tuple[int, int]](), 1, 1, set(places)
    while known < len(places):
        # Sorted, the next place is the stride of the next part; its multiples are there as long as the part goes.
        stride = places[known]
        part = next(k for k in range(1, len(places) + 1) if k * stride not in there)
        # Parts must follow each other and fit into the axis, else the places are no digits of a number along it.
        if stride % end or size % (stride * part):
            return None
        digits.append((size // (stride * part), part))
        known, end = known * part, stride * part
    return digits[::-1] if known == len(places) else None


def _everybody(groups: Groups, mesh: Mesh, device_ids: Sequence[int] | None) -> np.ndarray | None:
    """Groups of one size as positions; None when they do not name every device of the mesh exactly once."""
    if not groups or not groups[0] or any(len(group) != len(groups[0]) for group in groups):
        return None
    positions = positions_of(np.array(groups), mesh, device_ids)
    if positions is None or len(np.unique(positions)) != positions.size or positions.size != mesh.size:
        return None
    return positions


def find_permute_axes(pairs: Groups, mesh: Mesh, device_ids: Sequence[int] | None = None) -> tuple[str, ...] | None:
    """The mesh axes along which a collective-permute moves data: those whose coordinate some pair changes.

    None when a device is not in the mesh. Pairs that send to themselves do not count.

    Args:
      pairs: (source, target) logical ids.
      mesh: the user's mesh.
      device_ids: the device each logical id stands for; None when ids are positions in `mesh`.
    """
    if not pairs:
        return ()
    positions = positions_of(np.array(pairs), mesh, device_ids)
    if positions is None:
        return None
    positions = positions[positions[:, 0] != positions[:, 1]]
    coordinates = np.array(np.unravel_index(positions, mesh.shape or (1,)))
    changes = (coordinates[:, :, 0] != coordinates[:, :, 1]).any(axis=1)
    return _names(mesh, changes.tolist())


def positions_of(ids: np.ndarray, mesh: Mesh, device_ids: Sequence[int] | None = None) -> np.ndarray | None:
    """The position in the mesh of each logical id; None when one of them has no device in it."""
    if device_ids is None:
        return ids if ((ids >= 0) & (ids < mesh.size)).all() else None
    table = _position_table(mesh, device_ids)
    if ((ids < 0) | (ids >= len(table))).any():
        return None
    positions = table[ids]
    return None if (positions < 0).any() else positions


def _position_table(mesh: Mesh, device_ids: Sequence[int]) -> np.ndarray:
    """For each logical id its position in the mesh, or -1."""
    if tuple(device_ids) == mesh.device_ids:
        return np.arange(mesh.size)
    place = {device: position for position, device in enumerate(mesh.device_ids)}
    return np.array([place.get(device, -1) for device in device_ids], np.int64)


def _names(mesh: Mesh, wanted: Sequence[bool]) -> tuple[str, ...]:
    return tuple(name for name, moves in zip(mesh.axis_names, wanted, strict=False) if moves)
