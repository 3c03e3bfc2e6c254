"""Finds meshes of other sizes that a machine can have, nearest first, to suggest when requested sizes do not fit.

Not its job: laying a mesh over devices, which JAX does and may refuse (`observe.contract._jax`).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence

from pjit_inspect.model.record.target import Target
from pjit_inspect.observe.partitioner.chips import DEVICES_OF_A_CHIP

_ANY_MESH = ("v5e",)
"""TPUs for which `jax.make_mesh` may also give an axis a part of a row of chips."""
_FEW, _MOST_TRIED = 8, 10_000


def nearest_meshes(sizes: Sequence[int], target: Target, devices: int, most: int) -> list[tuple[int, ...]]:
    """At most `most` meshes of all devices of a target with as many axes, the most similar to `sizes` first."""
    every = itertools.islice(_arranged(devices, len(sizes)), _MOST_TRIED)
    fitting = (own for own in every if is_laid(own, target))
    return heapq.nsmallest(most, fitting, key=lambda own: _distance(own, sizes))


def is_laid(sizes: Sequence[int], target: Target) -> bool:
    """True if JAX lays a mesh of these sizes over a target: over the links of a TPU it goes by complete rows of chips.

    *Source*: `_create_device_mesh_for_nd_torus` in `jax/_src/mesh_utils.py`, which takes the last axis first, and for
    each as many rows as it can.
    """
    if target.platform != "tpu" or target.chip in _ANY_MESH:
        return True
    rows = [*map(int, target.topology.split("x")), DEVICES_OF_A_CHIP.get(target.chip, 1)]
    left = dict(enumerate(rows))
    if math.prod(rows) <= _FEW:
        # JAX has an order of its own for these, whatever the mesh.
        return math.prod(sizes) == math.prod(rows)
    for size in reversed(sizes):
        taken = next((own for own in _choices(left) if math.prod(left[row] for row in own) == size), None)
        if taken is None and size > 1:
            return False
        for row in taken or ():
            del left[row]
    return True


def _choices(rows: dict[int, int]) -> Iterator[tuple[int, ...]]:
    """Sets of rows, the largest first."""
    for count in range(len(rows), 0, -1):
        yield from itertools.combinations(rows, count)


def _arranged(count: int, axes: int) -> Iterator[tuple[int, ...]]:
    """Every arrangement of `count` devices along `axes` axes."""
    if axes <= 1:
        if axes or count == 1:
            yield (count,) * axes
        return
    for size in (number for number in range(1, count + 1) if count % number == 0):
        yield from ((size, *rest) for rest in _arranged(count // size, axes - 1))


def _distance(own: Sequence[int], wanted: Sequence[int]) -> tuple[int, int, float, list[bool]]:
    """The number of axes lost, the number with other sizes, their size ratios, and the changed axes."""
    pairs = list(zip(own, wanted, strict=True))
    gone, others = sum(a == 1 < b for a, b in pairs), [a != b for a, b in pairs]
    # The last axis, within which most is sent, is the last to change.
    return gone, sum(others), round(sum(abs(math.log(a / b)) for a, b in pairs), 6), others[::-1]
