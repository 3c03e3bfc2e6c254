"""What is alive in one memory over the whole schedule: its curve, and every large buffer with when it is alive.

Not its job: finding it out (`analyze.memory.timeline`), or drawing it (`view.memory`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pjit_inspect.model.memory.memory_use import LiveValue, MemoryCurve
from pjit_inspect.model.report.collective import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedValue:
    """One buffer, and when it is alive.

    Attributes:
      value: the buffer.
      spans: the kernels from which to which it is alive, ends included, ascending, apart: at the moment of each at
        which most is alive, as in `MemoryCurve.bytes`. () for one that is alive only between such moments.
      maker, last_user: the kernels that make it and use it last; -1 where there is none.
    """

    value: LiveValue
    spans: tuple[tuple[int, int], ...]
    maker: int = -1
    last_user: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """One memory over the schedule.

    At each kernel, the buffers that are alive there and those without a name add up to the curve.

    Attributes:
      curve: bytes that are alive, kernel by kernel.
      values: the largest buffers, largest first.
      nameless: how many smaller buffers there are beside them.
      phases: the phase of training of each kernel, None for unknown; () for a program that nobody differentiated.
    """

    curve: MemoryCurve
    values: tuple[TimedValue, ...] = ()
    nameless: int = 0
    phases: tuple[Phase, ...] = field(default=(), repr=False)
