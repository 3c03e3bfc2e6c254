"""Why things compiled: the history of this process's keys, and the ledger users hold.

Not its job: recording (`api`), finding reasons (`analyze.recompiles.recompiles`), laying them out
(`view.pages.session`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from pjit_inspect.analyze.recompiles.ledger import Compile, build_ledger
from pjit_inspect.handles.exports import Exported
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.model.record.compile_table import SiteRow, SiteTable
from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry, LedgerRow, Pattern
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.view.pages.session import ledger_view
from pjit_inspect.view.record.record import ViewOptions
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn


def reason_of(data: RecordData, *, live: bool) -> Reason:
    """Why a program was compiled: as saved with the record, or from this process's history (`live`)."""
    if data.reason is not None:
        return data.reason
    if live:
        return HISTORY.reason(data)
    return Reason(kind="unknown", sentence=Sentence("unknown: only the process that compiled the program can tell"))


class Ledger(Displayable, Exported):
    """The compiles of a log: cost per function and call site, reasons, and patterns.

    In a notebook it shows itself; `rows` and `patterns` are for programs.
    """

    def __init__(self, compiles: Iterable[tuple[RecordData, Reason, Callable[[], int | None]]]) -> None:
        """Hold records, each with its reason, and a function that counts the bytes its program sends."""
        self._compiles = tuple(compiles)

    @cached_property
    def data(self) -> LedgerData:
        """The frozen data under it."""
        return build_ledger(
            [Compile(index=i, data=d, reason=r, sent=sent) for i, (d, r, sent) in enumerate(self._compiles)]
        )

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Per function and call site, the most expensive first; `entries` in each are its compiles with reasons."""
        return self.data.rows

    @property
    def table(self) -> SiteTable:
        """The `rows` as a table for other programs; export it with `to_csv()` and others."""
        return SiteTable(rows=tuple(map(_site_row, self.rows)))

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Patterns that make functions compile again and again, with remedies, the most expensive first."""
        return self.data.patterns

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Every compile in the order of the log."""
        return self.data.entries

    @property
    def compiles(self) -> int:
        """The number of programs compiled or loaded from disk."""
        return self.data.compiles

    @property
    def total_s(self) -> float:
        """Seconds of all stages of all compiles (measured)."""
        return self.data.total_s

    def timeline(self) -> Any:
        """A plotly figure of when each stage of each compile ran, with the notebook's cells as marks."""
        from pjit_inspect.view.charts.totals import timeline_chart
        from pjit_inspect.view.figures.figures import plotly_figure

        return plotly_figure(timeline_chart(self.data))

    def show(self, *, times: bool = True) -> Shown:
        """An object to display; with `times=False` it has no seconds, and is the same on every machine."""
        return Shown(drawn(ledger_view(self.data, options=ViewOptions(show_times=times))))

    def __repr__(self) -> str:
        return f"<Ledger of {self.compiles} compile{'s' * (self.compiles != 1)}>"


def _site_row(row: LedgerRow) -> SiteRow:
    return SiteRow(
        name=row.name,
        origin=row.origin,
        where=None if row.where is None else row.where.where,
        compiles=row.compiles,
        trace_s=row.trace_s,
        lower_s=row.lower_s,
        compile_s=row.compile_s,
        reasons=tuple(str(reason.sentence) for reason in row.reasons),
    )
