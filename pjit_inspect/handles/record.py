"""The handle users hold: one compile record, and everything that can be known about it.

Not its job: what is known (`analyses`), the tables it hands out (`tables`), its displays (`displays`), or making
records (`api`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pjit_inspect.analyze.program.device_memory import find_device_memory
from pjit_inspect.handles import displays
from pjit_inspect.handles.analyses import Analyses, RecordState
from pjit_inspect.handles.displays import View
from pjit_inspect.handles.tables import (
    RecordCallbacks,
    RecordCollectives,
    RecordFusions,
    RecordKernelTimes,
    RecordShardings,
)
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import MemoryStats, Origin, RecordData, Timings
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.report.suggestion import Suggestion
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.files.record_file import write_record
from pjit_inspect.parse.messages.stablehlo_text import without_locations
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.figures.figures import Figures
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown

__all__ = ["CompileRecord", "View"]

_MODULE_PER_STABLEHLO = 400
"""Bytes of XLA's module in memory for one of the StableHLO it came from: 6.8 MB for 17 KB were measured."""


class CompileRecord(Displayable):
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
        known = {"hlo": hlo, "hlo_text": hlo_text}
        given = {name: value for name, value in known.items() if value is not None}
        self.state = RecordState(Analyses(data, is_live=live, known=given), finish)
        """What is known of it by now; for the other modules of this room."""

    @property
    def data(self) -> RecordData:
        """The frozen data under this handle, complete."""
        return self.state.analyses.data

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
        return None if times is None else RecordKernelTimes.made_of(times, _state=self.state)

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
        return self.state.captured.reason

    # ------------------------------------------------------------ facts that take work

    @property
    def stablehlo(self) -> str | None:
        """The program before optimization as MLIR text, with source locations.

        None when the record holds none, or holds bytecode only and there is no jaxlib to print it. That of a file is
        never printed: damaged bytecode ends the process or worse, so files have the text beside it.
        """
        return self.state.analyses.stablehlo

    def stablehlo_text(self, *, locations: bool = True) -> str | None:
        """The program before optimization as MLIR text, with or without source locations; None as for `stablehlo`."""
        text = self.stablehlo
        return text if locations or text is None else without_locations(text)

    @property
    def hlo(self) -> HloModule | None:
        """The optimized program, parsed; None when the record holds none. Raises ParseError when it is damaged."""
        return self.state.analyses.hlo

    @property
    def hlo_text(self) -> str | None:
        """The optimized program as XLA prints it (`compiled.as_text()`); None where there is none, or no jaxlib.

        That of a file is printed in a process of its own, as it is not trusted.
        """
        return self.state.analyses.hlo_text

    @property
    def propagation(self) -> ShardedProgram | None:
        """The program before partitioning, with the sharding of every value; `None` where it is not known.

        The first time somebody looks, XLA's own partitioner is asked about a copy of the captured program, in a process
        apart. Where it gives no answer, this is what a run of Shardy predicts (`is_predicted`), and `data.missing` says
        why.
        """
        return self.state.analyses.propagation

    def ask_partitioner(self, *, timeout_s: float = 600.0) -> ShardedProgram:
        """The program as XLA's own partitioner got it, with as much patience as `timeout_s` seconds.

        Displays ask by themselves, and fall back on a prediction when the answer takes too long; from then on they have
        what came of this. It takes about a tenth of the compile, in a process of its own. Raises CaptureError with the
        reason when the partitioner gives no answer, or when the program was compiled by another process.
        """
        return self.state.ask_partitioner(timeout_s)

    @property
    def warnings(self) -> tuple[XlaWarning, ...]:
        """What XLA warned of while it compiled, each distinct warning once, with its source.

        () when there was nothing, and when nobody listened: then `data.compiler_log` is None, and `data.missing` says
        why.
        """
        return self.state.analyses.warnings

    @property
    def report(self) -> RecordReport:
        """All analyses of this record, as the displays use them."""
        return self.state.analyses.report

    @property
    def collectives(self) -> CollectiveTable:
        """Every collective of the optimized program, most bytes sent first; empty when there is no HLO."""
        return RecordCollectives.made_of(self.state.analyses.collectives, _state=self.state)

    @property
    def fusions(self) -> FusionTable:
        """Every fused kernel of the optimized program, in schedule order; empty when there is no HLO."""
        return RecordFusions.made_of(self.report.fusions or FusionTable(()), _state=self.state)

    @property
    def callbacks(self) -> CallbackTable:
        """Every call of the program back into Python (`pure_callback`, `io_callback`, `debug.print`), as scheduled.

        Empty when there is no HLO, and on TPU, where callbacks are sends and receives.
        """
        return RecordCallbacks(self.report.callbacks, _state=self.state)

    @property
    def shardings(self) -> ShardingTable:
        """How every value of the program before partitioning is sharded, most wasted bytes first.

        `.of("params['w1']")` and `.at_line(12)` choose values. Empty when that is not known; `.missing` says why.
        """
        return RecordShardings.made_of(self.state.analyses.shardings, _state=self.state)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Changes that save communication, the largest saving first; `.check()` compiles one to the end and counts.

        Found the first time somebody looks, by asking XLA's partitioner about up to 29 changed copies of the program
        (seconds for a large one); where it gives no answer, their saving is modelled, and marked so. () when none is
        known. Raises CaptureError for a record from a file, and for a
        program that Shardy did not partition.
        """
        return self.state.analyses.suggestions

    @property
    def figures(self) -> Figures:
        """Plotly figures, each with a still twin: `axis_totals`, `traffic`, `bytes_per_device`, `compile_times`."""
        now = self.state.analyses
        return Figures(now.report, now.traffic, find_device_memory(now.data))

    # ------------------------------------------------------------ keeping and showing

    @property
    def held_bytes(self) -> int:
        """Bytes of memory that its programs take: counted, and modelled for HLO that nobody has read yet."""
        data = self.state.captured.data
        stablehlo = (data.stablehlo.size or 0) if data.stablehlo is not None else 0
        if data.hlo is None:
            return stablehlo
        size = data.hlo.size
        return stablehlo + (size if size is not None else stablehlo * _MODULE_PER_STABLEHLO)

    def forget_programs(self, reason: str) -> None:
        """Let go of HLO, StableHLO and all that was made of them; what was captured beside them stays.

        `data.missing` says `reason` from then on.
        """
        self.state.forget_programs(reason)

    def add_times(self, data: RecordData) -> None:
        """Take over the measured times of `data`, which is this record's with them or with why there are none."""
        self.state.add_times(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to one `.pjit` file; `pjit_inspect.load` reads it back, without JAX too.

        The file holds the program and the source lines of the user's files that it names.
        """
        now = self.state.analyses
        data = replace(now.report.data, reason=self.reason)
        write_record(replace(data, stablehlo_text=now.stablehlo, propagation=now.propagation), path)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the interactive inspector as one HTML file that loads nothing from a network.

        A browser that runs no scripts shows the still display.
        """
        displays.write_page(self.state.analyses, path)

    def to_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the answer, the mesh and the totals per axis as one still picture, for a README or an issue."""
        displays.write_picture(self.state.analyses, path)

    def show(self, view: View = "html", *, times: bool = True) -> Any:
        """An object to display: "html" (with its text), "text" alone, or a live "widget".

        "html" is the still display and, where the notebook is trusted, the interactive inspector in its place. The
        widget's `selection` is the name of what is selected; it can be read and set. With `times=False` the seconds
        and the reason for compiling again are left out, so that the output is the same in every session.
        """
        return displays.shown(self.state.analyses, view, show_times=times)

    def explain(self, what: str | int | None = None) -> Shown:
        """An object to display: why the collectives are there, most expensive first, with the facts that prove it.

        `what` narrows it: a kind ("all-gather"), a cause ("contraction"), a mesh axis, a phase ("backward"), a line of
        your source (41, or "train.py:41"), or a name (`"params['w1']"`). Where nothing fits it says what there is.
        """
        return displays.explanation(self.state.analyses, what)

    def __str__(self) -> str:
        # Without the HTML, which takes longer.
        return displays.text(self.state.analyses)

    def __repr__(self) -> str:
        where = f" at {self.user_frame.where}" if self.user_frame else ""
        return printable(f"<CompileRecord {self.name} ({self.transform}){where}>")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompileRecord) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]
