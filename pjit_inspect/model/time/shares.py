"""Adds the kernels and waits of a call up by a heading, and by lines of source; what adds up is all of the call.

Not its job: finding them (`analyze.time`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import get_args

from pjit_inspect.model.time.rows import (
    NOT_MODELLED,
    Heading,
    TimedCollective,
    TimedKernel,
    TimeLine,
    TimeLines,
    TimeShare,
    TimeShares,
)

_COPIES = "waits for copies"
_Namer = tuple[Callable[[TimedKernel], str], Callable[[TimedCollective], str]]


def shares_by(
    heading: Heading,
    kernels: Sequence[TimedKernel],
    collectives: Sequence[TimedCollective],
    *,
    is_timed: bool,
    copies_s: float,
    idle_s: float,
) -> TimeShares:
    """The share of each name under a heading; without seconds, the share is that of operations."""
    of_kernel, of_collective = _namers(heading)
    seconds, rows = Counter[str](), Counter[str]()
    flops: dict[str, int | None] = {}
    for row in kernels:
        name = NOT_MODELLED if is_timed and row.seconds is None else of_kernel(row)
        seconds[name] += row.seconds or 0.0  # type: ignore[assignment]
        rows[name] += 1
        flops[name] = _plus(flops.get(name, 0), row.flops)
    for each in collectives:
        name = NOT_MODELLED if is_timed and each.exposed_s is None else of_collective(each)
        seconds[name] += each.exposed_s or 0.0  # type: ignore[assignment]
        rows[name] += 1
    for name, rest in ((_COPIES, copies_s), (NOT_MODELLED, idle_s)):
        if rest:
            seconds[name] += rest  # type: ignore[assignment]
    whole, work = sum(seconds.values()), sum(row.flops or 0 for row in kernels)
    found = [
        TimeShare(
            name=name,
            seconds=own if is_timed else None,
            share=_share(own, whole) if is_timed else _share(flops.get(name, 0) or 0, work),
            flops=flops.get(name, 0),
            rows=rows[name],
        )
        for name, own in seconds.items()
    ]
    return TimeShares(tuple(sorted(found, key=lambda row: (-(row.share or 0.0), row.name))))


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _namers(heading: Heading) -> _Namer:
    """The names of a kernel and of a collective under a heading."""
    if heading in ("phase", "scope", "layer", "line"):
        return (lambda row: getattr(row, heading) or "unknown"), (lambda row: getattr(row, heading) or "unknown")
    if heading == "axis":
        return (lambda _: "kernels"), (lambda row: row.axes_text)
    if heading == "kernel":
        return (lambda row: row.name), (lambda row: row.name)
    if heading == "bound":
        return (lambda row: row.bound_by), (lambda _: "network")
    if heading == "known by":
        return (lambda row: row.known_by), (lambda row: row.known_by)
    raise ValueError(f"times cannot be added up by {heading!r}; {', '.join(get_args(Heading))} are possible")


_LineKey = tuple[str, str, str, bool]


def lines_of(
    kernels: Sequence[TimedKernel],
    collectives: Sequence[TimedCollective],
    *,
    is_timed: bool,
    copies_s: float,
    idle_s: float,
) -> TimeLines:
    """Kernels by line, limit and source of their time; waits by line and axes; the rest as rows of their own."""
    groups: dict[_LineKey, list[TimedKernel | TimedCollective]] = {}
    for row in kernels:
        groups.setdefault((row.line, row.bound_by, row.known_by, False), []).append(row)
    for each in collectives:
        if each.exposed_s or (is_timed and each.exposed_s is None):
            groups.setdefault((each.line, each.axes_text, each.known_by, True), []).append(each)
    work = sum(row.flops or 0 for row in kernels)
    waits = sum(row.exposed_s or 0.0 for row in collectives)
    whole = sum(row.seconds or 0.0 for row in kernels) + waits + copies_s + idle_s if is_timed else work
    found = [_line(key, rows, whole, is_timed=is_timed) for key, rows in groups.items()]
    for what, rest in (("waits for copies", copies_s), ("time of no known instruction", idle_s)):
        if rest:
            found.append(_rest(what, rest, whole))
    return TimeLines(tuple(sorted(found, key=lambda row: (-(row.share or 0.0), row.where, row.bound_by))))


def _line(key: _LineKey, rows: Sequence[TimedKernel | TimedCollective], whole: float, *, is_timed: bool) -> TimeLine:
    where, bound_by, known_by, is_wait = key
    kernels = [row for row in rows if isinstance(row, TimedKernel)]
    waits = [row for row in rows if isinstance(row, TimedCollective)]
    seconds = sum(row.seconds or 0.0 for row in kernels) + sum(row.exposed_s or 0.0 for row in waits)
    floors = [row.floor_s for row in kernels]
    floor = sum(own or 0.0 for own in floors)
    flops = [row.flops for row in kernels]
    kinds = Counter[str]()
    for row in rows:
        own = row.exposed_s if isinstance(row, TimedCollective) else row.seconds if is_timed else row.flops
        kinds[row.kind if isinstance(row, TimedCollective) else row.label] += own or 0  # type: ignore[assignment]
    names = [name for name, _ in kinds.most_common(2)]
    return TimeLine(
        seconds=seconds if is_timed and known_by != "unknown" else None,
        share=_share(seconds if is_timed else sum(own or 0 for own in flops), whole),
        bound_by=bound_by,
        of_roofline=floor / seconds if seconds and not is_wait and None not in floors else None,
        runs=sum(row.runs if row.runs is not None else 1 for row in rows),
        known_by=known_by,  # type: ignore[arg-type]
        where=where,
        what=("waits: " if is_wait else "") + ", ".join(names) + (", ..." if len(kinds) > len(names) else ""),
        flops=None if None in flops else sum(own or 0 for own in flops),
        is_wait=is_wait,
        axes=waits[0].axes if waits else (),
    )


def _rest(what: str, seconds: float, whole: float) -> TimeLine:
    return TimeLine(
        seconds=seconds,
        share=_share(seconds, whole),
        bound_by="memory" if what.endswith("copies") else "unknown",
        of_roofline=None,
        runs=0,
        known_by="modelled" if what.endswith("copies") else "measured",
        where="",
        what=what,
        flops=0,
    )
