"""Who sends how much to whom: bytes between pairs of positions of the mesh, all collectives of a call together.

Modelled: rings and chains send to the next device of their group, an all-to-all an equal part to each other one,
permutes to their target (counted). Not its job: bytes per axis (`analyze.collectives.traffic`), drawing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.link_traffic import LinkTraffic

__all__ = ["find_link_traffic"]

_MOST_PAIRS = 400_000


def find_link_traffic(rows: Sequence[Collective]) -> LinkTraffic:
    """The traffic of all collectives; a run of unknown number counts once."""
    sums: dict[tuple[str, tuple[tuple[int, ...], ...]], float] = {}
    left_out = 0
    for row in rows:
        if not row.groups:
            left_out += 1
            continue
        pattern, size = _pattern(row)
        times = 1 if row.count is None else row.count
        sums[pattern, row.groups] = sums.get((pattern, row.groups), 0.0) + float(size) * times
    pairs, sizes, budget = [], [], _MOST_PAIRS
    for (pattern, groups), size in sums.items():
        found = _pairs(pattern, groups, budget)
        if found is None:
            left_out += 1
            continue
        budget -= len(found)
        pairs.append(found)
        share = max(1, len(groups[0]) - 1) if pattern == "all" else 1
        sizes.append(np.full(len(found), size / share))
    return _summed(pairs, sizes, left_out)


def _pattern(row: Collective) -> tuple[str, int]:
    """How it sends, and how much over each link (for "all": to all others together)."""
    if row.kind == "collective-permute":
        return "pairs", row.payload_bytes
    if row.kind == "collective-broadcast":
        return "chain", row.payload_bytes
    return ("all" if row.kind in ("all-to-all", "ragged-all-to-all") else "ring"), row.wire_bytes


def _pairs(pattern: str, groups: tuple[tuple[int, ...], ...], budget: int) -> np.ndarray | None:
    number = sum(len(group) ** 2 if pattern == "all" else len(group) for group in groups)
    if number > budget:
        return None
    found: list[tuple[int, int]] = []
    for group in groups:
        if pattern == "all":
            found += [(a, b) for a in group for b in group if a != b]
        elif pattern == "ring" and len(group) > 1:
            found += list(zip(group, (*group[1:], group[0]), strict=True))
        elif pattern in ("pairs", "chain"):
            found += [(a, b) for a, b in itertools.pairwise(group) if a != b]
    return np.array(found, np.int64).reshape(-1, 2)


def _summed(pairs: list[np.ndarray], sizes: list[np.ndarray], left_out: int) -> LinkTraffic:
    both = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
    weights = np.concatenate([np.zeros(0), *sizes])
    span = int(both.max(initial=0)) + 1
    keys, inverse = np.unique(both[:, 0] * span + both[:, 1], return_inverse=True)
    return LinkTraffic(
        sources=(keys // span).astype(np.int32),
        targets=(keys % span).astype(np.int32),
        sent_bytes=np.bincount(inverse.ravel(), weights=weights, minlength=len(keys)).astype(np.float64),
        left_out=left_out,
    )
