"""Separates the records of one run of a program on several processes from those of other runs.

No process knows a name of the whole run. Each record gives its Python process, that process's number among how many,
and its time. Not its job: comparing programs (`analyze.processes.merge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

_APART_S = 300.0
"""Hosts' clocks differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One Python process that made records.

    Two are equal if they are the same Python process; times do not count.

    Attributes:
      process, count: `jax.process_index()` and `jax.process_count()`.
      name: an identifier of the Python process; "" if unknown.
      began_s, ended_s: begin of its first compile and end of its last, in seconds since 1970; 0.0 if unknown.
    """

    process: int
    count: int
    name: str = ""
    began_s: float = field(default=0.0, compare=False)
    ended_s: float = field(default=0.0, compare=False)


def choose_sessions(records: Iterable[Session]) -> tuple[frozenset[Session], tuple[str, ...]]:
    """The sessions of the newest run, and a sentence for each that is left out or looks like one of another run.

    `records` has the session of each record. Of several with one process index the newest counts.
    """
    sessions, counts = _together(records)
    if not sessions:
        return frozenset(), ()
    newest = max(sessions, key=lambda session: session.ended_s)
    chosen: dict[int, Session] = {}
    for session in sorted(sessions, key=lambda session: session.ended_s):
        if session.count == newest.count:
            chosen[session.process] = session
    left_out = [session for session in sessions if session not in chosen.values()]
    notes = [_left_out(session, counts[session], newest) for session in left_out]
    return frozenset(chosen.values()), (*notes, *_apart(list(chosen.values())))


def _together(records: Iterable[Session]) -> tuple[list[Session], dict[Session, int]]:
    """Each session once, with the times of all its records, and its number of records."""
    found: dict[Session, Session] = {}
    counts: dict[Session, int] = {}
    for one in records:
        before = found.get(one, one)
        span = (min(before.began_s, one.began_s), max(before.ended_s, one.ended_s))
        found[one] = replace(before, began_s=span[0], ended_s=span[1])
        counts[one] = counts.get(one, 0) + 1
    return list(found.values()), counts


def _left_out(session: Session, records: int, newest: Session) -> str:
    what = f"{records} record{'s' * (records != 1)} of process {session.process}"
    if session.count != newest.count:
        return f"left out: {what} of {session.count}, as the newest run has {newest.count}"
    return f"left out: {what}, made by another Python process than its newest records: another run"


def _apart(chosen: Sequence[Session]) -> list[str]:
    """A sentence for each process that had ended long before the newest began."""
    known = [session for session in chosen if session.began_s > 0.0]
    if not known:
        return []
    newest = max(known, key=lambda session: session.began_s)
    return [
        f"process {session.process} made its last record {(newest.began_s - session.ended_s) / 60:,.0f} minutes before "
        f"process {newest.process} made its first: they may be of different runs, or their clocks differ"
        for session in sorted(known, key=lambda session: session.process)
        if newest.began_s - session.ended_s > _APART_S
    ]
