"""Inputs, outputs, mesh and devices of a program that was read from a file of HLO, as far as its parameters say them.

XLA keeps the sharding of each parameter, and JAX its path in the metadata. Axes that have no names there are called
`axis_0`, `axis_1`, ... and are devices 0, 1, ... in order. Not its job: reading HLO (`parse`), axes that the user names
(`handles.given_mesh`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.mesh import Device, Mesh
from pjit_inspect.parse.sharding.hlo_sharding import Tiling, find_spec, read_tilings
from pjit_inspect.parse.wire.hlo_schema import message_class

_MOST_DEVICES = 1 << 14
_MOST_ARRAYS = 100_000
_NO_RESULTS = "HLO does not say how results are sharded"
_NO_PARAMETERS = "HLO does not say how its parameters are sharded"
_NO_MESH = "the shardings of its parameters follow no common mesh"
_TUPLE = 2
_LONG = (("bf", "bfloat"), ("s", "int"), ("u", "uint"), ("f", "float"), ("c", "complex"))


def with_hlo_layouts(data: RecordData, module: HloModule, mesh: Mesh | None = None) -> RecordData:
    """The record with what the parameters and the results of its entry computation say of shardings.

    `mesh` is what the user gave the program; without one it is found from the shardings. What is not said is missing.
    """
    entry = module.computation(module.entry)
    parameters = sorted((module.instruction(i) for i in entry.parameters.tolist()), key=lambda one: one.number)
    if len(parameters) > _MOST_ARRAYS:
        return data
    known = [(one, _sharding_of(one)) for one in parameters]
    result = _sharding_of(entry.root)
    written = [sharding for _, sharding in (*known, (None, result)) if sharding is not None]
    devices = _devices(module, written)
    if devices is None or data.devices:
        return data
    found = mesh or _mesh(written, devices)
    reader = _Reader(found, devices, is_local=_is_partitioned(module))
    inputs = _rows(reader, ((_path(one), one.shape, sharding) for one, sharding in known))
    outputs = _rows(reader, [("result", entry.root.shape, result)])
    missing = {key: why for key, why in data.missing.items() if key not in ("inputs", "outputs", "mesh")}
    missing |= {} if inputs else {"inputs": _NO_PARAMETERS}
    missing |= {} if outputs else {"outputs": _NO_RESULTS}
    missing |= {"mesh": _NO_MESH if written else _NO_PARAMETERS} if found is None else {}
    return replace(
        data,
        inputs=inputs,
        outputs=outputs,
        mesh=found,
        meshes=(found,) if found else (),
        devices=tuple(Device(id=number, platform="", kind="") for number in range(devices)),
        missing=missing,
    )


def _devices(module: HloModule, shardings: Sequence[Any]) -> int | None:
    """How many devices the program has: as it says, or else as many as its shardings have tiles; None if unknown."""
    if module.device_counts is not None:
        found = {math.prod(module.device_counts)}
    else:
        tiles = [part.tile_assignment_dimensions for part in _parts(shardings)]
        found = {math.prod(sizes) for sizes in tiles if len(sizes)}
    devices = found.pop() if len(found) == 1 else 0
    return devices if 1 <= devices <= _MOST_DEVICES else None


def _parts(shardings: Sequence[Any]) -> list[Any]:
    """The shardings of single arrays."""
    return [part for sharding in shardings for part in (sharding.tuple_shardings or (sharding,))]


def _sharding_of(instruction: Instruction) -> Any:
    """The sharding an instruction has as a message; None where it has none, or one that cannot be read."""
    written = instruction.details.sharding
    return None if written is None else message_class("OpSharding").FromString(_bytes_of(written))


def _bytes_of(written: Any) -> bytes:
    from google.protobuf import text_format

    if isinstance(written, bytes):
        return written
    return text_format.Parse(written, message_class("OpSharding")()).SerializeToString()


def _is_partitioned(module: HloModule) -> bool:
    """Whether shapes are those of one device: a program that XLA has scheduled is behind its partitioner."""
    return module.is_scheduled or any(module.with_opcode(kind).size for kind in ("all-reduce", "all-gather"))


def _path(parameter: Instruction) -> str:
    """What the user calls a parameter: JAX writes its path as the name of the operation."""
    return parameter.op_name if parameter.op_name and "/" not in parameter.op_name else parameter.name


# ---------------------------------------------------------------- the mesh


def _mesh(shardings: Sequence[Any], devices: int) -> Mesh | None:
    """The mesh with names that the shardings have, or the coarsest one that all of them are tiles of."""
    parts = _parts(shardings)
    for part in parts:
        if part.HasField("named_sharding") and part.named_sharding.mesh.axes:
            axes = part.named_sharding.mesh.axes
            sizes = tuple(axis.size for axis in axes)
            names = tuple(axis.name or f"axis_{number}" for number, axis in enumerate(axes))
            if math.prod(sizes) == devices and len(set(names)) == len(names) and min(sizes) > 0:
                return Mesh(axis_names=names, shape=sizes, device_ids=tuple(range(devices)))
    strides = {1, devices}
    for part in parts:
        if len(part.tile_assignment_dimensions) and (len(part.iota_reshape_dims) or part.tile_assignment_devices):
            strides |= _strides(part.iota_reshape_dims or part.tile_assignment_dimensions)
            if len(part.iota_reshape_dims) == 1:
                strides |= _strides(part.tile_assignment_dimensions)
    ordered = sorted(strides, reverse=True)
    sizes = [large // small for large, small in itertools.pairwise(ordered) if not large % small]
    if devices < 2 or len(sizes) != len(ordered) - 1 or not any(len(p.tile_assignment_dimensions) for p in parts):
        return None
    names = tuple(f"axis_{number}" for number in range(len(sizes)))
    return Mesh(axis_names=names, shape=tuple(sizes), device_ids=tuple(range(devices)))


def _strides(dimensions: Iterable[int]) -> set[int]:
    """How many devices lie between two neighbours along each dimension."""
    sizes = [size for size in dimensions if size > 0]
    return {math.prod(sizes[number:]) for number in range(len(sizes) + 1)}


# ---------------------------------------------------------------- arrays


class _Reader:
    """Makes layouts; shardings that are equal are one."""

    def __init__(self, mesh: Mesh | None, devices: int, *, is_local: bool) -> None:
        self._mesh, self._devices, self._is_local = mesh, devices, is_local
        self._known: dict[tuple[bytes, int], Sharding | None] = {}

    def layouts(self, path: str, shape: Shape, sharding: Any) -> list[ArrayLayout] | None:
        """The arrays of a parameter or a result; None where it is not known how one of them lies."""
        leaves = [leaf for leaf in shape.leaves if leaf.is_array]
        parts = [sharding] * len(leaves)
        if sharding.type == _TUPLE and not sharding.HasField("named_sharding"):
            parts = list(sharding.tuple_shardings)
        if len(parts) != len(leaves):
            return None
        is_one = len(leaves) == 1
        made = [
            self._layout(path if is_one else f"{path}[{number}]", leaf, part)
            for number, (leaf, part) in enumerate(zip(leaves, parts, strict=True))
        ]
        return None if any(one is None for one in made) else [one for one in made if one is not None]

    def _layout(self, path: str, shape: Shape, part: Any) -> ArrayLayout | None:
        key = part.SerializeToString(), len(shape.dimensions)
        if key not in self._known:
            self._known[key] = self._sharding(part, len(shape.dimensions))
        sharding = self._known[key]
        if sharding is None:
            return None
        lengths = tuple(shape.dimensions)
        if self._is_local:
            lengths = tuple(length * tiles for length, tiles in zip(lengths, sharding.tiles, strict=True))
        return ArrayLayout(path=path, dtype=_dtype(shape.dtype), global_shape=lengths, sharding=sharding)

    def _sharding(self, part: Any, rank: int) -> Sharding | None:
        try:
            (tiling,) = read_tilings(part, self._devices)
        except (ParseError, ValueError):
            return None
        if tiling.is_manual or len(tiling.counts) > rank:
            return None
        counts = (*tiling.counts, *([1] * (rank - len(tiling.counts))))
        found = None if self._mesh is None else find_spec(tiling, rank, self._mesh)
        ids = tuple(range(self._devices)) if tiling.device is None else (tiling.device,)
        return Sharding(
            spec=None if found is None else tuple(found.dimensions),
            tiles=counts,
            device_ids=ids,
            tile_of=_tile_of(tiling, counts, len(ids)),
        )


def _tile_of(tiling: Tiling, counts: Sequence[int], devices: int) -> tuple[int, ...]:
    if tiling.tiles is None or tiling.device is not None:
        return (0,) * devices
    tiles = [0] * devices
    for row, count in zip(tiling.tiles.tolist(), counts, strict=False):
        tiles = [tile * count + along for tile, along in zip(tiles, row, strict=True)]
    return tuple(tiles)


def _rows(reader: _Reader, arrays: Iterable[tuple[str, Shape, Any]]) -> tuple[ArrayLayout, ...]:
    """The layouts of all arrays; () where one is not known."""
    rows: list[ArrayLayout] = []
    for path, shape, sharding in arrays:
        found = None if sharding is None else reader.layouts(path, shape, sharding)
        if found is None:
            return ()
        rows += found
    return tuple(rows)


def _dtype(name: str) -> str:
    """JAX's name of an element type: "f32" -> "float32"."""
    if name == "pred":
        return "bool"
    for short, long in _LONG:
        rest = name.removeprefix(short)
        if rest != name and rest[:1].isdigit():
            return long + (rest if "e" not in rest else re.sub(r"(?<=\d)(?=e)", "_", rest, count=1))
    return name
