"""Findings of a program, a few lines each, and changes that may save communication, as a table.

Not its job: finding faults or inventing changes (`analyze.findings`, `analyze.advice`), trying them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.report.finding import FINDING_KINDS, Finding, FindingTable, FindingUnit
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.suggestion import Suggestion, SuggestionTable
from pjit_inspect.model.words.sentence import ONE_TURN
from pjit_inspect.view.document.columns import table_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Line,
    Number,
    Prose,
    Provenance,
    Quote,
    Section,
    Sign,
    Span,
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.record.answer import reason_text

_WORDS: dict[FindingUnit, str] = {
    "sent": "sent per device and call",
    "copied": "copied to each device per call",
    "held": "held by each device",
}


def finding_blocks(findings: FindingTable, report: RecordReport | None = None) -> tuple[Block, ...]:
    """Two or three lines for each finding, numbered from 1; then the unknown and the untried ones.

    `report` is the program's report, if these are all of its findings.
    """
    lines = list(_rows(findings))
    if findings.missing:
        words = "other findings" if lines else "findings"
        lines.append(line(f"{words} unknown: {reason_text(findings.missing)}"))
    elif not lines:
        lines.append(Line((Text("no findings"),) if report is None else _nothing(findings, report)))
    return (*lines, *_untried(findings))


def _nothing(findings: FindingTable, report: RecordReport) -> Spans:
    """Words that no fault is proven, and other possible savings: a program without faults may still send too much."""
    kinds = f"{len(FINDING_KINDS)} kinds of fault were looked for, and none is proven"
    if not report.collectives or report.remedies == "none":
        return (dim(f"no findings: {kinds}"),)
    helping = [one for one in report.suggestions if one.counted_bytes < 0]
    if not report.are_suggestions_known:
        return (dim(f"{kinds}; other changes are tried by "), Quote("record.suggestions"))
    if not helping:
        return (dim(f"no findings: {kinds}; no other change is known that helps"),)
    best = min(helping, key=lambda one: one.counted_bytes)
    saved = bytes_number(-best.counted_bytes, "modelled", strong=True)
    once = f" {ONE_TURN}" if best.is_one_turn else ""
    more = f"; {plural(len(helping), 'change')} in " if len(helping) > 1 else "; see "
    return (
        dim(f"{kinds}, but a change saves "),
        saved,
        Text(f" sent per device and call{once}: "),
        Prose(best.title),
        Text(f"; each device then {best.price}" if best.price else ""),
        dim(more),
        Quote("record.suggestions"),
    )


def _rows(findings: FindingTable) -> tuple[Line, ...]:
    return tuple(line for number, one in enumerate(findings, 1) for line in _lines(number, one))


def _untried(findings: FindingTable) -> tuple[Line, ...]:
    if not findings.untried:
        return ()
    words = "so what only a tried remedy proves is not found"
    return (line(f"not every remedy was tried: {reason_text(findings.untried)}; {words}", role="note"),)


def report_findings(report: RecordReport) -> tuple[Block, ...]:
    """The findings so far, and one quiet line if the search is incomplete or found nothing."""
    if report.findings is None:
        return ()
    found, words = _rows(report.findings), looked_for(report)
    untried = _untried(report.findings) if report.remedies == "tried" else ()
    return (*found, *((Line(words),) if words else ()), *untried)


def looked_for(report: RecordReport) -> Spans:
    """One line about the search so far; () where the findings suffice."""
    if report.findings is None or report.findings.missing or not report.collectives:
        return ()
    if report.remedies == "untried":
        head = "more findings: remedies not tried yet; " if report.findings else "findings: none yet; "
        return (dim(head), Quote("record.findings"), dim(" tries remedies"))
    return _nothing(report.findings, report) if report.remedies == "tried" and not report.findings else ()


def _lines(number: int, one: Finding) -> tuple[Line, ...]:
    head: list[Span] = [strong(f"finding {number}"), Text("  "), Prose(one.sentence)]
    if one.source and one.source[0].where not in one.sentence:
        head += [Sign("dot"), Quote(one.source[0].where)]
    lines = [Line(tuple(head))]
    if one.remedy:
        lines.append(line(dim("remedy: "), Prose(one.remedy)))
    lines.append(Line(figures_of(one)))
    return tuple(lines)


def figures_of(one: Finding) -> Spans:
    """The cost of a finding, or the effect of its tried remedy."""
    once = (ONE_TURN if one.tried is not None else "if these run once") if one.runs_once else ""
    unit = Text(f" {_WORDS[one.unit]} {once}".rstrip())
    if one.tried is None:
        return (*cost_spans(one.cost_bytes, one.unit, once), Sign("dot"), dim("not tried"))
    spans: list[Span] = [
        bytes_number(one.tried.before_bytes, _provenance(one.unit), strong=True),
        Text(" -> "),
        bytes_number(one.tried.after_bytes, _provenance(one.unit), strong=True),
        unit,
    ]
    if one.collectives is not None:
        before, after = one.collectives
        spans += [Sign("dot"), Number(f"{before:,}"), Text(" -> "), Number(f"{after:,}"), Text(f" {_noun(after)}")]
    return (*spans, Sign("dot"), dim("tried, counted before optimization"))


def _noun(number: int) -> str:
    return plural(number, "collective").partition(" ")[2]


def cost_spans(size: int, unit: FindingUnit, once: str = "") -> Spans:
    """Bytes, of what they are, and on how many runs that rests."""
    return (bytes_number(size, _provenance(unit), strong=True), Text(f" {_WORDS[unit]} {once}".rstrip()))


def _provenance(unit: FindingUnit) -> Provenance:
    return "modelled" if unit == "sent" else "counted"


# ---------------------------------------------------------------- suggestions

_FOOTER = (
    "sent per device and call, more or less; counted: what XLA's partitioner makes of both, before optimization; "
    "compiled: check() compiles it to the end"
)


def suggestion_blocks(suggestions: Sequence[Suggestion], *, with_sentences: bool = False) -> tuple[Block, ...]:
    """A row for each suggestion, and its sentence in full; () without suggestions."""
    if not suggestions:
        return ()
    priced = any(one.price for one in suggestions)
    columns = (
        Column("change", lambda one: Prose(one.title), shrink=True, comfort=40, least=24),
        Column("counted", lambda one: _change(one.counted_bytes), align="right"),
        Column("compiled", lambda one: _change(one.compiled_bytes), align="right"),
        Column("each device then", lambda one: one.price if priced else None, shrink=True, comfort=24),
    )
    sentences = tuple(line(Prose(one.sentence)) for one in suggestions) if with_sentences else ()
    figures = [figure for one in suggestions for figure in (one.counted, one.checked) if figure is not None]
    unsure = any(one.is_one_turn for one in suggestions) or any(figure.is_one_turn for figure in figures)
    footer = f"{_FOOTER}; {ONE_TURN}" if unsure else _FOOTER
    return (table_of(columns, suggestions), *sentences, line(footer, role="footer"))


def suggestion_section(suggestions: Sequence[Suggestion], *, with_sentences: bool = False) -> list[Block]:
    """The table under its title; [] without suggestions."""
    blocks = suggestion_blocks(suggestions, with_sentences=with_sentences)
    return [Section((strong("what could save some of it"),), blocks)] if blocks else []


def suggestions_untried(suggestions: SuggestionTable) -> tuple[Block, ...]:
    """A note that not every change was tried, with the reason; () if every one was."""
    if not suggestions.untried:
        return ()
    head = "" if suggestions.rows else "no suggestions by now: "
    return (line(f"{head}not every change was tried: {reason_text(suggestions.untried)}", role="note"),)


def _change(size: int | None) -> Span:
    return dim("-") if size is None else Number(change_text(size), provenance="counted")


def change_text(size: int) -> str:
    """Bytes with a sign."""
    return f"{'-' if size < 0 else '+' if size else ''}{bytes_text(abs(size))}"


def suggestion_hint(report: RecordReport) -> Spans:
    """A hint on searching for savings, if nobody has searched; else ()."""
    if report.are_suggestions_known or report.remedies == "none" or not report.collectives:
        return ()
    words = " asks XLA's partitioner about changes that could save some of it"
    return (Quote("record.suggestions"), dim(words))
