"""Counts the bytes of arguments and results on each device, from shapes and shardings, and finds shared buffers.

Not its job: temporaries, which XLA counts (`RecordData.memory`), or which arguments were donated (`observe` knows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pjit_inspect.analyze.program.loops import number_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout, Sharding, layout_text
from pjit_inspect.model.program.shape import Shape, bits_of
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import DeviceMemory, MemoryPart

_LARGEST = 3
_HOST_SPACE, _HOST_KIND = 5, "pinned_host"
"""XLA's number of the host's memory, and JAX's word for it."""


def find_device_memory(data: RecordData) -> DeviceMemory:
    """The bytes of a program's arguments and results on each device."""
    return _Counter(data).counted(data)


class _Counter:
    def __init__(self, data: RecordData) -> None:
        self._devices = _devices(data)
        self._place = {device: place for place, device in enumerate(self._devices)}
        self._places: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._unknown = self._elsewhere = 0

    def counted(self, data: RecordData) -> DeviceMemory:
        outputs = [layout for layout in data.outputs if layout.aliases is None]
        return DeviceMemory(
            devices=self._devices,
            arguments=self._part(data.parameters),
            outputs=self._part(outputs),
            reused=len(data.outputs) - len(outputs),
            unknown=self._unknown,
            elsewhere=self._elsewhere,
        )

    def _part(self, layouts: Sequence[ArrayLayout]) -> MemoryPart:
        sized = sorted(((layout.path, layout.bytes_per_device or 0) for layout in layouts), key=lambda pair: -pair[1])
        return MemoryPart(bytes=self._sum(layouts), largest=tuple(pair for pair in sized[:_LARGEST] if pair[1]))

    def _sum(self, layouts: Sequence[ArrayLayout]) -> np.ndarray:
        total = np.zeros(len(self._devices), np.float64)
        for layout in layouts:
            bits = bits_of(layout.dtype)
            if layout.sharding is None or bits is None:
                self._unknown += 1
            elif not layout.is_on_device:
                self._elsewhere += 1
            else:
                places, tiles = self._where(layout.sharding)
                np.add.at(total, places, np.ceil(_tile_elements(layout, tiles) * bits / 8))
        return total

    def _where(self, sharding: Sharding) -> tuple[np.ndarray, np.ndarray]:
        """The places of a sharding's devices, and the tile at each; arrays share shardings."""
        if id(sharding) not in self._places:
            places = [self._place.get(device, -1) for device in sharding.device_ids]
            held = np.array([place >= 0 for place in places], bool)
            pieces = np.array(places, np.int64)[held], np.array(sharding.tile_of, np.int64)[held]
            self._places[id(sharding)] = pieces
        return self._places[id(sharding)]


def _devices(data: RecordData) -> tuple[int, ...]:
    """The ids of all devices of the program."""
    if data.devices:
        return tuple(device.id for device in data.devices)
    held = (layout.sharding.device_ids for layout in (*data.inputs, *data.outputs) if layout.sharding is not None)
    mesh = data.mesh.device_ids if data.mesh else ()
    return tuple(sorted({*mesh, *(device for ids in held for device in ids)}))


def _tile_elements(layout: ArrayLayout, tiles: np.ndarray) -> np.ndarray:
    """Elements in each of some tiles; the last of an uneven cut are smaller, or empty."""
    cuts = layout.sharding.tiles if layout.sharding else ()
    count = np.ones(len(tiles), np.float64)
    rest = tiles
    for length, number in zip(reversed(layout.global_shape), reversed(cuts), strict=True):
        rest, index = np.divmod(rest, number)
        step = -(-length // number)
        count *= np.clip(length - index.astype(np.float64) * step, 0, step)
    return count


def with_places(data: RecordData, module: HloModule) -> RecordData:
    """The record with what the optimized program says of the memory of its results and arguments.

    That is whose buffers results reuse, the layouts, and what lies in the host's memory, of which JAX says so for what
    was compiled to run. Right after partitioning donated arguments take the results that XLA will give them.
    Unchanged when the program's arguments cannot be matched with the record's (arguments in one tuple, references).

    *Source*: `HloModuleProto.input_output_alias`, `host_program_shape`, and `buffer_donor` before optimization.
    """
    entry, kept = module.computation(module.entry), data.parameters
    leaves = entry.root.shape.leaves
    # JAX passes a token for each ordered effect before everything else, in and out.
    tokens = len(leaves) - len(data.outputs)
    if tokens < 0 or len(entry.parameters) - len(kept) != tokens or any(map(_holds_data, leaves[:tokens])):
        return data
    reused = _reused(module, kept, tokens)
    if data.is_partial:
        sizes = [leaf.bytes for leaf in leaves[tokens:]]
        reused |= _given_away(module, kept, tokens, sizes, taken=set(reused))
    shapes = module.reader.entry_shapes()
    arguments, results = (iter(shapes[0][tokens:]), iter(shapes[1].leaves[tokens:])) if shapes else (iter(()), iter(()))
    inputs = [_placed(one, next(arguments, None)) if one.kept else one for one in data.inputs]
    outputs = [_placed(one, next(results, None)) for one in data.outputs]
    if reused:
        outputs = [replace(one, aliases=reused.get(index)) for index, one in enumerate(outputs)]
    return replace(data, inputs=tuple(inputs), outputs=tuple(outputs))


def _placed(array: ArrayLayout, shape: Shape | None) -> ArrayLayout:
    layout, sharding = None if shape is None else shape.layout, array.sharding
    if layout is None:
        return array
    if array.layout_asked:
        array = replace(array, layout=layout_text(layout.minor_to_major[::-1], layout.tiles))
    if sharding is None or sharding.memory_kind is not None or layout.memory_space != _HOST_SPACE:
        return array
    return replace(array, sharding=replace(sharding, memory_kind=_HOST_KIND))


def _holds_data(shape: Shape) -> bool:
    # Where a backend has no tokens JAX passes empty arrays of booleans.
    return shape.bytes != 0


def _reused(module: HloModule, inputs: Sequence[ArrayLayout], tokens: int) -> dict[int, str]:
    """Result number -> path of the argument whose buffer it reuses."""
    reused = {}
    for alias in module.aliases:
        output = (alias.output[0] if alias.output else 0) - tokens
        place = alias.parameter - tokens
        if not alias.parameter_index and 0 <= place < len(inputs) and output >= 0:
            reused[output] = inputs[place].path
    return reused


def _given_away(
    module: HloModule, inputs: Sequence[ArrayLayout], tokens: int, sizes: Sequence[int | None], *, taken: set[int]
) -> dict[int, str]:
    """Result number -> path of the donated argument whose buffer XLA will give it: one of as many bytes on a device.

    JAX names no result for an argument where XLA chooses how results are split. `sizes` are bytes of all results on one
    device, `taken` those that have a buffer.
    *Source*: XLA's pass optimize_input_output_buffer_alias: both in the order of their sizes, then of their numbers.
    """
    parameters = module.computation(module.entry).parameters.tolist()
    held = {number_of(module, index): int(module.result_bytes[index]) for index in parameters}
    used = {own.parameter for own in module.aliases}
    donors = sorted({own.parameter for own in module.donors if not own.parameter_index} - used)
    given = sorted(((held.get(own, -1), own) for own in donors), key=lambda own: -own[0])
    wanted = sorted(
        ((-1 if size is None else size, own) for own, size in enumerate(sizes) if own not in taken),
        key=lambda own: -own[0],
    )
    found: dict[int, str] = {}
    while given and wanted:
        (gives, parameter), (takes, output) = given[0], wanted[0]
        if gives == takes >= 0 and tokens <= parameter < tokens + len(inputs):
            found[output] = inputs[parameter - tokens].path
        given = given[gives >= takes :]
        wanted = wanted[takes >= gives :]
    return found
