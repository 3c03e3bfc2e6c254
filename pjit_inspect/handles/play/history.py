"""Objects users hold of a playground: variants linked to their record, and the table of them.

Not its job: asking XLA (`subject`), or deciding when (`playground`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pjit_inspect.errors import RecordNotFoundError
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.model.play.variant import Goal, HistoryTable, Variant
from pjit_inspect.view.pages.playground import history_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PlayVariant(OfRecord, Variant):
    """A variant of a playground, which knows its record."""

    _record_of: Callable[[int], Any] = field(repr=False)

    @property
    def record(self) -> Any:
        """XLA's result as a `CompileRecord`; None if it was refused, or is not known yet.

        Records of variants not used recently are released, and made again on demand.
        """
        return self._record_of(self.number)

    def __repr__(self) -> str:
        sent = "" if self.sent_bytes is None else f", sends {self.sent_bytes:,} bytes"
        return f"<Variant {self.number}: {self.title}, {self.stage}{sent}>"


@dataclass(frozen=True, slots=True, repr=False)
class History(Displayable, HistoryTable):
    """Every variant that was looked at. In a notebook it shows itself.

    Attributes:
      rows: the variants, in the order in which they were thought of.
      chosen: the number of the one that is looked at.
      notes: remarks of a search: the settings tried and not tried.
      among: the numbers of the variants with the parts a search had to keep, and within its limits; None for all.
    """

    notes: tuple[str, ...] = ()
    among: frozenset[int] | None = None

    def best(self, goal: Goal = "bytes", *, most_work: float | None = None) -> Variant:
        """The best variant: fewest "bytes" sent, least "memory" needed, or shortest "time" if nothing is hidden.

        Candidates have an answer from XLA, fit, are for as many devices as the current variant, and do on each device
        at most `most_work` times an equal share of the products (1.1 by default): without this limit, doing everything
        on every device, or on one, would send least. After a search, candidates also keep within its limits. Memory is
        that of arguments and results unless all were compiled to the end. Ties go to the fewest changes. Loops of
        unknown length count once (`Variant.runs_once`): with more turns another variant may send less, or take less
        time. Raises RecordNotFoundError if there is none.
        """
        devices = next((row.devices for row in self.rows if row.number == self.chosen), None)
        rows = [row for row in self.rows if self.among is None or row.number in self.among]
        # Variants in `among` have already been checked against the search's limit.
        limit = most_work if most_work is not None else 1.1 if self.among is None else math.inf
        return best_of([row for row in rows if devices in (None, row.devices)], goal, limit)

    def show(self) -> Shown:
        """An object to display."""
        return Shown(drawn(history_view(self, self.notes)))

    def to_json(self) -> str:
        """The whole history as JSON, including the controls of each variant."""
        return json.dumps({"chosen": self.chosen, "notes": self.notes, "rows": [_plain(row) for row in self.rows]})

    def __repr__(self) -> str:
        return f"<History: {len(self)} variants, {sum(row.is_answered for row in self)} of them answered>"


def best_of(rows: Sequence[Any], goal: Goal, most_work: float) -> Any:
    """As `History.best`, of rows for as many devices."""
    known = [
        row
        for row in rows
        if row.stage in ("partitioned", "full")
        and row.fits is not False
        and (row.work is None or row.work <= most_work)
    ]
    are_full = all(row.memory_source == "xla" for row in known)
    value = {
        "bytes": lambda row: row.sent_bytes,
        "memory": lambda row: row.memory_bytes if are_full else row.counted_bytes,
        "time": lambda row: None if row.time_s is None else row.time_s[1],
    }[goal]
    known = [row for row in known if value(row) is not None]
    if not known:
        raise RecordNotFoundError(f"no variant is known whose {goal} could be compared")
    return min(known, key=lambda row: (value(row), len(row.change), row.counted_bytes or 0, row.number))


def _plain(row: Variant) -> dict[str, Any]:
    kind = Variant
    plain = kind(**{name: getattr(row, name) for name in kind.__slots__})
    return asdict(plain)
