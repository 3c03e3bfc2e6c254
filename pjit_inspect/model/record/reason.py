"""Why JAX compiled: the facts in which one compile differs from an earlier one, each a sentence.

Not its job: finding them (`analyze.recompiles.recompiles`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.words.sentence import Sentence

DifferenceKind = Literal[
    "function", "source", "closure", "static", "tree", "keywords", "shape", "dtype", "weak type", "sharding",
    "committed", "layout", "device", "type sharding", "context mesh", "donation", "in_shardings", "out_shardings",
    "option", "config", "transform", "cleared", "evicted",
]  # fmt: skip
"""Which part of the key differs."""

ReasonKind = Literal["first", "changed", "dropped", "known", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One part of the key that differs.

    Attributes:
      kind: which part.
      path: what it is about: an argument's path, a flag's name; "" for the whole call.
      before, after: the two values as text; "" where there was none.
      dimension: for the only dimension of a shape that changed, its number; None otherwise.
      sentence: all of that in words: "`batch['tokens']`: length 511 -> 512 (dimension 1)".
    """

    kind: DifferenceKind
    path: str = ""
    before: str = ""
    after: str = ""
    dimension: int | None = None
    sentence: Sentence

    def __post_init__(self) -> None:
        lengths = (self.before, self.after) if self.kind == "shape" and self.dimension is not None else ()
        if not all(length.isdecimal() and len(length) < 20 for length in lengths):
            raise ValueError("the lengths of a dimension are numbers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resharding:
    """An argument that arrives with another sharding than the executable wants, so that each call copies it.

    Attributes:
      path: the argument.
      given: its sharding as it arrives, as text.
      wanted: the sharding the executable takes, as text.
      size_bytes: bytes of the whole array (counted); None when the width of its elements is unknown.
      sentence: all of that in words.
    """

    path: str
    given: str
    wanted: str
    size_bytes: int | None
    sentence: Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why one compile happened.

    Attributes:
      kind: "first" when no earlier compile of the function was recorded, "changed" when parts of the key differ from
        the nearest earlier one, "dropped" when none does and its program was seen to be gone, "known" when nothing was
        compiled, "unknown" when the key was not seen, and when none differs and the earlier program is still there.
      sentence: the answer, on one line.
      differences: what differs from the nearest earlier compile, the most telling first.
      nearest: the serial of that compile (`CompileKey.serial`); None when there is none.
      notes: what else is to be known: a program that came from the cache on disk.
      resharded: arguments that every such call copies.
    """

    kind: ReasonKind
    sentence: Sentence
    differences: tuple[Difference, ...] = ()
    nearest: int | None = None
    notes: tuple[Sentence, ...] = ()
    resharded: tuple[Resharding, ...] = ()

    def __str__(self) -> str:
        return self.sentence
