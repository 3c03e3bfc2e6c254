"""Lower bounds of the communication of an incomplete program.

Not its job: finding them (`analyze.report.least`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """Lower bounds for every program that begins like this one.

    Attributes:
      collectives: number of collectives; permutes count as one, because a ring of them is one collective.
      sent_bytes: bytes each device sends per call (modelled: ring).
    """

    collectives: int = 0
    sent_bytes: int = 0
