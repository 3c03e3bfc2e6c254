"""Sets that are merged step by step: equal values, dimensions that are one."""

from __future__ import annotations

from collections.abc import Iterable


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
