"""The displays of one record: text, page, picture, widget, explanation.

Each is of one state of the record, so that a record that changes meanwhile cannot contradict itself. Not its job:
what is known (`analyses`), or how it is laid out (`view`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.analyze.program.running import find_running_instructions
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.inspector.page import inspector_frame, inspector_page
from pjit_inspect.view.inspector.payload import InspectorInput, InspectorPayload, inspector_payload
from pjit_inspect.view.inspector.widget import inspector_widget, widget_words
from pjit_inspect.view.record.explain import explain_view
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.record.summary_picture import draw_summary
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.render.text import to_text

__all__ = ["View", "explanation", "shown", "text", "write_page", "write_picture"]

View = Literal["text", "html", "widget"]


def text(analyses: Analyses) -> str:
    """The still display as text."""
    return to_text(record_view(_report_for_display(analyses)))


def shown(analyses: Analyses, view: View, *, show_times: bool) -> Any:
    """As `CompileRecord.show`."""
    if view not in get_args(View):
        raise ValueError(f"there is no view {view!r}; the views are {', '.join(get_args(View))}")
    with gc_paused():
        document = record_view(_report_for_display(analyses), options=ViewOptions(show_times=show_times))
        if view == "text":
            return Shown({"text/plain": to_text(document)})
        make = partial(_inspector, analyses, document, show_times=show_times)
        if view == "widget":
            return inspector_widget(make(), words=widget_words(analyses.report), still=to_html(document))
        bundle = drawn(document)
        live = Guard().run("the inspector", lambda: inspector_frame(make(), bundle["text/html"]), None)
        return Shown(bundle if live is None else {**bundle, "text/html": live})


def write_page(analyses: Analyses, path: str | os.PathLike[str]) -> None:
    """As `CompileRecord.to_html`."""
    with gc_paused():
        document = record_view(_report_for_display(analyses))
        page = inspector_page(_inspector(analyses, document, show_times=True), fallback=to_html(document))
    Path(path).write_text(page, encoding="utf-8")


def write_picture(analyses: Analyses, path: str | os.PathLike[str]) -> None:
    """As `CompileRecord.to_svg`."""
    Path(path).write_text(draw_summary(analyses.report).write(), encoding="utf-8", errors="backslashreplace")


def explanation(analyses: Analyses, what: str | int | None) -> Shown:
    """As `CompileRecord.explain`."""
    return Shown(drawn(explain_view(_report_for_display(analyses), what)))


def _inspector(analyses: Analyses, document: Document, *, show_times: bool) -> InspectorPayload:
    """The inspector's data, beside its still display."""
    graph, no_graph = analyses.graph_and_reason
    return inspector_payload(
        InspectorInput(
            report=_report_for_display(analyses),
            traffic=analyses.traffic,
            jaxpr=analyses.data.jaxpr,
            stablehlo=analyses.stablehlo,
            hlo_text=analyses.hlo_text,
            module=analyses.hlo,
            running=None if analyses.hlo is None else find_running_instructions(analyses.hlo),
            graph=graph,
            no_graph=no_graph,
            shardings=analyses.shardings,
            phase_of=find_phase,
            text=to_text(document),
            show_times=show_times,
        )
    )


def _report_for_display(analyses: Analyses) -> RecordReport:
    """The report with the reason, XLA's warnings, and the suggestions somebody asked for, as far as checked."""
    suggestions = tuple(suggestion.as_known() for suggestion in analyses.known.get("suggestions", ()))
    guard = Guard()
    reason = guard.run("the reason", lambda: analyses.reason, None)
    warnings = guard.run("XLA's warnings", lambda: analyses.warnings, ())
    data = replace(analyses.report.data, reason=reason)
    return replace(analyses.report, data=data, suggestions=suggestions, warnings=warnings)
