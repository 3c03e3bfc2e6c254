"""A session: the ledger of compiles with repeats and costs, and the log with a row for each compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.record.ledger import LedgerData, LedgerRow, Pattern, RepeatedReason
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import joined, say
from pjit_inspect.view.charts.totals import timeline_chart
from pjit_inspect.view.document.columns import codes, more_lines, numbers, places, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    Block,
    ChartSubject,
    Code,
    Column,
    Document,
    Finding,
    Line,
    Number,
    Picture,
    Prose,
    Section,
    Sign,
    Span,
    Spans,
    Text,
    dim,
    line,
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
    blocks: list[Block] = [_head(ledger, mine, times)]
    blocks += _patterns(ledger.patterns, times)
    if order:
        blocks.append(table_of(_columns(times), order[:_ROWS]))
    blocks += more_lines(len(order) - _ROWS, "function")
    blocks += _reasons(order[:_ROWS])
    seconds = [row.total_s if times and _is_timed((row,)) else None for row in ledger.rows]
    blocks += not_yours(
        [(row.origin, row.name, row.compiles, took) for row, took in zip(ledger.rows, seconds, strict=True)]
    )
    blocks += _resharded(ledger)
    if times and _is_timed(ledger.rows):
        blocks.append(Picture(subject=ChartSubject(chart=timeline_chart(ledger)), alt=_timeline_words(ledger)))
        blocks.append(line("seconds measured on this machine", role="footer"))
    return Document(blocks=tuple(blocks))


def _head(ledger: LedgerData, mine: Sequence[LedgerRow], times: bool) -> Line:
    if not ledger.rows:
        return line("nothing was compiled")
    spans: list[Text] = [strong(plural(sum(row.compiles for row in mine), "compile"))]
    spans.append(Text(f" of your functions, from {plural(len(mine), 'call site')}"))
    if times and mine and not _is_timed(mine):
        spans.append(Text(", seconds unknown"))
    elif times:
        parts = ((name, sum(getattr(row, field) for row in mine)) for name, field in _SECONDS[1:])
        sums = ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds in parts)
        spans.append(Text(f", {seconds_text(sum(row.total_s for row in mine))} in all ({sums})"))
        untimed = sum(row.untimed for row in mine)
        spans += [Text(f"; those of {plural(untimed, 'compile')} are unknown")] if untimed else []
    return Line(tuple(spans), "answer")


def _is_timed(rows: Sequence[LedgerRow]) -> bool:
    """True if the seconds of any compile are known."""
    return any(row.untimed < row.compiles for row in rows)


# ---------------------------------------------------------------- functions


def _columns(times: bool) -> tuple[Column, ...]:
    return (
        numbers("compiles", lambda row: row.compiles),
        codes("name", lambda row: row.name, shrink=True),
        places("where", lambda row: row.where, missing=UNKNOWN),
        *((_seconds(title, field) for title, field in _SECONDS) if times else ()),
        Column("missed", _missed, shrink=True),
    )


def _seconds(title: str, field: str) -> Column:
    return numbers(
        title,
        lambda row: seconds_text(getattr(row, field) if _is_timed((row,)) else None),
        "measured",
        optional=title != "total",
    )


def _missed(row: LedgerRow) -> str:
    """Counts of the cache that missed first, and of compiles loaded from disk."""
    parts = [f"{layer} {count}" for layer, count in row.missed]
    parts += [f"disk {row.missed_disk}"] if row.missed_disk else []
    return ", ".join([*parts, f"from disk {row.from_disk}"] if row.from_disk else parts)


def _reasons(rows: Sequence[LedgerRow]) -> list[Block]:
    """The reasons for recompiles of each function, most frequent first."""
    found = [Finding(head=_place(row), sentences=_sentences(row)) for row in rows if row.reasons]
    return [Section((Text("why they were compiled again"),), tuple(found))] if found else []


def _place(row: LedgerRow) -> Spans:
    where = place_spans((row.where,) if row.where else ())
    return (Code(row.name, strong=True), *((Sign("dot"), *where) if where else ()))


def _sentences(row: LedgerRow) -> tuple[Spans, ...]:
    shown = [_counted(reason) for reason in row.reasons[:_REASONS]]
    rest = row.reasons[_REASONS:]
    if rest:
        shown.append((Sign("more"), dim(f" and {plural(len(rest), 'other reason')}")))
    return tuple(shown)


def _counted(reason: RepeatedReason) -> Spans:
    if reason.count == 1:
        return (Prose(reason.sentence),)
    times = f" ({reason.count} times)" if reason.same else f" (the newest of {reason.count} such)"
    return (Prose(reason.sentence), dim(times))


# ---------------------------------------------------------------- patterns


def _patterns(patterns: Sequence[Pattern], times: bool) -> list[Block]:
    if not patterns:
        return []
    shown = patterns if times else sorted(patterns, key=lambda pattern: -pattern.compiles)
    findings: list[Block] = [_pattern(pattern, times) for pattern in shown[:_PATTERNS]]
    return [Section((Text("what repeats"),), (*findings, *more_lines(len(shown) - _PATTERNS, "pattern")))]


def _pattern(pattern: Pattern, times: bool) -> Finding:
    head: list = [strong(pattern.kind), Sign("dot"), Code(pattern.name)]
    head += [Sign("dot"), Text(plural(pattern.compiles, "compile"))]
    if times:
        head += [Text(", "), Number(seconds_text(pattern.cost_s), provenance="measured")]
    facts = (Prose(say("values: {}", joined(pattern.values, ", "))),) if pattern.values else ()
    return Finding(
        head=tuple(head),
        sentences=tuple((Prose(words),) for words in (pattern.sentence, pattern.advice) if words),
        facts=(facts,) if facts else (),
    )


# ---------------------------------------------------------------- the rest


def _resharded(ledger: LedgerData) -> list[Block]:
    found = {(e.name, one.path): one for row in ledger.rows for e in row.entries for one in e.reason.resharded}
    order = sorted(found.items(), key=lambda item: -(item[1].size_bytes or 0))
    lines: list[Block] = [
        line(Code(name), ": ", Prose(one.sentence), role="note") for (name, _), one in order[:_RESHARDED]
    ]
    return [*lines, *more_lines(len(order) - _RESHARDED, "argument")]


def _timeline_words(ledger: LedgerData) -> str:
    return f"A timeline of {plural(ledger.compiles, 'compile')}: when each was traced, lowered and compiled."


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
    blocks: list[Block] = [_log_head(rows, len(mine), left_out)]
    times = (options or ViewOptions()).show_times
    if shown:
        again = [reason_words(reason) for reason in reasons] or [""] * len(rows)
        blocks.append(table_of(_log_columns(rows, counts, again, times), shown))
    blocks += not_yours([(data.origin, data.name, 1, None) for data in rows])
    blocks += [_incomplete(index, data) for index, data in enumerate(rows) if data.hlo and "hlo" in data.missing]
    if dropped:
        had = f"{plural(dropped, 'older record')} {'was' if dropped == 1 else 'were'} dropped"
        blocks.append(line(f"{had}: the log holds at most {len(rows):,}", role="note"))
    return Document(blocks=tuple(blocks))


def _log_head(rows: Sequence[RecordData], mine: int, left_out: int) -> Line:
    if not rows:
        return line("nothing compiled")
    older = f"; the first {left_out:,} are left out" if left_out else ""
    return line(strong(plural(mine, "record")), f" of your functions{older}")


def _log_columns(
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
