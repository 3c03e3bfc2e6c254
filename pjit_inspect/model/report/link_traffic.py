"""Bytes sent between pairs of mesh positions, over all collectives of a call.

Not its job: finding it (`analyze.collectives.traffic`), drawing it (`view.charts.traffic`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraffic:
    """Bytes per call between pairs of positions.

    Attributes:
      sources, targets: positions; every pair once, in order.
      sent_bytes: bytes the first sends to the second.
      left_out: number of omitted collectives, which have unknown groups or too many pairs.
    """

    sources: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    targets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    sent_bytes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    left_out: int = 0

    def per_position(self, positions: int) -> np.ndarray:
        """Bytes each position sends."""
        sums = np.bincount(self.sources, weights=self.sent_bytes, minlength=positions)
        return sums.astype(np.float64)
