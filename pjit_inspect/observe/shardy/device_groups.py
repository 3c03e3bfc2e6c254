"""Renumbers groups of devices in a program for a mesh of other sizes.

In a body of `shard_map`, JAX writes the devices of each collective as numbers, including all of the mesh's devices. Not
its job: finding the groups in a program (`observe.shardy.remesh`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

_MOST_AXES = 6
"""Of which every order is tried."""

Rows = list[list[int]]


def regrouped(groups: Sequence[Sequence[int]], before: Mapping[str, int], after: Mapping[str, int]) -> Rows | None:
    """Groups along axes that keep their size, on the mesh `after`; None for groups that follow no such axes.

    Groups equal to those of some axes in some order are the ones that JAX wrote for these axes, or equal to them.
    """
    wanted = [list(group) for group in groups]
    for axes in _choices(before, after):
        if _along(axes, before) == wanted:
            return _along(axes, after)
    return None


def repaired(pairs: Sequence[Sequence[int]], before: Mapping[str, int], after: Mapping[str, int]) -> Rows | None:
    """(source, target) pairs along axes that keep their size, on the mesh `after`; None for others.

    Pairs that repeat in every group along some axes do so on any mesh; if they also follow more axes, these give the
    same pairs.
    """
    wanted = [list(pair) for pair in pairs]
    for axes in _choices(before, after):
        groups = _along(axes, before)
        first = {device: place for place, device in enumerate(groups[0])}
        pattern = [(first[source], first[target]) for source, target in wanted if source in first and target in first]
        if sorted(_pairs(groups, pattern)) == sorted(wanted):
            return _pairs(_along(axes, after), pattern)
    return None


def _choices(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Axes in each order, fewest first."""
    kept = [axis for axis in before if before[axis] == after.get(axis, 1) and before[axis] > 1][:_MOST_AXES]
    for count in range(len(kept) + 1):
        yield from itertools.permutations(kept, count)


def _along(axes: Sequence[str], sizes: Mapping[str, int]) -> Rows:
    """The devices that differ only in these axes, in order; groups in the order of the other axes."""
    strides = {axis: math.prod(list(sizes.values())[place + 1 :]) for place, axis in enumerate(sizes)}
    others = [axis for axis in sizes if axis not in axes]

    def positions(own: Sequence[str]) -> list[int]:
        steps = [[number * strides[axis] for number in range(sizes[axis])] for axis in own]
        return [sum(step) for step in itertools.product(*steps)]

    within = positions(axes)
    return [[start + step for step in within] for start in positions(others)]


def _pairs(groups: Rows, pattern: Sequence[tuple[int, int]]) -> Rows:
    return [[group[source], group[target]] for group in groups for source, target in pattern]
