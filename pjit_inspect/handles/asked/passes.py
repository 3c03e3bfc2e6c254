"""XLA's passes over a record's program: asked in a process apart, read step by step.

XLA compiles a numbered copy to the end, and dumps the program after every pass in a folder of that process. Not its
job: following collectives (`analyze.passes`), or displays (`view.record.passes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pjit_inspect.analyze.passes.lives import find_lives, find_passes
from pjit_inspect.analyze.passes.steps import Path, Snapshot, find_sites, pass_of, read_step
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.passes import PassTable
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames
from pjit_inspect.view.record.passes import passes_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn

if TYPE_CHECKING:
    from pjit_inspect.observe.partitioner.passes import DumpedPasses

_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordPasses(OfRecord, Displayable, PassTable):
    """The passes over a record's program."""

    _name: str = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these passes, and the life of every collective."""
        return Shown(drawn(passes_view(self, self._name)))


@dataclass(frozen=True)
class PassSteps:
    """The programs between the passes, each parsed when it is read.

    Attributes:
      dumped: the programs, packed.
      names: the names of the numbered copy.
    """

    dumped: DumpedPasses
    names: NumberedNames

    def table(self, optimized: HloModule | None) -> PassTable:
        """The passes and the lives. Raises ParseError for a program that is not understood.

        `optimized` is the record's program: a collective of it has a life if the copy's has the same name and facts.
        """
        steps = tuple(self._snapshots())
        own = find_sites(optimized, self.names.paths) if optimized is not None else ()
        known = {site.name: site.facts for site in own}
        same = frozenset(site.name for site in steps[-1].sites if known.get(site.name) == site.facts)
        return PassTable(find_passes(steps), find_lives(steps, self._describe), _same=same)

    @cached_property
    def first(self) -> HloModule:
        """The program before all passes, with the operations' original names."""
        return parse_program(self.names.in_program(self.dumped.read(self.dumped.steps[0])))

    def module(self, number: int) -> HloModule:
        """The program after the pass of this number, with the copy's names."""
        return parse_program(self.dumped.read(self.dumped.steps[number]))

    def _snapshots(self) -> Iterator[Snapshot]:
        """The steps that changed the program; one program is held at a time."""
        steps = self.dumped.steps
        written = [(step.name, step.pipeline) for step in steps]
        for number, step in enumerate(steps):
            if number and step.start == steps[number - 1].start:
                continue
            yield read_step(self.module(number), number, pass_of(written, number), self.names.paths)

    def _describe(self, path: Path) -> str:
        place = self.names.of_path(path)
        where = f" ({place.frames[0].where})" if place.frames else ""
        return f"`{place.name.rpartition('/')[2] or 'unnamed'}`{where}"


def ask_passes(data: RecordData, *, is_live: bool, timeout_s: float = _TIMEOUT_S) -> PassSteps:
    """The programs between XLA's passes over a copy of a record's program.

    Raises CaptureError, with the reason, if XLA cannot be asked or gives no answer.
    """
    from pjit_inspect.observe.partitioner import targets
    from pjit_inspect.observe.partitioner.service import ask_partitioner
    from pjit_inspect.observe.shardy.numbering import read_places

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
    if found.passes is None or not found.passes.steps:
        raise CaptureError(found.failure or "XLA compiled the program but wrote none between its passes")
    return PassSteps(found.passes, NumberedNames(read_places(found.places)))
