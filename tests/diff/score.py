"""Compares what a comparison of two programs says with what was worked out by hand.

Not its job: printing (`scripts/diff_pairs`), deciding how much may be wrong (`test_diff_pairs`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import jax

import pjit_inspect
from diff.edits_of_code import PAIRS as CODE
from diff.edits_of_shardings import PAIRS as SHARDINGS
from diff.edits_of_style import PAIRS as STYLE
from diff.pair import EditPair

__all__ = ["PAIRS", "Judged", "Moves", "judge", "totals"]

PAIRS: tuple[EditPair, ...] = tuple(
    [
        pair
        for pair in (*SHARDINGS, *CODE, *STYLE)
        if pair.since <= jax.__version_info__[:2] < (pair.before or (1_000, 0))
    ]
)
"""Those that were worked out for this version of JAX."""

Moves = Counter[tuple[str, str, str]]
"""(status, kind, axes) -> how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One pair, compared.

    Attributes:
      pair: the pair.
      diff: the comparison.
      wanted, found: collectives that were added, removed, changed.
      unreasoned: what reasons should name, and no collective of that kind has one that does.
    """

    pair: EditPair
    diff: pjit_inspect.Diff
    wanted: Moves
    found: Moves
    unreasoned: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return self.wanted == self.found and not self.unreasoned and self.is_empty_right

    @property
    def is_empty_right(self) -> bool:
        return self.diff.is_empty or not self.pair.is_empty


def judge(pair: EditPair) -> Judged:
    """Compile both programs, compare them, and set what was found beside what was wanted."""
    records = []
    for build in pair.build():
        jax.clear_caches()
        function, arguments = build()
        records.append(pjit_inspect.inspect(function, *arguments))
    diff = pjit_inspect.diff(*records)
    found: Moves = Counter(
        (p.status, p.row.kind, " ".join(p.row.axes or ("none",))) for p in diff.collectives if p.status != "same"
    )
    wanted: Moves = Counter()
    for move in pair.moves:
        wanted[move.status, move.kind, move.axes] += move.number
    return Judged(pair=pair, diff=diff, wanted=wanted, found=found, unreasoned=_unreasoned(pair, diff))


def _unreasoned(pair: EditPair, diff: pjit_inspect.Diff) -> tuple[str, ...]:
    missing = []
    for move in pair.moves:
        rows = [p for p in diff.collectives if (p.status, p.row.kind) == (move.status, move.kind)]
        if move.because and not any(move.because in p.reason for p in rows):
            missing.append(move.because)
    return tuple(missing)


def totals(judged: list[Judged]) -> dict[str, tuple[int, int, int]]:
    """For each status: how many were wanted, found, and both."""
    result = {}
    for status in ("added", "removed", "changed"):
        wanted, found = (
            sum(Counter({k: n for k, n in getattr(one, which).items() if k[0] == status}).total() for one in judged)
            for which in ("wanted", "found")
        )
        both = sum(n for one in judged for k, n in (one.wanted & one.found).items() if k[0] == status)
        result[status] = wanted, found, both
    return result
