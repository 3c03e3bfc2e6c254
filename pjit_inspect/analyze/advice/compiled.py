"""Compares what the collectives of two compiled programs send, by kind and in a turn of each loop of unknown length.

Not its job: compiling a changed program (`observe.shardy.what_if`), or programs before optimization (`counts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pjit_inspect.analyze.advice.turns import LoopsOf, Parts
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Checked


def compare_traffic(
    before: Iterable[Collective], after: Iterable[Collective], modules: tuple[HloModule, HloModule] | None = None
) -> Checked:
    """Compares the traffic of a program's collectives with that of a changed program.

    Args:
      before: the collectives of the program.
      after: the collectives of the changed program.
      modules: both programs, to find collectives in loops of unknown length; None if unavailable: then these
        collectives count once.
    """
    sides = tuple(before), tuple(after)
    if all(row.count is not None for side in sides for row in side):
        return _checked([[(row, row.count or 0) for row in side] for side in sides], ())
    loops = [] if modules is None else [LoopsOf(module) for module in modules]
    if not all(loops) or not loops:
        return _checked([[(row, 1 if row.count is None else row.count) for row in side] for side in sides], None)
    turns = [[own.turns_of_row(row) for row in side] for own, side in zip(loops, sides, strict=True)]
    figures = [
        own.add_up((turn, row.wire_bytes or 0) for turn, row in zip(turning, side, strict=True))
        for own, turning, side in zip(loops, turns, sides, strict=True)
    ]
    parts = Parts.of(figures[0], figures[1])
    counts = [
        [(row, sum(turn.values())) for turn, row in zip(turning, side, strict=True)]
        for turning, side in zip(turns, sides, strict=True)
    ]
    return _checked(counts, None if parts is None else parts.rows[1:])


def _checked(
    sides: Sequence[Sequence[tuple[Collective, int]]], per_turn: tuple[tuple[int, int], ...] | None
) -> Checked:
    kinds = [_by_kind(rows) for rows in sides]
    return Checked(
        before_bytes=sum(kinds[0].values()),
        after_bytes=sum(kinds[1].values()),
        before_by_kind=tuple(sorted(kinds[0].items())),
        after_by_kind=tuple(sorted(kinds[1].items())),
        per_turn=per_turn,
    )


def _by_kind(rows: Sequence[tuple[Collective, int]]) -> Counter[str]:
    sent: Counter[str] = Counter()
    for row, count in rows:
        sent[row.kind] += (row.wire_bytes or 0) * count
    return sent
