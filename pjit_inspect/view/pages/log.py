"""The session log: one row per compilation, the small fry in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.document.columns import codes, numbers, places, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    Block,
    Code,
    Column,
    Document,
    Line,
    Sign,
    Span,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural, seconds_text
from pjit_inspect.view.record.answer import reason_words
from pjit_inspect.view.record.incomplete import reason_text
from pjit_inspect.view.record.record import ViewOptions

LISTED_RECORDS = 40
"""The most records of the user's functions that get a row: the newest."""

_NAMES = 6


def log_view(
    rows: Sequence[RecordData],
    *,
    collectives: Sequence[int | None] = (),
    reasons: Sequence[Reason | None] = (),
    dropped: int = 0,
    options: ViewOptions | None = None,
) -> Document:
    """The display of a log.

    `collectives` has each record's number of collectives (None if not counted), `reasons` the reason for its compile;
    both may be empty. For recompiles, a column says which part of the key differed. A record keeps its index in the
    log. Of many rows the newest are shown; `dropped` counts older records that are no longer in the log.
    """
    counts = tuple(collectives) or (None,) * len(rows)
    mine = [index for index, data in enumerate(rows) if data.origin == "user"]
    runs = _joined(rows, mine)
    shown = runs[-LISTED_RECORDS:]
    left_out = sum(len(run) for run in runs[:-LISTED_RECORDS])
    blocks: list[Block] = [_head(rows, len(mine), left_out)]
    times = (options or ViewOptions()).show_times
    if shown:
        again = [reason_words(reason) for reason in reasons] or [""] * len(rows)
        blocks.append(table_of(_columns(rows, counts, again, times), shown))
    blocks += not_yours([(data.origin, data.name, 1, None) for data in rows])
    blocks += [_incomplete(index, data) for index, data in enumerate(rows) if data.hlo and "hlo" in data.missing]
    if dropped:
        had = f"{plural(dropped, 'older record')} {'was' if dropped == 1 else 'were'} dropped"
        blocks.append(line(f"{had}: the log holds at most {len(rows):,}", role="note"))
    return Document(blocks=tuple(blocks))


def _head(rows: Sequence[RecordData], mine: int, left_out: int) -> Line:
    if not rows:
        return line("nothing compiled")
    older = f"; the first {left_out:,} are left out" if left_out else ""
    return line(strong(plural(mine, "record")), f" of your functions{older}")


def _columns(
    rows: Sequence[RecordData], counts: Sequence[int | None], again: Sequence[str], times: bool
) -> list[Column]:
    """The columns; a row has the indices of the records that share it."""

    def first(run: Sequence[int]) -> RecordData:
        return rows[run[0]]

    def transform(run: Sequence[int]) -> str:
        return f"{first(run).transform}, {plural(len(run), 'program')}" if len(run) > 1 else first(run).transform

    def mesh(run: Sequence[int]) -> Span:
        return dim("none") if first(run).mesh is None else Code(str(first(run).mesh))

    def collectives(run: Sequence[int]) -> str:
        found = total(counts[index] for index in run)
        return "-" if found is None else f"{found:,}"

    def reasons(run: Sequence[int]) -> str:
        return ", ".join(dict.fromkeys(again[index] for index in run if again[index]))

    columns = [
        numbers("#", lambda run: f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0])),
        codes("name", lambda run: first(run).name, shrink=True),
        Column("transform", transform),
        places("where", lambda run: first(run).user_frame, missing=UNKNOWN),
        Column("mesh", mesh, shrink=True),
        numbers("collectives", collectives),
    ]
    if times:
        columns.append(Column("compile", lambda run: _took([rows[index] for index in run]), align="right"))
    if times and any(again):
        columns.append(Column("compiled again for", reasons, shrink=True))
    return columns


def _joined(rows: Sequence[RecordData], mine: Sequence[int]) -> list[list[int]]:
    """The indices of each row: operations that one call of `pmap` or `shard_map` ran outside jit share a row."""
    found: list[list[int]] = []
    for index in mine:
        before = found[-1][-1] if found else None
        if before is not None and _is_operation(rows[index]) and _is_operation(rows[before]):
            same = [(rows[i].name, rows[i].transform, rows[i].user_frame) for i in (before, index)]
            if same[0] == same[1]:
                found[-1].append(index)
                continue
        found.append([index])
    return found


def _is_operation(data: RecordData) -> bool:
    function = data.key.function if data.key is not None else None
    return function is not None and function.kind == "primitive"


def _took(rows: Sequence[RecordData]) -> str:
    seconds = [data.timings.compile_s for data in rows if data.timings.compile_s is not None]
    if len(seconds) == len(rows):
        return seconds_text(sum(seconds))
    return "before" if all(data.cached == "memory" for data in rows) else seconds_text(None)


def not_yours(compiles: Sequence[tuple[str, str, int, float | None]]) -> list[Block]:
    """One line for compiles that the user did not write, with the names that `log[name]` takes.

    A compile is its origin ("eager", "library", ...), name, number, and seconds; None for seconds that are not shown.
    """
    parts = []
    for words, origin in (("eager operations", "eager"), ("libraries", "library")):
        found = [one for one in compiles if one[0] == origin]
        names: Counter[str] = Counter()
        for _, name, number, _ in found:
            names[name] += number
        if names:
            known = [seconds for *_, seconds in found if seconds is not None]
            took = f", {seconds_text(sum(known))}" if known else ""
            parts.append(f"{names.total():,} of {words} ({_most_common(names)}{took})")
    return [line(Sign("more"), f" and {', '.join(parts)}")] if parts else []


def _incomplete(index: int, data: RecordData) -> Line:
    """A note that the program of a row is incomplete."""
    return line(f"#{index} ", Code(data.name), f" {reason_text(data.missing['hlo'])}", role="note")


def _most_common(names: Counter[str]) -> str:
    """The six most frequent names with their counts."""
    shown = [printable(name) + (f" x{count:,}" if count > 1 else "") for name, count in names.most_common(_NAMES)]
    return ", ".join([*shown, "..."] if len(names) > _NAMES else shown)
