"""Layouts of arrays on devices: the slice of each array that every device holds.

Not its job: finding shardings (`observe`) or drawing them (`view`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from pjit_inspect.model.program.mesh import PartitionSpec, local_shape
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.program.table import Table

WRITTEN = "sharding as written"
"""Kind of a sharding that was read from a program's text or proto, not from a JAX array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """The cut of an array of some rank into tiles, and the devices that hold each tile.

    Many arrays share one `Sharding`; it does not know their lengths.

    Attributes:
      spec: one entry per dimension in the user's axis names, or None when the tiling follows no
        mesh axes (a single device, a positional sharding).
      tiles: the number of tiles along each dimension (length: the rank).
      device_ids: the devices of the program that hold part of the array.
      tile_of: for each of `device_ids`, the row-major index of the tile it holds.
      kind: JAX's name of the sharding ("NamedSharding", "SingleDeviceSharding", ...), or "sharding as written" if it
        was read from a program.
      memory_kind: "device", "pinned_host", ..., or None if JAX does not say.
      unreduced: mesh axes over which each device holds a partial sum.
    """

    spec: PartitionSpec | None
    tiles: tuple[int, ...]
    device_ids: tuple[int, ...]
    tile_of: tuple[int, ...]
    kind: str = "NamedSharding"
    memory_kind: str | None = None
    unreduced: tuple[str, ...] = ()
    _hash: int = field(default=0, repr=False, compare=False, init=False)

    def __post_init__(self) -> None:
        # Thousands of arrays are looked up by its hash, and there may be as many devices.
        object.__setattr__(self, "_hash", hash((self.tiles, self.device_ids, self.tile_of)))
        if self.spec is not None and len(self.spec) != len(self.tiles):
            raise ValueError(f"spec {self.spec} has {len(self.spec)} entries for rank {len(self.tiles)}")
        if len(self.device_ids) != len(self.tile_of):
            raise ValueError(f"{len(self.tile_of)} tile numbers for {len(self.device_ids)} devices")
        count = math.prod(self.tiles)
        if any(tiles < 1 for tiles in self.tiles):
            raise ValueError(f"a dimension is cut into no tiles: {self.tiles}")
        # Thousands of devices, for each of hundreds of arrays.
        if self.tile_of and not 0 <= min(self.tile_of) <= max(self.tile_of) < count:
            raise ValueError(f"a tile number is outside 0..{count - 1}")

    def __hash__(self) -> int:
        return self._hash

    @property
    def replication(self) -> int:
        """The number of devices that hold each tile (counted); 1 means no copies."""
        return max(1, len(self.device_ids) // max(1, len(set(self.tile_of))))


_DEVICE_MEMORY = (None, "device", "unpinned_host")
"""Kinds of memory that belong to the device: CPUs have only one."""

_NUMBERS = ("bool", "int", "float", "complex")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayLayout:
    """One input or output of a program, and the slice of it on every device.

    Attributes:
      path: the user's name for it: `params['w1']`, `x`, `result[0]`.
      dtype: JAX's name of the element type ("float32", "bfloat16", "key<fry>", ...).
      global_shape: the shape the user sees.
      sharding: its sharding, or None if it could not be read.
      donated: (inputs) whether the caller donated the buffer.
      kept: (inputs) whether the compiled program reads it; False if jit dropped it as unused.
      aliases: (outputs) the path of the donated input whose buffer it reuses, or None.
      asked: the origin of its sharding: "in_shardings" or "out_shardings" of jit, "device" (jit's `device` or
        `backend`), "argument" (the array came committed), "type" (its type on explicit axes), "pmap", or the operation
        that yields it: "with_sharding_constraint", "device_put", "shard_map". With ", in part" if XLA chose for some
        dimensions; "" if XLA chose for all; None if unknown.
      passed: (inputs) the type passed by the call that compiled it: "jax.Array", "numpy.ndarray", "float", ...; "" if
        unknown.
      returned: (outputs) the path of the input whose values it has, unchanged; None for computed values.
      layout_asked: the layout in memory that jit or the array asked for, as JAX writes it ("major_to_minor=(1, 0)"), or
        "AUTO"; "" for the default.
      layout: its layout in memory, if one was asked for; "" for the device's default, or without an optimized program.
    """

    path: str
    dtype: str
    global_shape: tuple[int, ...]
    sharding: Sharding | None
    donated: bool = False
    kept: bool = True
    aliases: str | None = None
    asked: str | None = None
    passed: str = ""
    returned: str | None = None
    layout_asked: str = ""
    layout: str = ""
    _cache: dict = field(default_factory=dict, repr=False, compare=False, hash=False, init=False)

    def __post_init__(self) -> None:
        if self.sharding is not None and len(self.sharding.tiles) != len(self.global_shape):
            rank = len(self.sharding.tiles)
            raise ValueError(f"{self.path}: a sharding of rank {rank} for an array of shape {self.global_shape}")

    @property
    def spec(self) -> PartitionSpec | None:
        """The PartitionSpec, one entry per dimension; None when it follows no mesh axes."""
        return self.sharding.spec if self.sharding else None

    @property
    def local_shape(self) -> tuple[int, ...] | None:
        """The shape of the largest slice any device holds; None when the sharding is unknown."""
        if self.sharding is None:
            return None
        return local_shape(self.global_shape, self.sharding.tiles)

    @property
    def is_on_device(self) -> bool:
        """True if it is in device memory, as far as is known, and not in host memory."""
        return self.sharding is None or self.sharding.memory_kind in _DEVICE_MEMORY

    @property
    def replication(self) -> int | None:
        """The number of devices that hold each element (counted); None if the sharding is unknown."""
        return self.sharding.replication if self.sharding else None

    @property
    def bytes_per_device(self) -> int | None:
        """Bytes of the slice each device holds (counted from shape and dtype, padding not included).

        None when the sharding or the element's width is unknown.
        """
        return None if self.sharding is None else _bytes_of(self.dtype, self.global_shape, self.sharding.tiles)

    @property
    def host_bytes(self) -> int | None:
        """Bytes a call sends from the host to all devices: the whole NumPy array, in each copy (counted).

        0 for arrays on devices and arguments that jit drops; None if the passed type is unknown.
        """
        is_in_host = self.passed in _NUMBERS or self.passed.startswith("numpy.")
        if self.passed == "jax.Array" or (is_in_host and not self.kept):
            return 0
        size = self.bytes_per_device if is_in_host else None
        return None if size is None or self.sharding is None else size * len(self.sharding.device_ids)

    @property
    def global_bytes(self) -> int | None:
        """Bytes of the whole array, held once (counted); None when the element's width is unknown."""
        bits = bits_of(self.dtype)
        return None if bits is None else -(-math.prod(self.global_shape) * bits // 8)

    @property
    def shards(self) -> dict[int, tuple[slice, ...]]:
        """Device id -> the slice of the global array it holds; {} when the sharding is unknown."""
        if self.sharding is None:
            return {}
        if "shards" not in self._cache:
            by_tile = {tile: self.tile_slices(tile) for tile in set(self.sharding.tile_of)}
            pairs = zip(self.sharding.device_ids, self.sharding.tile_of, strict=True)
            self._cache["shards"] = {device: by_tile[tile] for device, tile in pairs}
        return dict(self._cache["shards"])

    def tile_slices(self, tile: int) -> tuple[slice, ...]:
        """The slice of the global array that tile number `tile` (row-major) covers."""
        if self.sharding is None:
            return ()
        slices: list[slice] = []
        for length, count in zip(reversed(self.global_shape), reversed(self.sharding.tiles), strict=True):
            tile, index = divmod(tile, count)
            step = -(-length // count)
            slices.append(slice(min(index * step, length), min((index + 1) * step, length)))
        return tuple(reversed(slices))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayTable(Table[ArrayLayout]):
    """The arguments or the results of one program, in order.

    Attributes:
      rows: the arrays.
    """

    rows: tuple[ArrayLayout, ...] = ()

    computed: ClassVar[tuple[str, ...]] = ("spec", "local_shape", "bytes_per_device", "global_bytes", "replication")


@functools.lru_cache(maxsize=4096)
def _bytes_of(dtype: str, shape: tuple[int, ...], tiles: tuple[int, ...]) -> int | None:
    """Bytes of one slice of an array cut into `tiles`; cached, as thousands of arrays share a few answers."""
    bits = bits_of(dtype)
    return None if bits is None else -(-math.prod(local_shape(shape, tiles)) * bits // 8)


def layout_text(major_to_minor: Iterable[int], tiles: Iterable[Iterable[int]] | None) -> str:
    """A layout in memory as JAX writes it: "major_to_minor=(1, 0), tiling=((8, 128),)"."""
    tiling = tuple(map(tuple, tiles or ()))
    return f"major_to_minor={tuple(major_to_minor)}" + (f", tiling={tiling}" if tiling else "")
