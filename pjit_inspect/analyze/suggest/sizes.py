"""Models the size of a piece of a value, and the bytes a device sends to change a value's sharding.

Ring formulas, as in `analyze.collectives.traffic`. Not its job: finding the values that move (`analyze.suggest.cost`).
"""

from __future__ import annotations

import math

from pjit_inspect.analyze.collectives.traffic import wire_bytes
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import VIEWS
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

_HALF = frozenset(("bf16", "f16"))


def move_bytes(program: ShardedProgram, value: int, given: Dimensions, target: Dimensions) -> int:
    """Bytes one device sends to have a value split as `target` that is split as `given`.

    What a dimension gains is cut first, for nothing. An axis that changes dimension is an all-to-all, one that gives
    way to another in the same dimension a permute, and one that is lost an all-gather, the largest last.
    """
    spec = [list(axes) for axes in given]
    wanted = {axis: d for d, axes in enumerate(target) for axis in axes}
    held = {axis for axes in given for axis in axes}
    sent = 0
    for dimension, axes in enumerate(target):
        spec[dimension] += [
            axis for axis in axes if axis not in held and spec[dimension] == list(axes[: axes.index(axis)])
        ]
    for dimension, axes in enumerate(list(map(tuple, spec))):
        for axis in axes:
            place = wanted.get(axis)
            if place is not None and place != dimension:
                sent += wire_bytes("all-to-all", bytes_as(program, value, _frozen(spec)), program.length(axis))
                spec[dimension].remove(axis)
                spec[place].append(axis)
    for dimension, axes in enumerate(target):
        sent += _same_dimension(program, value, spec, dimension, axes)
    return sent


def _same_dimension(
    program: ShardedProgram, value: int, spec: list[list[str]], dimension: int, axes: tuple[str, ...]
) -> int:
    have = spec[dimension]
    common = 0
    while common < min(len(have), len(axes)) and have[common] == axes[common]:
        common += 1
    lost, gained = have[common:], axes[common:]
    if not lost:
        spec[dimension] = list(axes)
        return 0
    ahead, behind = program.pieces(tuple(gained)), program.pieces(tuple(lost))
    sent, coarse = 0, bytes_as(program, value, _frozen(spec))
    if gained:
        spec[dimension] = list(axes) if ahead > behind else have
        sent += wire_bytes("collective-permute", bytes_as(program, value, _frozen(spec)), 2)
    if behind > ahead:
        sent += wire_bytes("all-gather", coarse, behind // ahead)
    spec[dimension] = list(axes)
    return sent


def _frozen(spec: list[list[str]]) -> Dimensions:
    return tuple(tuple(axes) for axes in spec)


def widening(program: ShardedProgram, value: int | None, is_cpu: bool) -> int:
    """2 for values computed in single instead of half precision; 1 for arguments, which move unchanged."""
    if value is None or not is_cpu or program.values[value].dtype not in _HALF:
        return 1
    for _ in range(4):
        entry = program.values[value]
        op = program.ops[entry.op] if entry.op is not None else None
        if op is None or op.kind not in VIEWS or not op.operands:
            return 1 if entry.argument is not None else 2
        value = op.operands[0]
    return 2


def local_bytes(program: ShardedProgram, value: int) -> int:
    """Bytes of the largest piece of a value on one device."""
    return bytes_as(program, value, program.values[value].spec)


def bytes_as(program: ShardedProgram, value: int, spec: Dimensions) -> int:
    """Bytes of the largest piece of a value if it were split as `spec`; 0 if it is no array of numbers."""
    entry = program.values[value]
    bits = bits_of(entry.dtype) or 0
    count = math.prod(-(-length // program.pieces(axes)) for length, axes in zip(entry.shape, spec, strict=False))
    return -(-count * bits // 8)
