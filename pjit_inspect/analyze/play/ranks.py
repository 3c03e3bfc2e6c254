"""Rank correlation of two orders.

Not its job: the ordered values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FEWEST = 3


def rank_correlation(own: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation, -1 to 1; equal values share a rank. None for fewer than three, or all equal."""
    if len(own) != len(other):
        raise ValueError(f"{len(own)} values beside {len(other)}")
    if len(own) < _FEWEST:
        return None
    ranks = [_ranks(np.asarray(values, float)) for values in (own, other)]
    spread = [float(one.std()) for one in ranks]
    if not all(spread):
        return None
    return float(((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())).mean() / (spread[0] * spread[1]))


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]
