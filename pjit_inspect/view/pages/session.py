"""A session: the ledger of compiles with repeats and costs, and the log with a row for each compilation."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.record.ledger import LedgerData, LedgerRow, Pattern, RepeatedReason
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import joined, say
from pjit_inspect.view.charts.totals import timeline_chart
from pjit_inspect.view.document.columns import codes, first_blocks, more_lines, numbers, places, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AnswerBlock,
    Block,
    ChartSubject,
    Column,
    Document,
    Line,
    Number,
    Picture,
    Prose,
    Quote,
    Section,
    Sign,
    Span,
    Spans,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural, seconds_text
from pjit_inspect.view.record.answer import place_spans, reason_text, reason_words
from pjit_inspect.view.record.record import ViewOptions

_ROWS = 30
_REASONS = 3
_PATTERNS = 12
_RESHARDED = 8
_SECONDS = (("total", "total_s"), ("trace", "trace_s"), ("lower", "lower_s"), ("XLA", "compile_s"))


def ledger_view(ledger: LedgerData, *, options: ViewOptions | None = None) -> Document:
    """The display of a ledger: the sum, the repeats, each of the user's functions, all others in one line."""
    times = (options or ViewOptions()).show_times
    mine = [row for row in ledger.rows if row.origin == "user"]
    # Seconds differ from run to run: without times, the order must not depend on them.
    order = mine if times else sorted(mine, key=lambda row: -row.compiles)
    blocks: list[Block] = [_ledger_head(ledger, mine, times), *_patterns(ledger.patterns, times)]
    blocks += [table_of(_ledger_columns(times), order[:_ROWS])] if order else []
    blocks += more_lines(len(order) - _ROWS, "function")
    again = tuple(_reasons(row) for row in order[:_ROWS] if row.reasons)
    blocks += [Section(spans("why they were compiled again"), again)] if again else []
    seconds = [row.total_s if times and _is_timed((row,)) else None for row in ledger.rows]
    blocks += not_yours(
        [(row.origin, row.name, row.compiles, took) for row, took in zip(ledger.rows, seconds, strict=True)]
    )
    blocks += _resharded(ledger)
    if times and _is_timed(ledger.rows):
        alt = f"A timeline of {plural(ledger.compiles, 'compile')}: when each was traced, lowered and compiled."
        blocks.append(Picture(subject=ChartSubject(chart=timeline_chart(ledger)), alt=alt))
        blocks.append(line("seconds measured on this machine", role="footer"))
    return Document(blocks=tuple(blocks))


def _ledger_head(ledger: LedgerData, mine: Sequence[LedgerRow], times: bool) -> Line:
    if not ledger.rows:
        return line("nothing was compiled")
    took = ""
    if times and mine and not _is_timed(mine):
        took = ", seconds unknown"
    elif times:
        parts = ((name, sum(getattr(row, field) for row in mine)) for name, field in _SECONDS[1:])
        sums = ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds in parts)
        untimed = sum(row.untimed for row in mine)
        took = f", {seconds_text(sum(row.total_s for row in mine))} in all ({sums})"
        took += f"; those of {plural(untimed, 'compile')} are unknown" if untimed else ""
    compiles = strong(plural(sum(row.compiles for row in mine), "compile"))
    return line(compiles, f" of your functions, from {plural(len(mine), 'call site')}{took}", role="answer")


def _is_timed(rows: Sequence[LedgerRow]) -> bool:
    """True if the seconds of any compile are known."""
    return any(row.untimed < row.compiles for row in rows)


def _ledger_columns(times: bool) -> tuple[Column, ...]:
    def seconds(title: str, field: str) -> Column:
        def took(row: LedgerRow) -> str:
            return seconds_text(getattr(row, field) if _is_timed((row,)) else None)

        return numbers(title, took, "measured", optional=title != "total")

    def missed(row: LedgerRow) -> str:
        # The cache that missed first, and compiles loaded from disk.
        disk = (("disk", row.missed_disk), ("from disk", row.from_disk))
        return ", ".join(f"{layer} {count}" for layer, count in (*row.missed, *disk) if count)

    return (
        numbers("compiles", lambda row: row.compiles),
        codes("name", lambda row: row.name, shrink=True),
        places("where", lambda row: row.where, missing=UNKNOWN),
        *((seconds(title, field) for title, field in _SECONDS) if times else ()),
        Column("missed", missed, shrink=True),
    )


def _reasons(row: LedgerRow) -> AnswerBlock:
    """The reasons for recompiles of a function, most frequent first."""

    def counted(reason: RepeatedReason) -> Spans:
        if reason.count == 1:
            return (Prose(reason.sentence),)
        times = f" ({reason.count} times)" if reason.same else f" (the newest of {reason.count} such)"
        return (Prose(reason.sentence), dim(times))

    more = len(row.reasons) - _REASONS
    return AnswerBlock(
        head=spans(Quote(row.name, strong=True), Sign("dot"), place_spans((row.where,) if row.where else ())),
        sentences=(
            *map(counted, row.reasons[:_REASONS]),
            *([spans(Sign("more"), dim(f" and {plural(more, 'other reason')}"))] if more > 0 else ()),
        ),
    )


def _patterns(patterns: Sequence[Pattern], times: bool) -> list[Block]:
    if not patterns:
        return []

    def finding(pattern: Pattern) -> AnswerBlock:
        cost = (*spans(", "), Number(seconds_text(pattern.cost_s), provenance="measured")) if times else None
        compiles = plural(pattern.compiles, "compile")
        values = (Prose(say("values: {}", joined(pattern.values, ", "))),)
        return AnswerBlock(
            head=spans(strong(pattern.kind), Sign("dot"), Quote(pattern.name), Sign("dot"), compiles, cost),
            sentences=tuple((Prose(words),) for words in (pattern.sentence, pattern.advice) if words),
            facts=(values,) if pattern.values else (),
        )

    shown = patterns if times else sorted(patterns, key=lambda pattern: -pattern.compiles)
    return [Section(spans("what repeats"), tuple(first_blocks(shown, _PATTERNS, finding, "pattern")))]


def _resharded(ledger: LedgerData) -> list[Block]:
    found = {(e.name, one.path): one for row in ledger.rows for e in row.entries for one in e.reason.resharded}
    order = sorted(found.items(), key=lambda item: -(item[1].size_bytes or 0))
    return first_blocks(
        order, _RESHARDED, lambda item: line(Quote(item[0][0]), ": ", Prose(item[1].sentence), role="note"), "argument"
    )


# ---------------------------------------------------------------- log

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
    older = f"; the first {left_out:,} are left out" if left_out else ""
    head = line(strong(plural(len(mine), "record")), f" of your functions{older}") if rows else line("nothing compiled")
    blocks: list[Block] = [head]
    times = (options or ViewOptions()).show_times
    if shown:
        again = [reason_words(reason) for reason in reasons] or [""] * len(rows)
        blocks.append(table_of(_log_columns(rows, counts, again, times), shown))
    blocks += not_yours([(data.origin, data.name, 1, None) for data in rows])
    for index, data in enumerate(rows):
        if data.hlo and "hlo" in data.missing:
            why = reason_text(data.missing["hlo"])
            blocks.append(line(f"#{index} ", Quote(data.name), f" {why}", role="note"))
    if dropped:
        had = f"{plural(dropped, 'older record')} {'was' if dropped == 1 else 'were'} dropped"
        blocks.append(line(f"{had}: the log holds at most {len(rows):,}", role="note"))
    return Document(blocks=tuple(blocks))


def _log_columns(
    rows: Sequence[RecordData], counts: Sequence[int | None], again: Sequence[str], times: bool
) -> list[Column]:
    """The columns; a row has the indices of the records that share it."""

    def first(run: Sequence[int]) -> RecordData:
        return rows[run[0]]

    def transform(run: Sequence[int]) -> str:
        return f"{first(run).transform}, {plural(len(run), 'program')}" if len(run) > 1 else first(run).transform

    def mesh(run: Sequence[int]) -> Span:
        return dim("none") if first(run).mesh is None else Quote(str(first(run).mesh))

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

    def key(index: int) -> Hashable:
        data = rows[index]
        is_operation = data.key is not None and data.key.function is not None and data.key.function.kind == "primitive"
        return (data.name, data.transform, data.user_frame) if is_operation else index

    return [list(same) for _, same in itertools.groupby(mine, key)]


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
            shown = [printable(name) + (f" x{n:,}" if n > 1 else "") for name, n in names.most_common(_NAMES)]
            listed = ", ".join([*shown, "..."] if len(names) > _NAMES else shown)
            parts.append(f"{names.total():,} of {words} ({listed}{took})")
    return [line(Sign("more"), f" and {', '.join(parts)}")] if parts else []
