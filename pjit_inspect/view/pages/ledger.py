"""The ledger of compiles: repeats and costs per function and call site, and ways to save."""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.record.ledger import LedgerData, LedgerRow, Pattern, RepeatedReason
from pjit_inspect.model.words.sentence import joined, say
from pjit_inspect.view.charts.timeline import timeline_chart
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
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import plural, seconds_text
from pjit_inspect.view.pages.log import not_yours
from pjit_inspect.view.record.answer import place_spans
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
    """Whether the seconds of any compile are known."""
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
