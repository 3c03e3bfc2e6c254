"""The room of a program in the memory of a chip, even before it is compiled for that chip.

On a TPU arrays are padded: tiles are 128 elements along the most minor dimension and up to 8 along the one before it.
For arguments without a layout XLA chooses the smallest one (modelled; `Shape.padded_bytes` has arrays with a known
layout). Not its job: the chip's memory (`observe.partitioner.chips`).

*Source*: layouts of arguments in programs compiled ahead of time (`scripts/memory_padding` checks them); JAX's
`TpuInfo.get_sublane_tiling`, whose larger tiles XLA uses only if they add no padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

from pjit_inspect.model.memory.fit import FitSource, MemoryFit, PaddedArray
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import MemorySize, Platform

_NOTICED, _LEAST = 1.5, 100
"""Padding is named of arrays that it makes so many times as large, and that are a hundredth of all or more."""
_LANES, _ROWS, _MOST_FLAT, _WORD = 128, 8, 1024, 32


def find_fit(
    data: RecordData, use: MemoryUse, *, platform: Platform, chip: str, has: MemorySize, is_compiled_for: bool
) -> MemoryFit:
    """The memory that a program needs on a chip.

    Args:
      data: its record, with the arguments that results reuse.
      use: the live values while it runs, as compiled.
      platform: the chip's platform.
      chip: its name.
      has: the part of its memory that programs may use.
      is_compiled_for: whether it was compiled to the end for this chip.
    """
    inputs = [_array(one, platform) for one in data.inputs if one.kept and one.is_on_device]
    outputs = [_array(one, platform) for one in data.outputs if one.aliases is None and one.is_on_device]
    known = [one for one in (*inputs, *outputs) if one is not None]
    unknown, counted = len(inputs) + len(outputs) - len(known), data.memory if is_compiled_for else None
    arguments, results = (sum(one.bytes for one in own if one is not None) for own in (inputs, outputs))
    temporary = use.temporary_bytes
    source: FitSource = "at least" if temporary is None or unknown else "modelled"
    if counted is None and {"inputs", "outputs"} & data.missing.keys():
        # A record with a program only: what is alive at its peak.
        arguments = sum(use.by_kind.get(kind, 0) for kind in ("argument", "optimizer state"))
        results, source = use.by_kind.get("result", 0), "at least"
    elif counted is not None and counted.argument_bytes is not None and counted.temporary_bytes is not None:
        arguments, temporary, source = counted.argument_bytes, counted.temporary_bytes, "counted"
        results = (counted.output_bytes or 0) - (counted.alias_bytes or 0)
    elif is_compiled_for and use.source == "counted" and temporary is not None:
        # XLA placed the buffers before it refused the program.
        source = "counted"
    least = (arguments + results) // _LEAST
    padded = [one for one in known if one.times >= _NOTICED and one.bytes > least]
    return MemoryFit(
        chip=chip,
        available_bytes=has.bytes,
        available_source=has.source,
        argument_bytes=arguments,
        result_bytes=results,
        temporary_bytes=temporary,
        # XLA's sums exclude them. They are alive from beginning to end.
        constant_bytes=use.by_kind.get("constant", 0),
        source=source,
        padded=tuple(sorted(padded, key=lambda one: one.unpadded_bytes - one.bytes)),
        unknown=0 if source == "counted" else unknown,
    )


def _array(layout: ArrayLayout, platform: Platform) -> PaddedArray | None:
    """An argument or result with its padding on a platform; None when its size is not known."""
    bits, shape = bits_of(layout.dtype), layout.local_shape
    if bits is None or shape is None:
        return None
    plain = -(-math.prod(shape) * bits // 8)
    size = least_tpu_bytes(shape, bits) if platform == "tpu" and 0 not in shape and bits else plain
    return PaddedArray(path=layout.path, local_shape=shape, dtype=layout.dtype, bytes=size, unpadded_bytes=plain)


# ------------------------------------------------------------ tiles of a TPU


def tpu_bytes(shape: Sequence[int], bits: int, minor_to_major: Sequence[int]) -> int:
    """Bytes on one device for a layout given by `minor_to_major`.

    Args:
      shape: the lengths on one device.
      bits: bits of one element (8 for a boolean).
      minor_to_major: the dimensions, the one that varies fastest first.
    """
    lengths = [shape[dimension] for dimension in minor_to_major]
    if len(lengths) < 2:
        return _flat(lengths[0] if lengths else 1, bits) * bits // 8
    lanes, rows, *outer = lengths
    return _filled(lanes, _LANES) * _filled(rows, _rows(rows, bits)) * math.prod(outer) * bits // 8


def least_tpu_bytes(shape: Sequence[int], bits: int) -> int:
    """Bytes on one device in the smallest layout, which XLA gives to an argument by default."""
    if len(shape) < 2:
        return tpu_bytes(shape, bits, range(len(shape)))
    ways = permutations(range(len(shape)), 2)
    return min(tpu_bytes(shape, bits, [*way, *(d for d in range(len(shape)) if d not in way)]) for way in ways)


def _rows(length: int, bits: int) -> int:
    """Rows of a tile: few where the dimension is short, but as many as share a word of 32 bits."""
    return max(_WORD // min(bits, _WORD), min(_ROWS, _power(length)))


def _flat(length: int, bits: int) -> int:
    """Elements that an array of one dimension, or a scalar, takes."""
    least = _LANES * (_WORD // min(bits, _WORD))
    return _filled(length, min(_MOST_FLAT, max(least, _power(length))))


def _power(length: int) -> int:
    return 1 << max(0, length - 1).bit_length()


def _filled(length: int, tile: int) -> int:
    return -(-length // tile) * tile
