"""A program or an array for which memory was short, as XLA reports it: figures, and its list of the largest buffers.

Not its job: reading the report (`parse.messages.memory_errors`), or joining it to a program
(`analyze.memory.reported`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

NO_MEMORY = "RESOURCE_EXHAUSTED"
"""XLA's word for it, with which the message of every such error begins."""

ShortageKind = Literal["compile", "tuning", "load", "allocation"]
"""The compiler refused the program, or had no room to try kernels on the device; the program could not be put on the
device; or one buffer could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedBuffer:
    """One buffer of XLA's list. What XLA does not say is "", None or ().

    Attributes:
      bytes: its size on one device, as XLA rounds it: two decimals of a unit.
      unpadded_bytes: the same without padding of tiles.
      padding_bytes: what padding of tiles adds.
      shape: its shape as XLA prints it.
      dtype: XLA's short name of the element type; "" for a tuple.
      dimensions: its shape on one device; () for a scalar and for a tuple.
      op_name: JAX's name of the operation that makes it.
      source_file, source_line: where that stands, as XLA says it.
      instruction: the HLO instruction that makes it ("fusion.12").
      opcode: what that is ("fusion").
      allocation: what XLA calls the memory it is in ("HLO temp").
      tag: what XLA adds to it.
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
    """What XLA reports of a memory that was too small. What it does not say is None, "" or empty.

    Attributes:
      kind: what failed.
      sentence: the first line of the report, in XLA's words.
      space: the memory ("hbm", "vmem"); "" for the device's main one where XLA names none.
      needed_bytes: all that the program needs of it on one device, as XLA rounds it.
      available_bytes: what a program may use of it.
      asked_bytes: the one piece that could not be had.
      is_rounded: whether that has two decimals of a unit; False for one that is exact.
      free_bytes: what was free then.
      program: the program's name in XLA ("jit_train_step").
      device: which device, in XLA's words.
      sums: what XLA adds up, by its own words ("parameter allocation", "Program / HLO temp"), and parts of such a sum
        ("Program / HLO temp, unpadded").
      largest: its list of the largest buffers, in its order.
      unknown: lines of the report that are not understood, as they stand.
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
