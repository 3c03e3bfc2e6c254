"""The bytes at stake where a program needs communication: XLA is asked about the largest first.

Every need (`analyze.sharding.needs`) becomes the collective that serves it most directly, costed as in
`analyze.collectives.traffic`. No figure is shown. Not its job: compiled collectives
(`analyze.collectives.collectives`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pjit_inspect.analyze.collectives.traffic import wire_bytes
from pjit_inspect.analyze.sharding.needs import Need, find_needs, is_free
from pjit_inspect.analyze.suggest.sizes import bytes_as, local_bytes, move_bytes, widening
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, axis_name

Move = tuple[Dimensions, Dimensions]
"""A sharding that is given, and one that is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedCost:
    """One need, and the bytes a device sends per call to serve it."""

    need: Need
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The needs of a program that have a cost; the first one if several need the same move."""

    needs: tuple[NeedCost, ...]

    @property
    def bytes(self) -> int:
        """Bytes sent."""
        return sum(costed.bytes for costed in self.needs)


def cost_of(
    program: ShardedProgram, trips: Mapping[int, int], *, is_cpu: bool, given_up: Collection[Move] = ()
) -> Cost:
    """Models the cost of a program.

    Args:
      program: the program, with its shardings.
      trips: index of a loop -> its number of turns; others take one.
      is_cpu: whether XLA's CPU backend compiles it. That backend computes half precision as f32 and makes no
        reduce-scatter: it sums the whole array and cuts it.
      given_up: moves for which the partitioner gathers the whole array.
    """
    return Cost(needs=tuple(_need_costs(program, _runs(program, trips), is_cpu, given_up)))


def find_given_up(program: ShardedProgram, collectives: Iterable[Collective]) -> frozenset[Move]:
    """The moves for which XLA gathers the whole array."""
    causes = [cause for row in collectives for cause in row.causes if cause.kind == "full_replication"]
    if not causes:
        return frozenset()
    return frozenset(
        (program.values[need.value].spec, need.target)
        for need in find_needs(program)
        if need.value is not None
        and need.target is not None
        and not need.is_sum
        and any(_serves(program, need, cause) for cause in causes)
    )


def _runs(program: ShardedProgram, trips: Mapping[int, int]) -> list[int]:
    """The number of times each op runs per call."""
    runs: list[int] = []
    for op in program.ops:
        outer = 1 if op.parent is None else runs[op.parent] * trips.get(op.parent, 1)
        runs.append(outer)
    return runs


def _need_costs(
    program: ShardedProgram, runs: list[int], is_cpu: bool, given_up: Collection[Move]
) -> Iterator[NeedCost]:
    seen: set[tuple[int, Dimensions]] = set()
    sums: dict[int, NeedCost] = {}
    agreed: dict[int, NeedCost] = {}
    spared: dict[int, NeedCost] = {}
    for need in find_needs(program):
        if need.kind == "written":
            continue
        if need.is_sum:
            size = _sum_bytes(program, need, is_cpu)
        else:
            size = _moved_bytes(program, need, seen, given_up) * widening(program, need.value, is_cpu)
        if not size:
            continue
        costed = NeedCost(need=need, bytes=size * (1 if need.op is None else runs[need.op]))
        if need.op is not None and need.is_sum:
            sums[need.op] = costed
        elif need.op is not None and _is_about_a_sum(program, need):
            # Both operands are cut, but differently: one moves. One is cut and one whole: it may be gathered instead of
            # summed.
            rivals = agreed if _is_cut_on_both_sides(program, need) else spared
            rivals[need.op] = min(costed, rivals.get(need.op, costed), key=lambda one: one.bytes)
        else:
            yield costed
    # XLA either gathers the sharded operand or adds up partial sums; it is expected to take the cheaper way. Operands
    # that are sharded differently must agree first in both cases.
    yield from agreed.values()
    for op in dict.fromkeys((*sums, *spared)):
        yield min((own[op] for own in (sums, spared) if op in own), key=lambda one: one.bytes)


def _is_about_a_sum(program: ShardedProgram, need: Need) -> bool:
    """True if an array moves for nothing but dimensions that are summed over."""
    rule = program.ops[need.op].rule if need.op is not None else None
    return (
        rule is not None
        and bool(need.parts)
        and all(
            part.operand is not None and not set(rule.reduction).isdisjoint(rule.operands[part.operand][part.dimension])
            for part in need.parts
        )
    )


def _is_cut_on_both_sides(program: ShardedProgram, need: Need) -> bool:
    """True if an operand that does not move is cut over the same axes where the op sums."""
    op = program.ops[need.op] if need.op is not None else None
    rule = op.rule if op is not None else None
    if op is None or rule is None:
        return False
    moving = {part.operand for part in need.parts}
    return any(
        axis_name(axis) in need.axes and not set(rule.reduction).isdisjoint(factors)
        for number, (dimensions, value) in enumerate(zip(rule.operands, op.operands, strict=False))
        if number not in moving
        for factors, axes in zip(dimensions, program.values[value].spec, strict=False)
        for axis in axes
    )


def _serves(program: ShardedProgram, need: Need, cause: Cause) -> bool:
    """True if a cause, as far as its names tell, is this need."""
    if cause.kind not in (need.kind, "full_replication"):
        return False
    if need.op is None:
        return True
    asked = need.request.index if need.request is not None and need.request.kind == "reshard_requested" else need.op
    return cause.op_name in (program.ops[need.op].op_name, program.ops[asked].op_name)


# ---------------------------------------------------------------- sums


def _sum_bytes(program: ShardedProgram, need: Need, is_cpu: bool) -> int:
    """Bytes of all partial sums of an op; an op with several results (argmax) counts them together."""
    if need.op is None:
        return 0
    axes = need.axes - _used_otherwise(program, need.op)
    if not axes:
        return 0
    return sum(_one_sum(program, value, axes, is_cpu) for value in program.ops[need.op].results)


def _used_otherwise(program: ShardedProgram, index: int) -> set[str]:
    """Axes used by non-contracted dimensions; they cannot also shard a contracted one."""
    op = program.ops[index]
    if op.rule is None:
        return set()
    return {
        axis_name(axis)
        for factors, value in zip(op.rule.operands, op.operands, strict=False)
        for dimension, axes in zip(factors, program.values[value].spec, strict=False)
        if set(op.rule.reduction).isdisjoint(dimension)
        for axis in axes
    }


def _one_sum(program: ShardedProgram, value: int, axes: frozenset[str], is_cpu: bool) -> int:
    size = program.pieces(tuple(axes))
    kept = _kept_spec(program, value)
    cut = tuple(axis for axis in (a for dimension in kept for a in dimension) if axis_name(axis) in axes)
    partial = bytes_as(program, value, kept) * program.pieces(cut)
    partial *= widening(program, value, is_cpu)
    if cut and not is_cpu:
        parts = program.pieces(cut)
        rest = wire_bytes("all-reduce", partial // parts, size // parts) if size > parts else 0
        return wire_bytes("reduce-scatter", partial, parts) + rest
    return wire_bytes("all-reduce", partial, size)


def _kept_spec(program: ShardedProgram, value: int) -> Dimensions:
    """The sharding a sum is kept in: that of its only user if it is a constraint, or else its present one."""
    users = [program.ops[index] for index, _ in program.users.get(value, ())]
    if len(users) == 1 and users[0].kind in REQUESTS:
        return program.values[users[0].results[0]].spec
    return program.values[value].spec


# ---------------------------------------------------------------- moves


def _moved_bytes(
    program: ShardedProgram, need: Need, seen: set[tuple[int, Dimensions]], given_up: Collection[Move]
) -> int:
    value = need.value
    if value is None or is_free(program, value):
        return 0
    given = program.values[value].spec
    if need.kind == "halo":
        return _edge_bytes(program, need)
    target = need.target
    if target is None:
        lost = {(part.dimension, axis) for part in need.parts if part.value == value for axis in part.axes}
        target = tuple(tuple(a for a in axes if (d, a) not in lost) for d, axes in enumerate(given))
    target = _without_cuts_to_sum(program, need, target)
    if (value, target) in seen:
        return 0
    seen.add((value, target))
    if (given, target) in given_up:
        own = local_bytes(program, value)
        return wire_bytes("all-gather", own, program.pieces(program.values[value].axes))
    return move_bytes(program, value, given, target)


def _without_cuts_to_sum(program: ShardedProgram, need: Need, target: Dimensions) -> Dimensions:
    """The target without cuts of contracted dimensions, which only the other operand has: that one may be gathered."""
    op = program.ops[need.op] if need.op is not None else None
    numbers = {part.operand for part in need.parts} - {None}
    if op is None or op.rule is None or need.value is None or len(numbers) != 1:
        return target
    factors = op.rule.operands[numbers.pop() or 0]
    given = program.values[need.value].spec
    return tuple(
        () if not have and factors[dimension] and set(factors[dimension]) <= set(op.rule.reduction) else axes
        for dimension, (have, axes) in enumerate(zip(given, target, strict=True))
    )


def _edge_bytes(program: ShardedProgram, need: Need) -> int:
    """The rows that a window reads beyond each piece; one where their number is not known."""
    edges = 0
    rows = dict(program.ops[need.op].edges) if need.op is not None else {}
    for part in need.parts:
        if part.value == need.value:
            length = max(program.local_shape(part.value)[part.dimension], 1)
            number = rows.get(part.dimension, 1) if part.operand == 0 else 1
            lacking = max(program.values[part.value].shape[part.dimension] - length, 1)
            edges += local_bytes(program, part.value) // length * min(number, lacking)
    return edges
