"""Live values in one memory over the schedule: the curve, and the live range of every large buffer.

Not its job: finding it out (`analyze.memory.memory_use`), or drawing it (`view.memory`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pjit_inspect.model.memory.memory_use import LiveValue, MemoryCurve
from pjit_inspect.model.report.collective import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedValue:
    """One buffer and its live range.

    Attributes:
      value: the buffer.
      spans: disjoint ranges of kernels at which it is alive, ends included, ascending; each kernel at its moment of
        most live bytes, as in `MemoryCurve.bytes`. () for a buffer that is alive only between these moments.
      maker, last_user: the kernels that make it and use it last; -1 for none.
    """

    value: LiveValue
    spans: tuple[tuple[int, int], ...]
    maker: int = -1
    last_user: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """One memory over the schedule.

    At each kernel, the live buffers and the nameless ones add up to the curve.

    Attributes:
      curve: live bytes, kernel by kernel.
      values: the largest buffers, largest first.
      nameless: the number of smaller buffers.
      phases: the phase of training of each kernel, None for unknown; () for a program without differentiation.
    """

    curve: MemoryCurve
    values: tuple[TimedValue, ...] = ()
    nameless: int = 0
    phases: tuple[Phase, ...] = field(default=(), repr=False)
