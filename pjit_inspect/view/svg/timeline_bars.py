"""The time of each stage of each compile: the bars of a timeline, however drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry
from pjit_inspect.view.document.printable import printable

Stage = Literal["trace", "lower", "XLA", "from disk"]

STAGES: tuple[Stage, ...] = ("trace", "lower", "XLA", "from disk")
"""The stages in order; "from disk" replaces XLA where the compilation cache had the program."""

_ROWS = 12
_OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineBar:
    """One stage of one compile.

    Attributes:
      row: its row.
      stage: its stage.
      began_s: seconds after the first stage of the session began.
      seconds: its duration (measured).
      entry: the compile.
    """

    row: str
    stage: Stage
    began_s: float
    seconds: float
    entry: LedgerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineBars:
    """A timeline: rows, bars, and the first compile of each notebook cell.

    Attributes:
      rows: the functions, most expensive first; the last is "others" when there are many.
      bars: in no order.
      cells: (name of a cell, seconds), in order of time.
      untimed: compiles recorded without a time.
    """

    rows: tuple[str, ...]
    bars: tuple[TimelineBar, ...]
    cells: tuple[tuple[str, float], ...]
    untimed: int


def timeline_bars(ledger: LedgerData) -> TimelineBars:
    """The bars of every compile in a ledger with known times."""
    spent: dict[str, float] = {}
    for entry in ledger.entries:
        spent[printable(entry.name)] = spent.get(printable(entry.name), 0.0) + sum(s for _, _, s in _stages(entry))
    named = sorted(spent, key=lambda name: -spent[name])
    rows = named if len(named) <= _ROWS else [*named[: _ROWS - 1], _OTHERS]
    start = min((began for entry in ledger.entries for _, began, _ in _stages(entry)), default=0.0)
    bars = tuple(
        TimelineBar(
            row=name if (name := printable(entry.name)) in rows else _OTHERS,
            stage=stage, began_s=began - start, seconds=seconds, entry=entry,
        )
        for entry in ledger.entries
        for stage, began, seconds in _stages(entry)
    )  # fmt: skip
    untimed = sum(not _stages(entry) for entry in ledger.entries)
    return TimelineBars(rows=tuple(rows), bars=bars, cells=_cells(bars), untimed=untimed)


def _stages(entry: LedgerEntry) -> list[tuple[Stage, float, float]]:
    times = entry.timings
    last: Stage = "from disk" if entry.disk else "XLA"
    stages: list[tuple[Stage, float | None, float | None]] = [
        ("trace", times.trace_began_s, times.trace_s),
        ("lower", times.lower_began_s, times.lower_s),
        (last, times.compile_began_s, times.compile_s),
    ]
    return [(stage, began, seconds) for stage, began, seconds in stages if began is not None and seconds is not None]


def _cells(bars: tuple[TimelineBar, ...]) -> tuple[tuple[str, float], ...]:
    first: dict[str, float] = {}
    for bar in sorted(bars, key=lambda bar: bar.began_s):
        if bar.entry.cell is not None:
            first.setdefault(bar.entry.cell, bar.began_s)
    return tuple(first.items())
