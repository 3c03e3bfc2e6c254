"""Joins rows of two programs by shared properties, the strongest evidence first.

A tier names what it compares. Rows that are equal in that are joined in order, one to one; what no tier joins stays
alone. Not its job: which evidence there is for which rows (`analyze.diff.collectives` and its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pjit_inspect.model.diff.pairs import Change, Pair

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tier(Generic[T]):
    """One kind of evidence.

    Attributes:
      by: the properties the rows share, in words.
      key: the compared key; None for a row without this evidence.
      needs_all: whether rows are joined only if both programs have the same number of them.
    """

    by: tuple[str, ...]
    key: Callable[[T], Hashable | None]
    needs_all: bool = False


@dataclass(frozen=True, slots=True)
class Joined:
    """Two rows, by position, and the properties they share."""

    before: int
    after: int
    by: tuple[str, ...]


def join_rows(
    before: Sequence[T], after: Sequence[T], tiers: Iterable[Tier[T]], known: Sequence[Joined] = ()
) -> list[Joined]:
    """Joins the rows that are not joined in `known`, each at most once.

    Equal rows are joined in order.
    """
    gone = {one.before for one in known}, {one.after for one in known}
    left = tuple([k for k in range(len(rows)) if k not in own] for rows, own in zip((before, after), gone, strict=True))
    joined: list[Joined] = []
    for tier in tiers:
        if not left[0] or not left[1]:
            break
        first, second = _by_key(before, left[0], tier.key), _by_key(after, left[1], tier.key)
        found = [
            pair
            for key, rows in first.items()
            if not tier.needs_all or len(rows) == len(second.get(key, ()))
            for pair in zip(rows, second.get(key, ()), strict=False)
        ]
        joined += [Joined(i, j, tier.by) for i, j in found]
        taken = {i for i, _ in found}, {j for _, j in found}
        left = tuple([k for k in rows if k not in gone] for rows, gone in zip(left, taken, strict=True))
    return joined


def _by_key(rows: Sequence[T], positions: Iterable[int], key: Callable[[T], Hashable | None]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for position in positions:
        value = key(rows[position])
        if value is not None:
            found.setdefault(value, []).append(position)
    return found


def changes_of(before: Any, after: Any, fields: Iterable[str], **read: Callable[[Any], Any]) -> tuple[Change, ...]:
    """The fields in which two rows differ; `read` has functions for fields that are no attributes."""
    found = []
    for name in fields:
        get = read.get(name)
        one, two = (get(before), get(after)) if get else (getattr(before, name), getattr(after, name))
        if one != two:
            found.append(Change(name=name, before=one, after=two))
    return tuple(found)


def ordered_pairs(
    before: Sequence[T], after: Sequence[T], joined: Iterable[Joined], changes: Callable[[T, T], tuple[Change, ...]]
) -> tuple[Pair[T], ...]:
    """All rows as pairs: removed, added, changed, the same; within these in order."""
    pairs = sorted(joined, key=lambda one: (one.after, one.before))
    known = {one.before for one in pairs}, {one.after for one in pairs}
    both = [
        Pair(before=before[p.before], after=after[p.after], by=p.by, changes=changes(before[p.before], after[p.after]))
        for p in pairs
    ]
    return (
        *(Pair(before=row, after=None) for k, row in enumerate(before) if k not in known[0]),
        *(Pair(before=None, after=row) for k, row in enumerate(after) if k not in known[1]),
        *(pair for pair in both if pair.changes),
        *(pair for pair in both if not pair.changes),
    )
