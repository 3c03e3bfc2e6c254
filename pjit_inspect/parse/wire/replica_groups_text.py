"""Replica groups as XLA writes them in HLO text, for each form a program has them in.

Not its job: which devices are meant (`parse.wire.replica_groups`), nor reading such text (`parse.hlo_text.groups`).

*Source*: `xla/hlo/ir/replica_group.cc`, `xla/hlo/ir/mesh_and_axis.cc`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pjit_inspect.parse.wire.hlo_schema import is_whole, text
from pjit_inspect.parse.wire.replica_groups import group_form

__all__ = ["print_groups", "print_replica_groups"]


def print_replica_groups(instruction: Any) -> str:
    """The groups of one decoded `HloInstructionProto`, as XLA prints them: `[2,4]<=[8]`.

    "" when it has none, or has them in a form that this package does not know.
    """
    form = group_form(instruction)
    if form is None:
        return ""
    message = getattr(instruction, form)
    if form == "replica_groups":
        return print_groups(group.replica_ids for group in message)
    if not is_whole(message):
        return ""
    if form == "mesh_axes_replica_group_list":
        return f"{_mesh(message.mesh)} {{{','.join(_axis(axis, message.mesh) for axis in message.axes)}}}"
    if form == "iota_collective_device_list":
        return _iota_list(message)
    if message.HasField("iota_replica_group_list"):
        return _iota_list(message.iota_replica_group_list)
    return print_groups(group.replica_ids for group in message.replica_groups)


def print_groups(groups: Iterable[Sequence[int]]) -> str:
    """Groups in normal form, one by one: `{{0,1},{2,3}}`. Also (source, target) pairs."""
    return f"{{{','.join(f'{{{_joined(group)}}}' for group in groups)}}}"


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _iota_list(message: Any) -> str:
    shape = message.num_replica_groups, message.num_devices_per_group
    dims = message.iota_reshape_dims or [shape[0] * shape[1]]
    return f"[{_joined(shape)}]<={_iota(dims, message.iota_transpose_perm)}"


def _iota(dims: Sequence[int], order: Sequence[int]) -> str:
    return f"[{_joined(dims)}]" + (f"T({_joined(order or range(len(dims)))})" if len(dims) > 1 else "")


def _mesh(mesh: Any) -> str:
    axes = ",".join(f"'{text(axis.name)}'={axis.size}" for axis in mesh.axes)
    return f"mesh[{axes}]{_devices(mesh)}"


def _devices(mesh: Any) -> str:
    """The order of a mesh's devices; "" when they are 0, 1, 2, ..."""
    if len(mesh.device_ids):
        return f", device_ids=({_joined(mesh.device_ids)})"
    transform = mesh.iota_transform
    if len(transform.reshape_dims) < 2:
        return ""
    return f", device_ids=({_iota(transform.reshape_dims, transform.transpose_perm)})"


def _axis(axis: Any, mesh: Any) -> str:
    number = axis.mesh_axis_index
    name = text(mesh.axes[number].name) if 0 <= number < len(mesh.axes) else f"axis {number}"
    part = axis.sub_axis_info
    return f"'{name}'" + (f":({part.pre_size}){part.size}" if axis.HasField("sub_axis_info") else "")
