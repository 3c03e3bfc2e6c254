"""A reshard in several collectives is one: each is a step of it, from what the array has to what its taker wants."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from causes.meshes import CUBE, array, named

import pjit_inspect as pi
from pjit_inspect.analyze.causes.match import Match
from pjit_inspect.analyze.causes.need_finder import NeedFinder
from pjit_inspect.model.sharding.sharded_program import (
    EntryValue,
    PartitionedCollective,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    Taker,
)

BOTH, ONE = ((("y", "z"), ()), (("x",), ()))
GATHER = PartitionedCollective(
    kind="all-gather",
    dtype="f32",
    groups=((0, 2), (1, 3), (4, 6), (5, 7)),
    makers=(0,),
    made_shape=(4, 4),
    given_shape=(4, 4),
    takers=(Taker(op=0, operand=0, shape=(8, 4)),),
)
PERMUTE = replace(
    GATHER,
    kind="collective-permute",
    groups=((0, 0), (4, 1), (1, 2), (5, 3), (2, 4), (6, 5), (3, 6), (7, 7)),
    feeds=(1,),
)
"""From P(("y", "z")) to P("x"): to P(("x", "y")), and then over y."""


def program(*collectives: PartitionedCollective, ops: int = 1) -> ShardedProgram:
    """A constraint that takes `x` from P(("y", "z")) to P("x"), or several."""
    asked = [ShardedOp(opcode="hlo.sharding_constraint", operands=(0,), results=(k + 1,)) for k in range(ops)]
    return ShardedProgram(
        ops=tuple(asked),
        values=(
            ShardedValue(dtype="f32", shape=(16, 4), spec=BOTH, argument=0),
            *(ShardedValue(dtype="f32", shape=(16, 4), spec=ONE, op=k) for k in range(ops)),
        ),
        inputs=(EntryValue(name="x", value=0, spec=BOTH),),
        meshes=({"x": 2, "y": 2, "z": 2},),
        collectives=collectives,
    )


def found(own: ShardedProgram) -> list[Match]:
    axes = {"all-gather": ("y",), "all-reduce": ("x",), "collective-permute": ("x", "y", "z")}
    finder = NeedFinder(own)
    return [finder.find(edge, axes[edge.kind]) for edge in own.collectives]


def test_both_steps_have_the_need_of_the_taker_and_both_ends() -> None:
    matches = found(program(PERMUTE, GATHER))
    assert [match.step for match in matches] == [(1, 2), (2, 2)]
    assert [(match.had, match.wanted) for match in matches] == [(BOTH, ONE)] * 2
    assert matches[0].need == matches[1].need
    assert all(match.taker == GATHER.takers[0] and match.taken == 0 for match in matches)


def test_a_step_over_axes_that_the_array_never_had_has_the_same_need() -> None:
    over_x = replace(GATHER, groups=((0, 4), (1, 5), (2, 6), (3, 7)))
    own = program(PERMUTE, over_x)
    match = NeedFinder(own).find(own.collectives[1], ("x",))
    assert match.need is not None
    assert match.need.kind == "reshard_requested"


def test_what_cannot_lead_to_the_sharding_that_is_wanted_is_no_step() -> None:
    over_x = replace(GATHER, groups=((0, 4), (1, 5), (2, 6), (3, 7)))
    own = program(PERMUTE, over_x)
    assert NeedFinder(own).find(own.collectives[1], ("x",)).step is None


def test_one_that_lies_alone_is_no_step() -> None:
    (match,) = found(program(GATHER))
    assert match.step is None


def test_collectives_beside_each_other_are_no_steps() -> None:
    matches = found(program(replace(PERMUTE, feeds=()), GATHER))
    assert [match.step for match in matches] == [None, None]


def test_a_sum_is_no_step_of_what_moves_afterwards() -> None:
    matches = found(program(replace(GATHER, kind="all-reduce", feeds=(1,)), GATHER))
    assert [match.step for match in matches] == [None, None]


def test_what_goes_to_another_on_the_way_is_a_step_for_its_own_taker() -> None:
    other = replace(PERMUTE, takers=(*PERMUTE.takers, Taker(op=1, operand=0, shape=(4, 4))))
    matches = found(program(other, GATHER, ops=2))
    assert [match.step for match in matches] == [(1, 2), (2, 2)]


def test_where_a_way_forks_no_step_is_counted() -> None:
    matches = found(program(replace(PERMUTE, feeds=(1, 2)), replace(GATHER, feeds=(3,)), GATHER, GATHER))
    assert [match.step for match in matches] == [None] * 4


def test_where_ways_come_together_no_step_is_counted() -> None:
    first = replace(PERMUTE, feeds=(2,))
    matches = found(program(first, first, replace(GATHER, feeds=(3,)), GATHER))
    assert [match.step for match in matches] == [None] * 4


def test_no_intermediate_sharding_is_wanted_by_anybody() -> None:
    def model(v: jax.Array) -> jax.Array:
        v = jax.lax.with_sharding_constraint(v * 2, named(("fsdp", "tp"), None, mesh=CUBE))
        return jax.lax.with_sharding_constraint(jnp.sin(v), named("data", None, mesh=CUBE)) + 1

    record = pi.inspect(model, array((16, 4), mesh=CUBE))
    own = record.propagation
    assert own is not None
    finder = NeedFinder(own)
    matches = [finder.find(edge, None) for edge in own.collectives]
    if len(matches) < 2:
        pytest.skip("this version of XLA brings it there in one")
    ends = {(match.had, match.wanted) for match in matches}
    assert ends == {((("fsdp", "tp"), ()), (("data",), ()))}
    assert [match.step for match in matches] == [(k + 1, len(matches)) for k in range(len(matches))]
    assert all("P('tp', None)" not in cause.sentence for row in record.collectives for cause in row.causes)
