"""What is wrong with a program, in a sentence: where, why, what it costs, and what would help.

Not its job: finding it (`analyze.findings`), trying remedies (`handles.findings`) or drawing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.suggestion import Checked, Edit
from pjit_inspect.model.words.sentence import Sentence

FindingKind = Literal[
    "axis_lost",
    "gathered_again",
    "summed_per_turn",
    "loop_predicate",
    "no_sharding_rule",
    "exposed_collective",
    "resharded_argument",
    "replicated_argument",
    "not_donated",
    "tile_padding",
]
"""
axis_lost: an array is split over a mesh axis, and what an operation or a constraint makes of it is not.
gathered_again: the same array is gathered more than once in one call, as in every turn of a loop that never changes it,
  or at several lines.
summed_per_turn: a loop sums over devices in every turn what one sum after it would do.
loop_predicate: devices talk to each other in every turn about whether a loop goes on.
no_sharding_rule: an operation that the partitioner cannot split, so that its operands are gathered.
exposed_collective: collectives run while nothing else does, though there are matrix products that could run meanwhile.
resharded_argument: arguments arrive otherwise than the program takes them, and are copied on every call.
replicated_argument: arguments are held in full by every device, though the program can work with pieces of them.
not_donated: arguments are replaced by results of the same shapes, and their memory is not given up.
tile_padding: arrays lie in tiles that are mostly padding, as on a TPU.
"""

FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)

FindingUnit = Literal["sent", "copied", "held"]
"""
sent: bytes that the busiest device sends in collectives, per call (counted, with ring formulas).
copied: bytes of arguments that each device takes before the program begins, per call (counted).
held: bytes of arguments in the memory of each device (counted).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that costs more than it must.

    Attributes:
      kind: one of `FINDING_KINDS`.
      sentence: what it is, in the user's names, for a person.
      source: the user's frames of the line that it is about, innermost first; () when that is not known.
      cost_bytes: what it costs, per device and call. Where a remedy was tried that is what the remedy saves; else what
        the collectives and arguments it is about send, copy or hold beyond need.
      unit: which bytes these are, one of `FindingUnit`.
      remedy: what would help, as an order; "" when nothing is known.
      tried: the bytes before and after, of `unit`, where the remedy was given to XLA's partitioner: a copy of the
        program as it is and one with the remedy, both counted before optimization. None where it is a change of code
        that cannot be made in a copy of the program.
      change: the edits that the remedy was tried with; () where it was not.
      collectives: how many collectives the partitioner made, before and after; None where nothing was tried.
      instructions: names of the instructions of the collectives that it is about, or that the remedy does away with.
      runs_once: whether the bytes hold only if what runs in loops of unknown length runs once.
    """

    kind: FindingKind
    sentence: Sentence
    source: tuple[Frame, ...] = ()
    cost_bytes: int = 0
    unit: FindingUnit = "sent"
    remedy: Sentence | Literal[""] = ""
    tried: Checked | None = None
    change: tuple[Edit, ...] = ()
    collectives: tuple[int, int] | None = None
    instructions: tuple[str, ...] = ()
    runs_once: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", Sentence(self.sentence))
        if self.remedy:
            object.__setattr__(self, "remedy", Sentence(self.remedy))

    def check(self) -> Checked:
        """Compile the program with the remedy to the end, run nothing, and count what its collectives send.

        `tried` is counted before optimization; this is counted in the optimized programs. It takes as long as one
        compile. Raises CaptureError when the remedy cannot be made in a copy of the program, when the devices are not
        here, or when XLA refuses the changed program.
        """
        # Those that records hand out (`handles.findings`) have a program.
        raise ValueError("this finding was not handed out by a record, so it has no program to compile")

    def __str__(self) -> str:
        lines = [str(self.sentence)]
        if self.remedy:
            lines.append(f"  remedy: {self.remedy}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class FindingTable(Table[Finding]):
    """The findings of one program, at most three, dearest first. A sequence of `Finding`; a slice is a table again.

    Attributes:
      rows: the findings.
      missing: what was not looked for, and why, as in a program that is there in part; "" where everything was.
      untried: why remedies were not tried, or not all of them, so that what only a tried remedy proves is not found; ""
        where every remedy was.
    """

    rows: tuple[Finding, ...]
    missing: str = ""
    untried: str = ""

    def _hint(self, name: str) -> str:
        return '; .of_kind("axis_lost") chooses rows'

    def try_all(self) -> FindingTable:
        """The record's findings after every remedy was tried, however many; the record keeps them.

        Else at most ten are tried, fewer of a large program; `untried` says how many were left out.
        """
        # Those that records hand out (`handles.displays`) have a program.
        raise ValueError("these findings were not handed out by a record, so there is no program to try remedies in")

    def of_kind(self, kind: str) -> Self:
        """Only the findings of one kind, such as "axis_lost". Raises ValueError for what is no kind."""
        if kind not in FINDING_KINDS:
            raise ValueError(f"there is no kind {kind!r}; the kinds are {', '.join(FINDING_KINDS)}")
        return self._of_rows(tuple(row for row in self.rows if row.kind == kind))

    def __repr__(self) -> str:
        if self.missing and not self.rows:
            return f"FindingTable(unknown: {self.missing})"
        return f"FindingTable({len(self.rows)} finding{'s' * (len(self.rows) != 1)})"
