"""Sets that are merged step by step: equal values, dimensions that are one."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable

from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram


class UnionFind:
    """Sets of equal numbers, merged step by step (union-find)."""

    def __init__(self, count: int) -> None:
        """Each of the numbers below `count` is a set by itself."""
        self._parent = list(range(count))

    def find(self, item: int) -> int:
        """The number that represents an item's set."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Makes two sets one."""
        self._parent[self.find(one)] = self.find(other)

    def join_only(self, item: int, others: Iterable[int]) -> bool:
        """Joins an item with the one set that others are in, besides its own; False if there are several."""
        sets = {self.find(other) for other in others} - {self.find(item)}
        if len(sets) == 1:
            self.join(item, sets.pop())
        return not sets


def find_dimension_classes(program: ShardedProgram) -> list[tuple[int, ...]]:
    """For each value the class of each dimension, by the rules of operations and the borders of regions.

    Dimensions of one class are split alike, or data must move. Classes do not depend on shardings.
    """
    ranks = [len(value.shape) for value in program.values]
    starts = [0, *itertools.accumulate(ranks)]
    same = UnionFind(starts[-1])

    def join_all(one: int, other: int) -> None:
        for dimension in range(min(ranks[one], ranks[other])):
            same.join(starts[one] + dimension, starts[other] + dimension)

    for op in program.ops:
        for first, *others in _same_factor(program, op):
            for other in others:
                same.join(starts[other[0]] + other[1], starts[first[0]] + first[1])
        if op.rule is None and (op.kind == "optimization_barrier" or len(op.operands) == len(op.results) == 1):
            for one, other in zip(op.operands, op.results, strict=False):
                if program.values[one].shape == program.values[other].shape:
                    join_all(one, other)
    for one, other in program.links:
        join_all(one, other)
    return [tuple(map(same.find, range(*ends))) for ends in itertools.pairwise(starts)]


def _same_factor(program: ShardedProgram, op: ShardedOp) -> list[list[tuple[int, int]]]:
    """The dimensions (value, dimension) of an op that begin with the same factor: what a split of them would cut."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    if (rule := op.rule) is None:
        return []
    for values, entries in ((op.operands, rule.operands), (op.results, rule.results)):
        for value, dimensions in zip(values, entries, strict=False):
            for dimension, factors in enumerate(dimensions):
                # A factor of length 1 is cut by nothing.
                outer = next((own for own in factors if rule.sizes.get(own, 2) > 1), None)
                if outer is not None and program.values[value].shape[dimension] > 1:
                    places[outer].append((value, dimension))
    return [own for own in places.values() if own]
