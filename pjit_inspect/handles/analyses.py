"""What is known of one record: its data, and every analysis of them, each made when somebody first looks.

Rooms are joined here: programs are read by `parse`, XLA is asked in `observe`, `analyze` judges. What changes the data
makes other analyses of them, which take the place of the earlier ones as one piece. Not its job: any of those steps,
showing what was found (`displays`, `tables`), or what users call it (`record`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pjit_inspect.analyze.collectives.link_traffic import find_link_traffic
from pjit_inspect.analyze.graph.build import find_graph
from pjit_inspect.analyze.program.xla_warnings import with_sources
from pjit_inspect.analyze.report.report import cells_of, report
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.sharding.value_shardings import find_value_shardings
from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.ledger import reason_of
from pjit_inspect.handles.once import Computed, once
from pjit_inspect.handles.propagate import ask, propagation_of
from pjit_inspect.handles.suggest import RecordSuggestion, suggestions_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.link_traffic import LinkTraffic
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.hlo_proto.verbatim import parse_program
from pjit_inspect.parse.messages.xla_warnings import parse_warnings

__all__ = ["Analyses", "RecordState"]


class Analyses(Computed):
    """Every analysis of one record's data; most are as in `CompileRecord`.

    It does not change: each value is computed from the data and the other values alone, and then stays.
    """

    def __init__(self, data: RecordData, *, is_live: bool, known: Mapping[str, Any]) -> None:
        super().__init__(known)
        self._data, self.is_live = data, is_live

    @property
    def data(self) -> RecordData:
        """The data; once there is a report, with what that found out about them (aliases, sources, what is missing)."""
        found = self.known.get("report")
        return self._data if found is None else found.data

    def of(self, data: RecordData, *, without: Iterable[str] = (), **known: Any) -> Analyses:
        """Those of other data of the same compile, with all values that are known by now, except some."""
        kept = self.known.copy()
        for name in without:
            kept.pop(name, None)
        return Analyses(data, is_live=self.is_live, known=kept | known)

    @once
    def reason(self) -> Reason:
        """Why it was compiled."""
        return reason_of(self._data, live=self.is_live)

    # ------------------------------------------------------------ programs

    @once
    def stablehlo(self) -> str | None:
        """The program before optimization as MLIR text."""
        data = self.data
        if data.stablehlo_text is not None or data.stablehlo is None or not self.is_live:
            return data.stablehlo_text
        return _printed("stablehlo_text", data.stablehlo.read())

    @once
    def hlo(self) -> HloModule | None:
        """The optimized program, parsed."""
        return self._read_hlo()

    def hlo_for_now(self) -> HloModule | None:
        """The same, which is kept only if somebody has looked at it."""
        return self.hlo if "hlo" in self.known else self._read_hlo()

    def _read_hlo(self) -> HloModule | None:
        return None if self.data.hlo is None else parse_program(self.data.hlo.read())

    @once
    def hlo_text(self) -> str | None:
        """The optimized program as XLA prints it."""
        data = self.data
        if data.hlo is None:
            return None
        content = data.hlo.read()
        text = _printed("hlo_text", content) if self.is_live else _printed_apart(content)
        # The proto has no configuration, so what is printed of it lacks that.
        header = (data.hlo_header or "").partition("\n")[0]
        return text if text is None or not header else header + text[len(text.partition("\n")[0]) :]

    @once
    def propagation_and_reason(self) -> tuple[ShardedProgram | None, str]:
        """The program before partitioning, and why it is not XLA's own, or not there."""
        return propagation_of(self.data, live=self.is_live)

    @property
    def propagation(self) -> ShardedProgram | None:
        """The program before partitioning, with the sharding of every value."""
        return self.propagation_and_reason[0]

    @once
    def sources(self) -> tuple[SourceText, ...]:
        """The texts of all files that the program before partitioning names."""
        program = self.propagation
        return self.data.sources + (_sources_of(program) if self.is_live and program is not None else ())

    @property
    def cells(self) -> dict[str, str]:
        """File -> the notebook's name of the cell, for every cell that the program before partitioning names."""
        return cells_of(self.data, self.sources)

    # ------------------------------------------------------------ what follows from them

    @once
    def warnings(self) -> tuple[XlaWarning, ...]:
        """What XLA warned of while it compiled."""
        return with_sources(parse_warnings(self.data.compiler_log or ""), self.hlo, self.cells)

    @once
    def report(self) -> RecordReport:
        """What the displays lay out."""
        guard = Guard()
        module = guard.run("hlo", lambda: self.hlo, None)
        data, (program, reason) = self._data, self.propagation_and_reason
        missing = data.missing | guard.failed
        # What an earlier report said is no longer so once the partitioner had an answer.
        missing.pop("partitioner", None)
        if program is not None and program.is_predicted and reason:
            missing |= {"partitioner": reason}
        found = report(replace(data, missing=missing), module, program, self.sources)
        if self.is_live:
            # Only the HLO tells which further files the program came from; keep their text with the record.
            further = guard.run("sources", lambda: _further_sources(found), ())
            found = replace(found, data=replace(found.data, sources=(*found.data.sources, *further)))
        return found

    @property
    def collectives(self) -> CollectiveTable:
        """Every collective of the optimized program."""
        return self.report.collectives or CollectiveTable(())

    @property
    def traffic(self) -> LinkTraffic:
        """The bytes that each device sends each other."""
        return find_link_traffic(self.collectives)

    @once
    def shardings(self) -> ShardingTable:
        """How every value of the program before partitioning is sharded."""
        program, reason = self.propagation_and_reason
        if program is None:
            return ShardingTable(missing=reason)
        names = ValueNames(program, self.sources, self.cells)
        # A program that names no mesh may run on all devices of the user's, as under `jax.set_mesh`.
        mesh, count = self.data.mesh, len(self.data.devices)
        devices = count if mesh is not None and mesh.size == count else 1
        return replace(find_value_shardings(names, devices=devices), predicted=reason if program.is_predicted else "")

    @once
    def suggestions(self) -> tuple[RecordSuggestion, ...]:
        """Changes that save communication."""
        if not self.is_live:
            raise CaptureError("suggestions need the process that compiled the program: inspect the function again")
        return suggestions_of(self.data, tuple(self.collectives), self.sources, self.cells)

    @once
    def graph_and_reason(self) -> tuple[ProgramGraph | None, str]:
        """The graph of the program, and why there is none: a picture that fails must not take the rest with it."""
        module, guard = self.hlo, Guard()
        if module is None:
            return None, ""
        graph = guard.run("the graph", partial(find_graph, module, self.collectives), None)
        return graph, "".join(f"no graph of this program, its analysis failed: {why}" for why in guard.failed.values())


class RecordState:
    """The analyses of a record as it is now. What changes the record puts others in their place, as one piece.

    Who reads several values of one display takes `analyses` once, so that all are of the same data.
    """

    def __init__(self, analyses: Analyses, finish: Callable[[RecordData], RecordData] | None) -> None:
        self._captured, self._finish = analyses, finish
        self._lock = threading.RLock()

    @property
    def captured(self) -> Analyses:
        """The analyses of what capture has read by now, which may leave something for later."""
        return self._captured

    @property
    def analyses(self) -> Analyses:
        """The analyses of complete data."""
        if self._finish is not None:
            with self._lock:
                if self._finish is not None:
                    self._captured = self._captured.of(self._finish(self._captured.data))
                    self._finish = None
        return self._captured

    def ask_partitioner(self, timeout_s: float) -> ShardedProgram:
        """As `CompileRecord.ask_partitioner`."""
        now = self.analyses
        if not now.is_live:
            raise CaptureError("the partitioner can be asked only in the process that compiled the program")
        program = ask(now.data, timeout_s=timeout_s)
        with self._lock:
            now = self._captured
            before, _ = now.known.get("propagation_and_reason", (None, ""))
            if before is None or before.is_predicted:
                others = ("sources", "report", "shardings")
                self._captured = now.of(now.data, without=others, propagation_and_reason=(program, ""))
        return program

    def forget_programs(self, reason: str) -> None:
        """As `CompileRecord.forget_programs`."""
        with self._lock:
            now = self._captured
            missing = {**now.data.missing, "hlo": reason, "stablehlo": reason}
            gone = {"hlo", "hlo_header", "stablehlo", "stablehlo_text", "propagation"}
            data = replace(now.data, **dict.fromkeys(gone), missing=missing)
            self._captured = now.of(data, without=now.known.keys() - {"reason"})

    def add_times(self, data: RecordData) -> None:
        """As `CompileRecord.add_times`."""
        with self._lock:
            self._captured = self._captured.of(data, without=("report",))


def _further_sources(found: RecordReport) -> tuple[SourceText, ...]:
    rows = (*(found.collectives or ()), *(found.fusions or ()))
    named = {frame.file for row in rows for frame in row.source}
    return _read_sources(named - {text.file for text in found.data.sources})


def _sources_of(program: ShardedProgram) -> tuple[SourceText, ...]:
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
