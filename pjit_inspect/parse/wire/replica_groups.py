"""Replica groups: all of XLA's forms, converted to one, and printed as XLA does.

The normal form is a tuple of groups, each a tuple of ids; () means that all devices form one group.
`parse.hlo_proto.hlo` keeps what an id counts (replicas, partitions, or both flattened), and
`analyze.program.device_groups` applies it. Not its job: reading HLO text (`parse.hlo_text.groups`).

*Source*: `xla/hlo/ir/replica_group.h`, `xla/hlo/ir/mesh_and_axis.h` and their `.cc`, `xla/xla_data.proto`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.hlo_schema import is_whole, message_class, text

Groups = tuple[tuple[int, ...], ...]

MAX_DEVICES = 1 << 17
"""More devices than any program has; a larger number is damage, and must not allocate memory."""


_MAX_RANK = 32
"""The most dimensions of a device array: every version of NumPy can reshape these."""

_FORMS = (
    "mesh_axes_replica_group_list",
    "iota_collective_device_list",
    "collective_device_list",
    "replica_groups",
)
"""Fields with groups; a compact one wins over an empty older one beside it."""


def parse_optional_replica_groups(instruction: Any) -> Groups | None:
    """The groups of one decoded `HloInstructionProto` in normal form.

    None if it has none, or has an unknown form: the instruction's unknown fields then show it. Raises `ParseError` for
    a contradictory form.
    """
    form = group_form(instruction)
    if form is None:
        return None
    message = getattr(instruction, form)
    return _explicit(message) if form == "replica_groups" else _expanded(form, message.SerializeToString())


@lru_cache(maxsize=16)
def _expanded(form: str, content: bytes) -> Groups | None:
    """The groups of a message in field `form`. Cached: most collectives of a program share a few groups."""
    message = message_class("Instruction").DESCRIPTOR.fields_by_name[form].message_type.name
    groups = message_class(message).FromString(content)
    if not is_whole(groups):
        return None
    if form == "mesh_axes_replica_group_list":
        return _from_mesh_axes(groups)
    if form == "iota_collective_device_list":
        return _from_iota(groups)
    # JAX 0.8 has the iota form here.
    iota = groups.iota_replica_group_list
    return _from_iota(iota) if groups.HasField("iota_replica_group_list") else _explicit(groups.replica_groups)


def group_form(instruction: Any) -> str | None:
    """The name of the field with the groups of a decoded `HloInstructionProto`; None without groups."""
    present = {field.name for field, _ in instruction.ListFields()}
    return next((form for form in _FORMS if form in present), None)


def _explicit(groups: Any) -> Groups:
    return tuple(tuple(group.replica_ids) for group in groups)


def _from_iota(message: Any) -> Groups:
    """`IotaReplicaGroupListProto`: `[2,4]<=[4,2]T(1,0)`."""
    return expand_iota(
        (message.num_replica_groups, message.num_devices_per_group),
        tuple(message.iota_reshape_dims),
        tuple(message.iota_transpose_perm),
    )


def expand_iota(shape: tuple[int, int], reshape: Sequence[int], transpose: Sequence[int] = ()) -> Groups:
    """Groups written as an iota: 0, 1, 2, ... reshaped, transposed, and cut into `shape` (groups, devices each).

    `expand_iota((2, 4), (4, 2), (1, 0))` is `((0, 2, 4, 6), (1, 3, 5, 7))`.
    """
    shown = ", ".join(map(str, shape)) if max(map(abs, shape)) <= MAX_DEVICES else "too large to be"
    reshape = tuple(reshape) or (math.prod(shape),)
    ids = _iota(reshape, transpose)
    if min(shape) < 0 or math.prod(shape) != ids.size:
        raise ParseError(f"replica groups of shape ({shown}) do not fit {ids.size} devices")
    return _tuples(ids.reshape(shape))


def _iota(reshape: Sequence[int], transpose: Sequence[int]) -> np.ndarray:
    # The rank first: multiplying a million large numbers takes minutes.
    if len(reshape) > _MAX_RANK:
        raise ParseError(f"devices have {len(reshape)} dimensions", expected=f"at most {_MAX_RANK}")
    if any(n < 1 for n in reshape) or math.prod(reshape) > MAX_DEVICES:
        raise ParseError("these device dimensions are not possible", expected=f"1 to {MAX_DEVICES} devices")
    if transpose and (len(transpose) != len(reshape) or sorted(transpose) != list(range(len(reshape)))):
        raise ParseError(f"a transpose is no permutation of {len(reshape)} dimensions")
    ids = np.arange(math.prod(reshape)).reshape(tuple(reshape))
    return ids.transpose(tuple(transpose)) if transpose else ids


def _from_mesh_axes(message: Any) -> Groups:
    """`MeshAxesReplicaGroupListProto`: `mesh['a'=2,'b'=4] {'b'}`, with parts of axes `'b':(2)2`."""
    mesh = message.mesh
    sizes = tuple(axis.size for axis in mesh.axes)
    axes = []
    for axis in message.axes:
        if not 0 <= axis.mesh_axis_index < len(sizes):
            raise ParseError(f"replica groups name axis {axis.mesh_axis_index} of a mesh with {len(sizes)}")
        part = axis.sub_axis_info
        sub = (part.pre_size, part.size) if axis.HasField("sub_axis_info") else (1, sizes[axis.mesh_axis_index])
        axes.append((axis.mesh_axis_index, *sub))
    return expand_mesh_axes(sizes, axes, _mesh_devices(mesh, sizes))


def _mesh_devices(mesh: Any, sizes: tuple[int, ...]) -> np.ndarray:
    """The devices of a `MeshProto` in row-major order: listed, an iota, or 0, 1, 2, ..."""
    if len(mesh.device_ids):
        return np.array(mesh.device_ids, np.int64)
    transform = mesh.iota_transform
    if len(transform.reshape_dims):
        return _iota(tuple(transform.reshape_dims), tuple(transform.transpose_perm)).reshape(-1)
    return _iota(sizes or (1,), ()).reshape(-1)


def expand_mesh_axes(
    sizes: Sequence[int], axes: Sequence[tuple[int, int, int]], devices: np.ndarray | None = None
) -> Groups:
    """Groups written as mesh axes.

    Each axis is (its number in the mesh, pre-size, size): with pre-size 1 and the axis's full size the whole axis,
    else the part of it that is left when the axis is cut into (pre-size, size, rest), outermost first. Devices of a
    group are in row-major order over `axes` as given.
    """
    # Before any multiplication or comparison: every axis takes at least one dimension.
    for count, what in ((len(sizes), "has"), (len(axes), "is cut into")):
        if count > _MAX_RANK:
            raise ParseError(f"the mesh of the replica groups {what} {count} axes", expected=f"at most {_MAX_RANK}")
    devices = _iota(tuple(sizes) or (1,), ()).reshape(-1) if devices is None else devices
    if any(size < 1 for size in sizes) or math.prod(sizes) != len(devices):
        raise ParseError(f"{len(devices)} devices do not fill the mesh of the replica groups")
    dims: list[int] = []
    place: dict[int, int] = {}
    for number, size in enumerate(sizes):
        wanted = sorted((pre, part, k) for k, (axis, pre, part) in enumerate(axes) if axis == number)
        for part, k in _cut(size, wanted):
            if k is not None:
                place[k] = len(dims)
            dims.append(part)
    inner = [place[k] for k in range(len(axes))]
    outer = sorted(set(range(len(dims))) - set(inner))
    if len(dims) > _MAX_RANK:
        raise ParseError(f"replica groups cut a mesh into {len(dims)} axes", expected=f"at most {_MAX_RANK}")
    count = math.prod(dims[k] for k in inner)
    return _tuples(devices.reshape(dims or (1,)).transpose([*outer, *inner] or [0]).reshape(-1, count))


def _cut(size: int, wanted: list[tuple[int, int, int]]) -> list[tuple[int, int | None]]:
    """One axis cut into consecutive parts: (length, number of the wanted part, or None for a gap)."""
    parts: list[tuple[int, int | None]] = []
    done = 1
    for pre, part, k in wanted:
        if pre < 1 or part < 1 or pre % done or size % (pre * part):
            raise ParseError(f"an axis of size {size} has no part of size {part} after {pre}")
        if pre > done:
            parts.append((pre // done, None))
        parts.append((part, k))
        done = pre * part
    if size > done or not parts:
        parts.append((size // done, None))
    return parts


def _tuples(ids: np.ndarray) -> Groups:
    return tuple(map(tuple, ids.tolist()))


def print_replica_groups(instruction: Any) -> str:
    """The groups of one decoded `HloInstructionProto`, as XLA prints them: `[2,4]<=[8]`.

    "" if it has none, or has an unknown form.
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
        return f"{_mesh_text(message.mesh)} {{{','.join(_axis(axis, message.mesh) for axis in message.axes)}}}"
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
    return f"[{_joined(shape)}]<={_iota_text(dims, message.iota_transpose_perm)}"


def _iota_text(dims: Sequence[int], order: Sequence[int]) -> str:
    return f"[{_joined(dims)}]" + (f"T({_joined(order or range(len(dims)))})" if len(dims) > 1 else "")


def _mesh_text(mesh: Any) -> str:
    axes = ",".join(f"'{text(axis.name)}'={axis.size}" for axis in mesh.axes)
    return f"mesh[{axes}]{_devices(mesh)}"


def _devices(mesh: Any) -> str:
    """The order of a mesh's devices; "" for 0, 1, 2, ..."""
    if len(mesh.device_ids):
        return f", device_ids=({_joined(mesh.device_ids)})"
    transform = mesh.iota_transform
    if len(transform.reshape_dims) < 2:
        return ""
    return f", device_ids=({_iota_text(transform.reshape_dims, transform.transpose_perm)})"


def _axis(axis: Any, mesh: Any) -> str:
    number = axis.mesh_axis_index
    name = text(mesh.axes[number].name) if 0 <= number < len(mesh.axes) else f"axis {number}"
    part = axis.sub_axis_info
    return f"'{name}'" + (f":({part.pre_size}){part.size}" if axis.HasField("sub_axis_info") else "")
