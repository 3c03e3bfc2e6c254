"""A program or an array for which memory was short, as XLA reports it: figures, and its list of the largest buffers.

Not its job: reading the report (`parse.messages.memory_errors`), or joining it to a program
(`analyze.memory.autopsy`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

NO_MEMORY = "RESOURCE_EXHAUSTED"
"""The error code at the start of every XLA message about a memory shortage."""

ShortageKind = Literal["compile", "tuning", "load", "allocation"]
"""The compiler refused the program, or had no room to try kernels on the device; the program could not be put on the
device; or one buffer could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedBuffer:
    """One buffer of XLA's list. Fields that XLA does not give are "", None or ().

    Attributes:
      bytes: its size on one device, as XLA rounds it: two decimals of a unit.
      unpadded_bytes: the size without tile padding.
      padding_bytes: bytes of tile padding.
      shape: its shape as XLA prints it.
      dtype: XLA's short name of the element type; "" for a tuple.
      dimensions: its shape on one device; () for a scalar and for a tuple.
      op_name: JAX's name of the operation that makes it.
      source_file, source_line: the source line of that operation, as XLA gives it.
      instruction: the HLO instruction that makes it ("fusion.12").
      opcode: its opcode ("fusion").
      allocation: XLA's name of the memory it is in ("HLO temp").
      tag: XLA's remark.
      is_argument: whether it is an argument of the program.
    """

    bytes: int
    unpadded_bytes: int | None = None
    padding_bytes: int | None = None
    shape: str = ""
    dtype: str = ""
    dimensions: tuple[int, ...] = ()
    op_name: str = ""
    source_file: str = ""
    source_line: int | None = None
    instruction: str = ""
    opcode: str = ""
    allocation: str = ""
    tag: str = ""
    is_argument: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShortage:
    """XLA's report of a memory that was too small. Fields that XLA does not give are None, "" or empty.

    Attributes:
      kind: the kind of failure.
      sentence: the first line of the report, in XLA's words.
      space: the memory ("hbm", "vmem"); "" for the device's main memory if XLA names none.
      needed_bytes: the program's whole need on one device, as XLA rounds it.
      available_bytes: the part of it that a program may use.
      asked_bytes: the piece that could not be allocated.
      is_rounded: whether `asked_bytes` is rounded to two decimals of a unit; False if exact.
      free_bytes: the free bytes at that time.
      program: the program's name in XLA ("jit_train_step").
      device: the device, in XLA's words.
      sums: XLA's sums by its own names ("parameter allocation", "Program / HLO temp"), and parts of them ("Program /
        HLO temp, unpadded").
      largest: XLA's list of the largest buffers, in its order.
      unknown: lines of the report that are not understood, verbatim.
    """

    kind: ShortageKind
    sentence: str
    space: str = ""
    needed_bytes: int | None = None
    available_bytes: int | None = None
    asked_bytes: int | None = None
    is_rounded: bool = False
    free_bytes: int | None = None
    program: str = ""
    device: str = ""
    sums: dict[str, int] = field(default_factory=dict)
    largest: tuple[ReportedBuffer, ...] = ()
    unknown: tuple[str, ...] = ()
