"""Variants of a page with equal parts written once: most of a variant equals the one before.

`front/src/play/main.js` restores them. Not its job: the contents of a variant (`payload`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

REFERENCE = "$"
"""The only key of a reference to an entry of the pool, by its place."""
_LEAST = 3
"""The fewest leaves of a part that is worth a place in the pool."""


def shared(values: Sequence[Any]) -> dict[str, Any]:
    """JSON values as `{"pool": parts, "values": values}`.

    A list or dict that occurs more than once is a part, replaced by `{REFERENCE: place}`; a part refers only to earlier
    parts.
    """
    table = _Table()
    roots = [table.number(value) for value in values]
    pool: list[Any] = []
    places: dict[int, int] = {}

    def written(number: int, *, is_part: bool = False) -> Any:
        if number in places and not is_part:
            return {REFERENCE: places[number]}
        node = table.nodes[number]
        if isinstance(node, dict):
            return {key: written(child) for key, child in node.items()}
        return [written(child) for child in node] if isinstance(node, list) else table.leaves[number]

    # A part has a greater number than everything in it.
    for number, node in enumerate(table.nodes):
        if node is not None and table.uses[number] > 1 and table.sizes[number] >= _LEAST:
            pool.append(written(number, is_part=True))
            places[number] = len(pool) - 1
    return {"pool": pool, "values": [written(root) for root in roots]}


class _Table:
    """A number for every distinct value; equal values share it."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, int] | list[int] | None] = []
        self.leaves: dict[int, Any] = {}
        self.sizes: list[int] = []
        self.uses: Counter[int] = Counter()
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value; counts one more use."""
        node: dict[str, int] | list[int] | None = None
        if isinstance(value, dict):
            node = {key: self.number(child) for key, child in value.items()}
            key: Any = (dict, *node.items())
        elif isinstance(value, (list, tuple)):
            node = [self.number(child) for child in value]
            key = (list, *node)
        else:
            key = (type(value), value)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
            children = () if node is None else node.values() if isinstance(node, dict) else node
            self.sizes.append(1 if node is None else sum(self.sizes[child] for child in children))
            if node is None:
                self.leaves[found] = value
        elif node is not None:
            # The contents of a repeated part are written once, with the part.
            self.uses.subtract(node.values() if isinstance(node, dict) else node)
        self.uses[found] += 1
        return found
