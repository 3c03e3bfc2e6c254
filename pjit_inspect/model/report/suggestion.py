"""A change of a program that may save communication, and what came of trying it.

Not its job: thinking of changes (`analyze.suggest.suggestions`) or compiling them (`observe.shardy.what_if`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pjit_inspect.model.program.spec import Dimensions
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.words.byte_words import bytes_in_words

__all__ = ["Checked", "Edit", "EditKind", "Suggestion", "SuggestionTable", "Verdict"]

EditKind = Literal["argument", "result", "constrain", "hop", "respec", "remove"]
"""
argument: another PartitionSpec for an argument of the program.
result: another PartitionSpec for a result, or none.
constrain: a `with_sharding_constraint` on what an op makes.
hop: a `with_sharding_constraint` on an operand of an op, right before it; of several, the first acts first.
respec: another PartitionSpec in a constraint that is there.
remove: a constraint that is there is left out.
"""

Verdict = Literal["helps", "worse", "nothing"]

_NOTICEABLE = 1000
"""A change of less than one part in so many is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One place where the program before partitioning is changed.

    Attributes:
      kind: one of `EditKind`.
      index: the argument's or the result's position; for anything else, the op's index in `ShardedProgram.ops`.
      number: which of the op's results ("constrain") or operands ("hop"); 0 for anything else.
      spec: the new sharding; None for "remove", and for a "result" that propagation is to choose.
    """

    kind: EditKind
    index: int
    number: int = 0
    spec: Dimensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What all collectives of the program send per device per call, as it is and as changed.

    Counted in both programs, with the ring formulas of `analyze.collectives.traffic`: as `Suggestion.counted` before
    optimization, as `Suggestion.checked` compiled. A collective in a loop of unknown length counts once.

    Attributes:
      before_bytes, after_bytes: bytes the busiest device sends per call.
      before_by_kind, after_by_kind: the same for each kind of collective, by its name.
    """

    before_bytes: int
    after_bytes: int
    before_by_kind: tuple[tuple[str, int], ...] = ()
    after_by_kind: tuple[tuple[str, int], ...] = ()

    @property
    def change_bytes(self) -> int:
        """Bytes more per device per call; negative when the change saves some."""
        return self.after_bytes - self.before_bytes

    @property
    def verdict(self) -> Verdict:
        """Whether the changed program sends less, more, or (within a thousandth) as much."""
        if abs(self.change_bytes) * _NOTICEABLE <= self.before_bytes:
            return "nothing" if self.before_bytes or not self.after_bytes else "worse"
        return "helps" if self.change_bytes < 0 else "worse"

    def __str__(self) -> str:
        words = {"helps": "", "worse": ", worse", "nothing": ", changes nothing"}[self.verdict]
        return f"tried: {_signed(self.change_bytes)} ({self._sizes}) per device per call (modelled, ring){words}"

    @property
    def _sizes(self) -> str:
        return f"{bytes_in_words(self.before_bytes)} -> {bytes_in_words(self.after_bytes)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A change that may save communication.

    XLA's partitioner was asked about it, where it could be, before it was offered (`counted`); else its cost is
    modelled. `check` compiles it to the end.

    Attributes:
      title: the change, short, as an order.
      sentence: the change in the user's names, what it is expected to do and what it costs.
      change: the edits that make it; equal ones of equal layers belong together.
      forward_bytes, backward_bytes: bytes one device would send more per call; negative for less. Backward is what
        differentiation made, recomputation too; forward is all else. Counted where `counted` is there; else modelled
        (the needs of the program after propagation, ring formulas).
      removes: names of the instructions of the collectives that it aims at.
      price: what it costs each device ("holds 48 KiB more of arguments"); "" where it costs nothing that is counted.
      foreseen_bytes: bytes more per call that the model alone says, before XLA is asked; None where it says nothing.
      counted: what XLA's partitioner made of the program and of the changed one, before optimization; None when it
        was not asked.
      checked: what came of compiling it; None when nobody has.
    """

    title: str
    sentence: str
    change: tuple[Edit, ...]
    forward_bytes: int
    backward_bytes: int
    removes: tuple[str, ...] = ()
    price: str = ""
    foreseen_bytes: int | None = None
    counted: Checked | None = None
    checked: Checked | None = None

    def __post_init__(self) -> None:
        if self.foreseen_bytes is None and self.counted is None:
            object.__setattr__(self, "foreseen_bytes", self.modelled_bytes)

    @property
    def modelled_bytes(self) -> int:
        """Bytes one device would send more per call, forward and backward; negative for less. `mark` says whence."""
        return self.forward_bytes + self.backward_bytes

    @property
    def counted_bytes(self) -> int | None:
        """Bytes more per device per call, counted before optimization; None where XLA's partitioner was not asked."""
        return None if self.counted is None else self.counted.change_bytes

    @property
    def compiled_bytes(self) -> int | None:
        """Bytes more per device per call, counted in the compiled programs; None until `check` compiled them."""
        return None if self.checked is None else self.checked.change_bytes

    @property
    def mark(self) -> str:
        """What `modelled_bytes` rests on: "counted before optimization" or "modelled"."""
        return "modelled" if self.counted is None else "counted before optimization"

    def check(self) -> Suggestion:
        """Compile the changed program, run nothing, and count what its collectives send.

        Returns this suggestion with `checked` filled. It takes as long as one compile of the program. Raises
        CaptureError when the devices of the program are not here, or XLA refuses the changed program.
        """
        # Those that records hand out (`handles.suggest`) have one.
        raise ValueError("this suggestion was not handed out by a record, so it has no program to compile")

    def __str__(self) -> str:
        modelled = (
            f"{self.mark}: {_signed(self.modelled_bytes)} per device per call "
            f"(forward {_signed(self.forward_bytes)}, backward {_signed(self.backward_bytes)})"
        )
        return f"{self.sentence}\n  {modelled}\n  {self.checked or 'not checked'}"


@dataclass(frozen=True, slots=True)
class SuggestionTable(Table[Suggestion]):
    """Changes that may save communication, the best first. A sequence of `Suggestion`; a slice is a table again.

    Attributes:
      rows: the suggestions.
    """

    rows: tuple[Suggestion, ...] = ()

    computed: ClassVar[tuple[str, ...]] = ("counted_bytes", "compiled_bytes")

    def __repr__(self) -> str:
        return f"SuggestionTable({len(self.rows)} suggestion{'s' * (len(self.rows) != 1)})"


def _signed(size: int) -> str:
    sign = "-" if size < 0 else "+" if size else ""
    return f"{sign}{bytes_in_words(abs(size))}"
