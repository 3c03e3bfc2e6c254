"""Replica groups and shardings, from HLO text to the messages XLA has for them.

Replica groups have three forms (lists, iota, mesh axes), shardings two (tiles, mesh axes). Every reader raises
`ValueError` for unknown text. Not its job: finding the devices (`parse.wire.replica_groups`).

*Source*: `xla/hlo/ir/replica_group.cc`, `mesh_and_axis.cc`, `hlo_sharding.cc`, `named_sharding.cc` in XLA.
"""

from __future__ import annotations

import re
from typing import Any

from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import find_close, inside, integers, split_commas, without_comments

_IOTA = re.compile(r"\[([\d,\s]*)\]\s*<=\s*\[([\d,\s]*)\]\s*(?:T\(([\d,\s]*)\))?")
_MESH = re.compile(r"(?:@?mesh)\s*[\[<]([^\[\]<>]*)[\]>]\s*")
_DEVICES = re.compile(r",\s*device_ids=\(")
_IOTA_DEVICES = re.compile(r"\[([\d,\s]*)\]\s*(?:T\(([\d,\s]*)\))?")
_ALONE = re.compile(r"(?:single_device|maximal_mesh)\[device_id=(\d{1,18})\]")
_AXIS = re.compile(r"['\"]?([^'\":]*)['\"]?(?::\((\d{1,18})\)(\d{1,18}))?")

_TYPES = {"replicated": 0, "maximal": 1, "tuple": 2, "other": 3, "manual": 4, "unknown": 5, "unreduced": 6}
"""*Source*: `xla.OpSharding.Type`."""

_MAX_DEPTH = 8


def read_replica_groups(text: str) -> Any:
    """An `HloInstructionProto` with nothing but the replica groups in `text`."""
    instruction = message_class("Instruction")()
    if text.startswith("{"):
        instruction.collective_device_list.SetInParent()
        for ids in integer_lists(text):
            instruction.collective_device_list.replica_groups.add(replica_ids=ids)
        return instruction
    iota = _IOTA.fullmatch(text)
    if iota is not None:
        groups = instruction.iota_collective_device_list
        groups.num_replica_groups, groups.num_devices_per_group = integers(iota[1])
        _add_iota(groups.iota_reshape_dims, groups.iota_transpose_perm, iota[2], iota[3])
        return instruction
    groups = instruction.mesh_axes_replica_group_list
    names, position = _read_mesh(groups.mesh, text)
    rest = text[position:].strip()
    if not rest.startswith("{") or find_close(rest, 0) != len(rest):
        raise ValueError("these are no mesh axes")
    _add_axes(groups.axes, rest, names)
    return instruction


def integer_lists(text: str) -> list[list[int]]:
    """The lists of a text such as `{{0,1},{2,3}}`."""
    content = inside(text, "{").strip()
    return [integers(inside(part, "{")) for part in split_commas(content)]


def _add_iota(reshape: Any, order: Any, reshape_text: str, order_text: str | None) -> None:
    """Appends the numbers of an iota; XLA omits the order of its dimensions when it is the identity."""
    lengths = integers(reshape_text)
    reshape.extend(lengths)
    order.extend(integers(order_text) if order_text else range(len(lengths)))


def _read_mesh(mesh: Any, text: str) -> tuple[dict[str, int], int]:
    """Fills `mesh`; gives the number of each axis by name, and the position after the mesh."""
    match = _MESH.match(text)
    if match is None:
        raise ValueError("this is no mesh")
    for axis in split_commas(match[1]):
        name, _, size = axis.rpartition("=")
        (length,) = integers(size)
        mesh.axes.add(name=name.strip("'\" "), size=length)
    position = match.end()
    devices = _DEVICES.match(text, position)
    if devices is not None:
        position = find_close(text, devices.end() - 1)
        listed = text[devices.end() : position - 1]
        if iota := _IOTA_DEVICES.fullmatch(listed.strip()):
            _add_iota(mesh.iota_transform.reshape_dims, mesh.iota_transform.transpose_perm, iota[1], iota[2])
        else:
            mesh.device_ids.extend(integers(listed))
    return {axis.name: number for number, axis in enumerate(mesh.axes)}, position


def _add_axes(target: Any, text: str, names: dict[str, int]) -> bool:
    """Appends the axes of `{'a', 'b':(2)4, ?}` to `target`; False if a `?` says that more may follow."""
    closed = True
    for part in split_commas(inside(text, "{")):
        if part == "?":
            closed = False
            continue
        axis = _AXIS.fullmatch(part)
        if axis is None or axis[1] not in names:
            raise ValueError("this is no axis of the mesh")
        added = target.add(mesh_axis_index=names[axis[1]])
        if axis[2]:
            added.sub_axis_info.pre_size, added.sub_axis_info.size = int(axis[2]), int(axis[3])
    return closed


def read_sharding(text: str, depth: int = 0) -> Any:
    """The `OpSharding` of a text such as `{devices=[2,4]<=[8] last_tile_dim_replicate}`."""
    # XLA numbers every fifth part of a tuple in a comment.
    content = inside(text if depth else without_comments(text), "{").strip()
    if depth > _MAX_DEPTH:
        raise ValueError("shardings are nested too deeply")
    if not content or content.startswith("{"):
        parts = [read_sharding(part, depth + 1) for part in split_commas(content)]
        return message_class("OpSharding")(type=_TYPES["tuple"], tuple_shardings=parts)
    if content.startswith(("mesh", "@mesh")):
        return _named_sharding(content)
    alone = _ALONE.fullmatch(content)
    if alone is not None:
        return message_class("OpSharding")(named_sharding={"mesh": {"device_ids": [int(alone[1])]}})
    return _tile_sharding(content)


_WORD = re.compile(
    r"\s*(?:(devices)=\[([\d,\s]*)\](?:\s*<=\s*\[([\d,\s]*)\]\s*(?:T\(([\d,\s]*)\))?|([\d,\s]*))"
    r"|(device)=(\d{1,18})|(last_tile_dims)=\{([\w,\s]*)\}|(shard_as|shard_like)\s+(\d{1,18})|(metadata=\{.*\})|(\w+))\s*"
)


def _tile_sharding(text: str) -> Any:
    sharding = message_class("OpSharding")(type=_TYPES["other"])
    position = 0
    while position < len(text):
        word = _WORD.match(text, position)
        if word is None:
            raise ValueError("this is no sharding")
        _read_word(sharding, word)
        position = word.end()
    return sharding


def _read_word(sharding: Any, word: re.Match[str]) -> None:
    if word[1]:
        sharding.tile_assignment_dimensions.extend(integers(word[2]))
        if word[3]:
            _add_iota(sharding.iota_reshape_dims, sharding.iota_transpose_perm, word[3], word[4])
        else:
            sharding.tile_assignment_devices.extend(integers(word[5]))
    elif word[6]:
        sharding.tile_assignment_devices.append(int(word[7]))
    elif word[8]:
        sharding.last_tile_dims.extend(_TYPES[name] for name in _known_types(word[9]))
    elif word[10]:
        sharding.is_shard_group = True
        sharding.shard_group_id = int(word[11])
        sharding.shard_group_type = 0 if word[10] == "shard_as" else 1
    elif word[13] == "last_tile_dim_replicate":
        sharding.replicate_on_last_tile_dim = True
    elif word[13]:
        (name,) = _known_types(word[13])
        sharding.type = _TYPES[name]


def _known_types(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(name in _TYPES for name in names):
        raise ValueError("this is no kind of sharding")
    return names


def _named_sharding(text: str) -> Any:
    whole = message_class("OpSharding")(type=_TYPES["other"])
    sharding = whole.named_sharding
    sharding.mesh.SetInParent()
    names, position = _read_mesh(sharding.mesh, text)
    for part in split_commas(text, position):
        if part.startswith("["):
            for dimension in split_commas(inside(part, "[")):
                added = sharding.dim_shardings.add()
                added.is_closed = _add_axes(added.axes, dimension, names)
        elif part == "manual":
            for number in range(len(names)):
                sharding.manual_axes.add(mesh_axis_index=number)
        elif part and part != "replicated":
            key, _, value = part.partition("=")
            if key not in ("replicated", "unreduced", "manual") or not value:
                raise ValueError("this is no sharding")
            _add_axes(getattr(sharding, f"{key}_axes"), value, names)
    return whole
