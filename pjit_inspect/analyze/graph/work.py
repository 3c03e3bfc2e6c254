"""Counts the matrix products of each kernel and their floating-point operations, from shapes.

TPU fusions nest, and batched products are convolutions there: window positions that only meet padding do not count. For
cuDNN attention, the part that a mask leaves is unknown. Not its job: the cost of other operations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.program.loops import details_of
from pjit_inspect.model.program.hlo import Details, HloModule

_MOST_FLOPS = 1 << 62
_MOST_POSITIONS = 1 << 16
_LIBRARY = re.compile(r"gemm|matmul|\$conv|\$fmha")
_CONTRACTED = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_FIELD = re.compile(r"(\w+): (-?\d+)")
_WINDOW = re.compile(r"dimensions \{([^}]*)\}")


class Work(NamedTuple):
    """For each kernel its number of matrix products, and their operations per run; -1 for an unknown number."""

    matmuls: list[int]
    flops: list[int]


def count_work(kernels: KernelList) -> Work:
    """The matrix products of every kernel."""
    work = Work([0] * len(kernels), [0] * len(kernels))
    module = kernels.module
    for index in module.with_opcode("dot", "convolution", "custom-call").tolist():
        kernel = kernels.host(index)
        if kernel < 0:
            continue
        is_library = module.opcodes[module.instructions.opcode[index]] == "custom-call"
        if is_library and not is_product_call(details_of(module, index).custom_call_target):
            continue
        flops = product_flops(module, index)
        work.matmuls[kernel] += 1
        known = flops is not None and work.flops[kernel] >= 0 and work.flops[kernel] + flops <= _MOST_FLOPS
        work.flops[kernel] = work.flops[kernel] + flops if known and flops is not None else -1
    return work


def is_product_call(target: str) -> bool:
    """True if a custom call to a library does matrix products or a convolution, by its target."""
    return _LIBRARY.search(target) is not None


def product_flops(module: HloModule, index: int) -> int | None:
    """Operations of one dot or convolution per run; None when its shapes do not tell."""
    details = details_of(module, index)
    shapes = [
        _dimensions(module, index),
        *(_dimensions(module, k) for k in module.instructions.operands[index].tolist()),
    ]
    if len(shapes) < 3 or "$fmha" in details.custom_call_target:
        return None
    try:
        if "convolution_dimension_numbers" in details.other:
            # A cuDNN gradient has the dimension numbers and the window of its forward convolution.
            made, first, second = shapes[:3]
            if details.custom_call_target.endswith("convBackwardInput"):
                made, first = first, made
            elif details.custom_call_target.endswith("convBackwardFilter"):
                made, second = second, made
            return _convolution((made, first, second), details)
        text = str(details.other.get("dot_dimension_numbers", ""))
        contracted = [int(value) for name, value in _FIELD.findall(text) if name == "lhs_contracting_dimensions"]
        if not text:
            match = _CONTRACTED.search(details.backend_config)
            if match is None:
                return None
            contracted = [int(value) for value in re.findall(r"\d+", match[1])]
        return 2 * math.prod(shapes[0]) * math.prod(shapes[1][k] for k in contracted)
    except (IndexError, ValueError):
        return None


def _dimensions(module: HloModule, index: int) -> tuple[int, ...]:
    """The lengths of the (first) array an instruction yields."""
    shape = module.reader.shape(int(module.instructions.shape[index]))
    leaves = shape.leaves
    return leaves[0].dimensions if leaves else ()


def _convolution(shapes: Sequence[tuple[int, ...]], details: Details) -> int | None:
    output, data, kernel = shapes[:3]
    fields: dict[str, list[int]] = {}
    for name, value in _FIELD.findall(str(details.other["convolution_dimension_numbers"])):
        fields.setdefault(name, []).append(int(value))
    one = {name: values[0] for name, values in fields.items()}
    batch = output[one.get("output_batch_dimension", 0)]
    features = output[one.get("output_feature_dimension", 0)]
    total = 2 * batch * features * kernel[one.get("kernel_input_feature_dimension", 0)]
    windows = _WINDOW.findall(str(details.other.get("window", "")))
    inputs, outputs = fields.get("input_spatial_dimensions", []), fields.get("output_spatial_dimensions", [])
    for window, taken, made in zip(windows, inputs, outputs, strict=False):
        positions = _positions(dict(_FIELD.findall(window)), data[taken], output[made])
        if positions is None:
            return None
        total *= positions
    groups = details.other.get("batch_group_count", 1)
    return total // max(1, groups if isinstance(groups, int) else 1)


def _positions(window: dict[str, str], length: int, outputs: int) -> int | None:
    """The number of pairs of window position and output that meet data, not padding; None if too many."""
    size, stride = int(window.get("size", 1)), int(window.get("stride", 1)) or 1
    low, spread = int(window.get("padding_low", 0)), int(window.get("window_dilation", 1)) or 1
    holes = int(window.get("base_dilation", 1)) or 1
    if (
        min(size, stride, spread, holes, length, outputs) < 0
        or max(size, stride, low, spread, holes, outputs) > 1 << 40
    ):
        return None
    if size > _MOST_POSITIONS or abs(length) > 1 << 40:
        return None
    return sum(_met(place * spread - low, stride, holes, length, outputs) for place in range(size))


def _met(offset: int, stride: int, holes: int, length: int, outputs: int) -> int:
    """Counts z in [0, outputs) for which y = z * stride + offset is a multiple of `holes`, 0 <= y < length * holes."""
    first = max(0, -(offset // stride))
    last = min(outputs - 1, (length * holes - 1 - offset) // stride)
    common = math.gcd(stride, holes)
    if last < first or offset % common:
        return 0
    period = holes // common
    # z * (stride / common) = -offset / common (mod period)
    start = -offset // common * pow(stride // common, -1, period) % period if period > 1 else 0
    return (last - start) // period - (first - 1 - start) // period
