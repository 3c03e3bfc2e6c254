"""Updates displays after they were drawn: advice, as XLA answers one question after the other.

Not its job: the displays (`displays`), advice (`advice`), or when the work may run (`background`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pjit_inspect.guard import Guard
from pjit_inspect.handles.analyses import Analyses, RecordState
from pjit_inspect.handles.background import in_background
from pjit_inspect.handles.memory.shown import memory_blob
from pjit_inspect.handles.time.step import known_step_time
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.inspector.advice import advice_data
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.page import delivery_html
from pjit_inspect.view.record.advice import advice_head
from pjit_inspect.view.render.shown import drawn

_EACH_S = 0.5
"""Time between two updates of a display: there may be ten answers in a second."""


def report_for_display(analyses: Analyses) -> RecordReport:
    """The report with the reason, XLA's warnings, the advice that is known by now, and seconds where they are known."""
    guard = Guard()
    reason = guard.run("the reason", lambda: analyses.reason, None)
    warnings = guard.run("XLA's warnings", lambda: analyses.warnings, ())
    advice = guard.run("the advice", analyses.advice_by_now, None)
    time_of_call = guard.run("the time of a call", lambda: known_step_time(analyses), None)
    if not advice and not analyses.can_be_asked:
        advice = None
    data = replace(analyses.report.data, reason=reason)
    rows = analyses.report.collectives
    if rows is not None:
        rows = guard.run("the lives of collectives", partial(analyses.with_lives, rows), rows)
    return replace(analyses.report, data=data, advice=advice, warnings=warnings, time=time_of_call, collectives=rows)


def answer(analyses: Analyses, widget: Any, message: dict[str, Any]) -> None:
    """Answers a request of an inspector's page; it comes when the kernel is idle: no user code waits."""
    kind, number = message.get("type"), message.get("number")
    if kind == "drawn" and not widget._advice and not analyses.advice_by_now().is_done:  # noqa: SLF001
        in_background(lambda: _follow(analyses, lambda: _tell(analyses, widget)))
    elif kind == "memory":
        in_background(lambda: _tell_memory(analyses, widget))
    elif kind == "check" and isinstance(number, int):
        _tell(analyses, widget, compiling=number)
        in_background(lambda: _check(analyses, widget, number))


def _tell_memory(analyses: Analyses, widget: Any) -> None:
    widget._memory = deflated(memory_blob(analyses))  # noqa: SLF001


def _check(analyses: Analyses, widget: Any, number: int) -> None:
    errors: dict[int, str] = {}
    try:
        analyses.advice[number].check()
    except Exception as refused:  # whatever it is, it belongs where the reader asked
        errors[number] = str(refused)
    _tell(analyses, widget, errors=errors)


def _tell(analyses: Analyses, widget: Any, **known: Any) -> None:
    widget._advice = json_text(advice_data(analyses.advice_by_now(), **known))  # noqa: SLF001


def _follow(analyses: Analyses, tell: Callable[[], None]) -> None:
    """Ask XLA what to change; `tell` is called now and then, and when all is known."""
    last = 0.0

    def now_and_then() -> None:
        nonlocal last
        if time.monotonic() - last > _EACH_S:
            tell()
            last = time.monotonic()

    Guard().run("the advice", lambda: analyses.advise(now_and_then), None)
    tell()


def advice_key(analyses: Analyses) -> str:
    """The key by which later advice is passed to the frame of a display; "" if none will come."""
    stablehlo = analyses.data.stablehlo
    if stablehlo is None or analyses.advice_by_now().is_done:
        return ""
    return hashlib.sha256(stablehlo.read()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterAdvice:
    """Advice that a notebook gets after its display.

    Attributes:
      at_first: an empty placeholder until the first answer is there, MIME type -> text.
    """

    at_first: dict[str, str]
    _analyses: Analyses
    _key: str
    _is_still: bool

    def tell(self, update: Callable[[dict[str, str]], None]) -> None:
        """Calls `update` with what is known, again and again until all is, in a separate thread.

        XLA is asked only while no user code runs.
        """
        in_background(lambda: _follow(self._analyses.asked, lambda: update(self._known())))

    def _known(self) -> dict[str, str]:
        advice, data = self._analyses.advice_by_now(), self._analyses.data
        bundle = drawn(Document(axes=document_axes(data), blocks=advice_head(advice)))
        if self._is_still:
            return bundle
        html = delivery_html(advice_data(advice), key=self._key, still=bundle["text/html"])
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


def follow_advice(state: RecordState, tell: Callable[[], None]) -> None:
    """Ask XLA what to change, in another thread and while no user code runs; `tell` is called now and then."""
    now = state.analyses
    if not now.advice_by_now().is_done:
        in_background(lambda: _follow(now, tell))


def later_advice_of(analyses: Analyses, *, is_still: bool = False) -> LaterAdvice | None:
    """The advice that is not known yet; None where all is, or nothing can be asked.

    It is handed to the inspectors of the same program that are drawn already; `is_still` says that it belongs to a
    display without one, and is read where it is.
    """
    key = advice_key(analyses)
    if not key:
        return None
    return LaterAdvice(at_first={"text/plain": "", "text/html": ""}, _analyses=analyses, _key=key, _is_still=is_still)
