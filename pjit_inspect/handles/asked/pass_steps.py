"""XLA's passes over a record's program: asked in a process apart, read step by step.

XLA compiles a numbered copy to the end, and dumps the program after every pass in a folder of that process. Not its
job: following collectives (`analyze.passes`), dumps of others (`handles.asked.dumped_passes`), or what users hold
(`handles.asked.passes`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pjit_inspect.analyze.passes.lives import find_history
from pjit_inspect.analyze.passes.steps import KernelSite, Path, Snapshot, find_kernels, find_sites, pass_of, read_step
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.passes import ChangedLine, PassTable, Stage
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames

if TYPE_CHECKING:
    from pjit_inspect.observe.partitioner.passes import DumpedPasses

_TIMEOUT_S = 600.0
_LINE = re.compile(r"\s*(?:ROOT )?%?([\w.-]+) = ")
_METADATA = re.compile(r', metadata=\{(?:[^"{}]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}')
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')

Lines = dict[str, tuple[str, str]]
"""Of a program's text, each instruction's name -> its line without metadata, and the user's line or ""."""


def _differing(before: Lines, after: Lines) -> tuple[ChangedLine, ...]:
    """The instructions that differ between two programs, by name."""
    found = [
        ChangedLine(name=name, before=before.get(name, ("", ""))[0], after=text, where=where)
        for name, (text, where) in after.items()
        if before.get(name, ("", ""))[0] != text
    ]
    gone = [
        ChangedLine(name=name, before=text, after="", where=where)
        for name, (text, where) in before.items()
        if name not in after
    ]
    return (*found, *gone)


class PassSteps:
    """The programs between the passes, each parsed when it is read; base of those asked for, and those of a dump.

    Attributes:
      written: (pass, pipeline) of each program, as XLA wrote them.
      known_by: as in `PassTable`.
    """

    written: list[tuple[str, str]]
    known_by: Literal["numbers", "names"]

    @property
    def first(self) -> HloModule:
        """The program before all passes, with the operations' names."""
        raise NotImplementedError

    def module(self, number: int) -> HloModule:
        """The program after the pass of this number."""
        raise NotImplementedError

    def is_same(self, number: int) -> bool:
        """True if the program is the same, byte by byte, as the one before."""
        raise NotImplementedError

    def text(self, number: int) -> str:
        """The program after the pass of this number as XLA prints it. Raises CaptureError if nobody can print it."""
        raise NotImplementedError

    def paths(self, name: str) -> tuple[Path, ...]:
        """The operations that a name of the programs names."""
        raise NotImplementedError

    def place(self, path: Path) -> tuple[str, str]:
        """The name of an operation, and the user's line; "" where unknown."""
        raise NotImplementedError

    def table(
        self, optimized: HloModule | None, collectives: Callable[[HloModule], CollectiveTable] | None = None
    ) -> PassTable:
        """The passes and the lives. Raises ParseError for a program that is not understood.

        `optimized` is the record's program: a collective of it has a life if the copy's has the same name and facts.
        `collectives` finds the collectives of a program, with axes and bytes.
        """
        found = find_history(self._snapshots(), self._describe)
        known: dict[str, object] = {}
        if optimized is not None:
            known = {site.name: site.facts for site in find_sites(optimized, self.paths)}
            known |= {name: own.facts for name, own in find_kernels(optimized, self.paths).items()}
        last = found.last
        there = () if last is None else (*last.sites, *last.kernels.values())
        stages = found.stages
        if collectives is not None:
            stages = tuple(_with_axes(stage, collectives(self.module(stage.number))) for stage in stages)
        return PassTable(
            found.rows,
            found.lives,
            stages,
            found.kernels,
            self.known_by,
            _same=frozenset(own.name for own in there if known.get(own.name) == own.facts),
        )

    def lines(self, number: int, known: dict[str, tuple[str, str]] | None = None) -> Lines:
        """The instructions of the program after the pass of this number, in XLA's order.

        `known` keeps what was read of a line for the next call: most lines are in many programs.
        """
        return self._named_lines(self.text(number).splitlines(), {} if known is None else known)

    def changed(self, before: int, after: int) -> tuple[ChangedLine, ...]:
        """The instructions that differ between the programs after two passes; only lines not in both are read."""
        old, new = (self._text(number).splitlines() for number in (before, after))
        both = set(old).intersection(new)
        return _differing(*(self._named_lines((line for line in own if line not in both), {}) for own in (old, new)))

    def _text(self, number: int) -> str:
        """As `text`; the last two are kept, as whoever steps through passes needs each text twice."""
        texts = self._texts
        texts[number] = texts.pop(number, None) or self.text(number)
        if len(texts) > 2:
            del texts[next(iter(texts))]
        return texts[number]

    @cached_property
    def _texts(self) -> dict[int, str]:
        return {}

    def _named_lines(self, lines: Iterable[str], known: dict[str, tuple[str, str]]) -> Lines:
        found: Lines = {}
        for line in lines:
            if match := _LINE.match(line):
                found[match[1]] = known.get(line) or known.setdefault(line, self._read_line(line))
        return found

    def _read_line(self, line: str) -> tuple[str, str]:
        name = _OP_NAME.search(line)
        paths = self.paths(name[1]) if name else ()
        return _METADATA.sub("", line).strip(), self.place(paths[0])[1] if paths else ""

    def _snapshots(self) -> Iterator[Snapshot]:
        """The steps that changed the program; one program is held at a time."""
        kernels: Mapping[str, KernelSite] = {}
        for number in range(len(self.written)):
            if number and self.is_same(number):
                continue
            step = read_step(self.module(number), number, pass_of(self.written, number), self.paths, kernels)
            kernels = step.kernels
            yield step

    def _describe(self, path: Path) -> str:
        name, where = self.place(path)
        return f"`{name.rpartition('/')[2] or 'unnamed'}`{f' ({where})' if where else ''}"


def _with_axes(stage: Stage, found: CollectiveTable) -> Stage:
    """The stage with the axes and bytes of its collectives."""
    rows = {name: row for row in found for name in row.instructions}

    def known(name: str) -> dict[str, Any]:
        row = rows.get(name)
        return {} if row is None else {"axes": row.axes, "payload_bytes": row.payload_bytes}

    return replace(stage, collectives=tuple(replace(own, **known(own.name)) for own in stage.collectives))


class AskedPasses(PassSteps):
    """The programs that XLA wrote for a numbered copy; the names are the copy's."""

    known_by = "numbers"

    def __init__(self, dumped: DumpedPasses, names: NumberedNames, files: UserFiles) -> None:
        self.dumped, self._names, self._files = dumped, names, files
        self.written = [(step.name, step.pipeline) for step in dumped.steps]
        self._paths: dict[str, tuple[Path, ...]] = {}

    @cached_property
    def first(self) -> HloModule:
        """The program before all passes, with the operations' original names."""
        return parse_program(self._names.in_program(self.dumped.read(self.dumped.steps[0])))

    def module(self, number: int) -> HloModule:
        """As `PassSteps.module`, with the copy's names."""
        return parse_program(self.dumped.read(self.dumped.steps[number]))

    def is_same(self, number: int) -> bool:
        """As `PassSteps.is_same`."""
        return self.dumped.steps[number].start == self.dumped.steps[number - 1].start

    def text(self, number: int) -> str:
        """As `PassSteps.text`, with the copy's names."""
        from pjit_inspect.observe.shardy.texts import hlo_text

        return hlo_text(self.dumped.read(self.dumped.steps[number]))

    def paths(self, name: str) -> tuple[Path, ...]:
        """As `PassSteps.paths`."""
        if name not in self._paths:
            paths = self._names.paths(name)
            if not paths and name and name in self._arguments:
                # Newer XLA names what moves an argument after it: the path is a number below 0.
                paths = ((self._arguments.index(name) - len(self._arguments),),)
            self._paths[name] = paths
        return self._paths[name]

    @cached_property
    def _arguments(self) -> list[str]:
        """The names of the program's arguments."""
        module = self.module(0)
        parameters = module.computation(module.entry).parameters.tolist()
        return [module.instruction(index).op_name for index in parameters]

    def place(self, path: Path) -> tuple[str, str]:
        """As `PassSteps.place`."""
        if path[0] < 0:
            return self._arguments[path[0]].replace("\\'", "'"), ""
        found = self._names.of_path(path)
        frames = user_frames(found.frames, self._files)
        return found.name, frames[0].where if frames else ""


def ask_passes(data: RecordData, *, is_live: bool, timeout_s: float = _TIMEOUT_S) -> AskedPasses:
    """The programs between XLA's passes over a copy of a record's program.

    Raises CaptureError, with the reason, if XLA cannot be asked or gives no answer.
    """
    from pjit_inspect.observe.partitioner import targets
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    if data.stablehlo is None:
        raise CaptureError("the record has no program before optimization that XLA could compile once more")
    if not is_live:
        raise CaptureError("the record is from a file; passes are asked for in the process that made the record")
    target = None if data.hypothesis is None else data.hypothesis.target
    platforms = {device.platform for device in data.devices}
    if target is None and platforms - {"cpu"}:
        raise CaptureError(
            f"the program was compiled for attached {'/'.join(sorted(platforms))} devices; ask about a copy for such a "
            f'chip: record.what_if(target=..., effort="full").passes'
        )
    sizes = data.mesh.shape if data.mesh is not None else (1,)
    found = ask_partitioner(
        data.stablehlo.read(),
        devices=len(data.devices) or math.prod(sizes),
        flags=data.flags,
        target={} if target is None else targets.question(target, sizes),
        effort="full",
        passes=True,
        timeout_s=timeout_s,
    )
    return asked_passes(data, found.passes, found.places, found.failure)


def asked_passes(data: RecordData, dumped: DumpedPasses | None, places: bytes, failure: str) -> AskedPasses:
    """The programs of an answer about a record. Raises CaptureError, with the reason, if it has none."""
    from pjit_inspect.analyze.report.report import user_files_of
    from pjit_inspect.observe.shardy.numbering import read_places

    if dumped is None or not dumped.steps:
        raise CaptureError(failure or "XLA compiled the program but wrote none between its passes")
    return AskedPasses(dumped, NumberedNames(read_places(places)), user_files_of(data))
