"""The passes over a program of a directory that XLA dumped into (`--xla_dump_to`, `--xla_dump_hlo_pass_re=.*`).

Its operations have no numbers: they are known by their names, which several may share. Not its job: the files' names
(`parse.files.dump_directory`).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import cached_property
from pathlib import Path as FilePath

from pjit_inspect.analyze.passes.steps import Path
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.handles.asked.pass_steps import PassSteps
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.files.dump_directory import DumpedModule
from pjit_inspect.parse.files.recognise import Profile, Program, read_programs, read_whole
from pjit_inspect.parse.sharding.propagated_hlo import merged_names

_PRINT_S = 30.0


class DumpedSteps(PassSteps):
    """The programs between the passes of a dump, each read when it is needed."""

    known_by = "names"

    def __init__(self, dumped: DumpedModule) -> None:
        named = [(step.after, step.pipeline, step.path) for step in dumped.passes]
        if dumped.before is not None:
            named.insert(0, ("before_optimizations", "", dumped.before))
        if dumped.optimized is not None:
            named.append(("after_optimizations", "", dumped.optimized))
        self.written = [(name, pipeline) for name, pipeline, _ in named]
        self._files: list[FilePath] = [path for _, _, path in named]
        self._names: list[str] = []
        self._number: dict[str, int] = {}

    @cached_property
    def first(self) -> HloModule:
        """The program before all passes."""
        return self.module(0)

    def module(self, number: int) -> HloModule:
        """As `PassSteps.module`. Raises ParseError for a damaged file."""
        found = self._read(number).module
        if found is None:
            raise CaptureError(f"{self._files[number].name} is no program of XLA")
        return found

    def is_same(self, number: int) -> bool:
        """As `PassSteps.is_same`."""
        return self._digests[number] == self._digests[number - 1]

    def text(self, number: int) -> str:
        """As `PassSteps.text`; a proto is printed in another process."""
        text = self._read(number).text
        if text is not None:
            return text
        from pjit_inspect.observe.shardy.mlir_process import print_hlo_apart

        data = self._read(number).data
        return print_hlo_apart(b"" if data.hlo is None else data.hlo.read(), timeout_s=_PRINT_S)

    def paths(self, name: str) -> tuple[Path, ...]:
        """As `PassSteps.paths`: each name stands for one operation."""
        return tuple((self._number_of(one),) for one in merged_names(name))

    def place(self, path: Path) -> tuple[str, str]:
        """As `PassSteps.place`; where operations of one name have several lines, none of them."""
        name = self._names[path[-1]]
        found = self._places[name]
        return name, next(iter(found)) if len(found) == 1 else ""

    def _read(self, number: int) -> Program:
        found = read_programs(self._files[number])
        if isinstance(found, Profile):
            raise ParseError(f"{self._files[number]} is a profile: expected an HLO module")
        return found[0]

    def _number_of(self, name: str) -> int:
        if name not in self._number:
            self._number[name] = len(self._names)
            self._names.append(name)
        return self._number[name]

    @cached_property
    def _digests(self) -> list[bytes]:
        return [hashlib.sha256(read_whole(path)).digest() for path in self._files]

    @cached_property
    def _places(self) -> dict[str, set[str]]:
        """The user's lines of each name in the first program."""
        found: dict[str, set[str]] = defaultdict(set)
        for own in map(self.first.instruction, range(len(self.first))):
            if own.frames:
                found[own.op_name].add(own.frames[0].where)
        return found
