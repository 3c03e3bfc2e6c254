"""Words for an incomplete optimized program: that it is incomplete, and only what is certain."""

from __future__ import annotations

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Span, Spans, Text, strong
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_number, plural

_LONGEST_REASON = 160


def reason_text(reason: str) -> str:
    """The reason why a record lacks something, short enough for a sentence; a file may contain anything."""
    return shorten(printable(reason), _LONGEST_REASON)


def incomplete_spans(report: RecordReport) -> Spans:
    """Words before any answer; () for a complete program."""
    if not report.incomplete:
        return ()
    return (strong("Incomplete program"), Text(f": {reason_text(report.incomplete)}. "))


def nothing_text(report: RecordReport, what: str) -> str:
    """The sentence that a program has no `what` ("fused kernels"), or that this is unknown."""
    if report.instructions is None:
        return f"{what} unknown: {reason_text(report.data.missing.get('hlo', 'the record has no optimized HLO'))}"
    if report.incomplete:
        return f"incomplete program: {reason_text(report.incomplete)}; no {what} in the part that is there"
    others = report.beside if what == "collectives" else ""
    return f"no HLO collectives; {printable(others)}" if others else f"no {what}"


def others_spans(report: RecordReport) -> Spans:
    """Communication other than HLO collectives, for the end of an answer; () without any."""
    words = printable(report.beside)
    return (Text(" Beside HLO collectives, "), strong(words), Text(".")) if words else ()


def least_spans(report: RecordReport) -> Spans:
    """The answer of an incomplete program: a lower bound for the complete one."""
    there, least = len(report.collectives or ()), report.least
    if least is None or not least.collectives:
        found = plural(there, "collective") if there else "No collectives"
        unknown = "how many run is unknown" if there else "how many there are is unknown"
        return (strong(f"{found} in the part that is there"), Text(f"; {unknown}."))
    spans: list[Span] = [strong(f"At least {plural(least.collectives, 'collective')}")]
    if least.sent_bytes:
        spans += [Text("; each device sends at least "), bytes_number(least.sent_bytes, "modelled", strong=True)]
        spans += [Text(" per call")]
    return (*spans, Text("."))
