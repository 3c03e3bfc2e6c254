"""Models the effect of an option: propagates shardings through the changed program and costs its needs.

The backward pass and every consequence count. Nothing is compiled, and XLA is not asked. Not its job: finding or
choosing options (`analyze.suggest.suggestions`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.sharding.needs import Need, find_needs
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.cost import Cost, Move, cost_of, serves
from pjit_inspect.analyze.suggest.option import Option, Tried
from pjit_inspect.analyze.suggest.turns import Compared
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

Try = Callable[[Sequence[Edit]], tuple[ShardedProgram, Mapping[int, int]]]
"""The changed program with its shardings, and its loops' turns. Raises CaptureError if it is unavailable."""

_MORE_PRODUCTS, _MORE_ELEMENTS = 1.1, 1.25
"""Limits on products and elements of a device, relative to before; above them a change trades one cost for another."""
_MORE_THAN_SENT = 1.05
"""Limit of a saving, relative to the bytes of the collectives it aims at; above it the model is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudge:
    """Judges options by the model, against the program as it is.

    Attributes:
      program, before: the unchanged program, and its cost.
      needs: all its needs.
      given_up: the moves for which XLA gathers a whole array.
    """

    program: ShardedProgram
    before: Cost
    needs: tuple[Need, ...]
    given_up: frozenset[Move]
    collectives: Sequence[Collective]
    try_change: Try
    is_cpu: bool

    @classmethod
    def of(cls, names: ValueNames, collectives: Sequence[Collective], try_change: Try, is_cpu: bool) -> ModelJudge:
        """The judge of a program: it is costed as it is, first."""
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

    def judge(self, option: Option) -> Tried | None:
        """Models an option; None if it is impossible, or makes a device compute more."""
        try:
            changed, trips = self.try_change(option.edits)
        except CaptureError:
            return None
        after = cost_of(changed, trips, is_cpu=self.is_cpu, given_up=self.given_up)
        compared = self.before.compared(after)
        if compared is None or self._costs_elsewhere(compared, after):
            return None
        aims = self._aimed_at(_by_name(changed, after))
        tried = Tried(
            option=option,
            forward_bytes=after.forward_bytes - self.before.forward_bytes,
            backward_bytes=after.backward_bytes - self.before.backward_bytes,
            removes=tuple(row.instructions[0] for row in aims),
            held_bytes=after.held_bytes - self.before.held_bytes,
            work=compared.products.ratios,
            parts=compared.sent,
        )
        return (
            None
            if -tried.bytes > _MORE_THAN_SENT * sum((row.wire_bytes or 0) * (row.count or 1) for row in aims)
            else tried
        )

    def _costs_elsewhere(self, compared: Compared, after: Cost) -> bool:
        """Whether a device computes more, or more operands are cut in ways with unpredictable outcomes."""
        return (
            compared.products.may_grow(_MORE_PRODUCTS)
            or compared.made.may_grow(_MORE_ELEMENTS)
            or after.at_odds > self.before.at_odds
        )

    def _aimed_at(self, left: Counter[tuple[str, str]]) -> list[Collective]:
        """The collectives of the needs that send less than before."""
        saved = _by_name(self.program, self.before) - left
        needs = [row.need for row in self.before.needs if saved[_name(self.program, row.need)] > 0]
        # One gather serves every op that needs the same; XLA may have named it after another of these ops.
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


def _given_up(program: ShardedProgram, collectives: Iterable[Collective]) -> frozenset[Move]:
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


def _name(program: ShardedProgram, need: Need) -> tuple[str, str]:
    """An operation's name and its kind of need: the same before and after a change."""
    return need.kind, "" if need.op is None else program.ops[need.op].op_name


def _by_name(program: ShardedProgram, cost: Cost) -> Counter[tuple[str, str]]:
    by_name: Counter[tuple[str, str]] = Counter()
    for row in cost.needs:
        by_name[_name(program, row.need)] += row.bytes
    return by_name
