"""XLA's passes over one program, and the life of each of its collectives: what each pass made of it.

Not its job: following them (`analyze.passes.lives`), or getting the programs between passes (`handles.asked.passes`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.words.passes import PASSES

EventKind = Literal["made", "changed", "combined", "copied", "moved", "asynchronous", "removed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One pass that changed the program.

    Attributes:
      number: its place among the steps that XLA dumped; the program before all passes is 0.
      name: XLA's name of it ("algsimp"); "before PIPELINE" for changes at the start of a pipeline, which no pass names.
      pipeline: the pipeline it ran in; "" if unknown.
      instructions_before, instructions_after: instructions of the program on one device, fused ones included (counted).
      collectives_before, collectives_after: kinds of collectives with their number, most frequent first; of an
        asynchronous one, the start (counted).
      fusions_before, fusions_after: fused kernels (counted).
      copies_before, copies_after: copies (counted).
      did: what it did to collectives ("4 combined into one"); "" for nothing.
      looks_before, looks_after: a number that equal programs have in common, whatever their instructions are called.
    """

    number: int
    name: str
    pipeline: str
    instructions_before: int
    instructions_after: int
    collectives_before: tuple[tuple[str, int], ...]
    collectives_after: tuple[tuple[str, int], ...]
    fusions_before: int
    fusions_after: int
    copies_before: int
    copies_after: int
    did: str = ""
    looks_before: int = 0
    looks_after: int = 0

    @property
    def sentence(self) -> str:
        """The job of the pass; "" for a pass that is not known here."""
        return PASSES[self.name].sentence if self.name in PASSES else ""

    @property
    def file(self) -> str:
        """The pass's source file in the repository openxla/xla; "" for a pass that is not known here."""
        return PASSES[self.name].file if self.name in PASSES else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEvent:
    """One change of one collective by one pass.

    Attributes:
      number: `Pass.number`.
      pass_name: `Pass.name`.
      kind: "made", "changed" (its kind or shape), "combined" (with others), "copied", "moved" (in or out of a loop),
        "asynchronous", "removed", or "unknown": what it was before, or became, or was combined with, is not told by
        operations, operands or channels.
      words: what happened, in words.
      operations: the operations that XLA names, as "`dot_general` (train.py:12)"; () where XLA names none.
      ids: their numbers in the copy that XLA compiled, in which operations are counted from 0.
    """

    number: int
    pass_name: str
    kind: EventKind
    words: str
    operations: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()

    @property
    def counted(self) -> tuple[str, ...]:
        """The operations, each once with its number: "4 x `dot_general` (train.py:12)"."""
        return tuple(f"{count} x {one}" if count > 1 else one for one, count in Counter(self.operations).items())

    @property
    def sentence(self) -> str:
        """The event in one line."""
        of = f": {', '.join(self.counted)}" if self.operations else ""
        return f"pass {self.number}, {self.pass_name}: {self.words}{of}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The life of one collective through XLA's passes. `str()` gives a line for each event.

    Attributes:
      name: its instruction in the last program that has it.
      kind: its kind there ("all-reduce").
      events: what happened to it, in the order of passes.
      is_removed: whether a pass removed it, so that the optimized program has it no more.
      held_by: the instructions that run the computation it stands in: a fusion, an asynchronous start, a loop, a call.
    """

    name: str
    kind: str
    events: tuple[LifeEvent, ...]
    is_removed: bool = False
    held_by: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """True if no event is unknown."""
        return all(event.kind != "unknown" for event in self.events)

    @property
    def line(self) -> str:
        """The life on one line."""
        return "; ".join(event.sentence for event in self.events)

    def __str__(self) -> str:
        return "\n".join(event.sentence for event in self.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCollective:
    """One collective between two passes.

    Attributes:
      name, kind: as in `Life`.
      parents: the places of those it was made of in the stage before; () for one that is new.
      life: the place of its life in `PassTable.lives`.
      axes: as in `Collective.axes`.
      payload_bytes: as in `Collective.payload_bytes`.
    """

    name: str
    kind: str
    parents: tuple[int, ...]
    life: int
    axes: tuple[str, ...] | None = None
    payload_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """All collectives after a pass that changed one of them.

    Attributes:
      number: `Pass.number`; 0 for those of the program before all passes.
      collectives: the collectives, in the order of the program's bytes.
    """

    number: int
    collectives: tuple[StagedCollective, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLine:
    """One instruction that differs between two steps of a program.

    Attributes:
      name: the instruction.
      before, after: its text as XLA prints it, without metadata; "" where the program has no such instruction.
      where: the user's line ("train.py:12"); "" if unknown.
    """

    name: str
    before: str
    after: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class PassTable(Table[Pass]):
    """The passes that changed one program, in order. A sequence of `Pass`; a slice is a table again.

    Attributes:
      rows: the passes.
      lives: the life of every collective: those of the optimized program, then those that a pass removed.
      stages: all collectives after each pass that changed one of them.
      kernels: the life of each fused kernel, copy and transpose of the optimized program.
      known_by: "numbers" if operations were followed by numbers in a copy, "names" if by the names in a dump, which
        several operations may share.
    """

    rows: tuple[Pass, ...]
    lives: tuple[Life, ...] = field(default=(), repr=False)
    stages: tuple[Stage, ...] = field(default=(), repr=False)
    kernels: tuple[Life, ...] = field(default=(), repr=False)
    known_by: Literal["numbers", "names"] = "numbers"
    _same: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    computed: ClassVar[tuple[str, ...]] = ("sentence", "file")

    def life(self, row: Collective | Fusion) -> Life | None:
        """The life of a collective, or of a fused kernel, of the same program.

        None if the copy that XLA compiled has no instruction of the same name, kind, shapes and channel, or several in
        one fusion.
        """
        if isinstance(row, Fusion):
            return next((life for life in self.kernels if life.name == row.name and life.name in self._same), None)
        names = frozenset(row.instructions)
        same = [life for life in self.lives if not life.is_removed and life.name in self._same]
        own = [life for life in same if life.name in names]
        held = [life for life in same if not names.isdisjoint(life.held_by)]
        return own[0] if own else held[0] if len(held) == 1 else None

    @property
    def removed(self) -> tuple[Life, ...]:
        """The lives of collectives that a pass removed."""
        return tuple(life for life in self.lives if life.is_removed)

    def named(self, name: str) -> Self:
        """The passes of one name."""
        return self._of_rows(tuple(row for row in self.rows if row.name == name))

    def __repr__(self) -> str:
        return f"PassTable({len(self.rows)} pass{'es' * (len(self.rows) != 1)} that changed the program)"
