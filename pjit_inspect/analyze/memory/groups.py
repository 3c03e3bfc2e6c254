"""Things that are one, found step by step.

Not its job: which are.
"""

from __future__ import annotations


class Groups:
    """Things that are one, found step by step; the smallest number of a group stands for it."""

    def __init__(self, count: int) -> None:
        """So many things, each alone."""
        self._parent = list(range(count))

    def find(self, item: int) -> int:
        """What stands for the group of one."""
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
