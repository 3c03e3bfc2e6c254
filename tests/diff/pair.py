"""One pair of programs that differ by a known edit, and the collectives that come, go or change with it.

The expectations were worked out from how SPMD partitioning must work, before any pair was compared; where the programs
that XLA made showed an error of ours, `EditPair.revised` says what had been expected and why that was wrong. Not its
job: comparing (`score`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["ADDED", "CHANGED", "REMOVED", "Build", "EditPair", "Move", "pair"]

Status = Literal["added", "removed", "changed"]
ADDED: Status = "added"
REMOVED: Status = "removed"
CHANGED: Status = "changed"

Build = Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
"""Makes the function to inspect and its arguments."""


@dataclass(frozen=True, slots=True)
class Move:
    """Collectives that the edit adds, removes or changes.

    Attributes:
      status: which of these.
      kind: as `Collective.kind`.
      axes: mesh axes, split by spaces.
      number: how many.
      because: what the reason must name ("w1"); "" where none is asked for.
    """

    status: Status
    kind: str
    axes: str
    number: int = 1
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPair:
    """Two programs.

    Attributes:
      name: unique among the pairs.
      build: makes both.
      moves: what the edit does to the collectives; () for an edit that changes none.
      is_empty: True where the whole comparison must be empty: the edit makes no other program.
      why: the reasoning, in a line.
      revised: what had been expected before the pair was compared and why that was wrong; "" when it held.
      before: the first version of JAX, as (major, minor), for which it was not worked out; None for none.
      since: the first version for which it was.
    """

    name: str
    build: Callable[[], tuple[Build, Build]]
    moves: tuple[Move, ...]
    is_empty: bool
    why: str
    revised: str = ""
    before: tuple[int, int] | None = None
    since: tuple[int, int] = (0, 8)


def pair(
    pairs: list[EditPair],
    why: str,
    *moves: Move,
    is_empty: bool = False,
    revised: str = "",
    before: tuple[int, int] | None = None,
    since: tuple[int, int] = (0, 8),
) -> Callable[[Callable[[], tuple[Build, Build]]], Callable[[], tuple[Build, Build]]]:
    """Append the decorated builder of both programs to `pairs`; the pair is named after it."""

    def add(build: Callable[[], tuple[Build, Build]]) -> Callable[[], tuple[Build, Build]]:
        one = EditPair(
            name=build.__name__,
            build=build,
            moves=moves,
            is_empty=is_empty,
            why=why,
            revised=revised,
            before=before,
            since=since,
        )
        pairs.append(one)
        return build

    return add
