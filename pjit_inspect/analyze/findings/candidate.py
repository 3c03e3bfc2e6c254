"""What may be wrong with a program, before anybody has tried whether a remedy helps.

Not its job: looking for it (the other modules here), or trying remedies (`analyze.findings.findings`).
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
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.finding import FindingKind, FindingUnit
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective
from pjit_inspect.model.words.sentence import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change that may help.

    Attributes:
      words: the change, as an order.
      edits: the same in a copy of the program; () where that is a change of code that no copy can be given.
    """

    words: Sentence
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that the program shows, and that may cost more than it must.

    Attributes:
      kind, sentence, source, unit, instructions: as in `Finding`.
      cost_bytes: as in `Finding`, where it is known without trying anything; 0 where only a remedy tells.
      remedies: changes that may help, likeliest first; the best that helps is kept.
      is_proven: whether it is a fault where no remedy helps, or none was tried.
      about: what the candidates have in common of which one is enough.
    """

    kind: FindingKind
    sentence: Sentence
    source: tuple[Frame, ...] = ()
    unit: FindingUnit = "sent"
    cost_bytes: int = 0
    instructions: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    is_proven: bool = True
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One program, as all that looks for faults needs it.

    Attributes:
      data: the record.
      module: the optimized program; None where there is none, or a part of one.
      collectives: those of the optimized program, with their causes.
      edges: name of a collective's first instruction -> what XLA's partitioner made, for each array that it moves; only
        where that is known of all of them.
      names: the program before partitioning as XLA has it, and how its values are called; None where XLA gave no
        answer.
      copy: the program that edits are made in, which is a prediction, and how its values are called; None where no copy
        can be changed.
      replaced: the arguments that come back with new values, by the name of their tree, as `analyze.advice` judges.
      files: which files are the user's.
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
