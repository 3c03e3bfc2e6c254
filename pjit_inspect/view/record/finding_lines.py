"""A few lines for each finding of a program: the sentence, its place, the remedy and its effect.

`view.record.findings` is about groups of collectives and their causes; this is about `record.findings`.
"""

from __future__ import annotations

from pjit_inspect.model.report.finding import FINDING_KINDS, Finding, FindingTable, FindingUnit
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.sentence import ONE_TURN
from pjit_inspect.view.document.document import (
    Block,
    Code,
    Line,
    Number,
    Prose,
    Provenance,
    Sign,
    Span,
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_number, plural
from pjit_inspect.view.record.incomplete import reason_text

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
    helping = [one for one in report.suggestions if one.modelled_bytes < 0]
    if not report.are_suggestions_known:
        return (dim(f"{kinds}; other changes are tried by "), Code("record.suggestions"))
    if not helping:
        return (dim(f"no findings: {kinds}; no other change is known that helps"),)
    best = min(helping, key=lambda one: one.modelled_bytes)
    saved = bytes_number(-best.modelled_bytes, "modelled", strong=True)
    once = f" {ONE_TURN}" if best.is_one_turn else ""
    more = f"; {plural(len(helping), 'change')} in " if len(helping) > 1 else "; see "
    return (
        dim(f"{kinds}, but a change saves "),
        saved,
        Text(f" sent per device and call{once}: "),
        Prose(best.title),
        Text(f"; each device then {best.price}" if best.price else ""),
        dim(more),
        Code("record.suggestions"),
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
        return (dim(head), Code("record.findings"), dim(" tries remedies"))
    return _nothing(report.findings, report) if report.remedies == "tried" and not report.findings else ()


def _lines(number: int, one: Finding) -> tuple[Line, ...]:
    head: list[Span] = [strong(f"finding {number}"), Text("  "), Prose(one.sentence)]
    if one.source and one.source[0].where not in one.sentence:
        head += [Sign("dot"), Code(one.source[0].where)]
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
        return (
            bytes_number(one.cost_bytes, _provenance(one), strong=True),
            unit,
            Sign("dot"),
            dim("not tried"),
        )
    spans: list[Span] = [
        bytes_number(one.tried.before_bytes, _provenance(one), strong=True),
        Text(" -> "),
        bytes_number(one.tried.after_bytes, _provenance(one), strong=True),
        unit,
    ]
    if one.collectives is not None:
        before, after = one.collectives
        spans += [Sign("dot"), Number(f"{before:,}"), Text(" -> "), Number(f"{after:,}"), Text(f" {_noun(after)}")]
    return (*spans, Sign("dot"), dim("tried, counted before optimization"))


def _noun(number: int) -> str:
    return plural(number, "collective").partition(" ")[2]


def _provenance(one: Finding) -> Provenance:
    return "modelled" if one.unit == "sent" else "counted"
