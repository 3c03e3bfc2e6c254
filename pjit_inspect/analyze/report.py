"""One record and its analyses, for a display.

Not its job: the analyses themselves, or drawing them (`view`).
"""

from __future__ import annotations

from pjit_inspect.analyze.aliases import with_aliases
from pjit_inspect.analyze.bounded_groups import with_bounded_groups
from pjit_inspect.analyze.collectives import find_collectives
from pjit_inspect.analyze.fusions import find_fusions
from pjit_inspect.analyze.notes import collective_notes, program_notes, record_notes
from pjit_inspect.analyze.traffic import total_by_axes
from pjit_inspect.model.hlo import HloModule
from pjit_inspect.model.record import RecordData
from pjit_inspect.model.report import RecordReport

__all__ = ["report"]


def report(data: RecordData, module: HloModule | None) -> RecordReport:
    """The record with everything its optimized program tells; without one, the record and its notes alone.

    `module` is the record's program, parsed; None when the record has none.
    """
    if module is None:
        return RecordReport(data=data, notes=record_notes(data))
    module = with_bounded_groups(module)
    data = with_aliases(data, module)
    cells = _cells(data)
    collectives = find_collectives(
        module,
        data.mesh,
        tuple(device.id for device in data.devices) or None,
        other_meshes=data.meshes[1:] if data.meshes[:1] == (data.mesh,) else data.meshes,
        cells=cells,
    )
    return RecordReport(
        data=data,
        collectives=collectives,
        totals=total_by_axes(collectives, len(data.devices)),
        fusions=find_fusions(module, cells=cells),
        instructions=len(module),
        notes=(*collective_notes(collectives, data), *program_notes(module, data), *record_notes(data)),
    )


def _cells(data: RecordData) -> dict[str, str]:
    """File -> how the notebook calls the cell its code is in."""
    cells = {source.file: source.cell for source in data.sources if source.cell}
    frame = data.user_frame
    if frame is not None and frame.cell:
        cells.setdefault(frame.file, frame.cell)
    return cells
