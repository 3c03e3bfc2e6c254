"""What a display says where the optimized program is there in part only: that first, and then no more than is sure.

Not its job: what is missing (`model.program.incomplete`), or what the program has at least (`analyze.report.least`).
"""

from __future__ import annotations

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Span, Spans, Text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_number, plural

_LONGEST_REASON = 160


def reason_text(reason: str) -> str:
    """Why a record lacks something, as far as it fits a sentence; a file may say anything."""
    return shorten(printable(reason), _LONGEST_REASON)


def incomplete_spans(report: RecordReport) -> Spans:
    """What goes before any answer; () where the program is all there."""
    if not report.incomplete:
        return ()
    return (Text("Incomplete program", "strong"), Text(f": {reason_text(report.incomplete)}. "))


def nothing_text(report: RecordReport, what: str) -> str:
    """That a program has none of `what` ("fused kernels"), as far as that is known."""
    if report.instructions is None:
        return f"{what} unknown: {reason_text(report.data.missing.get('hlo', 'the record has no optimized HLO'))}"
    if report.incomplete:
        return f"incomplete program: {reason_text(report.incomplete)}; no {what} in the part that is there"
    others = report.beside if what == "collectives" else ""
    return f"no HLO collectives; {printable(others)}" if others else f"no {what}"


def others_spans(report: RecordReport) -> Spans:
    """Communication that is no HLO collective, behind an answer; () where there is none."""
    words = printable(report.beside)
    return (Text(" Beside HLO collectives, "), Text(words, "strong"), Text(".")) if words else ()


def least_spans(report: RecordReport) -> Spans:
    """The answer of an incomplete program: what the complete one communicates at least."""
    there, least = len(report.collectives or ()), report.least
    if least is None or not least.collectives:
        found = plural(there, "collective") if there else "No collectives"
        unknown = "how many run is unknown" if there else "how many there are is unknown"
        return (Text(f"{found} in the part that is there", "strong"), Text(f"; {unknown}."))
    spans: list[Span] = [Text(f"At least {plural(least.collectives, 'collective')}", "strong")]
    if least.sent_bytes:
        spans += [Text("; each device sends at least "), bytes_number(least.sent_bytes, "modelled", strong=True)]
        spans += [Text(" per call")]
    return (*spans, Text("."))
