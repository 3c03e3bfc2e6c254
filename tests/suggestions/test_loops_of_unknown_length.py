"""Where nobody knows how often a loop turns, a change is suggested only if it helps for any number of turns.

Figures by hand, on 8 devices: an all-gather sends V * 7 of a shard of V bytes, an all-reduce 2 V * 7/8. `w` is 512 x
512 floats, 1 MiB: its gather sends 7 * 128 = 896 KiB.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.model.report.suggestion import Checked, Edit

KIB = 1024
LOOP = "the loop of unknown length"


def array(rows: int, *spec: Any) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    return jax.ShapeDtypeStruct((rows, 512), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def turned(w: jax.Array, h: jax.Array, n: Any) -> jax.Array:
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.tanh(c[1] @ w)), (0, h))[1]


def solve(w: jax.Array, v: jax.Array, h: jax.Array, n: Any) -> Any:
    return turned(w, h, n), w @ v


def inspected(function: Any, *arguments: Any) -> Any:
    return pi.inspect(jax.jit(function), *arguments)


@pytest.fixture(scope="module")
def attacked() -> Any:
    """Columns of `w`: outside it is gathered (896 KiB); in each turn the 16 rows of `h` are, 4 KiB * 7.

    With its rows nothing is gathered outside, and a sum is made in each turn: 2 * 32 KiB * 7/8 = 56 KiB. It multiplies
    8 times less outside, and as much in each turn.
    """
    n = jax.ShapeDtypeStruct((), jnp.int32)
    return inspected(solve, array(512, None, "data"), array(512), array(16, None, "data"), n)


def by_spec(record: Any, spec: str) -> Any:
    return next((one for one in record.suggestions if f"pass `w` as {spec}" in one.title), None)


def test_what_sends_more_in_each_turn_is_not_suggested(attacked: Any) -> None:
    assert by_spec(attacked, "P('data', None)") is None
    assert not [one for one in attacked.findings if one.tried is not None and one.tried.verdict != "helps"]


def test_what_saves_outside_of_the_loop_says_so(attacked: Any) -> None:
    one = by_spec(attacked, "P(None, None)")
    assert f"send 896 KiB less per call outside of {LOOP}, and as much as before in each of its turns;" in one.sentence
    assert one.counted == Checked(
        before_bytes=924 * KIB,
        after_bytes=28 * KIB,
        before_by_kind=(("all-gather", 924 * KIB),),
        after_by_kind=(("all-gather", 28 * KIB),),
        per_turn=((28 * KIB, 28 * KIB),),
    )
    assert str(one.check()).endswith(
        f"tried: -896 KiB (896 KiB -> 0 B) per device per call outside of {LOOP}, the same 28 KiB in each of its turns "
        "(modelled, ring)"
    )


def test_compiled_it_says_for_how_many_turns_it_sends_less(attacked: Any) -> None:
    one = by_spec(attacked, "P(None, None)")
    checked = one._trials.check((Edit(kind="argument", index=0, spec=(("data",), ())),))
    # 896 KiB are saved outside, and 28 KiB more are sent in each turn: with 32 turns that is as much.
    assert checked.verdict == "depends"
    assert str(checked) == (
        f"tried: -896 KiB (896 KiB -> 0 B) per device per call outside of {LOOP}, +28 KiB (28 KiB -> 56 KiB) in each "
        "of its turns (modelled, ring), less only if it takes fewer than 32 turns"
    )


def test_what_saves_in_both_parts_names_both() -> None:
    """Rows of `w` are summed over: 2 * 32 KiB * 7/8 = 56 KiB for each product. Columns need `h` whole, 28 KiB."""
    n = jax.ShapeDtypeStruct((), jnp.int32)
    record = inspected(
        lambda w, x, h, n: (turned(w, h, n), x @ w), array(512, "data"), array(16), array(16, None, "data"), n
    )
    one = by_spec(record, "P(None, 'data')")
    assert f"send 56 KiB less per call outside of {LOOP}, and 28 KiB less in each of its turns" in one.sentence
    checked = one.check().checked
    assert checked.verdict == "helps"
    assert (checked.outside_bytes, checked.per_turn) == ((56 * KIB, 0), ((56 * KIB, 28 * KIB),))
    assert "-28 KiB (56 KiB -> 28 KiB) in each of its turns (modelled, ring)" in str(checked)


def test_what_xla_gathers_before_the_loop_is_said_to_move() -> None:
    n = jax.ShapeDtypeStruct((), jnp.int32)
    record = inspected(lambda w, h, n: (turned(w, h, n), h @ w.T), array(512, None, "data"), array(512, "data"), n)
    one = by_spec(record, "P(None, None)")
    assert "and 896 KiB less in each of its turns, before XLA moves what it can out of it;" in one.sentence
    # No turn changes `w`: compiled, it is gathered once for the loop, whatever its length.
    assert (one.check().checked.before_bytes, one.check().checked.per_turn) == (2 * 896 * KIB, ())


def test_where_all_counts_are_known_nothing_is_said_of_turns() -> None:
    record = inspected(
        lambda w, v, h: (lax.fori_loop(0, 10, lambda _, c: jnp.tanh(c @ w), h), w @ v),
        array(512, None, "data"),
        array(512),
        array(16, None, "data"),
    )
    one = by_spec(record, "P('data', None)")
    # 896 + 10 * 28 KiB -> 10 * 56 KiB.
    assert one.sentence == (
        "Pass `w` as `P('data', None)` instead of `P(None, 'data')`: XLA's partitioner then makes each device send "
        "616 KiB less per call; each device then multiplies 84% less."
    )
    assert str(one.check()).endswith("tried: -616 KiB (1.15 MiB -> 560 KiB) per device per call (modelled, ring)")
    assert not one.is_one_turn


def test_programs_that_are_compared_carry_the_condition(attacked: Any) -> None:
    """What is sent falls by 94 % in one turn of the loop, and grows with more than 32."""
    n = jax.ShapeDtypeStruct((), jnp.int32)
    rows = inspected(solve, array(512, "data"), array(512), array(16, None, "data"), n)
    once = " if each loop of unknown length takes one turn"
    answer = " ".join(str(pi.diff(attacked, rows)).split())
    assert f"sends 924.00 -> 56.00 KiB per device (-94 %){once};" in answer
    asked = attacked.what_if(specs={"w": PartitionSpec("data", None)})
    assert "what is sent in loops of unknown length counts once" in str(asked.show("text"))
    play = attacked.playground()
    play.set(specs={"w": PartitionSpec("data", None)})
    play.wait()
    assert play.variant.runs_once
    assert "; what is in loops of unknown length counts once" in " ".join(str(play.show()).split())
    play.close()
