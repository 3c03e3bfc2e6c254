"""A change of a program that may save communication, and the result of compiling it.

Not its job: thinking of changes (`analyze.advice.climb`) or compiling them (`observe.shardy.what_if`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.words.sentence import ONE_TURN, bytes_in_words

EditKind = Literal["argument", "result", "constrain", "hop", "respec", "remove"]
"""
argument: another PartitionSpec for an argument of the program.
result: another PartitionSpec for a result, or none.
constrain: a `with_sharding_constraint` on what an op makes.
hop: a `with_sharding_constraint` on an operand of an op, right before it; of several, the first acts first.
respec: another PartitionSpec in a constraint that is there.
remove: a constraint that is there is left out.
"""

Verdict = Literal["helps", "worse", "nothing", "depends"]
"""
helps, worse, nothing: the changed program sends less, more, or (within a thousandth) as much; where it has loops of
  unknown length, for any number of turns of each, none aside.
depends: that depends on how many turns these take, or it is not known which loop is which.
"""

_NOTICEABLE = 1000
"""A change of less than one part in this many counts as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One changed place in the program before partitioning.

    Attributes:
      kind: one of `EditKind`.
      index: the argument's or the result's position; for anything else, the op's index in `ShardedProgram.ops`.
      number: the number of the op's result ("constrain") or operand ("hop"); 0 for anything else.
      spec: the new sharding; None for "remove", and for a "result" left to propagation.
    """

    kind: EditKind
    index: int
    number: int = 0
    spec: Dimensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedEdit:
    """An edit at its place in the captured program.

    Attributes:
      edit: the edit, as for XLA's program before partitioning.
      number: the number of the operation in the captured program (`observe.shardy.numbering`); for an argument or
        result, its position.
      shape: the shape of the array that gets a constraint; () for others.
      argument: the position of the argument that this array is; None for a computed one.
    """

    edit: Edit
    number: int
    shape: tuple[int, ...] = ()
    argument: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Bytes sent by all collectives per device and call, in the program and in the changed one.

    Counted in both compiled programs with the ring formulas of `analyze.collectives.traffic`. Every loop of unknown
    length takes one turn; `per_turn` is its share.

    Attributes:
      before_bytes, after_bytes: bytes the busiest device sends per call.
      before_by_kind, after_by_kind: the same for each kind of collective, by its name.
      per_turn: bytes sent in a turn of each loop of unknown length, before and after; () if none are sent there; None
        if some are, but the two programs' loops cannot be matched.
    """

    before_bytes: int
    after_bytes: int
    before_by_kind: tuple[tuple[str, int], ...] = ()
    after_by_kind: tuple[tuple[str, int], ...] = ()
    per_turn: tuple[tuple[int, int], ...] | None = ()

    @property
    def change_bytes(self) -> int:
        """Bytes more per device per call; negative when the change saves some."""
        return self.after_bytes - self.before_bytes

    @property
    def is_one_turn(self) -> bool:
        """True if the figures hold only if each loop of unknown length takes one turn."""
        return self.per_turn is None or bool(self.per_turn)

    @property
    def outside_bytes(self) -> tuple[int, int]:
        """Bytes sent outside loops of unknown length, before and after; all bytes if these are not separated."""
        inside = self.per_turn or ()
        return self.before_bytes - sum(own for own, _ in inside), self.after_bytes - sum(own for _, own in inside)

    @property
    def verdict(self) -> Verdict:
        """The change of what is sent: less, more, or (within a thousandth) as much."""
        if self.per_turn is None:
            return "depends"
        parts = ((self.before_bytes, self.after_bytes), *self.per_turn)
        found: set[Verdict] = {verdict for pair in parts if (verdict := _verdict(*pair)) != "nothing"}
        changes = [after - before for before, after in parts]
        if found and min(changes) < 0 < max(changes):
            return "depends"
        return found.pop() if found else "nothing"

    def __str__(self) -> str:
        words = {"helps": "", "worse": ", worse", "nothing": ", changes nothing", "depends": ""}[self.verdict]
        where = "per device per call"
        if self.per_turn is None:
            where, words = f"{where} {ONE_TURN}", ", and which loop is which is not known"
        if not self.per_turn:
            return f"tried: {_signed(self.change_bytes)} ({self._sizes}) {where} (modelled, ring){words}"
        one = len(self.per_turn) == 1
        where += (
            " outside of the loop of unknown length"
            if one
            else f" outside of {len(self.per_turn)} loops of unknown length"
        )
        turns = ", ".join(_change(*pair) for pair in self.per_turn)
        each = "in each of its turns" if one else "in a turn of each"
        return (
            f"tried: {_change(*self.outside_bytes)} {where}, {turns} {each} (modelled, ring){self._condition or words}"
        )

    @property
    def _sizes(self) -> str:
        return f"{bytes_in_words(self.before_bytes)} -> {bytes_in_words(self.after_bytes)}"

    @property
    def _condition(self) -> str:
        """The numbers of turns for which the changed program sends less, if not all; "" for all or none."""
        outside, *inside = (after - before for before, after in (self.outside_bytes, *(self.per_turn or ())))
        if not min(outside, *inside) < 0 < max(outside, *inside):
            return ""
        if len(inside) == 1 and outside < 0:
            return f", less only if it takes fewer than {_turns(-(outside // inside[0]))}"
        if len(inside) == 1:
            turns = outside // -inside[0]
            return f", less only if it takes {f'more than {_turns(turns)}' if turns else 'a turn'}"
        if max(inside) <= 0 and self.change_bytes < 0:
            return ", less if each takes a turn"
        return ", less or more by how many turns each takes"


def _verdict(before: int, after: int) -> Verdict:
    if abs(after - before) * _NOTICEABLE <= before:
        return "nothing" if before or not after else "worse"
    return "helps" if after < before else "worse"


def _turns(number: int) -> str:
    return f"{number:,} turn{'s' * (number != 1)}"


def _change(before: int, after: int) -> str:
    if before == after:
        return f"the same {bytes_in_words(after)}"
    return f"{_signed(after - before)} ({bytes_in_words(before)} -> {bytes_in_words(after)})"


def _signed(size: int) -> str:
    sign = "-" if size < 0 else "+" if size else ""
    return f"{sign}{bytes_in_words(abs(size))}"
