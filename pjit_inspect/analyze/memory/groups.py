"""Things that are one, found step by step.

Not its job: which are.
"""

from __future__ import annotations


class Groups:
    """Sets of equal items, merged step by step (union-find); the smallest number represents a group."""

    def __init__(self, count: int) -> None:
        """So many things, each alone."""
        self._parent = list(range(count))

    def find(self, item: int) -> int:
        """The representative of an item's group."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Make two groups one."""
        one, other = self.find(one), self.find(other)
        if one != other:
            self._parent[max(one, other)] = min(one, other)
