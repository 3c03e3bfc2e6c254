"""Possible problems of a program, before a remedy is tried.

Not its job: finding them (the other modules here), or trying remedies (`analyze.findings.findings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import AdviceKind, BytesUnit
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective
from pjit_inspect.model.words.sentence import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change that may help.

    Attributes:
      words: the change as an instruction.
      edits: the edits of a copy of the program; () for a change of code that cannot be made in a copy.
    """

    words: Sentence
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One possible problem of a program.

    Attributes:
      kind, sentence, source, unit, removes: as in `Advice`.
      cost_bytes: as in `Advice`, if known without a trial; 0 if only a remedy shows it.
      remedies: changes that may help, likeliest first; the best that helps is kept.
      is_proven: whether it is a problem even if no remedy helps, or none was tried.
    """

    kind: AdviceKind
    sentence: Sentence
    source: tuple[Frame, ...] = ()
    unit: BytesUnit = "sent"
    cost_bytes: int = 0
    removes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    is_proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One program, with all facts for finding problems.

    Attributes:
      data: the record.
      module: the optimized program; None if missing or incomplete.
      collectives: the collectives of the optimized program, with their causes.
      edges: name of a collective's first instruction -> the partitioner's collectives, one for each array it moves;
        only if known for all of them.
      names: XLA's program before partitioning, with the names of its values; None if XLA gave no answer.
      copy: the program that is edited (a prediction), with the names of its values; None if no copy can be changed.
      replaced: the arguments that are returned with new values, by the name of their tree (`analyze.advice`).
      files: the user's files.
    """

    data: RecordData
    module: HloModule | None = None
    collectives: tuple[Collective, ...] = ()
    edges: dict[str, tuple[PartitionedCollective, ...]] = field(default_factory=dict)
    names: ValueNames | None = None
    copy: ValueNames | None = None
    replaced: Mapping[str, tuple[ArrayLayout, ...]] = field(default_factory=dict)
    files: UserFiles = field(default_factory=UserFiles)

    @property
    def sent_bytes(self) -> int:
        """Bytes that all collectives of the optimized program send per device and call; unknown loops count once."""
        return sum(row.least_sent_bytes for row in self.collectives)

    @property
    def held_bytes(self) -> int:
        """Bytes of all arguments on each device."""
        return sum(layout.bytes_per_device or 0 for layout in self.data.inputs if layout.kept)
