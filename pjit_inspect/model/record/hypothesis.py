"""The subject of a record that never ran: the change, the machine, and the program to compare with.

Not its job: making the record (`handles.asked.what_if`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.record.target import Effort, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOver:
    """Bytes sent by collectives over the same mesh axes.

    Attributes:
      axes: the axes they follow; () for none, None if unknown.
      sent_bytes: bytes the busiest device sends per call (modelled: ring).
    """

    axes: tuple[str, ...] | None
    sent_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigures:
    """Key figures of a program, to be shown beside another; None for unknown.

    Attributes:
      collectives: number of collectives (counted).
      sent: one entry for each set of mesh axes, most bytes first.
      memory_bytes: arguments, results and temporaries on one device, minus the part that results reuse (XLA's count).
      argument_bytes: arguments on one device (counted).
      kernels: number of fused kernels (counted).
    """

    collectives: int | None = None
    sent: tuple[SentOver, ...] = ()
    memory_bytes: int | None = None
    argument_bytes: int | None = None
    kernels: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A program that needs more memory than the chip has: XLA refused it, or compiled it for a GPU anyway.

    Attributes:
      needed_bytes: its need; None if XLA does not say.
      available_bytes: the chip's memory; None likewise.
      sentence: XLA's message if it refused.
      report: XLA's full report, including its list of the largest buffers; None if there is none.
    """

    needed_bytes: int | None
    available_bytes: int | None
    sentence: str
    report: MemoryShortage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """The question that a record answers.

    Attributes:
      changes: changes, each in words ("mesh data=16 x model=16", "params['w1'] P(None, 'model')").
      target: the machine it was compiled for.
      effort: how far it was compiled.
      seconds: how long the answer took (measured).
      origin: its origin in words ("mesh data=2 x model=4, 8 cpu devices"); "" for a function that was lowered for the
        target.
      before: the key figures of the origin.
      misfit: why it would not run, where it does not fit.
    """

    changes: tuple[str, ...]
    target: Target
    effort: Effort
    seconds: float | None = None
    origin: str = ""
    before: KeyFigures = KeyFigures()
    misfit: Misfit | None = None
