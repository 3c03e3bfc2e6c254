"""The handle users hold: one compile record, and everything that can be known about it.

Rooms are joined here and in `api`: a record is observed, its HLO parsed, analysed and drawn. Everything is computed on
first use and kept. Not its job: any of those steps, or making records (`api`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, get_args

from pjit_inspect.analyze.collectives.link_traffic import find_link_traffic
from pjit_inspect.analyze.graph.build import find_graph
from pjit_inspect.analyze.program.device_memory import find_device_memory
from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.analyze.program.running import find_running_instructions
from pjit_inspect.analyze.program.xla_warnings import with_sources
from pjit_inspect.analyze.report.report import cells_of, report
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.sharding.value_shardings import find_value_shardings
from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.ledger import reason_of
from pjit_inspect.handles.propagate import ask, propagation_of
from pjit_inspect.handles.suggest import suggestions_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import MemoryStats, Origin, RecordData, Timings
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.link_traffic import LinkTraffic
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.report.suggestion import Checked, Edit, Suggestion
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import Propagation
from pjit_inspect.parse.files.record_file import write_record
from pjit_inspect.parse.hlo_proto.verbatim import parse_program
from pjit_inspect.parse.messages.stablehlo_text import without_locations
from pjit_inspect.parse.messages.xla_warnings import parse_warnings
from pjit_inspect.view.document.axes import document_axes
from pjit_inspect.view.document.document import Block, Document, Line, Text
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.figures.figures import Figures
from pjit_inspect.view.inspector.page import inspector_frame, inspector_page
from pjit_inspect.view.inspector.payload import InspectorInput, InspectorPayload, inspector_payload
from pjit_inspect.view.inspector.widget import inspector_widget, widget_words
from pjit_inspect.view.record.callbacks import callback_blocks
from pjit_inspect.view.record.collectives import collective_blocks
from pjit_inspect.view.record.explain import explain_view
from pjit_inspect.view.record.kernels import kernel_blocks
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.record.shardings import shardings_view
from pjit_inspect.view.record.summary_picture import draw_summary
from pjit_inspect.view.record.times import times_blocks
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.render.text import to_text

__all__ = ["CompileRecord", "View"]

View = Literal["text", "html", "widget"]

_MODULE_PER_STABLEHLO = 400
"""Bytes of XLA's module in memory for one of the StableHLO it came from: 6.8 MB for 17 KB were measured."""

_TABLE_ROWS = 200
"""Kinds that a table shown by itself lists in full."""


class CompileRecord:
    """One compilation, and everything that can be known about it.

    A thin handle over frozen data (`record.data`): analyses run on first use and are kept. Two records are equal when
    their data are.
    """

    def __init__(
        self,
        data: RecordData,
        *,
        live: bool = False,
        finish: Callable[[RecordData], RecordData] | None = None,
        hlo: HloModule | None = None,
        hlo_text: str | None = None,
    ) -> None:
        """Hold `data`; `live` when this process made it, so that its source files are those that were compiled.

        `finish` reads what capture left for later. `hlo` and `hlo_text` are its optimized program, when the caller has
        read it already.
        """
        self._data, self._live, self._finish = data, live, finish
        self._finishing = threading.Lock()
        self._checked: dict[tuple[Edit, ...], Checked] = {}
        if hlo is not None:
            self.hlo = hlo
        if hlo_text is not None:
            self.hlo_text = hlo_text

    @property
    def data(self) -> RecordData:
        """The frozen data under this handle, complete."""
        with self._finishing:
            if self._finish is not None:
                self._data, self._finish = self._finish(self._data), None
            return self._data

    # ------------------------------------------------------------ facts, as captured

    @property
    def name(self) -> str:
        """The function's name as the user wrote it."""
        return self.data.name

    @property
    def transform(self) -> str:
        """What made the compile: "jit", "grad", "vmap", "pmap", "shard_map" or "eager"."""
        return self.data.transform

    @property
    def origin(self) -> Origin:
        """Whose compile it is: the "user"'s, a "library"'s, or an "eager" operation's."""
        return self.data.origin

    @property
    def user_frame(self) -> Frame | None:
        """The user's line that led to the compile; None when no user code was on the stack."""
        return self.data.user_frame

    @property
    def inputs(self) -> tuple[ArrayLayout, ...]:
        """The flattened arguments in order, with the slice of each on every device."""
        return self.data.inputs

    @property
    def outputs(self) -> tuple[ArrayLayout, ...]:
        """The flattened results in order, with the slice of each on every device, and the inputs they reuse."""
        return self.report.data.outputs

    @property
    def mesh(self) -> Mesh | None:
        """The mesh most inputs and outputs follow; None when they follow none."""
        return self.data.mesh

    @property
    def timings(self) -> Timings:
        """Seconds of tracing, lowering and compiling (measured)."""
        return self.data.timings

    @property
    def kernel_times(self) -> KernelTimes | None:
        """How long each HLO instruction took when the program ran in a `capture(measure=True)`, longest first.

        None when nobody measured, or when it could not be had (`data.missing["kernel_times"]` says why then). Not to be
        confused with `timings`, which are those of compiling.
        """
        times = self.data.kernel_times
        return None if times is None else replace(times, draw=self._draw_times)

    @property
    def memory(self) -> MemoryStats | None:
        """Bytes per device, as XLA counts them; None when the backend does not say."""
        return self.data.memory

    @property
    def cost(self) -> dict[str, float]:
        """XLA's cost analysis ("flops", "bytes accessed"), which counts loop bodies once; {} when unknown."""
        return dict(self.data.cost)

    @property
    def versions(self) -> dict[str, str]:
        """Package -> version, as installed when the record was made."""
        return dict(self.data.versions)

    @property
    def jaxpr(self) -> str | None:
        """The traced program as text; None when it was not seen."""
        return self.data.jaxpr

    @property
    def reason(self) -> Reason:
        """Why it was compiled: first time, or what differs from the nearest earlier compile of the function.

        Found among the compiles that this process recorded before. `sentence` is the answer, `differences` what proves
        it, `resharded` the arguments that every such call copies.
        """
        return self._reason

    @cached_property
    def _reason(self) -> Reason:
        return reason_of(self._data, live=self._live)

    # ------------------------------------------------------------ facts that take work

    @cached_property
    def stablehlo(self) -> str | None:
        """The program before optimization as MLIR text, with source locations.

        None when the record holds none, or holds bytecode only and there is no jaxlib to print it. That of a file is
        never printed: damaged bytecode ends the process or worse, so files have the text beside it.
        """
        if self.data.stablehlo_text is not None or self.data.stablehlo is None or not self._live:
            return self.data.stablehlo_text
        return _printed("stablehlo_text", self.data.stablehlo.read())

    def stablehlo_text(self, *, locations: bool = True) -> str | None:
        """The program before optimization as MLIR text, with or without source locations; None as for `stablehlo`."""
        text = self.stablehlo
        return text if locations or text is None else without_locations(text)

    @cached_property
    def hlo(self) -> HloModule | None:
        """The optimized program, parsed; None when the record holds none. Raises ParseError when it is damaged."""
        return None if self.data.hlo is None else parse_program(self.data.hlo.read())

    @cached_property
    def hlo_text(self) -> str | None:
        """The optimized program as XLA prints it (`compiled.as_text()`); None where there is none, or no jaxlib.

        That of a file is printed in a process of its own, as it is not trusted.
        """
        if self.data.hlo is None:
            return None
        content = self.data.hlo.read()
        text = _printed("hlo_text", content) if self._live else _printed_apart(content)
        # The proto has no configuration, so what is printed of it lacks that.
        header = (self.data.hlo_header or "").partition("\n")[0]
        return text if text is None or not header else header + text[len(text.partition("\n")[0]) :]

    @cached_property
    def propagation(self) -> Propagation | None:
        """The program before partitioning, with the sharding of every value; `None` where it is not known.

        The first time somebody looks, XLA's own partitioner is asked about a copy of the captured program, in a process
        apart. Where it gives no answer, this is what a run of Shardy predicts (`is_predicted`), and `data.missing` says
        why.
        """
        return self._propagation_and_reason[0]

    @cached_property
    def _propagation_and_reason(self) -> tuple[Propagation | None, str]:
        return propagation_of(self.data, live=self._live)

    def ask_partitioner(self, *, timeout_s: float = 600.0) -> Propagation:
        """The program as XLA's own partitioner got it, with as much patience as `timeout_s` seconds.

        Displays ask by themselves, and fall back on a prediction when the answer takes too long; from then on they have
        what came of this. It takes about a tenth of the compile, in a process of its own. Raises CaptureError with the
        reason when the partitioner gives no answer, or when the program was compiled by another process.
        """
        if not self._live:
            raise CaptureError("the partitioner can be asked only in the process that compiled the program")
        program = ask(self.data, timeout_s=timeout_s)
        if self.propagation is None or self.propagation.is_predicted:
            for name in ("_sources", "report", "shardings"):
                vars(self).pop(name, None)
            vars(self)["propagation"] = program
            self._propagation_and_reason = (program, "")
        return program

    @cached_property
    def _sources(self) -> tuple[SourceText, ...]:
        """The texts of all files that the program before partitioning names."""
        program = self.propagation
        return self.data.sources + (_sources_of(program) if self._live and program is not None else ())

    @property
    def _cells(self) -> dict[str, str]:
        """File -> the notebook's name of the cell, for every cell that the program before partitioning names."""
        return cells_of(self.data, self._sources)

    @cached_property
    def warnings(self) -> tuple[XlaWarning, ...]:
        """What XLA warned of while it compiled, each distinct warning once, with its source.

        () when there was nothing, and when nobody listened: then `data.compiler_log` is None, and `data.missing` says
        why.
        """
        return with_sources(parse_warnings(self.data.compiler_log or ""), self.hlo, self._cells)

    @cached_property
    def report(self) -> RecordReport:
        """All analyses of this record, as the displays use them."""
        guard = Guard()
        module = guard.run("hlo", lambda: self.hlo, None)
        data, program, reason = self.data, self.propagation, self._propagation_and_reason[1]
        missing = data.missing | guard.failed
        # What an earlier report said is no longer so once `ask_partitioner` had an answer.
        missing.pop("partitioner", None)
        if program is not None and program.is_predicted and reason:
            missing |= {"partitioner": reason}
        found = report(replace(data, missing=missing), module, program, self._sources)
        if self._live:
            # Only the HLO tells which further files the program came from; keep their text with the record.
            further = guard.run("sources", lambda: _further_sources(found), ())
            found = replace(found, data=replace(found.data, sources=(*found.data.sources, *further)))
        self._data = found.data
        return found

    @property
    def collectives(self) -> CollectiveTable:
        """Every collective of the optimized program, most bytes sent first; empty when there is no HLO."""
        return replace(self.report.collectives or CollectiveTable(()), draw=self._draw_collectives)

    @property
    def fusions(self) -> FusionTable:
        """Every fused kernel of the optimized program, in schedule order; empty when there is no HLO."""
        return replace(self.report.fusions or FusionTable(()), draw=self._draw_fusions)

    @property
    def callbacks(self) -> CallbackTable:
        """Every call of the program back into Python (`pure_callback`, `io_callback`, `debug.print`), as scheduled.

        Empty when there is no HLO, and on TPU, where callbacks are sends and receives.
        """
        return CallbackTable(self.report.callbacks, draw=self._draw_callbacks)

    @cached_property
    def shardings(self) -> ShardingTable:
        """How every value of the program before partitioning is sharded, most wasted bytes first.

        `.of("params['w1']")` and `.at_line(12)` choose values. Empty when that is not known; `.missing` says why.
        """
        program = self.propagation
        if program is None:
            return ShardingTable(missing=self._propagation_and_reason[1], draw=self._draw_shardings)
        names = ValueNames(program, self._sources, self._cells)
        # A program that names no mesh may run on all devices of the user's, as under `jax.set_mesh`.
        mesh, count = self.mesh, len(self.data.devices)
        devices = count if mesh is not None and mesh.size == count else 1
        predicted = self._propagation_and_reason[1] if program.is_predicted else ""
        table = find_value_shardings(names, devices=devices)
        return replace(table, predicted=predicted, draw=self._draw_shardings)

    @cached_property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Changes that save communication, the largest saving first; `.check()` compiles one to the end and counts.

        Found the first time somebody looks, by asking XLA's partitioner about up to 29 changed copies of the program
        (seconds for a large one); where it gives no answer, their saving is modelled, and marked so. () when none is
        known. Raises CaptureError for a record from a file, and for a
        program that Shardy did not partition.
        """
        if not self._live:
            raise CaptureError("suggestions need the process that compiled the program: inspect the function again")
        found = suggestions_of(self.data, tuple(self.collectives), self._sources, self._cells)
        return tuple(replace(one, checker=partial(self._check, one)) for one in found)

    def _check(self, found: Suggestion, suggestion: Suggestion) -> Checked:
        """What came of a suggestion as it was found; kept, so that an explanation tells it."""
        checked = found.check().checked
        if checked is None:
            raise CaptureError(f"checking gave nothing: {suggestion.title}")
        self._checked[found.change] = checked
        return checked

    @property
    def figures(self) -> Figures:
        """Plotly figures, each with a still twin: `axis_totals`, `traffic`, `bytes_per_device`, `compile_times`."""
        return Figures(self.report, self._traffic, find_device_memory(self.data))

    @property
    def _traffic(self) -> LinkTraffic:
        return find_link_traffic(self.report.collectives or ())

    # ------------------------------------------------------------ keeping and showing

    @property
    def held_bytes(self) -> int:
        """Bytes of memory that its programs take: counted, and modelled for HLO that nobody has read yet."""
        stablehlo = (self._data.stablehlo.size or 0) if self._data.stablehlo is not None else 0
        if self._data.hlo is None:
            return stablehlo
        size = self._data.hlo.size
        return stablehlo + (size if size is not None else stablehlo * _MODULE_PER_STABLEHLO)

    def forget_programs(self, reason: str) -> None:
        """Let go of HLO, StableHLO and all that was made of them; what was captured beside them stays.

        `data.missing` says `reason` from then on.
        """
        with self._finishing:
            missing = {**self._data.missing, "hlo": reason, "stablehlo": reason}
            self._data = replace(
                self._data,
                hlo=None,
                hlo_header=None,
                stablehlo=None,
                stablehlo_text=None,
                propagation=None,
                missing=missing,
            )
        for name, attribute in vars(type(self)).items():
            if isinstance(attribute, cached_property) and name != "_reason":
                vars(self).pop(name, None)

    def add_times(self, data: RecordData) -> None:
        """Take over the measured times of `data`, which is this record's with them or with why there are none."""
        with self._finishing:
            vars(self).pop("report", None)
            self._data = data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to one `.pjit` file; `pjit_inspect.load` reads it back, without JAX too.

        The file holds the program and the source lines of the user's files that it names.
        """
        data = replace(self.report.data, reason=self.reason)
        write_record(replace(data, stablehlo_text=self.stablehlo, propagation=self.propagation), path)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the interactive inspector as one HTML file that loads nothing from a network.

        A browser that runs no scripts shows the still display.
        """
        with gc_paused():
            document = record_view(self._report_for_display)
            page = inspector_page(self._inspector(document), fallback=to_html(document))
        Path(path).write_text(page, encoding="utf-8")

    def to_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the answer, the mesh and the totals per axis as one still picture, for a README or an issue."""
        Path(path).write_text(draw_summary(self.report).write(), encoding="utf-8", errors="backslashreplace")

    def show(self, view: View = "html", *, times: bool = True) -> Any:
        """An object to display: "html" (with its text), "text" alone, or a live "widget".

        "html" is the still display and, where the notebook is trusted, the interactive inspector in its place. The
        widget's `selection` is the name of what is selected; it can be read and set. With `times=False` the seconds
        and the reason for compiling again are left out, so that the output is the same in every session.
        """
        if view not in get_args(View):
            raise ValueError(f"there is no view {view!r}; the views are {', '.join(get_args(View))}")
        with gc_paused():
            return self._shown(view, show_times=times)

    def _shown(self, view: View, *, show_times: bool) -> Any:
        document = record_view(self._report_for_display, options=ViewOptions(show_times=show_times))
        if view == "text":
            return Shown({"text/plain": to_text(document)})
        if view == "widget":
            payload = self._inspector(document, show_times=show_times)
            return inspector_widget(payload, words=widget_words(self.report), still=to_html(document))
        bundle = drawn(document)
        make = partial(self._inspector, document, show_times=show_times)
        live = Guard().run("the inspector", lambda: inspector_frame(make(), bundle["text/html"]), None)
        return Shown(bundle if live is None else {**bundle, "text/html": live})

    def _inspector(self, document: Document, *, show_times: bool = True) -> InspectorPayload:
        """The inspector's data, beside its still display."""
        graph, no_graph = self._graph_and_reason
        return inspector_payload(
            InspectorInput(
                report=self._report_for_display,
                traffic=self._traffic,
                jaxpr=self.jaxpr,
                stablehlo=self.stablehlo,
                hlo_text=self.hlo_text,
                module=self.hlo,
                running=None if self.hlo is None else find_running_instructions(self.hlo),
                graph=graph,
                no_graph=no_graph,
                shardings=self.shardings,
                phase_of=find_phase,
                text=to_text(document),
                show_times=show_times,
            )
        )

    @cached_property
    def _graph_and_reason(self) -> tuple[ProgramGraph | None, str]:
        """The graph of the program, and why there is none: a picture that fails must not take the rest with it."""
        module, guard = self.hlo, Guard()
        if module is None:
            return None, ""
        find = partial(find_graph, module, self.report.collectives or CollectiveTable(()))
        graph = guard.run("the graph", find, None)
        return graph, "".join(f"no graph of this program, its analysis failed: {why}" for why in guard.failed.values())

    def explain(self, what: str | int | None = None) -> Shown:
        """An object to display: why the collectives are there, most expensive first, with the facts that prove it.

        `what` narrows it: a kind ("all-gather"), a cause ("contraction"), a mesh axis, a phase ("backward"), a line of
        your source (41, or "train.py:41"), or a name (`"params['w1']"`). Where nothing fits it says what there is.
        """
        return Shown(drawn(explain_view(self._report_for_display, what)))

    @property
    def _report_for_display(self) -> RecordReport:
        """The report with the reason, XLA's warnings, and the suggestions somebody asked for, as far as checked."""
        found = (replace(s, checked=self._checked.get(s.change)) for s in vars(self).get("suggestions", ()))
        guard = Guard()
        reason = guard.run("the reason", lambda: self.reason, None)
        warnings = guard.run("XLA's warnings", lambda: self.warnings, ())
        data = replace(self.report.data, reason=reason)
        return replace(self.report, data=data, suggestions=tuple(found), warnings=warnings)

    def _draw_collectives(self, table: CollectiveTable) -> dict[str, str]:
        return self._section(
            collective_blocks(replace(self.report, collectives=table), rows=_TABLE_ROWS), "no collectives"
        )

    def _draw_fusions(self, table: FusionTable) -> dict[str, str]:
        return self._section(
            kernel_blocks(replace(self.report, fusions=table), rows=_TABLE_ROWS, text_rows=_TABLE_ROWS),
            "no fused kernels",
        )

    def _draw_callbacks(self, table: CallbackTable) -> dict[str, str]:
        return self._section(callback_blocks(table), "no host callbacks")

    def _draw_shardings(self, table: ShardingTable) -> dict[str, str]:
        return drawn(shardings_view(self.data, table, self._sources))

    def _draw_times(self, times: KernelTimes) -> dict[str, str]:
        report = replace(self.report, data=replace(self.report.data, kernel_times=times))
        return self._section(times_blocks(report, rows=_TABLE_ROWS, text_rows=_TABLE_ROWS), "no measured times")

    def _section(self, blocks: Sequence[Block], nothing: str) -> dict[str, str]:
        shown = tuple(blocks) or (Line((Text(nothing),)),)
        return drawn(Document(axes=document_axes(self.data), blocks=shown))

    def __str__(self) -> str:
        return to_text(record_view(self._report_for_display))

    def __repr__(self) -> str:
        where = f" at {self.user_frame.where}" if self.user_frame else ""
        return printable(f"<CompileRecord {self.name} ({self.transform}){where}>")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.show()._repr_mimebundle_()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompileRecord) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]


def _further_sources(found: RecordReport) -> tuple[SourceText, ...]:
    rows = (*(found.collectives or ()), *(found.fusions or ()))
    named = {frame.file for row in rows for frame in row.source}
    return _read_sources(named - {text.file for text in found.data.sources})


def _sources_of(program: Propagation) -> tuple[SourceText, ...]:
    # Callers too: a model's classes, the step and its call often stand in three cells.
    return _read_sources({frame.file for op in program.ops for frame in op.frames})


def _read_sources(files: Iterable[str]) -> tuple[SourceText, ...]:
    """The texts of those that are the user's and can be read."""
    from pjit_inspect.observe.live.frames import is_user_file, read_source

    texts = (read_source(file) for file in sorted(files) if is_user_file(file))
    return tuple(text for text in texts if text is not None)


def _printed_apart(proto: bytes) -> str | None:
    from pjit_inspect.observe.shardy.mlir_process import print_hlo_apart

    return print_hlo_apart(proto)


def _printed(function: str, data: bytes) -> str | None:
    try:
        from pjit_inspect.observe.shardy import texts
    except ImportError:
        return None
    try:
        return getattr(texts, function)(data)
    except RuntimeError:
        # jaxlib refuses what it did not make itself: programs of other versions, and those read from text.
        return None
