"""Collectives that were added, removed or changed because XLA combines the same arrays differently.

Proven if every array that a collective moves has a counterpart in the other program: moved for the same operation, by
the same kind over the same axes, with as many bytes and runs. Not its job: joining rows (`analyze.diff.collectives`),
edits as reasons (`analyze.diff.reasons`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from pjit_inspect.analyze.diff.collectives import part_of
from pjit_inspect.analyze.diff.side import ProgramNames
from pjit_inspect.model.diff.pairs import COMBINED, CollectiveDiff, Pair
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective


@dataclass(frozen=True, slots=True)
class _MovedPart:
    """One array of a collective.

    Attributes:
      place: kind, axes, runs, bytes, and the operation it is moved for.
      value: the array and its purpose; None if unexplained.
      is_open: whether several operations fit equally well: `value` is then one of them.
    """

    place: Hashable
    value: Hashable | None
    is_open: bool


Parts = Counter[_MovedPart]


def with_combined(collectives: CollectiveDiff, names: tuple[ProgramNames, ProgramNames]) -> CollectiveDiff:
    """The collectives, with "combined differently" as the reason where it applies."""
    if not any(pair.status != "same" and _is_combined(pair) for pair in collectives):
        return collectives
    known = {id(row): _parts(row, own) for pair in collectives for row, own in _sides(pair, names)}
    totals: tuple[Parts, Parts] = (Counter(), Counter())
    for pair in collectives:
        for row, total in zip((pair.before, pair.after), totals, strict=True):
            if row is not None:
                total.update(known[id(row)])
    same = _same_parts(totals)

    def explained(pair: Pair[Collective]) -> bool:
        rows = [row for row, _ in _sides(pair, names)]
        return all(len(row.causes) == row.operands and known[id(row)].keys() <= same for row in rows)

    rows = (
        replace(pair, reason=COMBINED) if pair.status != "same" and not pair.reason and explained(pair) else pair
        for pair in collectives
    )
    return replace(collectives, rows=tuple(rows))


def _same_parts(totals: tuple[Parts, Parts]) -> set[_MovedPart]:
    """The arrays that both programs move the same number of times."""
    known = totals[0].keys() | totals[1].keys()
    same = {part for part in known if part.value is not None and totals[0][part] == totals[1][part]}
    left: dict[Hashable, list[_MovedPart]] = {}
    for part in known - same:
        left.setdefault(part.place, []).append(part)
    for parts in left.values():
        counts = [sum(total[part] for part in parts) for total in totals]
        is_open = any(all(part.is_open for part in parts if total[part]) for total in totals)
        # If only one program distinguishes similar operations, number and place must suffice.
        if counts[0] == counts[1] and is_open and all(part.value is not None for part in parts):
            same.update(parts)
    return same


def _sides(
    pair: Pair[Collective], names: tuple[ProgramNames, ProgramNames]
) -> Iterable[tuple[Collective, ProgramNames]]:
    return [(row, own) for row, own in zip((pair.before, pair.after), names, strict=True) if row is not None]


def _is_combined(pair: Pair[Collective]) -> bool:
    return any(row is not None and row.is_combined for row in (pair.before, pair.after))


def _parts(row: Collective, names: ProgramNames) -> Parts:
    what = row.kind, names.axes(row.axes), row.groups if row.axes is None else None, row.count
    return Counter(_part(what, cause, names) for cause in row.causes)


def _part(what: Hashable, cause: Cause, names: ProgramNames) -> _MovedPart:
    *place, value = part_of(cause, names)
    return _MovedPart(
        place=(what, tuple(place), cause.payload_bytes),
        value=value if cause.evidence == "sharding" else None,
        is_open=cause.candidates > 1,
    )
