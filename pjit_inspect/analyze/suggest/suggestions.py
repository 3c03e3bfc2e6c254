"""Changes that save communication, each with its cost.

Options are tried before they are offered: XLA's partitioner runs on the changed and on the unchanged program, and both
results are counted. Only the few options that save a noticeable part, and make no device compute much more, are kept.
Not its job: compiling a changed program to the end (`Suggestion.check`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.arguments import ArgumentOptions
from pjit_inspect.analyze.suggest.constraints import ConstraintOptions
from pjit_inspect.analyze.suggest.cost import Cost, Move, cost_of, find_given_up
from pjit_inspect.analyze.suggest.counts import Counts
from pjit_inspect.analyze.suggest.option import Option, Tried
from pjit_inspect.analyze.suggest.turns import LoopsOf, Parts
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked, Edit, Suggestion
from pjit_inspect.model.words.sentence import bytes_in_words

__all__ = ["Count", "compare_traffic", "find_suggestions"]

Count = Callable[[Sequence[Edit]], Counts]
"""Counts in the output of XLA's partitioner for the changed program. Raises CaptureError if it gives no answer."""

_MOST_TRIES = 24
_MOST_LOST = 5
_MOST = 6
_NOTICEABLE = 0.01
"""Smallest saving, as a share of the bytes a program sends, that counts."""
_VISIBLE_WORK = 0.005
_PRICED = 0.9
"""Weight of a saving for which devices hold or multiply more; a saving that costs nothing has weight 1."""
_LESS_WORK = 0.9
"""An option with fewer multiplications than this share of another option's is not part of that option."""


def find_suggestions(
    names: ValueNames,
    collectives: Sequence[Collective],
    trips: Mapping[int, int],
    *,
    is_cpu: bool,
    is_explicit: bool = False,
    count: Count,
) -> tuple[Suggestion, ...]:
    """At most six changes, the largest saving first; () if none saves a noticeable part, or XLA gives no answer.

    Args:
      names: the program, and the names of its values.
      collectives: the collectives of the compiled program, with their causes.
      trips: index of a loop of the program -> its number of turns.
      is_cpu: whether XLA's CPU backend compiles it.
      is_explicit: whether the types of its arrays have shardings (Explicit axes).
      count: asks XLA's partitioner.
    """
    judge = _CountingJudge.of(count, collectives)
    if judge is None:
        return ()
    given_up = find_given_up(names.program, collectives)
    cost = cost_of(names.program, trips, is_cpu=is_cpu, given_up=given_up)
    options = _Options.of(names, cost, given_up, is_explicit)
    # Likely options come first: the time for asking is bounded.
    judged = [judge.judge(option) for option in (*options.likely, *options.staked)]
    floor = _NOTICEABLE * judge.before.bytes
    # The number of turns of some loops is unknown: a change kept here helps for any number.
    helping = [one for one in judged if one is not None and -one.bytes > floor and not one.parts.may_grow()]
    in_turns = sum(row.wire_bytes or 0 for row in collectives if row.count is None)
    return tuple(_suggestion(one, in_turns) for one in _best_of_each(helping)[:_MOST])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """Options worth trying, each change once.

    Attributes:
      staked: options with enough bytes at stake, most first.
      likely: options that often help although no bytes are at stake.
    """

    staked: tuple[Option, ...]
    likely: tuple[Option, ...]

    @classmethod
    def of(cls, names: ValueNames, before: Cost, given_up: Collection[Move], is_explicit: bool) -> _Options:
        program = names.program
        constraints = ConstraintOptions(program, names)
        foreseen, likely = list(constraints.hops(before, given_up)), []
        if not is_explicit:
            # In Explicit mode the types of all ops follow those of the arguments: an edit of one place gives no valid
            # program.
            foreseen += [*ArgumentOptions(program).find(before), *constraints.find(before)]
            likely = list(constraints.kept_axes(_MOST_LOST))
        once = {frozenset(option.edits): option for option in reversed(foreseen)}
        floor = _NOTICEABLE * before.bytes
        worth = [option for option in reversed(once.values()) if option.stake > floor]
        staked = sorted(worth, key=lambda option: -option.stake)[:_MOST_TRIES]
        known = {frozenset(option.edits) for option in staked}
        return cls(staked=tuple(staked), likely=tuple(one for one in likely if frozenset(one.edits) not in known))


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountingJudge:
    """Judges options by counts in the output of XLA's partitioner; `before` is the unchanged program."""

    before: Counts
    count: Count
    collectives: Sequence[Collective]

    @classmethod
    def of(cls, count: Count, collectives: Sequence[Collective]) -> _CountingJudge | None:
        """Builds the judge; None if XLA's partitioner cannot be asked about the unchanged program."""
        try:
            return cls(before=count(()), count=count, collectives=collectives)
        except CaptureError:
            return None

    def judge(self, option: Option) -> Tried | None:
        """Counts an option; None if its program is impossible, or a device computes more."""
        try:
            after = self.count(option.edits)
        except CaptureError:
            return None
        before, traded = self.before, self.before.traded(after)
        if traded is None:
            return None
        compared, counted = traded
        gone = before.channels_not_in(after)
        return Tried(
            option=option,
            forward_bytes=after.forward_bytes - before.forward_bytes,
            backward_bytes=after.backward_bytes - before.backward_bytes,
            removes=tuple(row.instructions[0] for row in self.collectives if row.channel_id in gone),
            held_bytes=after.held_bytes - before.held_bytes,
            work=compared.products.ratios,
            parts=compared.sent,
            counted=counted,
        )


def _best_of_each(found: list[Tried]) -> list[Tried]:
    """The best of mutually exclusive options, without those that do less than half of what a better one does."""
    kept: list[Tried] = []
    for tried in sorted(found, key=lambda one: (one.bytes * (_PRICED if one.is_priced else 1), len(one.option.edits))):
        if not any(_is_contained(tried, better) for better in kept):
            kept.append(tried)
    return kept


def _is_contained(tried: Tried, better: Tried) -> bool:
    own, other = tried.option.exclusive_with, better.option.exclusive_with
    if tried.work[0] < _LESS_WORK * better.work[0]:
        return False
    if own[0] == other[0] and (set(own[1:]) <= set(other[1:]) or set(other[1:]) <= set(own[1:])):
        return True
    return set(tried.removes) <= set(better.removes) and 2 * tried.bytes > better.bytes


def _suggestion(tried: Tried, in_turns: int) -> Suggestion:
    """`in_turns`: bytes the compiled program sends in one turn of each loop of unknown length."""
    option = tried.option
    words = option.words[:1].upper() + option.words[1:]
    prices = [f"holds {_change(tried.held_bytes)} of arguments"] if tried.held_bytes else []
    if any(abs(work - 1) >= _VISIBLE_WORK for work in tried.work):
        prices.append(f"multiplies {_work_words(tried.work)}")
    saves = f"XLA's partitioner then makes each device send {_sent_words(tried.parts, in_turns)}"
    more = f"; each device then {' and '.join(prices)}" if prices else ""
    return Suggestion(
        title=option.title,
        sentence=f"{words}: {saves}{more}.",
        change=option.edits,
        forward_bytes=tried.forward_bytes,
        backward_bytes=tried.backward_bytes,
        removes=tried.removes,
        price=" and ".join(prices),
        counted=tried.counted,
        is_one_turn=len(tried.parts.rows) > 1,
    )


def _sent_words(parts: Parts, in_turns: int) -> str:
    """Words for the saving per call; with loops of unknown length, also the part that is saved."""
    outside, *inside = (after - before for before, after in parts.rows)
    if not inside:
        return f"{_change(outside)} per call"
    one, turns = len(inside) == 1, sum(inside)
    loops = "the loop of unknown length" if one else f"{len(inside)} loops of unknown length"
    each = "in each of its turns" if one else "in all for a turn of each"
    # Before optimization: later XLA moves gathers of unchanging arrays out of the loop.
    moved = f", before XLA moves what it can out of {'it' if one else 'them'}" if -turns > in_turns else ""
    if not turns:
        return f"{_change(outside)} per call outside of {loops}, and as much as before {each}"
    if not outside:
        each = f"in each turn of {loops}" if one else f"in all for a turn of each of {loops}"
        return f"{_change(turns)} {each}{moved}"
    condition = f": less if {'it' if one else 'each'} takes a turn" if outside > 0 else ""
    return f"{_change(outside)} per call outside of {loops}, and {_change(turns)} {each}{moved}{condition}"


def _work_words(work: tuple[float, float]) -> str:
    least, most = work
    if f"{least:.0%}" == f"{most:.0%}":
        return _times(most)
    by = ", by how many turns are taken of loops of unknown length"
    if abs(most - 1) < _VISIBLE_WORK:
        return f"up to {_times(least)}{by}"
    if abs(least - 1) < _VISIBLE_WORK:
        return f"up to {_times(most)}{by}"
    return f"from {_times(least)} to {_times(most)}{by}"


def _times(work: float) -> str:
    return f"{abs(work - 1):.0%} {'more' if work > 1 else 'less'}"


def _change(size: int) -> str:
    return f"{bytes_in_words(abs(size))} {'more' if size > 0 else 'less'}"


def compare_traffic(
    before: Iterable[Collective], after: Iterable[Collective], modules: tuple[HloModule, HloModule] | None = None
) -> Checked:
    """Compares the traffic of a program's collectives with that of a changed program.

    Args:
      before: the collectives of the program.
      after: the collectives of the changed program.
      modules: both programs, to find collectives in loops of unknown length; None if unavailable: then these
        collectives count once.
    """
    sides = tuple(before), tuple(after)
    if all(row.count is not None for side in sides for row in side):
        return _checked([[(row, row.count or 0) for row in side] for side in sides], ())
    loops = [] if modules is None else [LoopsOf(module) for module in modules]
    if not all(loops) or not loops:
        return _checked([[(row, 1 if row.count is None else row.count) for row in side] for side in sides], None)
    turns = [[own.turns_of_row(row) for row in side] for own, side in zip(loops, sides, strict=True)]
    figures = [
        own.add_up((turn, row.wire_bytes or 0) for turn, row in zip(turning, side, strict=True))
        for own, turning, side in zip(loops, turns, sides, strict=True)
    ]
    parts = Parts.of(figures[0], figures[1])
    counts = [
        [(row, sum(turn.values())) for turn, row in zip(turning, side, strict=True)]
        for turning, side in zip(turns, sides, strict=True)
    ]
    return _checked(counts, None if parts is None else parts.rows[1:])


def _checked(
    sides: Sequence[Sequence[tuple[Collective, int]]], per_turn: tuple[tuple[int, int], ...] | None
) -> Checked:
    kinds = [_by_kind(rows) for rows in sides]
    return Checked(
        before_bytes=sum(kinds[0].values()),
        after_bytes=sum(kinds[1].values()),
        before_by_kind=tuple(sorted(kinds[0].items())),
        after_by_kind=tuple(sorted(kinds[1].items())),
        per_turn=per_turn,
    )


def _by_kind(rows: Sequence[tuple[Collective, int]]) -> Counter[str]:
    sent: Counter[str] = Counter()
    for row, count in rows:
        sent[row.kind] += (row.wire_bytes or 0) * count
    return sent
