"""What a display needs to know about one record: the record and its analyses, side by side.

Not its job: computing them (`analyze.report.report`) or drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import AxisTotal, CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import HostCallback
from pjit_inspect.model.report.suggestion import Suggestion

__all__ = ["RecordReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReport:
    """One record with its analyses.

    Attributes:
      data: the record.
      collectives: every collective, most bytes first; None when the record has no optimized HLO.
      totals: one row per set of mesh axes, most bytes sent first.
      fusions: every fused kernel in schedule order; None when the record has no optimized HLO.
      callbacks: every call back into Python, in schedule order.
      instructions: how many HLO instructions the optimized program has; None likewise.
      notes: short sentences about what a reader could trip over ("2 collectives follow no mesh axis").
      timed: of each HLO instruction that was measured, JAX's name of its operation and the user's frames, innermost
        first; {} when nothing was.
      widened: for each 16-bit type that is sent as f32 though the program has it, its name and the names of those
        collectives' instructions.
      suggestions: changes that may save communication, the best first.
      warnings: what XLA's partitioner warned of during the compile; each has a `sentence`.
    """

    data: RecordData
    collectives: CollectiveTable | None = None
    totals: tuple[AxisTotal, ...] = ()
    fusions: FusionTable | None = None
    callbacks: tuple[HostCallback, ...] = ()
    instructions: int | None = None
    notes: tuple[str, ...] = ()
    timed: Mapping[str, tuple[str, tuple[Frame, ...]]] = field(default_factory=dict)
    widened: tuple[tuple[str, tuple[str, ...]], ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    warnings: tuple[Any, ...] = ()

    @property
    def sent_bytes(self) -> int | None:
        """Bytes the busiest device sends per call over all axes (modelled: ring); None without HLO."""
        return None if self.collectives is None else sum(total.sent_bytes for total in self.totals)
