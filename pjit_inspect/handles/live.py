"""Updates displays after they were drawn: findings whose remedies are tried meanwhile.

Not its job: the displays (`displays`), findings (`findings`), or when the work may run (`background`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pjit_inspect.guard import Guard
from pjit_inspect.handles.analyses import Analyses, RecordState
from pjit_inspect.handles.background import in_background
from pjit_inspect.handles.memory.shown import memory_blob
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.findings import findings_data, suggestions_data
from pjit_inspect.view.inspector.page import delivery_html
from pjit_inspect.view.record.findings import report_findings
from pjit_inspect.view.render.shown import drawn


def report_for_display(analyses: Analyses) -> RecordReport:
    """The report with the reason, XLA's warnings, the findings and suggestions known by now, as far as checked."""
    suggestions = tuple(suggestion.as_known() for suggestion in analyses.known.get("suggestions", ()))
    guard = Guard()
    reason = guard.run("the reason", lambda: analyses.reason, None)
    warnings = guard.run("XLA's warnings", lambda: analyses.warnings, ())
    findings, remedies = guard.run("the findings", analyses.findings_by_now, (None, "none"))
    data = replace(analyses.report.data, reason=reason)
    return replace(
        analyses.report,
        data=data,
        findings=findings,
        remedies=remedies,
        suggestions=suggestions,
        are_suggestions_known="suggestions" in analyses.known,
        warnings=warnings,
    )


def answer(analyses: Analyses, widget: Any, message: dict[str, Any]) -> None:
    """Answers a request of an inspector's page; it comes when the kernel is idle: no user code waits."""
    kind, number = message.get("type"), message.get("number")
    if kind == "drawn" and not widget._findings and "findings" not in analyses.known:  # noqa: SLF001
        in_background(lambda: _tell_findings(analyses, widget))
    elif kind == "memory":
        in_background(lambda: _tell_memory(analyses, widget))
    elif kind == "suggest":
        _tell_suggestions(analyses, widget, is_under_way=True)
        in_background(lambda: _suggest(analyses, widget))
    elif kind == "check" and isinstance(number, int):
        _tell_suggestions(analyses, widget, is_under_way=True)
        in_background(lambda: _check(analyses, widget, number))


def _tell_memory(analyses: Analyses, widget: Any) -> None:
    widget._memory = deflated(memory_blob(analyses))  # noqa: SLF001


def _suggest(analyses: Analyses, widget: Any) -> None:
    error = ""
    try:
        _ = analyses.suggestions
    except Exception as refused:  # whatever it is, it belongs where the reader asked
        error = str(refused)
    _tell_suggestions(analyses, widget, error=error)


def _check(analyses: Analyses, widget: Any, number: int) -> None:
    errors: dict[int, str] = {}
    try:
        analyses.suggestions[number].check()
    except Exception as refused:
        errors[number] = str(refused)
    _tell_suggestions(analyses, widget, errors=errors)


def _tell_suggestions(analyses: Analyses, widget: Any, **known: Any) -> None:
    widget._suggestions = json_text(suggestions_data(report_for_display(analyses), **known))  # noqa: SLF001


def _tell_findings(analyses: Analyses, widget: Any) -> None:
    Guard().run("the findings", lambda: analyses.findings, None)
    widget._findings = json_text(findings_data(report_for_display(analyses)))  # noqa: SLF001


def findings_key(analyses: Analyses) -> str:
    """The key by which later findings are passed to the frame of a display; "" if none will come."""
    stablehlo = analyses.data.stablehlo
    if stablehlo is None or analyses.findings_by_now()[1] != "untried":
        return ""
    return hashlib.sha256(stablehlo.read()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterFindings:
    """Findings that a notebook gets after their display.

    Attributes:
      at_first: an empty placeholder until the findings are there, MIME type -> text.
    """

    at_first: dict[str, str]
    _analyses: Analyses
    _key: str
    _is_still: bool

    def tell(self, update: Callable[[dict[str, str]], None]) -> None:
        """Calls `update` with them once they are there, in a separate thread and only while no user code runs."""
        in_background(lambda: update(self._found()))

    def _found(self) -> dict[str, str]:
        analyses = self._analyses.asked
        Guard().run("the findings", lambda: analyses.findings, None)
        report = report_for_display(analyses)
        bundle = drawn(Document(axes=document_axes(report.data), blocks=report_findings(report)))
        if self._is_still:
            return bundle
        html = delivery_html(findings_data(report), key=self._key, still=bundle["text/html"])
        return {**bundle, "text/html": html}


def when_asked(state: RecordState, tell: Callable[[], None]) -> bool:
    """Ask XLA the slow questions that a display of the record omits, and call `tell` afterwards, in another thread.

    False where there is nothing of that kind, or a display has it already; `tell` is not called then.
    """
    if (now := state.displayed) is now.asked:
        return False

    def ask() -> None:
        _ = now.asked.report
        tell()

    in_background(ask)
    return True


def later_findings_of(analyses: Analyses, *, is_still: bool = False) -> LaterFindings | None:
    """The findings that are not known yet; None where all are, or no remedy can be tried.

    They are handed to the inspectors of the same program that are drawn already; `is_still` says that they belong to a
    display without one, and are read where they are.
    """
    key = findings_key(analyses)
    if not key:
        return None
    return LaterFindings(at_first={"text/plain": "", "text/html": ""}, _analyses=analyses, _key=key, _is_still=is_still)
