"""The displays of one record (text, page, picture, widget, explanation), and its tables, which draw themselves.

Each display uses one state of the record: a record that changes meanwhile cannot contradict itself. Not its job: the
analyses (`analyses`), or the layout (`view`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from pjit_inspect.analyze.graph.flow import find_flow
from pjit_inspect.analyze.graph.skeleton import find_skeleton
from pjit_inspect.analyze.program.loops import find_running_instructions
from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.analyses import Analyses, RecordState
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.handles.live import advice_key, answer, report_for_display
from pjit_inspect.handles.memory.joined import known_autopsy
from pjit_inspect.handles.memory.shown import memory_blob, memory_shown
from pjit_inspect.handles.time.step import RecordStepTime, own_step_time
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.graph import ProgramFlow, ProgramGraph
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Block, Document, Line, Text
from pjit_inspect.view.inspector.page import inspector_frame, inspector_page, inspector_widget, still_page, widget_words
from pjit_inspect.view.inspector.payload import InspectorInput, InspectorPayload, inspector_payload
from pjit_inspect.view.memory.memory import autopsy_blocks
from pjit_inspect.view.record.advice import advice_blocks, advice_json
from pjit_inspect.view.record.answer import nothing_text
from pjit_inspect.view.record.collectives import collective_blocks
from pjit_inspect.view.record.explain import explain_view
from pjit_inspect.view.record.kernels import callback_blocks, kernel_blocks, times_blocks
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.record.shardings import shardings_view
from pjit_inspect.view.record.summary_picture import draw_summary
from pjit_inspect.view.record.text_views import collective_words, facts_view, tree_head, tree_lines
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.time.payload import time_data

View = Literal["text", "html", "widget", "tree", "facts", "memory", "time"]


def text(analyses: Analyses) -> str:
    """The still display as text."""
    return to_text(_document(analyses))


def _document(analyses: Analyses, options: ViewOptions | None = None) -> Document:
    """The still display."""
    return record_view(report_for_display(analyses), options=options, misfit=partial(_misfit, analyses))


def _misfit(analyses: Analyses) -> Sequence[Block]:
    """Why a program refused by XLA does not fit: its report, the live values at the peak, remedies."""
    asked = analyses.data.hypothesis
    report = None if asked is None or asked.misfit is None else asked.misfit.report
    return () if report is None else autopsy_blocks(known_autopsy(report, analyses))


def shown(analyses: Analyses, view: View, *, show_times: bool) -> Any:
    """As `CompileRecord.show`."""
    if view not in get_args(View):
        raise ValueError(f"there is no view {view!r}; the views are {', '.join(get_args(View))}")
    if view == "tree":
        return Shown({"text/plain": _tree(analyses.asked)})
    if view == "facts":
        return Shown({"text/plain": to_text(facts_view(analyses.asked.report))})
    if view == "memory":
        return memory_shown(analyses.asked)
    if view == "time":
        return RecordStepTime.made_of(own_step_time(analyses.asked), _analyses=analyses.asked).show()
    with gc_paused():
        document = _document(analyses, ViewOptions(show_times=show_times))
        if view == "text":
            return Shown({"text/plain": to_text(document)})
        if view == "widget":
            payload, _ = _live(analyses, document, lambda payload: payload, show_times=show_times, is_widget=True)
            if payload is not None:
                words = widget_words(analyses.report)
                return inspector_widget(
                    payload, words=words, still=to_html(document), asked=partial(answer, analyses.asked)
                )
        bundle = drawn(document)
        still = bundle["text/html"]
        # What depends on the session, such as advice that comes later, is not in what `show_times` leaves out.
        key = advice_key(analyses) if show_times else ""
        make = partial(inspector_frame, still=still, key=key)
        frame, _ = _live(analyses, document, make, show_times=show_times)
        return Shown(bundle if frame is None else {**bundle, "text/html": frame})


def _tree(analyses: Analyses) -> str:
    """The program's skeleton as text."""
    report = analyses.report
    graph, why = analyses.graph_and_reason
    rows = tuple(report.collectives or ())
    parts = None if graph is None else find_skeleton(graph, lambda number: collective_words(rows[number]))
    missing = why or f"no program to show: {analyses.data.missing.get('hlo', 'it was not captured')}"
    scheduled = graph is None or graph.strip.is_scheduled
    lines = tree_lines(parts, report, missing=missing, scheduled=scheduled)
    return "\n".join([to_text(tree_head(report)), *lines])


def write_page(analyses: Analyses, path: str | os.PathLike[str]) -> None:
    """As `CompileRecord.to_html`."""
    with gc_paused():
        document = _document(analyses)
        still = to_html(document)
        make = partial(inspector_page, still=still)
        page, why = _live(analyses, document, make, show_times=True, is_file=True)
        if page is None:
            page = still_page(analyses.data.primitive or analyses.data.name, still, why=why)
    write_whole(path, page)


def write_picture(analyses: Analyses, path: str | os.PathLike[str]) -> None:
    """As `CompileRecord.to_svg`."""
    write_whole(path, draw_summary(report_for_display(analyses)).write())


def explanation(analyses: Analyses, what: str | int | None) -> Shown:
    """As `CompileRecord.explain`."""
    return Shown(drawn(explain_view(report_for_display(analyses), what)))


_Made = TypeVar("_Made")


def _live(
    analyses: Analyses,
    document: Document,
    make: Callable[[InspectorPayload], _Made],
    *,
    show_times: bool,
    is_widget: bool = False,
    is_file: bool = False,
) -> tuple[_Made | None, str]:
    """The result of `make` for the inspector's data; on failure None and the reason, and displays are still ones."""
    guard = Guard()

    def made() -> _Made:
        payload = _inspector(analyses, document, show_times=show_times, is_widget=is_widget)
        return make(payload if is_widget else _with_memory(payload, analyses, is_file=is_file))

    found = guard.run("the inspector", made, None)
    return found, "".join(guard.failed.values())


_LARGE = 10_000
"""Instructions of a program whose display under a cell goes without the data of the memory pane: finding them takes
0.15 s for 4,400 instructions and 0.6 s for 86,000, and nobody may look."""

_TOO_LARGE = (
    'what is alive was not looked for, as the program is large: `record.show("memory")`, or %pjit memory, has the '
    'curve and the table; `record.show("widget")` and `record.to_html("step.html")` have this pane'
)


def _with_memory(payload: InspectorPayload, analyses: Analyses, *, is_file: bool) -> InspectorPayload:
    """The payload with the data of a page's memory pane; a widget requests it on demand."""
    module = analyses.readable_hlo
    if not is_file and module is not None and len(module) > _LARGE and "_memory" not in analyses.known:
        return replace(payload, no_memory=_TOO_LARGE)
    return replace(payload, memory=memory_blob(analyses))


def _inspector(analyses: Analyses, document: Document, *, show_times: bool, is_widget: bool) -> InspectorPayload:
    """The inspector's data, beside its still display."""
    module = analyses.readable_hlo
    graph, no_graph = analyses.graph_and_reason
    report = report_for_display(analyses)
    if is_widget and report.advice is not None and not report.advice.is_done:
        # Once it is drawn, its page asks (`live.answer`).
        report = replace(report, advice=replace(report.advice, is_asking=True))
    hlo_text, no_hlo_text = analyses.hlo_text_for_display
    return inspector_payload(
        InspectorInput(
            report=report,
            traffic=analyses.traffic,
            jaxpr=analyses.data.jaxpr,
            stablehlo=analyses.stablehlo,
            hlo_text=hlo_text,
            no_hlo_text=no_hlo_text,
            module=module,
            running=None if module is None else find_running_instructions(module),
            graph=graph,
            no_graph=no_graph,
            flow=_flow(analyses, graph),
            shardings=analyses.shardings,
            phase_of=find_phase,
            text=to_text(document),
            time=None
            if report.time is None or not show_times
            else time_data(report.time, analyses.known.get("scaling")),
            show_times=show_times,
        )
    )


def _flow(analyses: Analyses, graph: ProgramGraph | None) -> ProgramFlow | None:
    """The picture of a small program; one that fails costs itself only, as there are the boxes."""
    module = analyses.readable_hlo
    if graph is None or module is None:
        return None
    find = partial(find_flow, graph, module, tuple(analyses.report.collectives or ()), analyses.shardings)
    return Guard().run("the picture of the flow", find, None)


_ROWS = 200
"""Kinds that a table shown by itself lists in full."""


class _OfProgram(OfRecord, Displayable):
    """A table about the optimized program, which may be incomplete or missing."""

    __slots__ = ()
    _state: RecordState

    def __repr__(self) -> str:
        report, plain = self._state.analyses.report, super().__repr__()
        if report.instructions is None:
            return f"{plain[:-1]}; there is no optimized program)"
        return f"{plain[:-1]}; the program is incomplete)" if report.incomplete else plain


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordCollectives(_OfProgram, CollectiveTable):
    """The collectives of a record."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these collectives, explained as in the record's display."""
        report = self._state.analyses.report
        shown = collective_blocks(replace(report, collectives=self), rows=_ROWS)
        return _section(self._state, shown, nothing_text(report, "collectives"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordAdviceTable(OfRecord, Displayable, AdviceTable):
    """Changes worth making to a record's program."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these changes with their figures, and the code to write."""
        # Of no findings the advice says what else was tried.
        return _section(self._state, advice_blocks(self if self.rows else self._state.analyses.advice))

    def try_all(self) -> RecordAdviceTable:
        """As `AdviceTable.try_all`."""
        return RecordAdviceTable.made_of(self._state.analyses.try_all(), _state=self._state)

    def to_json(self) -> str:
        """As `AdviceTable.to_json`."""
        return advice_json(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordFusions(_OfProgram, FusionTable):
    """The fused kernels of a record."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these kernels."""
        report = self._state.analyses.report
        there = report.fusions is not None
        shown = kernel_blocks(replace(report, fusions=self), rows=_ROWS, text_rows=_ROWS) if there else ()
        return _section(self._state, shown, nothing_text(report, "fused kernels"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordCallbacks(_OfProgram, CallbackTable):
    """The calls of a record's program back into Python."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these calls."""
        return _section(self._state, callback_blocks(self), nothing_text(self._state.analyses.report, "host callbacks"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordShardings(OfRecord, Displayable, ShardingTable):
    """The shardings of a record's values."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these values, each with its shards."""
        now = self._state.analyses
        return Shown(drawn(shardings_view(now.data, self, now.sources)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordKernelTimes(OfRecord, Displayable, KernelTimes):
    """The measured times of a record's instructions."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these instructions with their times."""
        report = self._state.analyses.report
        timed = replace(report, data=replace(report.data, kernel_times=self))
        return _section(self._state, times_blocks(timed, rows=_ROWS, text_rows=_ROWS), "no measured times")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordMemoryUse(OfRecord, Displayable, MemoryUse):
    """Live values in memory while a record's program runs."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: the bytes alive at the peak, their buffers, and the bytes over the schedule."""
        return memory_shown(self._state.analyses)

    def __repr__(self) -> str:
        return f"MemoryUse({len(self.live)} buffers alive at the peak, {self.peak_bytes} bytes, {self.source})"


def _section(state: RecordState, blocks: Sequence[Block], nothing: str = "") -> Shown:
    """A table by itself, in the colours of the record's axes; `nothing` where it has no rows."""
    shown = tuple(blocks) or (Line((Text(nothing),)),)
    return Shown(drawn(Document(axes=document_axes(state.analyses.data), blocks=shown)))
