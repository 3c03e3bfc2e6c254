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
"""The part of the key that differs."""

ReasonKind = Literal["first", "changed", "dropped", "known", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One differing part of the key.

    Attributes:
      kind: the part.
      path: its subject: an argument's path, a flag's name; "" for the whole call.
      before, after: the two values as text; "" for none.
      dimension: the number of the changed dimension if only one changed; None otherwise.
      sentence: the difference in words: "`batch['tokens']`: length 511 -> 512 (dimension 1)".
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
    """An argument whose sharding differs from the one the executable takes: each call copies it.

    Attributes:
      path: the argument.
      given: its sharding in the call, as text.
      wanted: the sharding the executable takes, as text.
      size_bytes: bytes of the whole array (counted); None if the width of its elements is unknown.
      sentence: the same in words.
    """

    path: str
    given: str
    wanted: str
    size_bytes: int | None
    sentence: Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The reason of one compile.

    Attributes:
      kind: "first" if no earlier compile of the function was recorded; "changed" if parts of the key differ from the
        nearest earlier one; "dropped" if none differs and the earlier program was gone; "known" if nothing was
        compiled; "unknown" if the key was not seen, or if none differs and the earlier program still exists.
      sentence: the answer, on one line.
      differences: differences from the nearest earlier compile, the most telling first.
      nearest: the serial of that compile (`CompileKey.serial`); None for none.
      notes: further remarks, such as a program from the cache on disk.
      resharded: arguments that every call copies.
    """

    kind: ReasonKind
    sentence: Sentence
    differences: tuple[Difference, ...] = ()
    nearest: int | None = None
    notes: tuple[Sentence, ...] = ()
    resharded: tuple[Resharding, ...] = ()

    def __str__(self) -> str:
        return self.sentence
