"""Classifies buffers by purpose, from the phases in which they are made and used, and from their makers.

Not its job: naming them (`analyze.memory.values_named`).
"""

from __future__ import annotations

from pjit_inspect.analyze.memory.occupancy import Buffer
from pjit_inspect.model.memory.memory_use import MemoryKind
from pjit_inspect.model.report.collective import Phase

_BEHIND: tuple[Phase, ...] = ("backward", "recompute")


def kind_of(buffer: Buffer, made: Phase, last: Phase, collective: str | None, *, is_state: bool) -> MemoryKind:
    """The purpose of a buffer.

    Args:
      buffer: the buffer.
      made: the phase in which it is made; None for unknown.
      last: the phase in which it is used last; likewise.
      collective: the kind of the collective that makes it; None for none.
      is_state: whether it is an argument that is optimizer state.
    """
    if buffer.kind == "argument":
        return "optimizer state" if is_state else "argument"
    if buffer.kind == "result":
        return "result"
    if buffer.kind == "constant":
        return "constant"
    if collective != "all-gather" and made == "forward" and last in _BEHIND:
        return "saved for backward"
    # A gradient may be summed over devices; a gathered or moved array is one that the update needs.
    if made in _BEHIND and last == "optimizer" and collective in (None, "all-reduce", "reduce-scatter"):
        return "gradient"
    return "temporary" if collective is None else "collective buffer"
