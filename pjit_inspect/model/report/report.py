"""What a display needs to know about one record: the record and its analyses, side by side.

Not its job: computing them (`analyze.report.report`) or drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.hypothesis import KeyFigures
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import AxisTotal, CollectiveTable
from pjit_inspect.model.report.finding import FindingTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import HostCallback
from pjit_inspect.model.report.least import Least
from pjit_inspect.model.report.other_communication import OtherCommunication, other_words
from pjit_inspect.model.report.suggestion import Suggestion

Remedies = Literal["none", "untried", "tried"]
"""
none: no remedy can be tried, as for a record from a file or a program for one device.
untried: those that can be tried have not been; what only a tried remedy proves is not among the findings yet.
tried: all that can be tried have been.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReport:
    """One record with its analyses.

    Attributes:
      data: the record.
      collectives: every collective, most bytes first; None when the record has no optimized HLO.
      totals: one row per set of mesh axes, most bytes sent first.
      least: what the complete program has at least, where only a part of it is there; None where all of it is.
      figures: what it comes to, to be set beside another.
      fusions: every fused kernel in schedule order; None when the record has no optimized HLO, and where XLA's
        partitioner alone was asked.
      callbacks: every call back into Python, in schedule order.
      others: communication that is no HLO collective, and what may be some; its bytes are unknown.
      instructions: how many HLO instructions the optimized program has; None likewise.
      notes: short sentences about what a reader could trip over ("2 collectives follow no mesh axis"), each a `Note`
        where it is about collectives or arguments.
      timed: of each HLO instruction that was measured, JAX's name of its operation and the user's frames, innermost
        first; {} when nothing was.
      findings: what is wrong with the program, dearest first, as far as it is known; None when nobody has looked.
      remedies: whether the findings' remedies have been tried.
      suggestions: changes that may save communication, the best first.
      are_suggestions_known: whether somebody has looked for them.
      unasked: why XLA's partitioner, which knows why the collectives are there, has not been asked yet; "" where it has
        been, and where it cannot be.
      warnings: what XLA's partitioner warned of during the compile; each has a `sentence`.
    """

    data: RecordData
    collectives: CollectiveTable | None = None
    totals: tuple[AxisTotal, ...] = ()
    least: Least | None = None
    figures: KeyFigures = KeyFigures()  # noqa: RUF009  (frozen)
    fusions: FusionTable | None = None
    callbacks: tuple[HostCallback, ...] = ()
    others: tuple[OtherCommunication, ...] = ()
    instructions: int | None = None
    notes: tuple[str, ...] = ()
    timed: Mapping[str, tuple[str, tuple[Frame, ...]]] = field(default_factory=dict)
    findings: FindingTable | None = None
    remedies: Remedies = "none"
    suggestions: tuple[Suggestion, ...] = ()
    are_suggestions_known: bool = False
    unasked: str = ""
    warnings: tuple[Any, ...] = ()

    @property
    def incomplete(self) -> str:
        """What is missing of an optimized program that is there in part; "" when all of it is there, or nothing."""
        return "" if self.instructions is None else self.data.missing.get("hlo", "").removeprefix("incomplete: ")

    @property
    def silence(self) -> str:
        """What may be said of a program without collectives: every sentence that says "no" takes it from here.

        "one device: nothing to communicate", "no collectives: the devices do not communicate", or what is not known.
        """
        if self.collectives is None:
            return f"collectives unknown: {self.data.missing.get('hlo', 'the record has no optimized HLO')}"
        if self.incomplete:
            there = "no collectives in the part that is there"
            return "; ".join(filter(None, (f"incomplete program: {self.incomplete}", there, self.beside)))
        if self.others:
            return f"no HLO collectives; {self.beside}"
        if len(self.data.devices) == 1:
            return "one device: nothing to communicate"
        return "no collectives: the devices do not communicate"

    @property
    def beside(self) -> str:
        """Communication that is no HLO collective, in words: no sum of bytes has it. "" where there is none."""
        return other_words(self.others)

    @property
    def unsent(self) -> str:
        """What is said in place of "nothing is sent" where that is not known; "" where it is."""
        unknown = self.collectives is None or self.incomplete or self.others
        return "What is sent is unknown." if unknown else ""

    @property
    def sent_bytes(self) -> int | None:
        """Bytes the busiest device sends per call over all axes (modelled: ring); None without HLO."""
        return None if self.collectives is None else sum(total.sent_bytes for total in self.totals)
