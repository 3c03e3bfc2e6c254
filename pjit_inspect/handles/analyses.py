"""The data of one record and every analysis of them, each made on first use.

Joins the rooms: `parse` reads programs, `observe` asks XLA, `analyze` judges. A change of the data makes new analyses,
which replace the old ones as a whole. Not its job: any of those steps, showing results (`displays`), or the users'
handle (`record`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from pjit_inspect.analyze.program.source import UserFiles, package_of, with_sources
from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.session.programs import without_programs
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.memory.memory_use import MemoryTimeline, MemoryUse
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import SOURCE_LINES, SourceText
from pjit_inspect.model.program.table import LaterRows
from pjit_inspect.model.record.compile_key import CompileKey
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import KeyFigures
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import CollectiveTable, LinkTraffic
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.clean import clean_line, clean_text, cleaned

if TYPE_CHECKING:
    from pjit_inspect.analyze.memory.memory_use import MemoryFinder
    from pjit_inspect.analyze.report.report import Explained
    from pjit_inspect.analyze.sharding.value_names import ValueNames
    from pjit_inspect.handles.asked.pass_steps import PassSteps
    from pjit_inspect.model.report.passes import PassTable

T = TypeVar("T")


class Computed:
    """Base of a class with values marked `once`; `known` has the computed or given values by name."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known: dict[str, Any] = dict(known)
        self._locks: dict[str, threading.RLock] = {}

    def value(self, name: str, compute: Callable[[Any], T]) -> T:
        """The value of a name; the first caller computes it, while other callers of the same name wait.

        A failed computation is not kept: it is repeated the next time.
        """
        if name in self.known:
            return self.known[name]
        # A lock for each value: a question to XLA that takes many seconds must not block reading the program. Values
        # need one another in one direction only, and no two threads can wait for each other.
        with self._locks.setdefault(name, threading.RLock()):
            if name not in self.known:
                self.known[name] = compute(self)
                self._locks.pop(name, None)
            return self.known[name]


class once(Generic[T]):  # noqa: N801  (it is used as `property` is)
    """Marks a value of a `Computed`, as `functools.cached_property` does for any class and without its races."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...
    @overload
    def __get__(self, owner: Computed, kind: type | None = None) -> T: ...
    def __get__(self, owner: Computed | None, kind: type | None = None) -> Self | T:
        return self if owner is None else owner.value(self._name, self._compute)


_PATIENCE_S = 60.0
"""Time limit for figures of the record that a changed record came from."""

_PRINT_S, _PRINT_SOON_S = 120.0, 2.0
"""Time limits for XLA to print a program of a file: for a caller who asks for the text, and for a display."""

_NO_TEXT = "no_hlo_text"
"""Key in the known values for the reason why a program of a file was not printed."""

_OF_ANSWER = (
    "sources", "explained", "report", "names", "shardings", "advice", "advice_where_asked", "advice_by_now",
    "step_time",
)  # fmt: skip
"""Values that depend on the answer of XLA's partitioner."""

_CONSTRAINT = b"/sharding_constraint"
"""End of JAX's operation name, also in StableHLO's bytecode, for a requested sharding."""


class Analyses(Computed):
    """Every analysis of one record's data; most are as in `CompileRecord`.

    It is immutable: each value is computed once, from the data and the other values alone.
    """

    def __init__(
        self,
        data: RecordData,
        *,
        is_live: bool,
        known: Mapping[str, Any],
        key: CompileKey | None = None,
        program: Callable[[], ShardedProgram] | None = None,
        asked: Analyses | None = None,
    ) -> None:
        """`key` is the key in the session's history, which differs from `data` if that is cleaned.

        `program` makes the program before partitioning, if XLA has answered already. `asked` are the analyses with
        XLA's answer, if these are the ones of the same data without it.
        """
        super().__init__(known)
        self._program = program
        self._asked = asked
        self.is_live: bool = is_live
        self.given: RecordData = data
        """The data as they were handed over: names of this process may hold anything."""
        self.key: CompileKey | None = key or data.key
        """The one that the session's history knows."""
        self._clean: RecordData | None = None

    @property
    def has_answer(self) -> bool:
        """True if XLA's answer about the program is there."""
        return self._program is not None

    @property
    def _data(self) -> RecordData:
        """The data, clean. Not made within the user's call; files were cleaned when they were read."""
        if self._clean is None:
            self._clean = cleaned(self.given) if self.is_live else self.given
        return self._clean

    @property
    def data(self) -> RecordData:
        """The data; with a report, also the facts it found about them (aliases, sources, missing parts)."""
        if (known_report := self.known.get("report")) is not None:
            return known_report.data
        program, reason = self.known.get("propagation_and_reason", (None, ""))
        missing = self._with_partitioner(self._data.missing, program, reason)
        return self._data if missing == self._data.missing else replace(self._data, missing=missing)

    def _with_partitioner(
        self, missing: Mapping[str, str], program: ShardedProgram | None, reason: str
    ) -> dict[str, str]:
        """The missing parts, with the reason why XLA's partitioner was asked and gave no answer, if that is so."""
        is_asked = self.is_live and self._asked is None and self._data.stablehlo is not None
        if program is None and not (reason and is_asked):
            return dict(missing)
        kept = {name: why for name, why in missing.items() if name != "partitioner"}
        return kept | ({"partitioner": reason} if reason else {})

    def of(self, data: RecordData, *, without: Iterable[str] = (), **known: Any) -> Analyses:
        """Analyses of other data of the same compile, with all known values except `without`."""
        kept = self.known.copy()
        for name in without:
            kept.pop(name, None)
        return Analyses(data, is_live=self.is_live, known=kept | known, key=self.key, program=self._program)

    @property
    def asked(self) -> Analyses:
        """The analyses for which XLA is asked; a display of a large program may use others, see `at_once`."""
        return self._asked or self

    def at_once(self) -> Analyses | None:
        """Analyses without the slow answer of XLA's partitioner, for a display; None if displays wait for it."""
        if not (why := self._why_unasked()):
            return None
        known = self.known.copy()
        for name in ("report", "explained"):
            known.pop(name, None)
        known["propagation_and_reason"] = None, why
        return Analyses(self._data, is_live=self.is_live, known=known, key=self.key, asked=self)

    def _why_unasked(self) -> str:
        """Why a display does not wait for XLA's explanation; "" if it is asked, or has answered."""
        from pjit_inspect.handles.propagate import why_unasked

        data = self._data
        is_known = self._program is not None or "propagation_and_reason" in self.known or data.propagation is not None
        module = None if is_known or not self.is_live else self.readable_hlo
        why = "" if module is None else why_unasked(data, module)
        return why if why and self._is_explained(module) else ""

    @once
    def reason(self) -> Reason:
        """Why it was compiled."""
        from pjit_inspect.handles.ledger import reason_of

        return cleaned(reason_of(replace(self._data, key=self.key), live=self.is_live))

    # ------------------------------------------------------------ programs

    @once
    def stablehlo(self) -> str | None:
        """The program before optimization as MLIR text."""
        data = self.data
        if data.stablehlo_text is not None or data.stablehlo is None or not self.is_live:
            return data.stablehlo_text
        return _clean(_printed("stablehlo_text", data.stablehlo.read()))

    @once
    def hlo(self) -> HloModule | None:
        """The optimized program, parsed."""
        return self._read_hlo()

    @property
    def readable_hlo(self) -> HloModule | None:
        """The same; None too where it is damaged, which must not take the rest of a display with it."""
        return Guard().run("hlo", lambda: self.hlo, None)

    def hlo_for_now(self) -> HloModule | None:
        """As `hlo`, but kept only if it has already been read."""
        return self.hlo if "hlo" in self.known else self._read_hlo()

    def _read_hlo(self) -> HloModule | None:
        if self.data.hlo is None:
            return None
        module = parse_program(self.data.hlo.read())
        return module.without_frames() if SOURCE_LINES in self.data.missing else module

    @once
    def hlo_text(self) -> str | None:
        """The optimized program as XLA prints it."""
        if self.data.hlo is None:
            return None
        try:
            return self._hlo_text(_PRINT_S)
        except CaptureError as error:
            # Displays say why there is none.
            self.known[_NO_TEXT] = str(error)
            return None

    @property
    def hlo_text_for_display(self) -> tuple[str | None, str]:
        """The same, if it can be had in two seconds; None, and why, where it cannot."""
        known = self.known
        if self.is_live or known.get("hlo_text") is not None or self.data.hlo is None:
            return self.hlo_text, ""
        if _NO_TEXT not in known:
            try:
                known["hlo_text"] = self._hlo_text(_PRINT_SOON_S)
                return known["hlo_text"], ""
            except CaptureError as error:
                more = " (record.hlo_text gives it more)" if "more time" in str(error) else ""
                known[_NO_TEXT] = f"{error}{more}"
        return None, known[_NO_TEXT]

    def _hlo_text(self, timeout_s: float) -> str | None:
        """The text, which XLA prints apart where the program is of a file. Raises CaptureError where it cannot."""
        content = self.data.hlo.read() if self.data.hlo is not None else b""
        text = _clean(_printed("hlo_text", content) if self.is_live else _printed_apart(content, timeout_s))
        # The proto has no configuration, and its text lacks it.
        header = (self.data.hlo_header or "").partition("\n")[0]
        return text if text is None or not header else header + text[len(text.partition("\n")[0]) :]

    @once
    def hlo_annotated(self) -> str | None:
        """As `CompileRecord.hlo_annotated`."""
        from pjit_inspect.analyze.program.source import user_frames
        from pjit_inspect.view.record.annotated import annotated
        from pjit_inspect.view.record.collectives import source_line

        module, graph, text, files = self.readable_hlo, self.graph_and_reason[0], self.hlo_text, self.files
        if module is None or graph is None or text is None:
            return text

        def line_of(index: int) -> str:
            frames = user_frames(module.frames(index), files)
            return (
                f"{source_line(self.data, frames, self.sources) or ''} ({frames[0].where})".lstrip() if frames else ""
            )

        return annotated(text, module, graph, self.collectives, line_of)

    @once
    def pass_steps(self) -> PassSteps:
        """The programs between XLA's passes."""
        from pjit_inspect.handles.asked.pass_steps import ask_passes

        return ask_passes(self.data, is_live=self.is_live)

    @once
    def passes(self) -> PassTable:
        """As `CompileRecord.passes`."""
        from pjit_inspect.analyze.report.report import collectives_of
        from pjit_inspect.handles.asked.passes import RecordPasses

        with gc_paused():
            found = self.pass_steps.table(self.hlo, partial(collectives_of, self._data))
        return RecordPasses.made_of(found, _data=self._data, _steps=self.pass_steps)

    @once
    def propagation_and_reason(self) -> tuple[ShardedProgram | None, str]:
        """The program before partitioning, and why it is missing or not XLA's."""
        from pjit_inspect.handles.propagate import propagation_of

        program, reason = propagation_of(self.data, live=self.is_live, answered=self._program)
        return cleaned(program), clean_line(reason)

    def with_lives(self, rows: CollectiveTable) -> CollectiveTable:
        """The collectives with their lives, where the passes were asked for; as they are where not."""
        passes: PassTable | None = self.asked.known.get("passes")
        if passes is None:
            return rows
        lives = map(passes.life, rows)
        own = (replace(row, life=life.line if life else "") for row, life in zip(rows, lives, strict=True))
        return replace(rows, rows=tuple(own))

    @property
    def propagation(self) -> ShardedProgram | None:
        """The program before partitioning, with the sharding of every value."""
        return self.propagation_and_reason[0]

    @once
    def sources(self) -> tuple[SourceText, ...]:
        """The texts of all files that the program before partitioning names."""
        from pjit_inspect.analyze.report.report import user_files_of

        program = self.propagation
        package = user_files_of(self.data).package or ""
        return self.data.sources + (
            cleaned(_sources_of(program, package)) if self.is_live and program is not None else ()
        )

    @property
    def files(self) -> UserFiles:
        """The user's files among all files that the program before partitioning names."""
        from pjit_inspect.analyze.report.report import user_files_of

        return user_files_of(self.data, self.sources)

    # ------------------------------------------------------------ what follows from them

    @once
    def warnings(self) -> tuple[XlaWarning, ...]:
        """XLA's warnings about the program, or about the copy its partitioner was asked about."""
        from pjit_inspect.parse.messages.xla_warnings import parse_warnings

        warnings = parse_warnings(self.report.data.compiler_log or "")
        if not warnings:
            return ()
        module = self.readable_hlo
        return with_sources(warnings, module, self._explanation(module)[2])

    def _is_explained(self, module: HloModule | None) -> bool:
        """True if there is something in the report that only the program before partitioning explains.

        XLA's partitioner takes seconds for a program of thousands of arrays: it is asked only if it can explain
        something.
        """
        from pjit_inspect.analyze.collectives.collective_sites import find_sites

        stablehlo = self._data.stablehlo
        if stablehlo is not None and _CONSTRAINT in stablehlo.read():
            return True
        return module is not None and bool(find_sites(module))

    def _explanation(self, module: HloModule | None) -> tuple[ShardedProgram | None, tuple[SourceText, ...], UserFiles]:
        """The program before partitioning where it explains something, the sources known then, and the user's files."""
        from pjit_inspect.analyze.report.report import user_files_of

        if not self._is_explained(module):
            return None, self.data.sources, user_files_of(self.data, self.data.sources)
        return self.propagation, self.sources, self.files

    @once
    def arrays(self) -> RecordData:
        """The data with facts about arguments and results from the optimized program; XLA is not asked."""
        from pjit_inspect.analyze.program.device_memory import with_places

        data, module = self._data, self.readable_hlo
        return data if module is None else Guard().run("arrays", partial(with_places, data, module), data)

    @once
    def report(self) -> RecordReport:
        """The report that displays draw."""
        from pjit_inspect.analyze.report.report import report

        guard = Guard()
        module = guard.run("hlo", lambda: self.hlo, None)
        is_explained = guard.run("causes", lambda: self._is_explained(module), True)
        data, (program, reason) = self._data, self.propagation_and_reason if is_explained else (None, "")
        missing = data.missing | guard.failed
        if module is not None and (lacks := why_incomplete(module.unknown)):
            missing |= {"hlo": lacks}
        missing = self._with_partitioner(missing, program, reason)
        if program is not None and not program.is_predicted and data.propagation is None:
            data = replace(data, compiler_log=program.compiler_log)
        sources = self.sources if is_explained else data.sources
        explained = None if module is None else self.explained
        unasked = reason if self._asked is not None else ""
        with gc_paused():
            complete = report(
                replace(data, missing=missing), module, program, sources, unasked=unasked, explained=explained
            )
        if self.is_live:
            # Only the HLO tells which further files the program came from; keep their text with the record.
            further = guard.run("sources", lambda: cleaned(_further_sources(complete)), ())
            complete = replace(complete, data=replace(complete.data, sources=(*complete.data.sources, *further)))
        return complete

    @once
    def explained(self) -> Explained:
        """The collectives of the optimized program with their causes, and the parts that failed."""
        from pjit_inspect.analyze.report.report import explain

        module, guard = self.hlo, Guard()
        unknown = None, self._data.sources, {}
        program, sources, _ = guard.run("causes", partial(self._explanation, module), unknown)
        unasked = self.propagation_and_reason[1] if self._asked is not None else ""
        with gc_paused():
            found, failed = explain(self._data, cast("HloModule", module), program, sources, unasked=unasked)
        return found, guard.failed | failed

    @property
    def collectives(self) -> CollectiveTable:
        """Every collective of the optimized program."""
        # They are counted before their causes are known.
        counted = None if "explained" in self.known else self._counted
        if counted is not None:
            return CollectiveTable(cast("Any", LaterRows(len(counted), lambda: self.explained[0] or ())))
        return (None if self.readable_hlo is None else self.explained[0]) or CollectiveTable(())

    @once
    def _counted(self) -> CollectiveTable | None:
        """The collectives, without a word of why they are there; None where they cannot be found."""
        from pjit_inspect.analyze.report.report import collectives_of

        module = self.readable_hlo
        return None if module is None else Guard().run("collectives", partial(collectives_of, self._data, module), None)

    @once
    def sent_bytes(self) -> int | None:
        """Bytes the busiest device sends per call, counted without causes; None if unknown."""
        sizes = [None] if self._counted is None else [row.sent_bytes for row in self._counted]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def figures_at(self, is_partitioned: bool) -> KeyFigures:
        """Key figures of the record, as compiled, or as XLA's partitioner left it."""
        return self._partitioned_figures if is_partitioned else self.report.figures

    @once
    def _partitioned_figures(self) -> KeyFigures:
        from pjit_inspect.handles.asked.what_if import as_partitioned

        return as_partitioned(self.data, self.report.figures, timeout_s=_PATIENCE_S)

    @property
    def traffic(self) -> LinkTraffic:
        """The bytes that each device sends each other."""
        from pjit_inspect.analyze.collectives.traffic import find_link_traffic

        return find_link_traffic(self.collectives)

    @once
    def names(self) -> ValueNames | None:
        """Names of the values of the program before partitioning."""
        from pjit_inspect.analyze.sharding.value_names import ValueNames

        program = self.propagation
        return None if program is None else ValueNames(program, self.sources, self.files)

    @once
    def shardings(self) -> ShardingTable:
        """The sharding of every value of the program before partitioning."""
        from pjit_inspect.analyze.sharding.value_shardings import find_value_shardings

        (program, reason), names = self.propagation_and_reason, self.names
        if program is None or names is None:
            return ShardingTable(missing=reason)
        # A program without a mesh may run on all of the user's devices, as under `jax.set_mesh`.
        mesh, count = self.data.mesh, len(self.data.devices)
        devices = count if mesh is not None and mesh.size == count else 1
        with gc_paused():
            found = find_value_shardings(names, devices=devices)
        return replace(found, predicted=reason if program.is_predicted else "")

    @property
    def advice(self) -> AdviceTable:
        """Changes worth making."""
        return self.advise()

    def advise(self, tell: Callable[[], None] | None = None) -> AdviceTable:
        """`advice`; where this call is the one that asks XLA, `tell` is called after every answer."""
        from pjit_inspect.handles.advice import MOST_QUESTIONS, as_compiled

        return as_compiled(self.value("advice", lambda _: self._advised(MOST_QUESTIONS, tell)))

    @property
    def _why_untried(self) -> str | None:
        """Why no change of the program can be tried; None if some can."""
        from pjit_inspect.handles.facts import why_untried

        return why_untried(self.data, live=self.is_live)

    @property
    def can_be_asked(self) -> bool:
        """True if changes of the program can be tried."""
        return self._why_untried is None

    @once
    def advice_where_asked(self) -> AdviceTable:
        """`advice`; of a record from a file, too, whose copies are made in a process apart."""
        from pjit_inspect.handles.advice import MOST_QUESTIONS
        from pjit_inspect.handles.facts import why_untried

        if self.is_live:
            return self.advice
        return list(self._advice_steps(MOST_QUESTIONS, why_untried(self.data, live=True)))[-1]

    def advice_by_now(self) -> AdviceTable:
        """`advice` as far as it is known, without a question and without waiting."""
        from pjit_inspect.handles.advice import MOST_QUESTIONS, as_compiled

        known = self.asked.known
        found = known.get("advice", known.get("advice_by_now", self.known.get("advice_by_now")))
        if found is None:
            found = self.known["advice_by_now"] = next(self._advice_steps(MOST_QUESTIONS, self._why_untried))
        return as_compiled(found)

    def _advised(self, most: int | None, tell: Callable[[], None] | None = None) -> AdviceTable:
        found = AdviceTable()
        try:
            for found in self._advice_steps(most, self._why_untried):
                self.known["advice_by_now"] = replace(found, is_asking=not found.is_done)
                if tell is not None:
                    tell()
        finally:
            # Also where the user interrupts it.
            self.known["advice_by_now"] = found
        return found

    def _advice_steps(self, most: int | None, untried: str | None) -> Iterator[AdviceTable]:
        from pjit_inspect.handles.advice import advice_steps

        module = self.readable_hlo
        program, sources, files = self._explanation(module)
        # The report first: its data know which arguments results reuse.
        data, rows = self.report.data, tuple(self.collectives)
        return advice_steps(
            data,
            module,
            rows,
            program,
            sources,
            files,
            untried=untried,
            propagated=lambda: self.propagation,
            most=most,
            is_live=self.is_live,
        )

    @property
    def findings(self) -> AdviceTable:
        """The first rows of `advice`, but for other layouts."""
        from pjit_inspect.analyze.findings.findings import find_findings

        found = self.advice
        return replace(found, rows=find_findings(found))

    def try_all(self) -> AdviceTable:
        """`advice` after every change was tried; from then on it is the record's advice."""
        if self.advice.untried and self.can_be_asked:
            self.known["advice"] = self._advised(None)
        return self.advice

    @once
    def graph_and_reason(self) -> tuple[ProgramGraph | None, str]:
        """The graph of the program, and why there is none: a picture that fails must not take the rest with it."""
        from pjit_inspect.analyze.graph.build import find_graph

        module, guard = self.readable_hlo, Guard()
        if module is None:
            return None, ""
        graph = guard.run("the graph", partial(find_graph, module, self.collectives), None)
        return graph, "".join(f"no graph of this program, its analysis failed: {why}" for why in guard.failed.values())

    @once
    def memory_use(self) -> MemoryUse:
        """Live values in memory while the program runs."""
        return self._memory[0]

    @once
    def memory_timelines(self) -> tuple[MemoryTimeline, ...]:
        """Each memory over the schedule; () where there is no schedule."""
        finder = self._memory[1]
        return () if finder is None else Guard().run("memory over the schedule", finder.timelines, ())

    @once
    def _memory(self) -> tuple[MemoryUse, MemoryFinder | None]:
        """The live values, and the finder for more of them."""
        from pjit_inspect.analyze.memory.memory_use import MemoryFinder, arguments_alone
        from pjit_inspect.analyze.memory.occupancy import occupancy_of
        from pjit_inspect.analyze.memory.values_named import MemoryFacts

        module, data = self.readable_hlo, self.report.data
        inputs = data.parameters
        facts = MemoryFacts(
            inputs=inputs,
            outputs=data.outputs,
            mesh=data.mesh,
            platform=data.devices[0].platform if data.devices else "",
            files=self.files,
            xla_temporary_bytes=None if data.memory is None else data.memory.temporary_bytes,
        )
        if module is None:
            return arguments_alone(facts, data.missing.get("hlo", "the record has no optimized program")), None
        if not module.is_scheduled:
            return arguments_alone(facts, "the program has no schedule"), None
        found = replace(
            facts,
            inputs=inputs if len(inputs) == self._parameters(module) else (),
            graph=self.graph_and_reason[0],
            collectives=self.collectives,
            shardings=Guard().run("shardings", lambda: self.shardings, ShardingTable()),
            assignment=Guard().run("the buffer assignment", lambda: self.assignment, None),
            replaced=Guard().run("what is replaced", self._replaced, {}),
        )

        def made() -> tuple[MemoryUse, MemoryFinder]:
            finder = MemoryFinder(occupancy_of(module, found.assignment), found)
            return finder.found(), finder

        guard = Guard()
        known = guard.run("memory", made, None)
        return known or (arguments_alone(facts, f"its analysis failed: {''.join(guard.failed.values())}"), None)

    def _replaced(self) -> dict[str, tuple[ArrayLayout, ...]]:
        """The arguments that come back with new values; none where the program before partitioning is not known."""
        from pjit_inspect.handles.facts import replaced_of

        program, _ = self.propagation_and_reason
        return {} if program is None else replaced_of(self.report.data, program)

    @once
    def assignment(self) -> BufferAssignment | None:
        """XLA's buffer assignment of the program; None if the record has none. Raises ParseError."""
        from pjit_inspect.parse.buffers.buffers import parse_buffers

        module, buffers = self.readable_hlo, self.data.buffers
        return None if module is None or buffers is None else parse_buffers(buffers.read(), module)

    @staticmethod
    def _parameters(module: HloModule) -> int:
        return len(module.computation(module.entry).parameters)


class RecordState:
    """The present analyses of a record. A change of the record replaces them as a whole.

    To read several values for one display, take `analyses` once: then all are of the same data.
    """

    def __init__(self, analyses: Analyses, finish: Callable[[RecordData], RecordData] | None) -> None:
        self._captured, self._finish = analyses, finish
        self._at_once: Analyses | None = None
        self._lock = threading.RLock()

    @property
    def captured(self) -> Analyses:
        """The analyses of the data read by capture so far; some may be left for later."""
        return self._captured

    @property
    def analyses(self) -> Analyses:
        """The analyses of complete data."""
        if self._finish is not None:
            with self._lock:
                if self._finish is not None:
                    self._captured = self._captured.of(self._finish(self._captured.given))
                    self._finish = None
        return self._captured

    @property
    def displayed(self) -> Analyses:
        """The analyses for displays: those available at once, until XLA has been asked."""
        now = self.analyses
        if "propagation_and_reason" in now.known:
            self._at_once = None
            return now
        with self._lock, gc_paused():
            if self._at_once is None or self._at_once.asked is not now:
                self._at_once = now.at_once() or now
            return self._at_once

    def sent_bytes(self) -> int | None:
        """As `Analyses.sent_bytes`."""
        return self.analyses.sent_bytes

    def secure(self) -> None:
        """Read the facts that are lost once JAX drops the program."""
        if not getattr(self._finish, "can_wait", False):
            _ = self.analyses

    def ask_partitioner(self, timeout_s: float) -> ShardedProgram:
        """As `CompileRecord.ask_partitioner`."""
        from pjit_inspect.handles.propagate import ask

        now = self.analyses
        if not now.is_live:
            raise CaptureError("the partitioner can be asked only in the process that compiled the program")
        program = cleaned(ask(now.data, timeout_s=timeout_s))
        with self._lock:
            now = self._captured
            known = now.known.get("propagation_and_reason", (None, ""))
            before, _ = now.propagation_and_reason if now.has_answer else known
            if before is None or before.is_predicted:
                self._captured = now.of(now.data, without=_OF_ANSWER, propagation_and_reason=(program, ""))
        return program

    def forget_programs(self, reason: str) -> None:
        """As `CompileRecord.forget_programs`."""
        with self._lock:
            now = self._captured
            kept = {name: value for name, value in now.known.items() if name == "reason"}
            data = without_programs(now.data, reason)
            self._captured = Analyses(data, is_live=now.is_live, known=kept, key=now.key)

    def add_times(self, data: RecordData) -> None:
        """As `CompileRecord.add_times`."""
        with self._lock:
            self._captured = self._captured.of(data, without=("report",))


def _further_sources(found: RecordReport) -> tuple[SourceText, ...]:
    kernels = () if found.fusions is None else (one.first for one in found.fusions.distinct)
    rows = (*(found.collectives or ()), *kernels)
    named = {frame.file for row in rows for frame in row.source}
    return _read_sources(named - {text.file for text in found.data.sources})


def _sources_of(program: ShardedProgram, package: str) -> tuple[SourceText, ...]:
    # Callers too: a model's classes, the step and its call often stand in three cells.
    return _read_sources({frame.file for op in program.ops for frame in op.frames}, package)


def _read_sources(files: Iterable[str], package: str = "") -> tuple[SourceText, ...]:
    """The readable texts of files that belong to the user, or to the package that defines the compiled function."""
    from pjit_inspect.observe.live.frames import is_user_file, read_source

    own = (file for file in sorted(files) if is_user_file(file) or (package and package_of(file) == package))
    texts = map(read_source, own)
    return tuple(text for text in texts if text is not None)


def _clean(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def _printed_apart(proto: bytes, timeout_s: float) -> str:
    from pjit_inspect.observe.shardy.mlir_process import print_hlo_apart

    return print_hlo_apart(proto, timeout_s=timeout_s)


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
