"""Changes that may save communication, with what each would cost (modelled).

Options are tried on the program before partitioning: propagation runs again on the changed program, and its needs are
costed as the unchanged one's are, so that the backward pass and every consequence count. Nothing is compiled. Kept are
the few that save a noticeable part and make no device compute much more. Not its job: compiling a changed program
(`Suggestion.check`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.needs import Need, find_needs
from pjit_inspect.analyze.suggest_arguments import ArgumentOptions
from pjit_inspect.analyze.suggest_constraints import ConstraintOptions
from pjit_inspect.analyze.suggest_cost import Cost, Move, cost_of, serves
from pjit_inspect.analyze.suggest_option import Option
from pjit_inspect.analyze.value_names import ValueNames
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.cause import Cause
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.suggestion import Checked, Edit, Suggestion

__all__ = ["Try", "compare_traffic", "find_suggestions"]

Try = Callable[[Sequence[Edit]], tuple[Propagation, Mapping[int, int]]]
"""The changed program with its shardings, and how often its loops run. Raises CaptureError when it cannot be had."""

_MOST_TRIES = 24
_MOST = 6
_NOTICEABLE = 0.01
"""A saving of a smaller part of what the program sends is none."""
_MORE_PRODUCTS, _MORE_ELEMENTS = 1.1, 1.25
"""A change with which a device multiplies, or makes, more than so many times as much trades one cost for another."""
_VISIBLE_WORK = 0.005
_LESS_WORK = 0.9
"""An option with which a device multiplies less than so many times what it does with another is no part of that."""
_MORE_THAN_SENT = 1.05
"""Nothing saves more than so many times what the collectives send that it aims at: then the model is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """An option and what it changes: bytes sent, bytes of arguments held, and multiplications (1 for as many)."""

    option: Option
    forward_bytes: int
    backward_bytes: int
    removes: tuple[str, ...]
    held_bytes: int
    work: float

    @property
    def bytes(self) -> int:
        return self.forward_bytes + self.backward_bytes


def find_suggestions(
    names: ValueNames, collectives: Sequence[Collective], try_change: Try, *, is_cpu: bool
) -> tuple[Suggestion, ...]:
    """At most six changes, the largest modelled saving first; () when none is known that saves a noticeable part.

    Args:
      names: the program, and how its values are called.
      collectives: those of the compiled program, with their causes.
      try_change: propagates a changed program.
      is_cpu: whether XLA's CPU backend compiles it.
    """
    judge = _Judge.of(names, collectives, try_change, is_cpu)
    options = _options(names, judge.before, judge.given_up)
    tried = (judge.judge(option) for option in options)
    found = [one for one in tried if one is not None and -one.bytes > _NOTICEABLE * judge.before.bytes]
    return tuple(_suggestion(one) for one in _best_of_each(found)[:_MOST])


def _options(names: ValueNames, before: Cost, given_up: Collection[Move]) -> list[Option]:
    """Options worth trying, each change once, most at stake first."""
    program = names.program
    constraints = ConstraintOptions(program, names)
    found = list(constraints.hops(before, given_up))
    if not constraints.is_explicit:
        # In Explicit mode the types of all ops follow those of the arguments: an edit of one place is no program.
        found += [*ArgumentOptions(program).find(before), *constraints.find(before)]
    once = {frozenset(option.edits): option for option in reversed(found)}
    floor = _NOTICEABLE * before.bytes
    worth = [option for option in reversed(once.values()) if option.stake > floor]
    return sorted(worth, key=lambda option: -option.stake)[:_MOST_TRIES]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """What every option is measured against.

    Attributes:
      program, before: the program as it is, and its cost.
      needs: all its needs.
      given_up: the moves for which XLA gathered a whole array.
    """

    program: Propagation
    before: Cost
    needs: tuple[Need, ...]
    given_up: frozenset[Move]
    collectives: Sequence[Collective]
    try_change: Try
    is_cpu: bool

    @classmethod
    def of(cls, names: ValueNames, collectives: Sequence[Collective], try_change: Try, is_cpu: bool) -> _Judge:
        program, trips = try_change(())
        given_up = _given_up(program, collectives)
        return cls(
            program=program,
            before=cost_of(program, trips, is_cpu=is_cpu, given_up=given_up),
            needs=find_needs(program),
            given_up=given_up,
            collectives=collectives,
            try_change=try_change,
            is_cpu=is_cpu,
        )

    def judge(self, option: Option) -> _Tried | None:
        """What the program costs with the option; None when it cannot be had, or makes a device compute more."""
        try:
            changed, trips = self.try_change(option.edits)
        except CaptureError:
            return None
        after = cost_of(changed, trips, is_cpu=self.is_cpu, given_up=self.given_up)
        if self._costs_elsewhere(after):
            return None
        aims = self._aimed_at(_by_name(changed, after))
        tried = _Tried(
            option=option,
            forward_bytes=after.forward_bytes - self.before.forward_bytes,
            backward_bytes=after.backward_bytes - self.before.backward_bytes,
            removes=tuple(row.instructions[0] for row in aims),
            held_bytes=after.held_bytes - self.before.held_bytes,
            work=after.products / self.before.products if self.before.products else 1.0,
        )
        return None if -tried.bytes > _MORE_THAN_SENT * sum(_by_kind(aims).values()) else tried

    def _costs_elsewhere(self, after: Cost) -> bool:
        """Whether a device computes more, or more operands are cut in ways of which the outcome is not foreseen."""
        return (
            after.products > _MORE_PRODUCTS * self.before.products
            or after.elements > _MORE_ELEMENTS * self.before.elements
            or after.at_odds > self.before.at_odds
        )

    def _aimed_at(self, left: Counter[tuple[str, str]]) -> list[Collective]:
        """The collectives of the needs that send less than before."""
        saved = _by_name(self.program, self.before) - left
        needs = [row.need for row in self.before.needs if saved[_name(self.program, row.need)] > 0]
        # What is gathered once serves every op that needs it so; XLA may have named it after another one of these.
        moves = {(need.value, need.target) for need in needs if need.value is not None and not need.is_sum}
        needs += [need for need in self.needs if not need.is_sum and (need.value, need.target) in moves]
        served = {name for _, name in saved} - {name for _, name in left}
        return [
            row
            for row in self.collectives
            if row.instructions
            and any(
                any(serves(self.program, need, cause) for need in needs) or self._is_step(cause, served)
                for cause in row.causes
            )
        ]

    def _is_step(self, cause: Cause, served: Collection[str]) -> bool:
        """Whether a collective is a step of serving an operation that needs nothing more.

        XLA may gather in two steps, by a permute and a sum over another axis; nothing that costs is of the second
        one's kind.
        """
        return cause.op_name in served and not any(serves(self.program, row.need, cause) for row in self.before.needs)


def _given_up(program: Propagation, collectives: Iterable[Collective]) -> frozenset[Move]:
    causes = [cause for row in collectives for cause in row.causes if cause.kind == "full_replication"]
    if not causes:
        return frozenset()
    return frozenset(
        (program.values[need.value].spec, need.target)
        for need in find_needs(program)
        if need.value is not None
        and need.target is not None
        and not need.is_sum
        and any(serves(program, need, cause) for cause in causes)
    )


def _name(program: Propagation, need: Need) -> tuple[str, str]:
    """An operation's name and what it needs: the same before and after a change."""
    return need.kind, "" if need.op is None else program.ops[need.op].op_name


def _by_name(program: Propagation, cost: Cost) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in cost.needs:
        found[_name(program, row.need)] += row.bytes
    return found


def _best_of_each(found: list[_Tried]) -> list[_Tried]:
    """The best option of each lever, without those that do less than half of what a better one does for the same."""
    kept: list[_Tried] = []
    for tried in sorted(found, key=lambda one: (one.bytes, len(one.option.edits))):
        if not any(_is_contained(tried, better) for better in kept):
            kept.append(tried)
    return kept


def _is_contained(tried: _Tried, better: _Tried) -> bool:
    own, other = tried.option.lever, better.option.lever
    if tried.work < _LESS_WORK * better.work:
        return False
    if own[0] == other[0] and (set(own[1:]) <= set(other[1:]) or set(other[1:]) <= set(own[1:])):
        return True
    return set(tried.removes) <= set(better.removes) and 2 * tried.bytes > better.bytes


def _suggestion(tried: _Tried) -> Suggestion:
    option = tried.option
    words = option.words[:1].upper() + option.words[1:]
    found = [f"holds {_size(tried.held_bytes)} of arguments"] if tried.held_bytes else []
    if abs(tried.work - 1) >= _VISIBLE_WORK:
        found.append(f"multiplies {abs(tried.work - 1):.0%} {'more' if tried.work > 1 else 'less'}")
    more = f"; each device then {' and '.join(found)}" if found else ""
    return Suggestion(
        title=option.title,
        sentence=f"{words}: this may save communication{more}.",
        change=option.edits,
        forward_bytes=tried.forward_bytes,
        backward_bytes=tried.backward_bytes,
        removes=tried.removes,
    )


def _size(size: int) -> str:
    amount, unit = float(abs(size)), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount >= 1024:
            amount, unit = amount / 1024, larger
    figure = f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
    return f"{figure} {unit} {'more' if size > 0 else 'less'}"


def compare_traffic(before: Iterable[Collective], after: Iterable[Collective]) -> Checked:
    """What the collectives of a program and of a changed one send; loops of unknown length count once."""
    kinds = [_by_kind(rows) for rows in (before, after)]
    return Checked(
        before_bytes=sum(kinds[0].values()),
        after_bytes=sum(kinds[1].values()),
        before_by_kind=tuple(sorted(kinds[0].items())),
        after_by_kind=tuple(sorted(kinds[1].items())),
    )


def _by_kind(rows: Iterable[Collective]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row.kind] += row.wire_bytes * (1 if row.count is None else row.count)
    return found
