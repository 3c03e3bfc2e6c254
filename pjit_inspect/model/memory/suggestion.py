"""A change that would make what is alive at the peak smaller, and what it would save.

Not its job: finding it (`analyze.memory.could`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.program.spec import PartitionSpec

SuggestionKind = Literal["shard", "donate", "recompute", "smaller type", "offload"]
"""What would be done: split over a mesh axis that divides it and is not used; let results take over arguments; compute
again in the backward pass what is saved for it; keep that, or optimizer state, in half as many bits; keep that in host
memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySuggestion:
    """One change, and its modelled effect on one device.

    Attributes:
      kind: what would be done.
      name: to what, layer numbers starred.
      count: how many buffers.
      bytes: what they take at the peak.
      saved_bytes: how many bytes less that would be (modelled: nothing else changes).
      sentence: all of it in a line.
      specs: for arguments that would be sharded otherwise, what `record.what_if(specs=...)` takes to check it; {} where
        it cannot be checked so.
      flops: floating-point operations more on one device, at most (modelled: the forward pass once more); None where
        there are none, or they are not known.
    """

    kind: SuggestionKind
    name: str
    count: int
    bytes: int
    saved_bytes: int
    sentence: str
    specs: Mapping[str, PartitionSpec] = field(default_factory=dict)
    flops: int | None = None
