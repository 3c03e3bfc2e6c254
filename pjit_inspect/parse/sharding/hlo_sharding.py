"""Shardings in HLO (tiles, or axes of XLA's own mesh), as specs in the axes of the user's mesh.

A sharding says which tile of an array each partition holds. That is compared with the position of the partition's
device in the user's mesh: a dimension is split over axes (a, b) if its tile number is the position along them, a
outermost. XLA's axis names are no evidence. Not its job: the shardings of instructions
(`parse.sharding.propagated_hlo`).

*Source*: `xla.OpSharding`; `xla/hlo/ir/hlo_sharding.cc`, `named_sharding.cc`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.mesh import Dimensions, Mesh

_REPLICATED, _MAXIMAL, _TUPLE, _OTHER, _MANUAL = range(5)
_NO_SPLIT = 1
_MAX_PARTITIONS = 1 << 20
_MAX_DEPTH = 8
_MAX_CUTS = 64
"""The most ways to cut axes into prime parts that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """The tile of an array that every partition holds.

    Attributes:
      counts: the tiles along each dimension; () when no dimension is split.
      tiles: a row for each dimension: the tile number along it that each partition holds.
      manual: for each partition its number along the axes of `shard_map`; None without such axes.
      is_manual: True if `shard_map` splits over all partitions.
      device: the only partition that holds the array; None when all do.
    """

    counts: tuple[int, ...] = ()
    tiles: np.ndarray | None = None
    manual: np.ndarray | None = None
    is_manual: bool = False
    device: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSpec:
    """A sharding in the axes of a mesh.

    Attributes:
      dimensions: the axes of each dimension, outermost first.
      manual: the axes of `shard_map`.
      is_on_one: True if a single device has the array.
    """

    dimensions: Dimensions
    manual: tuple[str, ...] = ()
    is_on_one: bool = False


# ---------------------------------------------------------------- XLA's shardings


def read_tilings(sharding: Any, partitions: int, depth: int = 0) -> tuple[Tiling, ...]:
    """The tiling of each array of an `xla.OpSharding`: one, or one for each leaf of a tuple.

    An unknown sharding counts as unsplit only if XLA treats it so ("unknown"). Raises ParseError for a contradictory
    one.
    """
    if depth > _MAX_DEPTH:
        raise ParseError("shardings are nested too deeply", expected="a sharding")
    if sharding.type == _TUPLE and not sharding.HasField("named_sharding"):
        # Most of a step's hundreds of arrays are split alike: each sharding is read once.
        read: dict[bytes, tuple[Tiling, ...]] = {}
        found: list[Tiling] = []
        for part in sharding.tuple_shardings:
            written = part.SerializeToString()
            if written not in read:
                read[written] = read_tilings(part, partitions, depth + 1)
            found += read[written]
        return tuple(found)
    if sharding.HasField("named_sharding"):
        return (_named(sharding.named_sharding, partitions),)
    if sharding.type == _MAXIMAL:
        return (Tiling(device=sharding.tile_assignment_devices[0] if sharding.tile_assignment_devices else 0),)
    if sharding.type == _MANUAL:
        return (Tiling(is_manual=True),)
    return (_tiled(sharding, partitions) if sharding.type == _OTHER else Tiling(),)


def _tiled(sharding: Any, partitions: int) -> Tiling:
    shape = tuple(sharding.tile_assignment_dimensions)
    devices = _devices(sharding, shape, partitions)
    groups = [int(kind) for kind in sharding.last_tile_dims]
    if sharding.replicate_on_last_tile_dim and not groups:
        groups = [_REPLICATED]
    rank = len(shape) - len(groups)
    if rank < 0:
        raise ParseError("a sharding has more kinds of groups than dimensions", expected="a sharding")
    coordinates = np.empty((len(shape), partitions), np.int64)
    coordinates[:, devices] = np.unravel_index(np.arange(partitions), shape)
    return Tiling(
        counts=shape[:rank], tiles=coordinates[:rank], manual=_group_numbers(coordinates[rank:], shape, groups)
    )


def _devices(sharding: Any, shape: tuple[int, ...], partitions: int) -> np.ndarray:
    """The partition of each tile, in row-major order of the tiles."""
    if not shape or partitions > _MAX_PARTITIONS or min(shape) < 1 or math.prod(shape) != partitions:
        raise ParseError(f"tiles {shape} do not fit {partitions} partitions", expected="a tile for each partition")
    if len(sharding.iota_reshape_dims):
        devices = _iota(sharding.iota_reshape_dims, sharding.iota_transpose_perm, partitions)
    else:
        devices = np.array(sharding.tile_assignment_devices, np.int64)
    if not np.array_equal(np.sort(devices), np.arange(partitions)):
        raise ParseError("a sharding does not name every partition once", expected="a tile for each partition")
    return devices


def _iota(dimensions: Sequence[int], order: Sequence[int], partitions: int) -> np.ndarray:
    """0, 1, 2, ... in a box of these dimensions, transposed, in row-major order."""
    order = tuple(order) or tuple(range(len(dimensions)))
    if math.prod(dimensions) != partitions or min(dimensions) < 1 or sorted(order) != list(range(len(dimensions))):
        raise ParseError(f"{tuple(dimensions)} does not hold {partitions} partitions", expected="a tile for each")
    return np.arange(partitions).reshape(tuple(dimensions)).transpose(order).reshape(-1)


def _group_numbers(coordinates: np.ndarray, shape: tuple[int, ...], groups: Sequence[int]) -> np.ndarray | None:
    """The number of each partition along the manual groups; None without any."""
    number = None
    for row, size, kind in zip(coordinates, shape[len(shape) - len(groups) :], groups, strict=True):
        if kind == _MANUAL:
            number = row if number is None else number * size + row
    return number


def _named(sharding: Any, partitions: int) -> Tiling:
    """A sharding over the axes of a mesh; only the places of devices in that mesh count."""
    mesh = sharding.mesh
    sizes = tuple(axis.size for axis in mesh.axes)
    if not sizes:
        # XLA writes the replicated sharding like this; a mesh of one device means that device alone.
        return Tiling(device=mesh.device_ids[0]) if len(mesh.device_ids) == 1 else Tiling()
    if partitions > _MAX_PARTITIONS or min(sizes) < 1 or math.prod(sizes) != partitions:
        raise ParseError(f"a mesh {sizes} does not fit {partitions} partitions", expected="a mesh of all partitions")
    coordinates = np.empty((len(sizes), partitions), np.int64)
    coordinates[:, _mesh_devices(mesh, partitions)] = np.unravel_index(np.arange(partitions), sizes)
    rows = [_mixed(dimension.axes, coordinates, sizes) for dimension in sharding.dim_shardings]
    manual = _mixed(sharding.manual_axes, coordinates, sizes)[1] if len(sharding.manual_axes) else None
    return Tiling(
        counts=tuple(count for count, _ in rows),
        tiles=np.array([row for _, row in rows], np.int64).reshape(len(rows), partitions),
        manual=manual,
    )


def _mesh_devices(mesh: Any, partitions: int) -> np.ndarray:
    if len(mesh.device_ids):
        devices = np.array(mesh.device_ids, np.int64)
    elif len(mesh.iota_transform.reshape_dims):
        devices = _iota(mesh.iota_transform.reshape_dims, mesh.iota_transform.transpose_perm, partitions)
    else:
        devices = np.arange(partitions)
    if not np.array_equal(np.sort(devices), np.arange(partitions)):
        raise ParseError("a mesh does not name every partition once", expected="a mesh of all partitions")
    return devices


def _mixed(axes: Any, coordinates: np.ndarray, sizes: tuple[int, ...]) -> tuple[int, np.ndarray]:
    """The number of tiles along some axes, and each partition's tile number."""
    count, number = 1, np.zeros(coordinates.shape[1], np.int64)
    for axis in axes:
        index = int(axis.mesh_axis_index)
        if not 0 <= index < len(sizes):
            raise ParseError(f"a mesh of {len(sizes)} axes has no axis {index}", expected="an axis of the mesh")
        before, size = 1, sizes[index]
        if axis.HasField("sub_axis_info"):
            before, size = int(axis.sub_axis_info.pre_size), int(axis.sub_axis_info.size)
        if before < 1 or size < 1 or sizes[index] % (before * size):
            raise ParseError(f"an axis of {sizes[index]} has no part ({before}){size}", expected="a part of the axis")
        number = number * size + coordinates[index] // (sizes[index] // (before * size)) % size
        count *= size
    return count, number


# ---------------------------------------------------------------- in the user's mesh


def find_spec(
    tiling: Tiling, rank: int, mesh: Mesh, device_ids: Sequence[int] | None = None, *, parts: bool = True
) -> FoundSpec | None:
    """The spec of an array with `rank` dimensions and this tiling; None if it follows no axes of the mesh.

    Args:
      tiling: from `read_tilings`.
      rank: the number of the array's dimensions.
      mesh: the user's mesh.
      device_ids: the device of each partition; None when partitions are positions in the mesh.
      parts: True to try parts of axes where whole ones do not fit.
    """
    if tiling.is_manual:
        return FoundSpec(dimensions=((),) * rank, manual=tuple(n for n, size in mesh.sizes.items() if size > 1))
    if tiling.device is not None:
        return None
    counts = [*tiling.counts, *([1] * (rank - len(tiling.counts)))][:rank]
    if all(count == _NO_SPLIT for count in counts) and tiling.manual is None:
        return FoundSpec(dimensions=((),) * rank)
    positions = _positions(mesh, device_ids)
    if positions is None or tiling.tiles is None or tiling.tiles.shape[1] != len(positions):
        return None
    # Full axes come first; parts of axes only if these do not fit, since parts fit far more tilings.
    for digits in itertools.islice(_ways_to_cut(mesh), None if parts else 1):
        fitting = _fit(tiling, counts, digits, _places(digits, positions))
        if fitting is not None:
            return fitting
    return None


def _positions(mesh: Mesh, device_ids: Sequence[int] | None) -> np.ndarray | None:
    """The position of each partition's device in the mesh; None if the mesh has other devices."""
    if device_ids is None or tuple(device_ids) == mesh.device_ids:
        return np.arange(mesh.size)
    place = {device: position for position, device in enumerate(mesh.device_ids)}
    if len(device_ids) != mesh.size or any(device not in place for device in device_ids):
        return None
    return np.array([place[device] for device in device_ids], np.int64)


@dataclass(frozen=True, slots=True)
class _Digit:
    """A part of a mesh axis; `before` is the product of the more significant parts."""

    axis: str
    before: int
    size: int
    whole: int


def _ways_to_cut(mesh: Mesh) -> Iterator[tuple[_Digit, ...]]:
    """The axes of a mesh whole, then cut into parts of prime size, in every order of the primes."""
    sizes = {name: size for name, size in mesh.sizes.items() if size > 1}
    whole = tuple(_Digit(name, 1, size, size) for name, size in sizes.items())
    yield whole
    orders = [list(itertools.islice(_orders(_primes(size)), _MAX_CUTS)) for size in sizes.values()]
    for choice in itertools.islice(itertools.product(*orders), _MAX_CUTS):
        digits = tuple(
            _Digit(name, math.prod(primes[:k]), prime, size)
            for (name, size), primes in zip(sizes.items(), choice, strict=True)
            for k, prime in enumerate(primes)
        )
        if digits != whole:
            yield digits


def _primes(number: int) -> list[int]:
    primes, factor = [], 2
    while factor * factor <= number:
        while number % factor == 0:
            primes.append(factor)
            number //= factor
        factor += 1
    return [*primes, number] if number > 1 else primes


def _orders(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The distinct orders of some numbers."""
    if not numbers:
        yield ()
    for number in sorted(set(numbers)):
        rest = list(numbers)
        rest.remove(number)
        yield from ((number, *others) for others in _orders(rest))


def _places(digits: tuple[_Digit, ...], positions: np.ndarray) -> np.ndarray:
    """A row for each digit: its value at each partition. The digits of all axes number the positions of the mesh."""
    if not digits:
        return np.zeros((0, len(positions)), np.int64)
    return np.array(np.unravel_index(positions, tuple(digit.size for digit in digits)), np.int64)


def _fit(tiling: Tiling, counts: Sequence[int], digits: tuple[_Digit, ...], places: np.ndarray) -> FoundSpec | None:
    tiles = tiling.tiles
    if tiles is None:
        return None
    dimensions = []
    for number, count in enumerate(counts):
        axes = _axes(tiles[number], count, digits, places) if count > 1 else ()
        if axes is None:
            return None
        dimensions.append(axes)
    manual: tuple[str, ...] | None = ()
    if tiling.manual is not None:
        manual = _axes(tiling.manual, int(tiling.manual.max(initial=0)) + 1, digits, places)
    return None if manual is None else FoundSpec(dimensions=tuple(dimensions), manual=manual)


def _axes(tiles: np.ndarray, count: int, digits: tuple[_Digit, ...], places: np.ndarray) -> tuple[str, ...] | None:
    """The axes whose position is the tile number, outermost first; None without any.

    The number must be a sum of digits times strides; the strides give the digits' significance.
    """
    steps = _strides(tiles, places)
    if steps is None or not np.array_equal(steps @ places, tiles):
        return None
    chosen = sorted((k for k in range(len(digits)) if steps[k]), key=lambda k: -int(steps[k]))
    product = 1
    for k in reversed(chosen):
        if steps[k] != product:
            return None
        product *= digits[k].size
    return _joined([digits[k] for k in chosen]) if product == count else None


def _strides(tiles: np.ndarray, places: np.ndarray) -> np.ndarray | None:
    """The growth of the tile number with each digit: its value where only that digit is 1."""
    sums = places.sum(axis=0)
    ones = np.flatnonzero(sums == 1)
    if tiles[np.flatnonzero(sums == 0)].any():
        return None
    strides = np.zeros(len(places), np.int64)
    strides[places[:, ones].argmax(axis=0)] = tiles[ones]
    return strides


def _joined(digits: list[_Digit]) -> tuple[str, ...]:
    """Names of axes, with consecutive parts of one axis joined."""
    joined: list[_Digit] = []
    for digit in digits:
        last = joined[-1] if joined else None
        if last is not None and last.axis == digit.axis and last.before * last.size == digit.before:
            joined[-1] = _Digit(last.axis, last.before, last.size * digit.size, last.whole)
        else:
            joined.append(digit)
    return tuple(d.axis if d.size == d.whole else f"{d.axis}:({d.before}){d.size}" for d in joined)
