"""XLA's account of a program's memory: allocations, and the values in each.

Not its job: reading it (`parse.buffers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

ValueKey = tuple[str, tuple[int, ...]]
"""An instruction's name, and the path to a part of its result; () for the whole result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedValue:
    """One value and its place in memory.

    Attributes:
      id: XLA's number of the value.
      instruction: the name of the instruction that makes it; "" if the program lacks it.
      index: the path to it in the instruction's result; () for the whole result.
      bytes: its size on one device, padding included.
      offset: its offset in its allocation.
      color: XLA's number of the memory.
      shape: as XLA prints it; "" if the source does not say.
    """

    id: int
    instruction: str
    index: tuple[int, ...]
    bytes: int
    offset: int
    color: int = 0
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """One piece of memory that XLA reserves.

    Attributes:
      number: XLA's number of the allocation.
      bytes: its size on one device.
      color: XLA's number of the memory; 0 is the device's main one.
      parameter: the number of the argument in it; None for none.
      parameter_index: the path within the argument.
      is_constant: whether it holds a constant.
      is_thread_local: whether it belongs to the body of a kernel.
      is_live_out: whether it holds a result.
      is_tuple: whether it holds pointers.
      values: the values in it.
    """

    number: int
    bytes: int
    color: int = 0
    parameter: int | None = None
    parameter_index: tuple[int, ...] = ()
    is_constant: bool = False
    is_thread_local: bool = False
    is_live_out: bool = False
    is_tuple: bool = False
    values: tuple[AssignedValue, ...] = ()

    @property
    def is_temporary(self) -> bool:
        """True if it is for values in between: no argument, result or constant, and of no kernel."""
        kept = self.parameter is not None or self.is_constant or self.is_live_out
        return not kept and not self.is_thread_local


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferAssignment:
    """All memory that XLA reserves for a program.

    Attributes:
      allocations: the pieces.
      unknown: forms of lines or fields that are not understood, with the number of each.
    """

    allocations: tuple[Allocation, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)

    def temporary_bytes(self, color: int = 0) -> int:
        """Bytes reserved for temporaries in a memory."""
        return sum(one.bytes for one in self.allocations if one.is_temporary and one.color == color)

    @property
    def by_color(self) -> Mapping[int, int]:
        """Bytes of all allocations except those of kernels, by memory."""
        total: Counter[int] = Counter()
        for one in self.allocations:
            total[one.color] += 0 if one.is_thread_local else one.bytes
        return dict(total)
