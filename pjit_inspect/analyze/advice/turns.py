"""Compares two programs with loops of unknown length: the part outside these, and one turn of each.

A figure is then `outside + turns x inside`, for unknown numbers of turns. One program has less of something, however
many turns its loops take, where it has less for one turn of each and no more in any further one. Not its job: what a
figure is of (`counts`, `compiled`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pjit_inspect.analyze.program.unknown_loops import (
    LoopName,
    Turns,
    count_turns,
    loop_names,
    pair_loops,
    unknown_loops,
)
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import Collective


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigure:
    """One figure of a program.

    Attributes:
      total: the whole figure; every loop of unknown length takes one turn.
      per_turn: the share of one turn of each of these loops.
    """

    total: int
    per_turn: tuple[tuple[LoopName, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """A figure of two programs: (before, after) outside of loops of unknown length, then in a turn of each."""

    rows: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, before: TurnFigure, after: TurnFigure) -> Self | None:
        """Pairs two figures; None if the two programs' loops cannot be matched."""
        pairs = pair_loops(before.per_turn, after.per_turn)
        if pairs is None:
            return None
        outside = before.total - sum(own for own, _ in pairs), after.total - sum(own for _, own in pairs)
        return cls((outside, *pairs))

    def may_grow(self, most: float = 1.0) -> bool:
        """True if the second program has more than `most` times the first's figure, for some numbers of turns above 0.

        Zero turns are not considered: work moved out of a loop is then more.
        """
        one_turn = sum(own for own, _ in self.rows), sum(own for _, own in self.rows)
        return any(after > most * before for before, after in (one_turn, *self.rows[1:]))

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the largest ratio of the second program's figure to the first's, over all numbers of turns."""
        found = [after / before for before, after in self.rows if before]
        return (min(found), max(found)) if found else (1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTurns:
    """Bytes sent, multiplications and elements made by a device, in a program and in a changed one."""

    sent: Parts
    products: Parts
    made: Parts

    @classmethod
    def of(cls, before: Sequence[TurnFigure], after: Sequence[TurnFigure]) -> Self | None:
        """Of three figures each; None where it is not known which loop is which."""
        sent, products, made = (Parts.of(own, other) for own, other in zip(before, after, strict=True))
        if sent is None or products is None or made is None:
            return None
        return cls(sent=sent, products=products, made=made)


class LoopsOf:
    """The number of runs of each computation of a program, as far as it depends on loops of unknown length."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        loops = unknown_loops(module)
        self._names = loop_names(module, loops)
        self._turns: tuple[Turns, ...] = count_turns(module, loops) if loops else ()

    def __bool__(self) -> bool:
        return bool(self._names)

    def add_up(self, sizes: Iterable[tuple[Mapping[int | None, int], int]]) -> TurnFigure:
        """The sum of sizes, each times its number of runs."""
        parts: Counter[int | None] = Counter()
        for turns, size in sizes:
            for loop, count in turns.items():
                parts[loop] += count * size
        named = tuple((name, parts[loop]) for loop, name in self._names.items())
        return TurnFigure(total=parts.total(), per_turn=named)

    def turns_of(self, index: int) -> Turns:
        """The number of times an instruction runs."""
        return self._turns[int(self._module.instructions.computation[index])]

    def turns_of_row(self, row: Collective) -> Turns:
        """The number of times a collective runs; for a ring, as often as all of its permutes."""
        if row.count is not None:
            return {None: row.count}
        members = [own for name in row.instructions if (own := self._module.find(name)) is not None]
        if row.decomposed is not None:
            members = [own for own in members if not own.opcode.endswith(("-done", "-update"))]
        else:
            members = members[:1]
        found: Counter[int | None] = Counter()
        for own in members:
            found.update(self.turns_of(own.index))
        # An impossible number of runs is treated as none.
        return found if any(key is not None and count for key, count in found.items()) else {None: 1}

    def made(self, sizes: Sequence[int] | np.ndarray) -> TurnFigure:
        """The figure summed over all instructions; `sizes` has one entry for each."""
        computations = self._module.instructions.computation
        each = np.bincount(computations, weights=np.asarray(sizes, float), minlength=len(self._turns))
        return self.add_up((self._turns[n], int(each[n])) for n in np.flatnonzero(each).tolist())
