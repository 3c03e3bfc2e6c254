"""One record and its analyses, for a display.

Not its job: the analyses themselves, or drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.aliases import with_aliases
from pjit_inspect.analyze.bounded_groups import with_bounded_groups
from pjit_inspect.analyze.causes import CauseFinder
from pjit_inspect.analyze.collectives import find_collectives
from pjit_inspect.analyze.fusions import find_fusions
from pjit_inspect.analyze.notes import collective_notes, program_notes, record_notes
from pjit_inspect.analyze.resharded import resharded_notes
from pjit_inspect.analyze.traffic import total_by_axes
from pjit_inspect.model.hlo import HloModule
from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.record import RecordData
from pjit_inspect.model.report import RecordReport
from pjit_inspect.model.source import SourceText

__all__ = ["cells_of", "report"]


def report(
    data: RecordData, module: HloModule | None, program: Propagation | None = None, sources: Sequence[SourceText] = ()
) -> RecordReport:
    """The record with everything its optimized program tells; without one, the record and its notes alone.

    Args:
      data: the record.
      module: the record's optimized program, parsed; None when the record has none.
      program: the program before partitioning, with its shardings; None when they are not known.
      sources: texts of files that the record does not hold itself.
    """
    if module is None:
        return RecordReport(data=data, notes=(*record_notes(data), *resharded_notes(data)))
    module = with_bounded_groups(module)
    data = with_aliases(data, module)
    cells = cells_of(data)
    collectives = find_collectives(
        module,
        data.mesh,
        tuple(device.id for device in data.devices) or None,
        other_meshes=data.meshes[1:] if data.meshes[:1] == (data.mesh,) else data.meshes,
        cells=cells,
        causes=CauseFinder(program, (*data.sources, *sources), cells),
        hosts=_hosts(data),
    )
    return RecordReport(
        data=data,
        collectives=collectives,
        totals=total_by_axes(collectives, len(data.devices)),
        fusions=find_fusions(module, cells=cells),
        instructions=len(module),
        notes=(
            *collective_notes(collectives, data),
            *program_notes(module, data),
            *record_notes(data),
            *resharded_notes(data),
        ),
    )


def _hosts(data: RecordData) -> tuple[int, ...] | None:
    """The host of each position in the mesh; None when one is unknown."""
    hosts = {device.id: device.process for device in data.devices}
    if data.mesh is None or any(device not in hosts for device in data.mesh.device_ids):
        return None
    return tuple(hosts[device] for device in data.mesh.device_ids)


def cells_of(data: RecordData) -> dict[str, str]:
    """File -> how the notebook calls the cell its code is in."""
    frames = (data.user_frame, data.defined_at)
    cells = {frame.file: frame.cell for frame in frames if frame is not None and frame.cell}
    return cells | {source.file: source.cell for source in data.sources if source.cell}
