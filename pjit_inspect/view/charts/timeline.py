"""The timeline of a session's compiles: when each stage of each ran.

Its colours mean stages, not mesh axes: it shows no axis.
"""

from __future__ import annotations

from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow
from pjit_inspect.view.document.colors import NEUTRAL, STAGE_COLORS
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural

_ROWS = 12
_OTHERS = "others"
_LONGEST_REASON = 160


def timeline_chart(ledger: LedgerData) -> BarChart:
    """A row for each function, most expensive first, a bar for each stage with known times, a mark for each cell.

    Of many functions, the last row has all "others".
    """
    stages = [(entry, *stage) for entry in ledger.entries for stage in _stages(entry)]
    title = f"when each of {plural(ledger.compiles, 'compile')} was traced, lowered and compiled (measured)"
    if not stages:
        return BarChart(title=title, missing="no seconds are known")
    spent: dict[str, float] = {}
    for entry, _, _, seconds in stages:
        spent[printable(entry.name)] = spent.get(printable(entry.name), 0.0) + seconds
    named = sorted(spent, key=lambda name: -spent[name])
    shown = named if len(named) <= _ROWS else [*named[: _ROWS - 1], _OTHERS]
    start = min(began for _, _, began, _ in stages)
    parts: dict[str, list[BarPart]] = {name: [] for name in shown}
    cells: dict[str, float] = {}
    for entry, stage, began, seconds in sorted(stages, key=lambda stage: stage[2]):
        words = (f"compile #{entry.index} of {printable(entry.name)}", entry.reason.sentence[:_LONGEST_REASON])
        part = BarPart(name=stage, value=seconds, color=STAGE_COLORS[stage], words=words, start=began - start)
        parts[name if (name := printable(entry.name)) in parts else _OTHERS].append(part)
        if entry.cell is not None:
            cells.setdefault(entry.cell, began - start)
    return BarChart(
        title=title,
        measure="since the first compile (measured)",
        unit="s",
        rows=tuple(BarRow(label=name, parts=tuple(own), color=NEUTRAL) for name, own in parts.items()),
        marks=tuple(cells.items()),
    )


def _stages(entry: LedgerEntry) -> list[tuple[str, float, float]]:
    """The stages with known times: name, beginning, seconds."""
    times = entry.timings
    stages = (
        ("trace", times.trace_began_s, times.trace_s),
        ("lower", times.lower_began_s, times.lower_s),
        # The compilation cache on disk replaces XLA.
        ("from disk" if entry.disk else "XLA", times.compile_began_s, times.compile_s),
    )
    return [(name, began, seconds) for name, began, seconds in stages if began is not None and seconds is not None]
