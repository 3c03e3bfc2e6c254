"""A program in the order it runs, as nested parts: phases, scopes and loops, with kernels and collectives in them.

Not its job: finding it (`analyze.graph.skeleton`), writing it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonStep:
    """Kernels that run one after another, and the collectives that follow them.

    Attributes:
      kernels: their operations in order; equal neighbours once, with their number.
      collectives: rows of the `CollectiveTable`, in order.
    """

    kernels: tuple[tuple[str, int], ...]
    collectives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonPart:
    """An unbroken run of one phase, scope, branch or loop. A scope that XLA interleaves appears several times.

    Attributes:
      label: its name: "forward", "layer0", "layer0 … layer3", "loop".
      is_loop: whether it is a loop.
      trips: turns per run of a loop; None if unknown, and for anything else.
      alike: number of equal neighbours it represents, including itself.
      parts: its parts and steps, in order.
    """

    label: str
    is_loop: bool = False
    trips: int | None = None
    alike: int = 1
    parts: tuple[SkeletonPart | SkeletonStep, ...] = ()
