"""Inputs, outputs, mesh and devices of a program that was read from a file, as far as it says them itself.

XLA keeps the sharding of each parameter, and JAX its path in the metadata; StableHLO has them at its function `main`.
Axes that have no names there are called `axis_0`, `axis_1`, ... and are devices 0, 1, ... in order. Not its job:
reading HLO (`parse`) and StableHLO (`observe.shardy`), axes that the user names (`handles.hlo_layouts`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.layout import WRITTEN, ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.shardy.shardy_attributes import read_tensor
from pjit_inspect.parse.hlo_text.groups import read_sharding
from pjit_inspect.parse.sharding.hlo_sharding import Tiling, find_spec, read_tilings
from pjit_inspect.parse.wire.clean import clean_line
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import unquote

_MOST_DEVICES = 1 << 14
_MOST_ARRAYS = 100_000
_NO_RESULTS = "HLO does not say how results are sharded"
_NO_PARAMETERS = "HLO does not say how its parameters are sharded"
_NO_MESH = "the shardings of its parameters follow no common mesh"
_NAMED = 6
_TUPLE = 2
_SHARDY = re.compile(r"#sdy\.sharding<(?:@\"?([^\",]+)\"?|mesh(<.*?>)), (.*)>", flags=re.S)
_SHARDY_MESH = re.compile(r".*?<\[(.*?)\](?:, device_ids=\[(.*?)\])?>", flags=re.S)
_PRIORITY = re.compile(r"\}p\d+")
_Border = tuple[str, Shape, Any]
"""An argument or a result: its path, its shape, and its sharding as a message, None where it has none."""
_LONG = (("bf", "bfloat"), ("s", "int"), ("u", "uint"), ("f", "float"), ("c", "complex"))


def with_hlo_layouts(data: RecordData, module: HloModule, mesh: Mesh | None = None) -> RecordData:
    """The record with the shardings of the parameters and results of its entry computation.

    `mesh` is the user's mesh for the program; without one it is derived from the shardings. Unstated facts are missing.
    """
    entry = module.computation(module.entry)
    parameters = sorted((module.instruction(i) for i in entry.parameters.tolist()), key=lambda one: one.number)
    if len(parameters) > _MOST_ARRAYS:
        return data
    known = [(one, _sharding_of(module, one)) for one in parameters]
    result = _sharding_of(module, entry.root)
    written = [sharding for _, sharding in (*known, (None, result)) if sharding is not None]
    devices = _devices(module, written)
    borders = [(_path(one), one.shape, sharding) for one, sharding in known], [("result", entry.root.shape, result)]
    return _with_borders(data, borders, devices, mesh, is_local=_is_partitioned(module))


def with_stablehlo_layouts(data: RecordData, mesh: Mesh | None = None) -> RecordData:
    """The record of StableHLO with the shardings of its function `main`, which jaxlib reads in a separate process.

    A record of text also gets the bytecode, needed to ask XLA's partitioner.
    """
    from pjit_inspect.observe.shardy.mlir_process import read_borders_apart

    blob = data.stablehlo
    program = blob.read() if blob is not None else (data.stablehlo_text or "").encode()
    try:
        said, bytecode = read_borders_apart(program, is_bytecode=blob is not None)
    except CaptureError as error:
        why = f"jaxlib did not read the StableHLO: {error}"
        return replace(data, missing=data.missing | dict.fromkeys(("inputs", "outputs", "mesh", "stablehlo"), why))
    data = replace(data, stablehlo=Blob(bytecode))
    arguments, results = (
        [
            (clean_line(name) or f"{what}{number}", _tensor(type_text), _written_sharding(sharding, said["meshes"]))
            for number, (name, type_text, sharding) in enumerate(said[key])
        ]
        for key, what in (("arguments", "arg"), ("results", "result"))
    )
    devices = said["partitions"] if said["partitions"] <= _MOST_DEVICES else None
    return _with_borders(data, (arguments, results), devices, mesh, is_local=False)


def _tensor(text: str) -> Shape:
    """The shape of an MLIR type; a shape without elements if it is no array."""
    read = read_tensor(text)
    return Shape(dtype="opaque") if read is None else Shape(dtype=read[0], dimensions=read[1])


def _written_sharding(text: str, meshes: Mapping[str, str]) -> Any:
    """A sharding of Shardy's or of GSPMD's as `xla.OpSharding`; None where there is none, or it is not understood.

    XLA writes Shardy's nearly as MLIR does, with the mesh in it: `{mesh['x'=2], [{'x'}, {}]}`.
    """
    shardy = _SHARDY.fullmatch(text)
    try:
        if shardy is None:
            return read_sharding(unquote(text).decode()) if text else None
        mesh = _SHARDY_MESH.fullmatch(shardy[2] or meshes.get(shardy[1], ""))
        if mesh is None:
            return None
        if not mesh[1]:
            return read_sharding(f"{{maximal_mesh[device_id={mesh[2]}]}}")
        devices = f", device_ids=({mesh[2]})" if mesh[2] else ""
        return read_sharding(f"{{mesh[{mesh[1]}]{devices}, {_PRIORITY.sub('}', shardy[3])}}}")
    except ValueError:
        return None


def _with_borders(
    data: RecordData,
    borders: tuple[Sequence[_Border], Sequence[_Border]],
    devices: int | None,
    mesh: Mesh | None,
    *,
    is_local: bool,
) -> RecordData:
    """The record with these arguments and results; `is_local` says whether shapes are those on one device."""
    if devices is None or data.devices:
        return data
    written = [sharding for rows in borders for _, _, sharding in rows if sharding is not None]
    found = mesh or _mesh(written, devices)
    reader = _LayoutReader(found, devices, is_local=is_local)
    inputs, outputs = (_rows(reader, rows) for rows in borders)
    missing = {key: why for key, why in data.missing.items() if key not in ("inputs", "outputs", "mesh")}
    missing |= {} if inputs or not borders[0] else {"inputs": _why(_NO_PARAMETERS, borders[0])}
    missing |= {} if outputs or not borders[1] else {"outputs": _why(_NO_RESULTS, borders[1])}
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


def _why(reason: str, rows: Sequence[_Border]) -> str:
    """The reason, and the shapes each device has of the arrays, which are known in any case."""
    held = [f"{name} {leaf}" for path, shape, _ in rows for name, leaf in _named(path, shape)]
    words = ", ".join(held[:_NAMED]) + (", ..." if len(held) > _NAMED else "")
    return f"{reason}; each device has {words}" if held else reason


def _named(path: str, shape: Shape) -> list[tuple[str, Shape]]:
    """The arrays of a parameter or a result; arrays of a tuple are numbered."""
    leaves = [leaf for leaf in shape.leaves if leaf.is_array]
    return [(path if len(leaves) == 1 else f"{path}[{number}]", leaf) for number, leaf in enumerate(leaves)]


def _devices(module: HloModule, shardings: Sequence[Any]) -> int | None:
    """The number of the program's devices: as stated, or else the number of tiles of its shardings; None if unknown."""
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


def _sharding_of(module: HloModule, instruction: Instruction) -> Any:
    """The sharding an instruction has as a message; None where it has none."""
    message = message_class("Instruction").FromString(module.reader.raw(instruction.index))
    return message.sharding if message.HasField("sharding") else None


def _is_partitioned(module: HloModule) -> bool:
    """True if shapes are those on one device: XLA schedules a program only after partitioning."""
    return module.is_scheduled or any(module.with_opcode(kind).size for kind in ("all-reduce", "all-gather"))


def _path(parameter: Instruction) -> str:
    """The user's name of a parameter: JAX writes its path as the name of the operation."""
    return parameter.op_name if parameter.op_name and "/" not in parameter.op_name else parameter.name


# ---------------------------------------------------------------- the mesh


def _mesh(shardings: Sequence[Any], devices: int) -> Mesh | None:
    """The named mesh of the shardings, or the coarsest mesh of which all shardings are tiles."""
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
    """The number of devices between two neighbours along each dimension."""
    sizes = [size for size in dimensions if size > 0]
    return {math.prod(sizes[number:]) for number in range(len(sizes) + 1)}


# ---------------------------------------------------------------- arrays


class _LayoutReader:
    """Makes layouts; shardings that are equal are one."""

    def __init__(self, mesh: Mesh | None, devices: int, *, is_local: bool) -> None:
        self._mesh, self._devices, self._is_local = mesh, devices, is_local
        self._known: dict[tuple[bytes, int], Sharding | None] = {}

    def layouts(self, path: str, shape: Shape, sharding: Any) -> list[ArrayLayout] | None:
        """The arrays of a parameter or a result; None if the layout of one is unknown."""
        leaves = _named(path, shape)
        if sharding is None and self._devices == 1:
            sharding = message_class("OpSharding")()
        parts = [sharding] * len(leaves)
        if sharding is not None and sharding.type == _TUPLE and not sharding.HasField("named_sharding"):
            parts = list(sharding.tuple_shardings)
        if len(parts) != len(leaves):
            return None
        made = [self._layout(name, leaf, part) for (name, leaf), part in zip(leaves, parts, strict=True)]
        return None if any(one is None for one in made) else [one for one in made if one is not None]

    def _layout(self, path: str, shape: Shape, part: Any) -> ArrayLayout | None:
        sharding = None
        if part is not None:
            key = part.SerializeToString(), len(shape.dimensions)
            if key not in self._known:
                self._known[key] = self._sharding(part, len(shape.dimensions))
            sharding = self._known[key]
        lengths = tuple(shape.dimensions)
        if self._is_local:
            if sharding is None:
                # Then nobody knows how long the whole array is.
                return None
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
            kind=WRITTEN,
        )


def _tile_of(tiling: Tiling, counts: Sequence[int], devices: int) -> tuple[int, ...]:
    if tiling.tiles is None or tiling.device is not None:
        return (0,) * devices
    tiles = [0] * devices
    for row, count in zip(tiling.tiles.tolist(), counts, strict=False):
        tiles = [tile * count + along for tile, along in zip(tiles, row, strict=True)]
    return tuple(tiles)


def _rows(reader: _LayoutReader, arrays: Iterable[tuple[str, Shape, Any]]) -> tuple[ArrayLayout, ...]:
    """The layouts of all arrays; () where one is not known."""
    rows: list[ArrayLayout] = []
    for path, shape, sharding in arrays:
        found = reader.layouts(path, shape, sharding)
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


_MOST_DEVICES = 1 << 20


def given_mesh(axes: Mapping[str, int]) -> Mesh:
    """A mesh of these axes, outermost first, over devices 0, 1, ... in order.

    Raises ValueError for an invalid mesh.
    """
    for name, size in axes.items():
        if not isinstance(name, str) or not name or isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(
                f"a mesh is axis names with sizes, as in {{'data': 2, 'model': 4}}, not {name!r}: {size!r}"
            )
    size = math.prod(axes.values())
    if not axes or size > _MOST_DEVICES:
        raise ValueError(f"a mesh of {len(axes)} axes and {size:,} devices cannot be named")
    return Mesh(axis_names=tuple(axes), shape=tuple(axes.values()), device_ids=tuple(range(size)))


def with_mesh(data: RecordData, module: HloModule | None, mesh: Mesh) -> RecordData:
    """The record with these axes. Raises ValueError if it has another mesh, or is for other devices."""
    if data.mesh is not None:
        raise ValueError(f"{data.name} has a mesh of its own, {data.mesh}; only programs without one can be given axes")
    counts = None if module is None else module.device_counts
    devices = None if counts is None else math.prod(counts)
    if devices is not None and devices != mesh.size:
        raise ValueError(f"{data.name} is for {devices:,} devices, and {mesh} is {mesh.size:,}")
    missing = {field: why for field, why in data.missing.items() if field != "mesh"}
    return replace(data, mesh=mesh, meshes=(mesh,), missing=missing)
