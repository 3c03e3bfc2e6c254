"""Aligns two sequences: pairs their equal elements.

The longest common subsequence, with the same pairs whichever sequence comes first. Not its job: the meaning of
elements.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

_MOST_CELLS = 4_000_000
"""Beyond this many comparisons only the common begin and end are joined."""


def common_subsequence(
    before: Sequence[Hashable], after: Sequence[Hashable], prefer: Callable[[int, int], bool] | None = None
) -> list[tuple[int, int]]:
    """Pairs of positions of the longest common subsequence, in order.

    Among equally long ones, the one with most pairs that `prefer` accepts, then the one with the earliest pairs.
    """
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    pairs = [(k, k) for k in range(head)]
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    if middle[0] and middle[1] and len(middle[0]) * len(middle[1]) <= _MOST_CELLS:
        liked = (lambda i, j: prefer(i + head, j + head)) if prefer is not None else (lambda i, j: False)
        pairs += [(i + head, j + head) for i, j in _inner(*middle, liked)]
    return pairs + [(len(before) - tail + k, len(after) - tail + k) for k in range(tail)]


def _inner(
    before: Sequence[Hashable], after: Sequence[Hashable], prefer: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    # best[i][j]: (pairs, pairs that are liked) of what begins at i and j.
    nothing: tuple[int, int] = (0, 0)
    best: list[list[tuple[int, int]]] = [[nothing] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in range(len(before) - 1, -1, -1):
        row, below, own = best[i], best[i + 1], before[i]
        for j in range(len(after) - 1, -1, -1):
            found = max(below[j], row[j + 1])
            if own == after[j]:
                pairs, liked = below[j + 1]
                found = max(found, (pairs + 1, liked + prefer(i, j)))
            row[j] = found
    return _way(before, after, best, prefer)


def _way(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    best: list[list[tuple[int, int]]],
    prefer: Callable[[int, int], bool],
) -> list[tuple[int, int]]:
    pairs, i, j = [], 0, 0
    while i < len(before) and j < len(after):
        value = best[i][j]
        if before[i] == after[j]:
            inner = best[i + 1][j + 1]
            if value == (inner[0] + 1, inner[1] + prefer(i, j)):
                pairs.append((i, j))
                i, j = i + 1, j + 1
                continue
        down, right = best[i + 1][j] == value, best[i][j + 1] == value
        if down and right:
            # Both ways are equally good: one step in each keeps the answer the same with the sequences swapped.
            if best[i + 1][j + 1] == value:
                i, j = i + 1, j + 1
            elif repr(before[i]) <= repr(after[j]):
                i += 1
            else:
                j += 1
        elif down:
            i += 1
        else:
            j += 1
    return pairs
