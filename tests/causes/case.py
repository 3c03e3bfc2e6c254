"""One program of the corpus: how to build it, and which collectives it must have for which causes.

The expectations were written from how SPMD partitioning must work, before any program ran; where the program XLA made
showed an error of ours, `Case.revised` says what had been expected and why that was wrong.
Not its job: running programs or comparing (`score`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["A2A", "AG", "AR", "CP", "RS", "SUM", "Build", "Case", "Want", "case"]

AR, AG, RS = "all-reduce", "all-gather", "reduce-scatter"
A2A, CP = "all-to-all", "collective-permute"
SUM = f"{AR}|{RS}"
"""An all-reduce whose result is needed sharded: a backend may or may not make it a reduce-scatter."""

Build = Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
"""Makes the function to inspect and its arguments (`jax.ShapeDtypeStruct`s with shardings)."""


@dataclass(frozen=True, slots=True)
class Want:
    """A cause that collectives of a program have.

    Attributes:
      kind: as `Collective.kind`; "a|b" where partitioning may do either.
      axes: mesh axes, split by spaces ("data model"), in any order; "none" for groups that follow no axes; "a|b" for
        alternatives.
      cause: as `Cause.kind`; "a|b" only where the program gives no reason for one of them.
      at: the `# @tag` on the source line the cause points to; None when there is no single line.
      phase: as `Collective.phase`; None when it does not matter.
      optional: True when the partitioner may do without it.
      jax: "" for every version, or a bound such as "<0.11" or ">=0.11".
      platform: "" for every platform, "tpu" for that one alone, "not tpu" for all others.
    """

    kind: str
    axes: str
    cause: str
    at: str | None = None
    phase: str | None = None
    optional: bool = False
    jax: str = ""
    platform: str = ""

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.kind.split("|"))

    @property
    def axis_sets(self) -> frozenset[frozenset[str] | None]:
        return frozenset(None if axes == "none" else frozenset(axes.split()) for axes in self.axes.split("|"))

    @property
    def causes(self) -> frozenset[str]:
        return frozenset(self.cause.split("|"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One program.

    Attributes:
      name: unique in the corpus.
      build: makes the program; its source holds the tags.
      wants: every cause the program's collectives have; () for a program that must have no collective.
      why: the reasoning, in a line.
      revised: what had been expected before the program ran and why that was wrong; "" when it held.
      elsewhere: what the compiler of another platform makes of the program before its partitioner gets it, where other
        collectives follow from that; "" where they are the same.
    """

    name: str
    build: Build
    wants: tuple[Want, ...]
    why: str
    revised: str = ""
    elsewhere: str = ""


def case(cases: list[Case], why: str, *wants: Want, revised: str = "", elsewhere: str = "") -> Callable[[Build], Build]:
    """Append the decorated builder to `cases`; the case is named after it."""

    def add(build: Build) -> Build:
        name = build.__name__
        cases.append(Case(name=name, build=build, wants=wants, why=why, revised=revised, elsewhere=elsewhere))
        return build

    return add
