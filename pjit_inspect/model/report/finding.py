"""Problems of a program, each in a sentence: place, reason, cost and remedy.

Not its job: finding them (`analyze.findings`), trying remedies (`handles.findings`) or drawing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.edit import Checked, Edit
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
axis_lost: an array is split over a mesh axis, and the result of an operation or a constraint is not.
gathered_again: the same array is gathered more than once in one call, as in every turn of a loop that never changes it,
 or at several lines.
summed_per_turn: a loop sums over devices in every turn, although one sum after the loop is enough.
loop_predicate: devices talk to each other in every turn about whether a loop goes on.
no_sharding_rule: an operation that the partitioner cannot split: its operands are gathered.
exposed_collective: collectives run while nothing else does, though there are matrix products that could run meanwhile.
resharded_argument: arguments arrive with another sharding than the program takes, and are copied on every call.
replicated_argument: arguments are held in full by every device, though the program can work with pieces of them.
not_donated: arguments are replaced by results of the same shapes, but not donated.
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
    """One thing that costs more than necessary.

    Attributes:
      kind: one of `FINDING_KINDS`.
      sentence: the finding in the user's names.
      source: the user's frames of its line, innermost first; () if unknown.
      cost_bytes: its cost per device and call: the saving if a remedy was tried, or else the unnecessary bytes that its
        collectives and arguments send, copy or hold.
      unit: the kind of these bytes, one of `FindingUnit`.
      remedy: a remedy as an instruction; "" for none.
      tried: the bytes before and after, of `unit`, if XLA's partitioner was asked about a copy of the program with and
        without the remedy; both are counted before optimization. None if the remedy is a change of code that cannot be
        made in a copy.
      change: the edits of the tried remedy; () if not tried.
      collectives: number of collectives from the partitioner, before and after; None if nothing was tried.
      instructions: instruction names of its collectives, or of those that the remedy removes.
      runs_once: whether the bytes hold only if loops of unknown length run once.
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
        """Compile the program with the remedy to the end, run nothing, and count the bytes its collectives send.

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
    """The findings of one program, at most three, most expensive first.

    A sequence of `Finding`; a slice is a table again.

    Attributes:
      rows: the findings.
      missing: checks that were not made, and why, as for an incomplete program; "" if all were made.
      untried: why some remedies were not tried: findings that only a tried remedy proves are then missing; "" if all
        were tried.
    """

    rows: tuple[Finding, ...]
    missing: str = ""
    untried: str = ""

    def _hint(self, name: str) -> str:
        return '; .of_kind("axis_lost") chooses rows'

    def try_all(self) -> FindingTable:
        """The record's findings after every remedy was tried, however many; the record keeps them.

        Else at most 40 are tried, fewer of a large program; `untried` says how many were left out.
        """
        # Those that records hand out (`handles.displays`) have a program.
        raise ValueError("these findings were not handed out by a record, so there is no program to try remedies in")

    def of_kind(self, kind: str) -> Self:
        """Only the findings of one kind, such as "axis_lost". Raises ValueError for an unknown kind."""
        if kind not in FINDING_KINDS:
            raise ValueError(f"there is no kind {kind!r}; the kinds are {', '.join(FINDING_KINDS)}")
        return self._of_rows(tuple(row for row in self.rows if row.kind == kind))

    def __repr__(self) -> str:
        if self.missing and not self.rows:
            return f"FindingTable(unknown: {self.missing})"
        return f"FindingTable({len(self.rows)} finding{'s' * (len(self.rows) != 1)})"
