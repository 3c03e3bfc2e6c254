"""Element types, and the shape of a value in an optimized program: dimensions, layout, memory space.

*Source*: `xla_data.proto` (PrimitiveType, ShapeProto) and `jax.numpy` dtype names.

Not its job: reading shapes from bytes (`parse.hlo_proto`) or the user's array layouts (`model.program.layout`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

UNBOUNDED = -(2**63)
"""The length XLA gives a dimension that has no bound."""

COMBINED = -(2**63)
"""The tile length XLA uses for "combine this dimension with the next one"; printed as `*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of an array in memory.

    Attributes:
      minor_to_major: dimension numbers, the one that varies fastest first.
      tiles: nested tilings, outermost first; each the tile's length along the most minor dimensions.
      memory_space: XLA's memory space number; 0 is the device's main memory (on TPU, 1 is on-chip).
      element_bits: bits one element takes when it is packed; 0 when it takes whole bytes.
      tail_padding: elements the array's end is aligned to; 1 means no padding.
      other: attributes without a field here, as XLA prints them ("SC(0:512)").

    *Source*: `xla.LayoutProto`.
    """

    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    memory_space: int = 0
    element_bits: int = 0
    tail_padding: int = 1
    other: tuple[str, ...] = ()

    def padded(self, dimensions: tuple[int, ...]) -> int | None:
        """Elements that an array of these dimensions takes in whole tiles; None if the layout does not fit them.

        Each tiling cuts the most minor dimensions: first those of the array, then those of the previous tile. A cut
        dimension becomes two: the number of tiles and the length of a tile, which is padded.
        """
        if UNBOUNDED in dimensions or sorted(self.minor_to_major) != list(range(len(dimensions))):
            return None
        lengths = [dimensions[axis] for axis in self.minor_to_major]
        for tile in self.tiles:
            if any(length <= 0 and length != COMBINED for length in tile):
                return None
            lengths = _filled(lengths, tile)
        elements = math.prod(lengths)
        return -(-elements // self.tail_padding) * self.tail_padding

    def __str__(self) -> str:
        tiles = "".join(f"({','.join('*' if n == COMBINED else str(n) for n in tile)})" for tile in self.tiles)
        parts = [
            f"T{tiles}" if tiles else "",
            f"L({self.tail_padding})" if self.tail_padding != 1 else "",
            f"E({self.element_bits})" if self.element_bits else "",
            f"S({self.memory_space})" if self.memory_space else "",
            *self.other,
        ]
        order, attributes = ",".join(map(str, self.minor_to_major)), "".join(parts)
        return f"{{{order}:{attributes}}}" if attributes else f"{{{order}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The result of one instruction on one device.

    Attributes:
      dtype: XLA's name of the element type ("f32", "bf16", "s4", "f8e4m3fn", "token", "opaque"), or "tuple", or
        "type 77" for a number this package does not know, or "buffer".
      dimensions: lengths; the bound for a dynamic dimension, `UNBOUNDED` for one without a bound. () for scalars,
        tuples and tokens.
      dynamic: for each dimension, True when its length is known only at run time; () for none.
      layout: its layout in memory, or None if the program does not say.
      elements: the shapes of a tuple's elements (or of a buffer's content); () for anything else.

    `str()` gives XLA's text without layouts ("f32[16,32]"), `text()` with them.

    *Source*: `xla.ShapeProto`.
    """

    dtype: str
    dimensions: tuple[int, ...] = ()
    dynamic: tuple[bool, ...] = ()
    layout: Layout | None = None
    elements: tuple[Shape, ...] = ()

    @property
    def is_tuple(self) -> bool:
        """True for a tuple, the empty one included."""
        return self.dtype == "tuple"

    @property
    def is_array(self) -> bool:
        """True for anything that has elements of one type: arrays and scalars, not tuples, tokens or opaque values."""
        return self.dtype not in ("tuple", "token", "opaque", "buffer")

    @property
    def leaves(self) -> tuple[Shape, ...]:
        """The shape itself, or, for a tuple, the leaves of its elements in order."""
        if not self.elements:
            return () if self.is_tuple else (self,)
        return tuple(leaf for element in self.elements for leaf in element.leaves)

    @property
    def count(self) -> int | None:
        """The number of elements of an array (the bound, when dynamic); None if a dimension has no bound."""
        return None if UNBOUNDED in self.dimensions else math.prod(self.dimensions)

    @property
    def bytes(self) -> int | None:
        """Bytes it takes on one device, tiling's padding not included (counted).

        A tuple is the sum of its leaves; tokens and opaque values take none. None when a dimension has no bound or
        the element's width is unknown.
        """
        if self.elements:
            # Of ten thousand elements most are the same object.
            distinct = {id(element): element for element in self.elements}
            sizes = {key: element.bytes for key, element in distinct.items()}
            return total(sizes[id(element)] for element in self.elements)
        if not self.is_array:
            return 0
        bits, count = bits_of(self.dtype), self.count
        if bits is None or count is None:
            return None
        packed = self.layout.element_bits if self.layout else 0
        return -(-count * packed // 8) if packed else count * -(-bits // 8)

    @property
    def padded_bytes(self) -> int | None:
        """Bytes it takes with the padding of its tiles (counted from the layout); `bytes` without tiles.

        A tuple is the sum of its leaves. None where `bytes` is, and for a tiling this package does not know.

        *Source*: https://openxla.org/xla/tiled_layout
        """
        if self.elements:
            return total(leaf.padded_bytes for leaf in self.leaves)
        if self.layout is None or not self.layout.tiles or not self.is_array:
            return self.bytes
        size, padded = self.bytes, self.layout.padded(self.dimensions)
        if not size or padded is None:
            return size and None
        bits = self.layout.element_bits or 8 * -(-(bits_of(self.dtype) or 0) // 8)
        return -(-padded * bits // 8)

    def text(self, *, layouts: bool = True) -> str:
        """The shape as XLA prints it, with layouts unless `layouts` is False."""
        if self.is_tuple:
            return f"({', '.join(_numbered(self.elements, layouts))})"
        if self.dtype == "buffer":
            return f"b({', '.join(_numbered(self.elements, layouts))})"
        dimensions = ",".join(self._dimension(k) for k in range(len(self.dimensions)))
        return f"{self.dtype}[{dimensions}]{self._layout_text() if layouts else ''}"

    def _dimension(self, k: int) -> str:
        length = self.dimensions[k]
        if length == UNBOUNDED:
            return "?"
        return f"<={length}" if self.dynamic and self.dynamic[k] else str(length)

    def _layout_text(self) -> str:
        text = str(self.layout) if self.layout else "{}"
        # XLA leaves the empty layout of a scalar out.
        return "" if text == "{}" else text

    def __str__(self) -> str:
        return self.text(layouts=False)


def _numbered(elements: tuple[Shape, ...], layouts: bool) -> Iterator[str]:
    """Texts of a tuple's elements; every fifth is numbered in a comment, as XLA does."""
    for k, element in enumerate(elements):
        text = element.text(layouts=layouts)
        yield f"/*index={k}*/{text}" if k and k % 5 == 0 else text


def total(sizes: Iterable[int | None]) -> int | None:
    """The sum of sizes; None if one of them is unknown."""
    known = 0
    for size in sizes:
        if size is None:
            return None
        known += size
    return known


def _filled(lengths: list[int], tile: tuple[int, ...]) -> list[int]:
    """Splits the most minor lengths by a tile: the tile's lengths, the numbers of tiles, and the other lengths."""
    lengths = lengths + [1] * (len(tile) - len(lengths))
    inside: list[int] = []
    counts: list[int] = []
    combined = 1
    for own, length in zip(tile, reversed(lengths[: len(tile)]), strict=True):
        if own == COMBINED:
            # The dimension is combined with the next more minor one.
            combined *= length
            continue
        inside.append(own)
        counts.append(-(-length * combined // own))
        combined = 1
    return [*reversed(inside), *reversed(counts), *lengths[len(tile) :]]


_BITS = {
    "pred": 8, "bool": 8,
    "s1": 1, "s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "int2": 2, "int4": 4, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
    "uint2": 2, "uint4": 4, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
    "f4e2m1fn": 4, "f8e3m4": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e4m3fnuz": 8,
    "f8e5m2": 8, "f8e5m2fnuz": 8, "f8e8m0fnu": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
    "float4_e2m1fn": 4, "float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3fn": 8,
    "float8_e4m3b11fnuz": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64,
    "c64": 64, "c128": 128, "complex64": 64, "complex128": 128,
    "key<fry>": 64, "key<rbg>": 128, "key<urbg>": 128,
    "token": 0, "float0": 0,
}  # fmt: skip

_SHORT = {"bool": "pred", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}


def bits_of(dtype: str) -> int | None:
    """Bits one element takes when packed, or None for a type this package does not know."""
    return _BITS.get(dtype.lower())


def short_dtype(dtype: str) -> str:
    """XLA's short name for a JAX dtype name: `float32` -> `f32`, `int4` -> `s4`; others are unchanged."""
    if dtype in _SHORT:
        return _SHORT[dtype]
    for long, short in (("uint", "u"), ("int", "s"), ("float", "f")):
        rest = dtype.removeprefix(long)
        if rest != dtype and rest[:1].isdigit():
            return short + rest.replace("_", "")
    return dtype
