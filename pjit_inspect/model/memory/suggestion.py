"""A change that would lower the memory peak, and its saving.

Not its job: finding it (`analyze.memory.could`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.program.mesh import PartitionSpec

SuggestionKind = Literal["shard", "donate", "recompute", "smaller type", "offload"]
"""The kind of change. `shard` splits over a mesh axis that divides the array and is not used.

`donate` lets results take over arguments. `recompute` computes saved values again in the backward pass. `smaller type`
keeps them, or optimizer state, in half as many bits. `offload` keeps them in host memory.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySuggestion:
    """One change, and its modelled effect on one device.

    Attributes:
      kind: the kind of change.
      name: the buffers it applies to, layer numbers starred.
      count: the number of buffers.
      bytes: their bytes at the peak.
      saved_bytes: bytes saved (modelled: nothing else changes).
      sentence: the suggestion in one line.
      specs: for arguments to be sharded differently, the specs with which `record.what_if(specs=...)` checks it; {} for
        others.
      flops: upper bound of additional floating-point operations on one device (modelled: the forward pass once more);
        None for none or unknown.
    """

    kind: SuggestionKind
    name: str
    count: int
    bytes: int
    saved_bytes: int
    sentence: str
    specs: Mapping[str, PartitionSpec] = field(default_factory=dict)
    flops: int | None = None
