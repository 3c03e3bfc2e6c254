"""The cause of each collective: the report, most expensive first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.suggestion import Suggestion
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import more_lines, numbers, sizes, table_of
from pjit_inspect.view.document.document import (
    Bar,
    Block,
    Code,
    Column,
    Document,
    Fold,
    Line,
    Prose,
    Section,
    Sign,
    Span,
    Text,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.record.answer import answer_line
from pjit_inspect.view.record.cause_groups import CauseGroup, cause_words, finding_of, group_by_cause, share_text
from pjit_inspect.view.record.explain_pick import Picked, pick, pick_warnings
from pjit_inspect.view.record.finding_lines import report_findings
from pjit_inspect.view.record.incomplete import incomplete_spans
from pjit_inspect.view.record.suggestions import suggestion_hint, suggestion_section

_PROVED = 5  # groups whose facts text shows
_GROUPS = 40
_ALONE = 2  # groups up to which the report has all their reasons, and the facts at once
_ALL_REASONS = 20


def explain_view(report: RecordReport, what: str | int | None = None) -> Document:
    """The causes of the collectives; with `what`, only those of a kind, cause, axis, phase, line or name."""
    return Document(axes=document_axes(report.data), blocks=tuple(_blocks(report, what)))


def _blocks(report: RecordReport, what: str | int | None) -> list[Block]:
    if not report.collectives:
        pick((), what)  # so that a wrong type of argument raises here too
        return [answer_line(report), *_warnings(pick_warnings(report.warnings, what))]
    picked = pick(report.collectives, what)
    if picked.instead:
        return [line(Prose(picked.instead)), *_warnings(pick_warnings(report.warnings, what))]
    groups = group_by_cause(picked.rows)
    blocks: list[Block] = [_title(report), _answer(report, picked, groups)]
    blocks += report_findings(report) if what is None else ()
    blocks += _kinds(picked.rows) if len(groups) > 1 else []
    blocks += _causes(report, groups)
    blocks += _warnings(report.warnings)
    blocks += _suggestions(report.suggestions, picked.rows, is_all=what is None)
    hint = suggestion_hint(report)
    blocks += [Line(hint)] if hint else []
    return [*blocks, _footer()]


def _title(report: RecordReport) -> Line:
    name = report.data.primitive or report.data.name
    return line(Code(name, strong=True), Sign("dot"), "why each collective is there", role="title")


def _answer(report: RecordReport, picked: Picked, groups: Sequence[CauseGroup]) -> Line:
    number, everything = len(picked.rows), len(report.collectives or ())
    sent = sum(group.least_sent_bytes for group in groups)
    spans: list[Span] = [strong(plural(number, "collective"))]
    if picked.words:
        spans = [strong(f"{number:,} of {plural(everything, 'collective')} "), Prose(picked.words)]
    spans += [Text(f" in {len(groups):,} groups")] if len(groups) > 1 else []
    at_most = "at most " if any(row.count != row.count_min for row in picked.rows) else ""
    spans += [Text(f"; each device sends {at_most}"), bytes_number(sent, "modelled", strong=True)]
    share = share_text(sent, report.sent_bytes) if picked.words else ""
    there = " in the part that is there" if report.incomplete else ""
    of_all = f", {share} of all{there}" if share else there
    return line(incomplete_spans(report), spans, f" per call{of_all}.", role="answer")


# ---------------------------------------------------------------- bytes per cause


def _kinds(rows: Sequence[Collective]) -> list[Block]:
    """Bytes per kind of cause; [] for a single kind."""
    collectives, sent = Counter[str](), defaultdict[str, float](float)
    for row in rows:
        whole = sum(cause.payload_bytes for cause in row.causes)
        collectives.update({cause_words(cause) for cause in row.causes})
        for cause in row.causes:
            # A combined collective is sent once: its operands share the bytes in proportion to theirs.
            part = cause.payload_bytes / whole if whole else 1 / len(row.causes)
            sent[cause_words(cause)] += part * row.least_sent_bytes
    if len(sent) < 2:
        return []
    whole = sum(sent.values()) or 1
    columns = (
        Column("cause", lambda cause: cause),
        numbers("collectives", lambda cause: collectives[cause]),
        sizes("wire {unit}", lambda cause: round(sent[cause]), "modelled"),
        Column("share", lambda cause: share_text(round(sent[cause]), round(whole)), align="right"),
        Column("", lambda cause: Bar(sent[cause] / whole, None)),
    )
    return [table_of(columns, sorted(sent, key=lambda cause: (-sent[cause], cause)))]


# ---------------------------------------------------------------- causes


def _causes(report: RecordReport, groups: Sequence[CauseGroup]) -> list[Block]:
    alone = len(groups) <= _ALONE
    reasons = _ALL_REASONS if alone else 3
    shown, more = groups[:_GROUPS], groups[_GROUPS:]
    full = [finding_of(report, group, reasons=reasons, is_open=alone) for group in shown]
    short = [finding_of(report, group, reasons=reasons, with_facts=False) for group in shown[_PROVED:]]
    blocks: list[Block] = [*full[:_PROVED]]
    if short:
        summary = (Text(f"{plural(len(short), 'more group')}, {bytes_text(_sent(shown[_PROVED:]))} together"),)
        blocks.append(Fold(summary=summary, blocks=tuple(full[_PROVED:]), text_blocks=tuple(short), is_open=True))
    return blocks + more_lines(len(more), "group", tail=f", {bytes_text(_sent(more))}; explain(LINE) narrows")


def _sent(groups: Sequence[CauseGroup]) -> int:
    return sum(group.least_sent_bytes for group in groups)


def _warnings(warnings: Sequence[Any]) -> list[Block]:
    lines = tuple(line(Prose(str(getattr(warning, "sentence", warning))), role="note") for warning in warnings)
    return [Section((strong("XLA warned"),), lines)] if lines else []


def _suggestions(suggestions: Sequence[Suggestion], rows: Sequence[Collective], *, is_all: bool) -> list[Block]:
    """Changes that could remove some of the collectives."""
    names = {name for row in rows for name in row.instructions}
    wanted = [found for found in suggestions if is_all or names.intersection(found.removes)]
    return suggestion_section(wanted, with_sentences=True)


def _footer() -> Line:
    words = "wire modelled (ring), per device and call; layer numbers starred where several layers are alike"
    return line(words, role="footer")
