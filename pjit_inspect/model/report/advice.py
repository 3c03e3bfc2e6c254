"""Changes worth making to a program, best first, each with what it saves.

Not its job: finding them (`analyze.advice`), trying them (`handles.advice`) or drawing them (`view.record.advice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.edit import Checked, Edit
from pjit_inspect.model.words.sentence import Sentence

ChangeKind = Literal["line", "axis_lost", "constraint", "argument", "replicated_argument", "result", "layout"]
"""
line: a constraint is missing at a line of source.
axis_lost: an array is split over a mesh axis, and the result of an operation or of a constraint there is not.
constraint: a constraint that is there should ask for another sharding, or be left out.
argument: arguments should arrive with another sharding.
replicated_argument: arguments or results are held in full by every device, though the program can work with pieces.
result: results should be returned with another sharding.
layout: a change that sends less of the weights and more of what grows with the batch, or that undoes a constraint on an
 argument or a result. It helps at these sizes; at others it may not.
"""

FactKind = Literal[
    "gathered_again",
    "summed_per_turn",
    "loop_predicate",
    "no_sharding_rule",
    "exposed_collective",
    "resharded_argument",
    "not_donated",
    "tile_padding",
    "tiny_collectives",
    "written_out_layers",
]
"""
gathered_again: the same array is gathered more than once in one call, as in every turn of a loop that never changes it,
 or at several lines.
summed_per_turn: a loop sums over devices in every turn, although one sum after the loop is enough.
loop_predicate: devices talk to each other in every turn about whether a loop goes on.
no_sharding_rule: an operation that the partitioner cannot split: its operands are gathered.
exposed_collective: collectives run while nothing else does, though there are matrix products that could run meanwhile.
resharded_argument: arguments arrive with another sharding than the program takes, and are copied on every call.
not_donated: arguments are replaced by results of the same shapes, but not donated.
tile_padding: arrays lie in tiles that are mostly padding, as on a TPU.
tiny_collectives: most collectives send next to nothing, one after the other: they cost waits.
written_out_layers: equal layers of a Python loop are compiled one by one.
"""

BytesUnit = Literal["sent", "copied", "held"]
"""
sent: bytes that the busiest device sends in collectives, per call (counted, with ring formulas).
copied: bytes of arguments that each device takes before the program begins, per call (counted).
held: bytes of arguments in the memory of each device (counted).
"""

AdviceKind = ChangeKind | FactKind
"""A change of shardings, or a fact. A change has the kind of the fact that it is the remedy of."""

ADVICE_KINDS: tuple[AdviceKind, ...] = (*get_args(ChangeKind), *get_args(FactKind))

AdviceState = Literal["asking", "counted", "compiled", "fact"]
"""
asking: as counted, and XLA is still asked about other changes in its place.
counted: XLA's partitioner made the changed program; both programs are counted before optimization.
compiled: `check` compiled the changed program; `sent` is counted in the compiled programs, `collectives` is None.
fact: a property of the program, for which nothing needs to be tried.
"""

Figures = tuple[int, int]
"""Before and after, on one device and for one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One change worth making, or one fact worth knowing.

    Attributes:
      kind: one of `AdviceKind`.
      sentence: the place and what is wrong there.
      change: the code to write; "" if it is not known how.
      edits: the change in a copy of the program; () for a fact.
      sent: bytes the busiest device sends, before and after; of a fact with an unknown saving what it sends, and None.
      sent_per_turn: the share of `sent` in a turn of each loop of unknown length; () without such loops.
      memory: bytes of arguments and results that a device holds, before and after; None for a fact.
      multiplied: operations in products on a device, before and after; None for a fact.
      collectives: number of collectives, before and after; None for a fact.
      seconds: seconds of a call by a quick estimate with no communication hidden (modelled: `serial_s` of a partitioned
        record's `time`), before and after; None for a fact, and where the speed of the devices is unknown.
      costs: what the change costs elsewhere; "" for nothing.
      state: one of `AdviceState`.
      source: the user's frames of its line, innermost first; () if unknown.
      number: the number of the question whose answer it is; 0 for a fact.
      cost_bytes, unit: the bytes that a fact costs, or that a change saves, and of what.
      runs_once: whether these bytes hold only if loops of unknown length run once.
      with_edits: the changes of the rows before it, which it was counted on top of.
      removes: instruction names of the collectives of the compiled program that are gone with it; () for a fact.
      brings: for each set of axes, None for none, how many collectives come with it, and the bytes that a device sends
        for them, as XLA's partitioner makes them; () for a fact.
    """

    kind: AdviceKind
    sentence: Sentence
    change: str = ""
    edits: tuple[Edit, ...] = ()
    sent: Figures | None = None
    sent_per_turn: tuple[Figures, ...] = ()
    memory: Figures | None = None
    multiplied: Figures | None = None
    collectives: Figures | None = None
    seconds: tuple[float, float] | None = None
    costs: str = ""
    state: AdviceState = "counted"
    source: tuple[Frame, ...] = ()
    number: int = 0
    cost_bytes: int = 0
    unit: BytesUnit = "sent"
    runs_once: bool = False
    with_edits: tuple[Edit, ...] = ()
    removes: tuple[str, ...] = ()
    brings: tuple[tuple[tuple[str, ...] | None, int, int], ...] = ()

    def check(self) -> Checked:
        """Compile the changed program to the end, run nothing, and count the bytes its collectives send.

        The changes of the rows before it are made, too. It takes as long as one compile, of two where the program with
        those alone was not compiled yet. From then on `record.advice` has the row as "compiled". Raises CaptureError
        for a fact, when the devices are not here, or when XLA refuses the changed program.
        """
        # Those that records hand out (`handles.advice`) have a program.
        raise ValueError("this advice was not handed out by a record, so it has no program to compile")

    def __str__(self) -> str:
        return f"{self.sentence}\n  {self.change}" if self.change else str(self.sentence)


@dataclass(frozen=True, slots=True)
class AdviceTable(Table[Advice]):
    """The changes worth making to one program, the best first. A sequence of `Advice`; a slice is a table again.

    Attributes:
      rows: changes, each on top of those before it; then other layouts, each by itself; then facts.
      asked: number of changed programs that XLA's partitioner was asked about.
      left: the most questions that may still come; 0 when all were asked.
      is_done: whether more rows cannot come.
      is_asking: whether XLA is being asked now.
      proposed: number of changes that were thought of.
      best: the largest share of bytes sent that is saved by a change which costs nothing else, and is too little for a
        row; 0 for none.
      missing: why no change was tried; "" if some were.
      untried: why some changes were not tried; "" if all were that have a noticeable part at stake.
      left_out: number of these that were left out for want of questions.
    """

    rows: tuple[Advice, ...] = ()
    asked: int = 0
    left: int = 0
    is_done: bool = True
    is_asking: bool = False
    proposed: int = 0
    best: float = 0.0
    missing: str = ""
    untried: str = ""
    left_out: int = 0

    computed: ClassVar[tuple[str, ...]] = ()

    def _hint(self, name: str) -> str:
        return '; .of_kind("axis_lost") chooses rows'

    def of_kind(self, kind: str) -> Self:
        """Only the rows of one kind, such as "axis_lost". Raises ValueError for an unknown kind."""
        if kind not in ADVICE_KINDS:
            raise ValueError(f"there is no kind {kind!r}; the kinds are {', '.join(ADVICE_KINDS)}")
        return self._of_rows(tuple(row for row in self.rows if row.kind == kind))

    def try_all(self) -> Self:
        """The rows after XLA was asked about every change, however many; the record keeps them.

        Else at most 40 are asked about, fewer of a large program; `untried` says how many were left out.
        """
        # Those that records hand out (`handles.displays`) have a program.
        raise ValueError("this advice was not handed out by a record, so there is no program to try changes of")

    def to_json(self) -> str:
        """The table as JSON, as far as it is known; `is_done` in it says whether more rows can come."""
        # Those that records hand out (`handles.displays`) are written by `view`.
        raise ValueError("this advice was not handed out by a record, so nothing writes it")

    def __repr__(self) -> str:
        if self.missing and not self.rows:
            return f"AdviceTable(unknown: {self.missing})"
        more = "" if self.is_done else f", at most {self.left} more"
        return f"AdviceTable({len(self.rows)} row{'s' * (len(self.rows) != 1)}, {self.asked} asked{more})"
