"""What a program communicates at least, of which only a part is there.

Not its job: finding it (`analyze.report.least`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What every program has that begins like this one.

    Attributes:
      collectives: how many collectives; permutes count as one, because a ring of them is one collective.
      sent_bytes: bytes each device sends per call (modelled: ring).
    """

    collectives: int = 0
    sent_bytes: int = 0
