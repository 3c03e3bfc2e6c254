"""Data of one record for displays: the record and its analyses, notes for a reader, and bytes on each device.

Not its job: computing them (`analyze.report.report`) or drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import KeyFigures
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import AxisTotal, CollectiveTable, Least, OtherCommunication, other_words
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import HostCallback
from pjit_inspect.model.words.sentence import Phrase, Sentence

if TYPE_CHECKING:
    from pjit_inspect.model.time.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReport:
    """One record with its analyses.

    Attributes:
      data: the record.
      collectives: every collective, most bytes first; None if the record has no optimized HLO.
      totals: one row per set of mesh axes, most bytes sent first.
      least: lower bounds for the complete program, if only a part is there; None if it is complete.
      figures: key figures, to compare with another record.
      fusions: every fused kernel in schedule order; None if the record has no optimized HLO, or if only XLA's
        partitioner was asked.
      callbacks: every call back into Python, in schedule order.
      others: certain and possible communication outside HLO collectives; its bytes are unknown.
      instructions: number of HLO instructions in the optimized program; None likewise.
      notes: short sentences about surprises ("2 collectives follow no mesh axis"), each a `Note` if it is about
        collectives or arguments.
      timed: for each measured HLO instruction, JAX's name of its operation and the user's frames, innermost first; {}
        for none.
      advice: changes worth making and facts, as far as they are known; None if nobody looked.
      unasked: why XLA's partitioner has not been asked for the causes of collectives yet; "" if it has been, or cannot
        be.
      warnings: warnings of XLA's partitioner during the compile; each has a `sentence`.
      time: where the seconds of a call go; None where seconds are unknown.
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
    advice: AdviceTable | None = None
    unasked: str = ""
    warnings: tuple[Any, ...] = ()
    time: StepTime | None = None

    @property
    def incomplete(self) -> str:
        """The missing part of an incomplete optimized program; "" if it is complete, or if there is none."""
        return "" if self.instructions is None else self.data.missing.get("hlo", "").removeprefix("incomplete: ")

    @property
    def silence(self) -> str:
        """The sentence for a program without known collectives; every sentence that says "no" uses it.

        "one device: nothing to communicate", "no collectives: the devices do not communicate", or the unknown part.
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
        """The sentence to show in place of "nothing is sent" if that is not known; "" if it is."""
        unknown = self.collectives is None or self.incomplete or self.others
        return "What is sent is unknown." if unknown else ""

    @property
    def sent_bytes(self) -> int | None:
        """Bytes the busiest device sends per call over all axes (modelled: ring); None without HLO."""
        return None if self.collectives is None else sum(total.sent_bytes for total in self.totals)


class Note(Sentence):
    """A sentence and its subject.

    Attributes:
      instructions: the first instruction of each collective it is about.
      paths: the arguments and results it is about, as their layouts name them.
    """

    __slots__ = ("instructions", "paths")
    instructions: tuple[str, ...]
    paths: tuple[str, ...]

    @classmethod
    def about(cls, words: str, *, instructions: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> Self:
        """The note of a sentence."""
        made = cls.of(Sentence(words).phrases)
        assert isinstance(made, cls)
        made.instructions, made.paths = instructions, paths
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.phrases, self.instructions, self.paths)


def _made(phrases: tuple[Phrase, ...], instructions: tuple[str, ...], paths: tuple[str, ...]) -> Note:
    return Note.about(Sentence.of(phrases), instructions=instructions, paths=paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """Arguments, or results.

    Attributes:
      bytes: on each device, in the order of `DeviceMemory.devices`; counted from shapes and shardings.
      largest: the largest arrays, by path, with their bytes on one device.
    """

    bytes: np.ndarray
    largest: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemory:
    """Bytes of arguments and results on every device of a program.

    Attributes:
      devices: the ids of the devices.
      arguments, outputs: their bytes; outputs in the buffers of donated arguments count as arguments.
      reused: number of outputs in buffers of donated arguments.
      unknown: number of arrays not counted because their sharding or element type is unknown.
      elsewhere: number of arrays not counted because they are in host memory.
    """

    devices: tuple[int, ...] = ()
    arguments: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    outputs: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    reused: int = 0
    unknown: int = 0
    elsewhere: int = 0
