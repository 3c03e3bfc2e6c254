"""Rings of devices of one length, and how far permutes move values along them.

Not its job: what travels along them (`analyze.collectives.loop_carries`).
"""

from __future__ import annotations

from collections.abc import Iterable

from pjit_inspect.analyze.program.collective_op import CollectiveOp

__all__ = ["Wheel"]


class PermuteRing:
    """Rings of equal length, and how far permutes move along them."""

    def __init__(self, site: CollectiveOp) -> None:
        self._forward = dict(site.pairs)
        self._back = {target: source for source, target in site.pairs}
        self._pairs = len(site.pairs)
        self.size = self._length()

    def _length(self) -> int:
        """Devices in each ring; 0 when the pairs are no rings of one length."""
        # Each device sends once and receives once: else following the pairs need not lead back.
        if not len(self._forward) == len(self._back) == self._pairs or self._back.keys() != self._forward.keys():
            return 0
        lengths, left = set[int](), set(self._forward)
        while left:
            first = device = left.pop()
            length = 1
            while (device := self._forward[device]) != first:
                left.discard(device)
                length += 1
            lengths.add(length)
        return lengths.pop() if len(lengths) == 1 else 0

    def step(self, site: CollectiveOp) -> int | None:
        """1 when a permute moves everything one device forward, -1 for back, None when it does neither."""
        pairs = dict(site.pairs)
        if pairs == self._forward:
            return 1
        return -1 if pairs == self._back else None

    def steps(self, sites: Iterable[CollectiveOp]) -> list[int] | None:
        """`step` of each; None when one does neither."""
        found = [self.step(site) for site in sites]
        return None if None in found else [step for step in found if step is not None]
