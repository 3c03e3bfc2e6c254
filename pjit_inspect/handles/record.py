"""The handle users hold: one compile record, and everything that can be known about it.

Not its job: the analyses (`analyses`), its displays and tables (`displays`), or making records (`api`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.analyses import Analyses, RecordState
from pjit_inspect.handles.background import somebody_waits
from pjit_inspect.model.memory.fit import MemoryFit
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import MemoryStats, Origin, RecordData, Timings
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.passes import PassTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.time.hardware import Hardware
from pjit_inspect.model.time.scaling import ScalingTable
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.parse.wire.clean import cleaned
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown

if TYPE_CHECKING:
    from pjit_inspect.handles.asked.pass_steps import AskedPasses
    from pjit_inspect.handles.asked.what_if import Again
    from pjit_inspect.handles.diff import Diff
    from pjit_inspect.handles.displays import View
    from pjit_inspect.handles.play.playground import Playground
    from pjit_inspect.view.figures.figures import Figures

__all__ = ["CompileRecord"]


class CompileRecord(Displayable):
    """One compilation, and everything that can be found out about it.

    A thin handle over frozen data (`record.data`): analyses run on first use and are kept. Two records are equal if
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
        program: Callable[[], ShardedProgram] | None = None,
        again: Again | None = None,
    ) -> None:
        """Hold `data`; `live` if this process compiled it: then its source files are the compiled ones.

        `finish` reads the facts that capture left for later; its `with_layouts`, if any, reads the quick ones, and is
        called at once. `hlo` and `hlo_text` are its optimized program, if the caller has read it already. `program`
        makes the program before partitioning, if XLA has answered already. `again` traces the function on another mesh,
        if it is available.
        """
        begin = getattr(finish, "with_layouts", None)
        data = data if begin is None else begin(data)
        self.again: Again | None = again
        """Traces the function on another mesh; None where it is not at hand."""
        known = {"hlo": hlo, "hlo_text": hlo_text}
        given = {name: value for name, value in known.items() if value is not None}
        self.state: RecordState = RecordState(Analyses(data, is_live=live, known=given, program=program), finish)
        """All that is known of it by now; for the other modules of this room."""

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
        """The transform that made the compile: "jit", "grad", "vmap", "pmap", "shard_map" or "eager"."""
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
        """The flattened arguments in order, with the slice of each on every device, and the origin of its sharding."""
        data = self.data
        # The optimized program says what layouts became, and of a program compiled apart what is in the host's memory.
        is_said = data.hypothesis is None and not any(one.layout_asked for one in data.inputs)
        return data.inputs if is_said else self.state.analyses.arrays.inputs

    @property
    def outputs(self) -> tuple[ArrayLayout, ...]:
        """The flattened results in order, with the slice of each on every device, and the inputs they reuse."""
        return self.state.analyses.arrays.outputs

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
        """Time of each HLO instruction when the program ran in a `capture(measure=True)`, longest first.

        None if not measured, or if measuring failed (`data.missing["kernel_times"]` says why). Not to be confused with
        `timings`, the times of compiling.
        """
        times = self.data.kernel_times
        return None if times is None else _displays().RecordKernelTimes.made_of(times, _state=self.state)

    @property
    def memory(self) -> MemoryStats | None:
        """Bytes per device, as XLA counts them; None when the backend does not say."""
        return self.data.memory

    @property
    def memory_use(self) -> MemoryUse:
        """Live values in the memory of one device at the peak, and over the schedule.

        `peak_bytes` is the total, `live` the table of buffers, `curve` the bytes over the schedule; `source` says
        whether they are modelled or counted. Without a schedule (`what_if` with the effort "partition", TPU programs
        compiled only to layouts) its figures are None and `missing` says why.
        """
        return _displays().RecordMemoryUse.made_of(self.state.analyses.memory_use, _state=self.state)

    def fits(self, target: str) -> MemoryFit:
        """The room of the program in the memory of a chip: `record.fits("tpu:v5e")`.

        If it was compiled for that chip (`what_if(target=..., effort="full")`), the answer is counted. If not,
        arguments and results get the padding of that chip's tiles, and temporaries are those of the record's backend
        (modelled); without a schedule, arguments and results alone are a lower bound. `str()` gives the answer in
        words. Raises ChangeError for an unknown chip.
        """
        from pjit_inspect.handles.memory.fits import fit_of

        now = self.state.analyses
        return fit_of(now.report.data, now.memory_use, target)

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
        """Why it was compiled: first time, or its differences from the nearest earlier compile of the function.

        Found among the earlier compiles that this process recorded. `sentence` is the answer, `differences` the proof,
        `resharded` the arguments that every call copies.
        """
        return self.state.captured.reason

    # ------------------------------------------------------------ facts that take work

    @property
    def stablehlo(self) -> str | None:
        """The program before optimization as MLIR text, with source locations.

        None if the record has none, or has only bytecode and there is no jaxlib to print it. Bytecode from a file is
        never printed, because damaged bytecode may crash the process or worse: files also have the text.
        """
        return self.state.analyses.stablehlo

    def stablehlo_text(self, *, locations: bool = True) -> str | None:
        """The program before optimization as MLIR text, with or without source locations; None as for `stablehlo`."""
        from pjit_inspect.parse.messages.stablehlo_text import without_locations

        text = self.stablehlo
        return text if locations or text is None else without_locations(text)

    @property
    def hlo(self) -> HloModule | None:
        """The optimized program, parsed; None when the record holds none. Raises ParseError when it is damaged."""
        return self.state.analyses.hlo

    @property
    def hlo_text(self) -> str | None:
        """The optimized program as XLA prints it (`compiled.as_text()`); None if there is none, or no jaxlib.

        A program from a file is not trusted, and is printed in a separate process; None if that takes two minutes, or
        fails. Displays wait two seconds for it, and say why it is missing.
        """
        return self.state.analyses.hlo_text

    @property
    def hlo_annotated(self) -> str | None:
        """`hlo_text` with a comment above each kernel and collective: your line of source, or the cause.

        Bytes that collectives send are modelled: ring. XLA's parser takes it as it takes `hlo_text`; None as there.
        """
        return self.state.analyses.hlo_annotated

    @property
    def propagation(self) -> ShardedProgram | None:
        """The program before partitioning, with the sharding of every value; `None` if unknown.

        On first use, XLA's partitioner is asked about a copy of the captured program, in a separate process. If it
        gives no answer, `data.missing` says why.
        """
        return self.state.analyses.propagation

    def ask_partitioner(self, *, timeout_s: float = 600.0) -> ShardedProgram:
        """The program as XLA's partitioner received it, waiting up to `timeout_s` seconds for the answer.

        Displays ask by themselves, except for a program of thousands of arrays, and wait a minute; after this call they
        use its answer. It takes a tenth of the compile time, or as long as the compile for
        many arrays, in a separate process. Raises CaptureError with the reason if the partitioner gives no answer, or
        if the program was compiled by another process.
        """
        return self.state.ask_partitioner(timeout_s)

    @property
    def warnings(self) -> tuple[XlaWarning, ...]:
        """Warnings of XLA's partitioner, each distinct warning once, with its source.

        It is asked about a copy of the program and repeats the warnings of the compile, even if the program came from
        the compilation cache. () for none, and if it was not asked: then `data.compiler_log` is None.
        """
        return self.state.analyses.warnings

    @property
    def report(self) -> RecordReport:
        """All analyses of this record, as the displays use them."""
        return self.state.analyses.report

    @property
    def collectives(self) -> CollectiveTable:
        """Every collective of the optimized program, most bytes sent first; empty when there is no HLO."""
        now = self.state.analyses
        return _displays().RecordCollectives.made_of(now.with_lives(now.collectives), _state=self.state)

    @property
    def sends(self) -> int | None:
        """Bytes that each device (the busiest) sends per call (modelled: ring); None without a program."""
        return self.report.sent_bytes

    @property
    def fusions(self) -> FusionTable:
        """Every fused kernel of the optimized program, in schedule order; empty when there is no HLO."""
        return _displays().RecordFusions.made_of(self.report.fusions or FusionTable(()), _state=self.state)

    @property
    def passes(self) -> PassTable:
        """XLA's passes that changed the program, in order, and the life of each collective through them.

        Asked on first use: XLA compiles a copy of the program to the end once more, in a separate process, for fake CPU
        devices or for the target of `what_if`; nothing of it stays on disk. `.life(record.collectives[0])` has a line
        for each pass that made or changed that collective; `.changed(11)` has the instructions that pass 11 changed.
        A record of `open` has the passes that XLA dumped into the directory. Raises CaptureError, with the reason, if
        XLA gives no answer, and for a record from a file or of attached chips.
        """
        return self.state.analyses.passes

    @property
    def hlo_before(self) -> HloModule:
        """The program as XLA receives it, before all passes; asked for with `passes`, and raises as it does."""
        return self.state.analyses.pass_steps.first

    @property
    def callbacks(self) -> CallbackTable:
        """Every call of the program back into Python (`pure_callback`, `io_callback`, `debug.print`), as scheduled.

        Empty when there is no HLO, and on TPU, where callbacks are sends and receives.
        """
        return _displays().RecordCallbacks(self.report.callbacks, _state=self.state)

    @property
    def shardings(self) -> ShardingTable:
        """The sharding of every value of the program before partitioning, most wasted bytes first.

        `.of("params['w1']")` and `.at_line(12)` choose values. Empty if unknown; `.missing` says why.
        """
        return _displays().RecordShardings.made_of(self.state.analyses.shardings, _state=self.state)

    @property
    def advice(self) -> AdviceTable:
        """Changes worth making, best first, each with the code to write and with what it saves; then facts.

        Found on first use, which waits for the end: XLA's partitioner is asked about up to 40 changed copies of the
        program, fewer of a large one, and an answer takes some 0.2 s. A notebook asks after `%pjit`, while no cell
        runs; `advice_now` does not wait. Each change is counted on top of those before it. A change of the kind
        "layout" helps at these sizes, and may not at others. For a record from a file nothing is asked, and the table
        has facts only.
        """
        with somebody_waits():
            return _displays().RecordAdviceTable.made_of(self.state.analyses.advice, _state=self.state)

    @property
    def advice_now(self) -> AdviceTable:
        """`advice` as far as it is known by now: nothing is asked, and nobody is waited for.

        Facts are there at once. `is_done` says whether more can come, `left` how many questions at most.
        """
        return _displays().RecordAdviceTable.made_of(self.state.analyses.advice_by_now(), _state=self.state)

    @property
    def findings(self) -> AdviceTable:
        """Problems of the program: at most three rows of `advice`, most expensive first.

        Those of the kinds "layout", "argument" and "result" are left out. For a record from a file nothing is tried:
        only facts are found.
        """
        with somebody_waits():
            return _displays().RecordAdviceTable.made_of(self.state.analyses.findings, _state=self.state)

    @property
    def suggestions(self) -> AdviceTable:
        """The rows of `advice` that change shardings; `.check()` of one compiles it to the end and counts."""
        found = self.advice
        return replace(found, rows=tuple(row for row in found if row.edits))

    @property
    def figures(self) -> Figures:
        """Plotly figures, each with a still twin.

        `axis_totals`, `traffic`, `bytes_per_device`, `memory`, `compile_times`.
        """
        from pjit_inspect.analyze.program.device_memory import find_device_memory
        from pjit_inspect.view.figures.figures import Figures

        now = self.state.analyses
        held = find_device_memory(now.report.data)
        return Figures(now.report, now.traffic, held, lambda: (now.memory_use, now.memory_timelines))

    @property
    def time(self) -> StepTime:
        """Where the seconds of one call go: kernels, collectives, waits; what limits them, and how sure that is.

        XLA's own estimate of each kernel where the program has one, else a roofline; collectives by named formulas; in
        XLA's order. Measured times, where a profiler saw them. On devices whose speed is unknown, as CPUs, seconds are
        None, and operations and bytes are counted.
        """
        analyses = self.state.analyses
        return _times().RecordStepTime.made_of(_times().own_step_time(analyses), _analyses=analyses)

    def time_on(self, target: str | Hardware, *, effort: Effort = "full", timeout_s: float = 600.0) -> StepTime:
        """The same on another machine.

        For a target with its topology ("tpu:v5e:4x4"), XLA compiles the program to the end in another process, without
        that machine. With `effort="partition"` XLA partitions it alone, which takes about a second after the first
        time, and the answer is a quick estimate: a range from products and communication, without an order. For a chip
        alone ("v5e"), or a `Hardware` of `calibrate`, this program's kernels get its speeds. Raises ChangeError for an
        unknown target, and CaptureError if XLA gives no answer.
        """
        if isinstance(target, str) and target.count(":") > 1:
            return self.what_if(target=target, effort=effort, timeout_s=timeout_s).time
        hardware = _times().known_hardware(target) if isinstance(target, str) else target
        analyses = self.state.analyses
        return _times().RecordStepTime.made_of(_times().step_time_of(analyses, hardware), _analyses=analyses)

    def scale(
        self,
        chips: Sequence[int],
        target: str,
        *,
        axis: str | None = None,
        weak: Callable[[int], CompileRecord] | None = None,
    ) -> ScalingTable:
        """The time of a call on each number of chips of a kind ("tpu:v5e"); nothing runs.

        One axis of the mesh grows: `axis`, by default the outermost. XLA compiles the program to the end for each
        number, which takes as long as so many compiles. A number that cannot be has its reason in `missing`.

        Arguments stay the same ("strong" scaling), unless `weak` gives the record of another call for each number of
        chips, as of one whose batch grows with them:
        `record.scale([8, 64], "tpu:v5e", weak=lambda chips: pi.inspect(step, params, batch_for(chips)))`. Raises
        ChangeError for a program without a mesh.
        """
        from pjit_inspect.handles.time.scale import Scaling, scaling_of

        found = scaling_of(Scaling(record=self, target=target, axis=axis, weak=weak), chips)
        # The inspector's pane of seconds shows the last.
        self.state.analyses.known["scaling"] = found
        return found

    # ------------------------------------------------------------ what if

    def what_if(
        self,
        *,
        mesh: Mapping[str, int] | None = None,
        specs: Mapping[str, Any] | None = None,
        target: str | Target | None = None,
        effort: Effort = "partition",
        passes: bool = False,
        timeout_s: float = 600.0,
    ) -> CompileRecord:
        """A record of this program on another mesh, with other shardings, or on another machine; nothing runs.

        XLA compiles a changed copy of the captured program in a separate process. The result is a normal record whose
        display states the change; its `what_if` continues from there. A record from a file is also read and changed in
        another process, because it may be damaged; it must have StableHLO.

        If a copy cannot be changed (a `shard_map` over an axis that gets another size, calls that only one platform
        has), and the record is from `inspect`, its function is retraced on that mesh as long as it is still referenced;
        the display says this, and whether it gave other operations.

        Args:
          mesh: all axes of the mesh, outermost first, with their sizes (`{"data": 16, "model": 16}`). An axis that the
            program lacks is new: nothing is sharded over it. An omitted axis is dropped.
          specs: PartitionSpecs by the path of an argument or result (`"params['w1']"`), where `*` is any key
            (`"params['layers'][*]['wq']"`) and a path includes everything beneath it (`"params"`); or by the place of a
            `with_sharding_constraint` (`"train.py:41"`). None leaves the sharding to XLA.
          target: the machine, as in "tpu:v5e:16x16" or "cpu:256" (`pjit_inspect.targets()` lists them); by default as
            many fake CPU devices as the mesh has.
          effort: "partition" compiles up to XLA's partitioner (tenths of a second): shardings and collectives, before
            XLA combines and schedules them. "full" compiles to the end, for kernels, memory and the schedule.
          passes: whether to get the program after every pass from the same compile, for `CompileRecord.passes`; only
            with the effort "full".
          timeout_s: time limit.

        Raises ChangeError, with the reason and a remedy, if the program cannot be changed, and CaptureError if XLA
        gives no answer.
        """
        from pjit_inspect.handles.asked.copies import CopyChange, change_apart
        from pjit_inspect.handles.asked.what_if import ask_changed, change_program

        began, now = time.monotonic(), self.state.analyses
        if now.is_live:
            change = change_program(now.data, mesh=mesh, specs=specs, target=target, again=self.again)
        else:
            change = change_apart(now.data, CopyChange(mesh=mesh, specs=specs or {}, target=target))
        dumped: list[AskedPasses] = []
        data, program = ask_changed(
            now.data,
            change,
            now.figures_at,
            effort=effort,
            timeout_s=timeout_s,
            began=began,
            take_passes=dumped.append if passes else None,
        )
        made = self._made(data, program)
        if dumped:
            made.state.analyses.known["pass_steps"] = dumped[0]
        return made

    def _made(self, data: RecordData, program: Callable[[], ShardedProgram] | None) -> CompileRecord:
        """The record of a changed program, which is trusted as much as this one's."""
        live = self.state.analyses.is_live
        return CompileRecord(data if live else cleaned(data), live=live, program=program, again=self.again)

    def playground(self, *, fits: str | None = None) -> Playground:
        """The shardings of this program, to be changed and looked at again; XLA is asked after every change.

        `fits` is the chip whose memory and speed are used to judge variants ("tpu:v5e"); by default the target's. A
        program on no mesh gets one of all attached devices (of 8 if one is attached), its arguments replicated. Raises
        ChangeError for a record without a program before optimization, or if its mesh cannot be changed.
        """
        from pjit_inspect.handles.play.playground import Playground
        from pjit_inspect.handles.play.subject import PlayedRecord

        now, again = self.state.analyses, self.again

        return Playground(PlayedRecord(analyses=now, again=again, make=self._made), fits=fits)

    def diff(self, before: CompileRecord) -> Diff:
        """The differences from `before` to this record, with their causes: `pjit_inspect.diff(before, self)`.

        If one of them is a `what_if` with the effort "partition", the other is also compiled up to XLA's partitioner.
        """
        sides = before.state.analyses, self.state.analyses
        if sides[0].data.is_partial != sides[1].data.is_partial:
            sides = _partitioned(before), _partitioned(self)
        from pjit_inspect.handles.diff import diff_analyses

        return diff_analyses(*sides)

    # ------------------------------------------------------------ keeping and showing

    @property
    def held_bytes(self) -> int:
        """Bytes of memory of its programs: counted, and modelled for HLO that has not been read yet."""
        from pjit_inspect.handles.session.programs import held_bytes

        return held_bytes(self.state.captured.given)

    def forget_programs(self, reason: str) -> None:
        """Release HLO, StableHLO and everything derived from them; other captured facts are kept.

        `data.missing` then gives `reason`.
        """
        self.state.forget_programs(reason)

    def add_times(self, data: RecordData) -> None:
        """Take over the measured times of `data`, which is this record's with them or with why there are none."""
        self.state.add_times(data)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the record to one `.pjit` file; `pjit_inspect.load` reads it back, without JAX too.

        The file holds the program and the source lines of the user's files that it names. It is written beside its
        place and renamed: a failure leaves the old file as it was. Its permissions are kept, a link stays a link, and
        a pipe or a device is refused: give the open file itself then.
        """
        from pjit_inspect.parse.files.record_file import write_record

        now = self.state.analyses
        data = replace(now.report.data, reason=self.reason)
        write_record(replace(data, stablehlo_text=now.stablehlo, propagation=now.propagation), path)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the interactive inspector as one HTML file that loads nothing from a network.

        A browser that runs no scripts shows the still display.
        """
        _displays().write_page(self.state.analyses, path)

    def to_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the answer, the mesh and the totals per axis as one still picture, for a README or an issue."""
        _displays().write_picture(self.state.analyses, path)

    def show(self, view: View = "html", *, times: bool = True) -> Any:
        """An object to display: "html" (with its text), "text" alone, a "widget", a "tree", "facts", "memory", "time".

        "html" is the still display or, in a trusted notebook, the interactive inspector. The widget's `selection` is
        the name of the selected item; it can be read and set. The tree is an indented skeleton of the run, for
        terminals: phases, scopes and loops with their trip counts, kernels folded, each collective with its axes,
        bytes, cause and line, in scheduled order. The facts are a few lines to compare: specs and bytes of arrays, axes
        and bytes of collectives, and nothing that differs between sessions. The memory view shows live values at the
        peak on one device, and bytes over the schedule; the time view is that of `time`. With `times=False` the seconds
        and the reason for compiling again are omitted: the output is the same in every session.
        """
        return _displays().shown(self.state.displayed, view, show_times=times)

    def explain(self, what: str | int | None = None) -> Shown:
        """An object to display: why the collectives are there, most expensive first, with the facts that prove it.

        `what` narrows it: a kind ("all-gather"), a cause ("contraction"), a mesh axis, a phase ("backward"), a line of
        your source (41, or "train.py:41"), or a name (`"params['w1']"`). If nothing fits, it lists the available
        choices.
        """
        return _displays().explanation(self.state.analyses, what)

    def __str__(self) -> str:
        # Without the HTML, which takes longer.
        return _displays().text(self.state.displayed)

    def __repr__(self) -> str:
        where = f" at {self.user_frame.where}" if self.user_frame else ""
        return printable(f"<CompileRecord {self.name} ({self.transform}){where}>")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompileRecord) and self.data == other.data

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


def _partitioned(record: CompileRecord) -> Analyses:
    """The analyses of a record after XLA's partitioner; the record's analyses if XLA cannot be asked."""
    if record.data.is_partial:
        return record.state.analyses
    try:
        return record.what_if().state.analyses
    except (CaptureError, ChangeError):
        return record.state.analyses


def _times() -> ModuleType:
    """The module that tells where the seconds go; it loads with the figures of all chips."""
    from pjit_inspect.handles.time import step as times

    return times


def _displays() -> ModuleType:
    """The displays and tables, which load with most of the package: many who take a record look at none."""
    from pjit_inspect.handles import displays

    return displays
