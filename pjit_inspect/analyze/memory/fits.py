"""Whether a program fits into the memory of a chip, even before it is compiled for that chip.

Not its job: the chip's memory (`observe.partitioner.chips`), or its tiles (`analyze.memory.tpu_tiles`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from pjit_inspect.analyze.memory.tpu_tiles import least_tpu_bytes
from pjit_inspect.model.memory.fit import FitSource, MemoryFit, PaddedArray
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.model.record.target import MemorySize, Platform

_NOTICED = 1.5
"""Padding that is named: one and a half times the size, ..."""
_LEAST = 100
"""Divisor: only arrays with at least a hundredth of all arguments and results are named."""


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
    counted = data.memory if is_compiled_for else None
    inputs = [_array(one, platform) for one in data.inputs if one.kept and one.is_on_device]
    outputs = [_array(one, platform) for one in data.outputs if one.aliases is None and one.is_on_device]
    unknown = sum(one is None for one in (*inputs, *outputs))
    nameless = _counted_alone(data, use) if counted is None else None
    arguments, results, temporary, source = nameless or _sums(counted, inputs, outputs, use)
    if is_compiled_for and source == "modelled" and use.source == "counted":
        # XLA placed the buffers before it refused the program.
        source = "counted"
    if unknown and source == "modelled":
        source = "at least"
    least = (arguments + results) // _LEAST
    known = [one for one in (*inputs, *outputs) if one is not None and one.times >= _NOTICED and one.bytes > least]
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
        padded=tuple(sorted(known, key=lambda one: one.unpadded_bytes - one.bytes)),
        unknown=0 if source == "counted" else unknown,
    )


def _sums(
    counted: MemoryStats | None,
    inputs: Iterable[PaddedArray | None],
    outputs: Iterable[PaddedArray | None],
    use: MemoryUse,
) -> tuple[int, int, int | None, FitSource]:
    """Bytes of arguments, of results beside them, of temporaries, and where they are from."""
    if counted is not None and counted.argument_bytes is not None and counted.temporary_bytes is not None:
        results = (counted.output_bytes or 0) - (counted.alias_bytes or 0)
        return counted.argument_bytes, results, counted.temporary_bytes, "counted"
    arguments, results = (sum(one.bytes for one in arrays if one is not None) for arrays in (inputs, outputs))
    return arguments, results, use.temporary_bytes, "at least" if use.temporary_bytes is None else "modelled"


def _counted_alone(data: RecordData, use: MemoryUse) -> tuple[int, int, int | None, FitSource] | None:
    """The peak bytes of arguments and results of a record with a program only; None for others."""
    if not {"inputs", "outputs"} & data.missing.keys():
        return None
    results = use.by_kind.get("result", 0)
    arguments = sum(use.by_kind.get(kind, 0) for kind in ("argument", "optimizer state"))
    return arguments, results, use.temporary_bytes, "at least"


def _array(layout: ArrayLayout, platform: Platform) -> PaddedArray | None:
    """An argument or result with its padding on a platform; None when its size is not known."""
    bits, shape = bits_of(layout.dtype), layout.local_shape
    if bits is None or shape is None:
        return None
    plain = -(-math.prod(shape) * bits // 8)
    size = least_tpu_bytes(shape, bits) if platform == "tpu" and 0 not in shape and bits else plain
    return PaddedArray(path=layout.path, local_shape=shape, dtype=layout.dtype, bytes=size, unpadded_bytes=plain)
