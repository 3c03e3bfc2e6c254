"""Who made a collective of manual code: its user, differentiation, or nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from causes.meshes import LINE, array
from causes.told import another_before_jax_0_10
from jax.sharding import PartitionSpec

import pjit_inspect as pi
from pjit_inspect.analyze.causes.written import WrittenFinder
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.report.cause import Cause

SPLIT, WHOLE = PartitionSpec("x"), PartitionSpec()
RING = [(k, (k + 1) % 8) for k in range(8)]
X = array((16, 8), "x", mesh=LINE)


def by(function: Callable, *arguments: object, axes: tuple[str, ...] = ("x",)) -> list[tuple[str, str, str]]:
    """Each collective of a program: its kind, who made it, and the name of the operand whose gradient it sums."""
    program = pi.inspect(function, *arguments).propagation
    assert program is not None
    names = ValueNames(program)
    finder = WrittenFinder(names)
    found = []
    for op in finder.collectives:
        written = finder.find([op], axes)
        operand = "" if written.operand is None else str(names.value(written.operand))
        found.append((program.ops[op].kind, written.by, operand))
    return found


def causes(function: Callable, *arguments: object) -> list[Cause]:
    return [cause for row in pi.inspect(function, *arguments).collectives for cause in row.causes]


def summed(function: Callable) -> Callable:
    return lambda *arguments: jnp.sum(function(*arguments) ** 2)


def manual(function: Callable, *, in_specs: object, out_specs: object = SPLIT, typed: bool = True) -> Callable:
    return jax.shard_map(function, mesh=LINE, in_specs=in_specs, out_specs=out_specs, check_vma=typed)


@jax.custom_vjp
def ring(x: jax.Array) -> jax.Array:
    return ring_forward(x)[0]


def ring_forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return x + jax.lax.ppermute(x, "x", RING), x


def ring_backward(x: jax.Array, g: jax.Array) -> tuple[jax.Array]:
    total = jax.lax.psum(jnp.sum(g * x), "x")
    return (g + jax.lax.ppermute(g, "x", RING) * total,)


ring.defvjp(ring_forward, ring_backward)


@jax.custom_vjp
def both(x: jax.Array) -> jax.Array:
    return both_forward(x)[0]


def both_forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.lax.psum(x * x, "x"), x


def both_backward(x: jax.Array, g: jax.Array) -> tuple[jax.Array]:
    return (2 * x * jax.lax.psum(g, "x"),)


both.defvjp(both_forward, both_backward)


def test_of_a_hand_written_rule_only_its_pass_is_known() -> None:
    gradient = jax.grad(summed(manual(ring, in_specs=SPLIT, typed=False)))
    kinds = {(kind, who) for kind, who, _ in by(gradient, X)}
    assert kinds == {
        ("collective_permute", "user"),
        ("collective_permute", "backward"),
        ("all_reduce", "backward"),
    }


def test_so_it_is_where_the_rule_calls_the_same_as_the_function() -> None:
    gradient = jax.grad(summed(manual(both, in_specs=SPLIT, out_specs=WHOLE, typed=False)))
    assert [who for _, who, _ in by(gradient, X)] == ["user", "backward"]


def test_the_sentence_of_a_hand_written_rule_does_not_speak_of_differentiation() -> None:
    gradient = jax.grad(summed(manual(lambda x: ring(x) * 2, in_specs=SPLIT, typed=False)))
    told = [cause.sentence for cause in causes(gradient, X) if cause.phase == "backward"]
    assert told
    assert all("runs in the backward pass of the code at test_written.py:" in text for text in told)


@jax.custom_gradient
def gathered(w: jax.Array) -> tuple[jax.Array, Callable]:
    def backward(g: jax.Array) -> jax.Array:
        return jax.lax.psum_scatter(g, "x", scatter_dimension=0, tiled=True) / 8

    return jax.lax.all_gather(w, "x", axis=0, tiled=True), backward


def test_collectives_of_one_line_tell_which_array_each_takes() -> None:
    def loss(ws: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        for w in jax.tree.leaves(jax.tree.map(gathered, ws)):
            x = jnp.tanh(x @ w)
        return jnp.sum(x)

    weight = array((8, 8), "x", mesh=LINE)
    gradient = manual(jax.grad(loss), in_specs=SPLIT, typed=False)
    takes = {cause.sentence.partition("It takes ")[2] for cause in causes(gradient, {"a": weight, "b": weight}, X)}
    of = "the gradient of the gathered `ws['{}']` in `x @ w` (line 116)."
    assert takes == {"`ws['a']`.", "`ws['b']`.", of.format("a"), of.format("b")}


def test_what_has_its_counterpart_at_the_same_text_is_made_by_differentiation() -> None:
    def body(x: jax.Array) -> jax.Array:
        y = jax.lax.ppermute(jnp.sin(x), "x", RING)
        z = jax.lax.all_gather(jnp.tanh(y), "x")
        q = jax.lax.psum_scatter(jnp.sin(z), "x")
        return jnp.sin(y) * q + jnp.sum(jnp.cos(jax.lax.all_to_all(jnp.exp(z), "x", 0, 0)))

    gradient = jax.grad(summed(manual(body, in_specs=SPLIT, typed=False)))
    found = by(gradient, X)
    kinds = {"collective_permute", "all_gather", "reduce_scatter", "all_to_all"}
    assert {kind for kind, who, _ in found if who == "user"} == kinds
    assert {kind for kind, who, _ in found if who == "transpose"} == kinds
    assert len(found) == 8


@another_before_jax_0_10
def test_what_is_computed_again_is_what_the_user_wrote() -> None:
    body = jax.checkpoint(lambda x: jnp.sin(jax.lax.all_gather(jnp.sin(x), "x")).sum(0))
    gradient = jax.grad(summed(manual(body, in_specs=SPLIT, typed=False)))
    assert {(kind, who) for kind, who, _ in by(gradient, X)} == {
        ("all_gather", "user"),
        ("reduce_scatter", "transpose"),
    }


def replicated(x: jax.Array, w: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w + b) * c


WEIGHTS = array((8, 8), mesh=LINE), array((8,), mesh=LINE), array((8,), mesh=LINE)
IN_SPECS = SPLIT, WHOLE, WHOLE, WHOLE


def test_the_gradient_of_a_replicated_operand_is_summed_where_a_shard_map_ends() -> None:
    def loss(x: jax.Array, w: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
        return summed(manual(replicated, in_specs=IN_SPECS, typed=False))(x, w, b, c)

    found = by(jax.grad(loss, argnums=(1, 2, 3)), X, *WEIGHTS)
    assert sorted(found) == [("all_reduce", "spread", f"`{name}`") for name in "bcw"]


def test_with_types_of_replication_it_is_summed_where_the_operand_is_used() -> None:
    def loss(x: jax.Array, w: jax.Array, b: jax.Array, c: jax.Array) -> jax.Array:
        return summed(manual(replicated, in_specs=IN_SPECS))(x, w, b, c)

    found = by(jax.grad(loss, argnums=(1, 2, 3)), X, *WEIGHTS)
    assert sorted(found) == [("all_reduce", "spread", f"`{name}`") for name in "bcw"]


def test_of_layers_in_a_loop_none_is_told_for_another() -> None:
    def body(layers: list[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
        for w, b in layers:
            x = jnp.tanh(x @ w + b)
        return x

    def loss(layers: list[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
        return summed(manual(body, in_specs=(WHOLE, SPLIT)))(layers, x)

    program = pi.inspect(jax.grad(loss), [WEIGHTS[:2]] * 2, X).propagation
    assert program is not None
    names = ValueNames(program)
    finder = WrittenFinder(names)
    ops = [op for op in finder.collectives if program.ops[op].kind == "all_reduce"]
    operands = [finder.find([op], ("x",)).operand for op in ops]
    # XLA has the sums in the order of the results; nothing tells which of several a bias is.
    assert ["" if own is None else str(names.value(own)) for own in operands] == [
        "`layers[0][0]`",
        "",
        "`layers[1][0]`",
        "",
    ]


def test_of_a_loop_an_array_on_the_way_is_not_told_as_the_argument() -> None:
    def loss(ws: list[jax.Array], x: jax.Array) -> jax.Array:
        def body(ws: list[jax.Array], x: jax.Array) -> jax.Array:
            for w in ws:
                x = x + jax.lax.psum(jnp.tanh(x @ w) @ w.T, "x")
            return x

        return summed(manual(body, in_specs=(PartitionSpec(None, "x"), WHOLE), out_specs=WHOLE))(ws, x)

    found = by(jax.grad(loss), [array((8, 16), None, "x", mesh=LINE)] * 2, array((16, 8), mesh=LINE))
    (spread,) = (operand for _, by_whom, operand in found if by_whom == "spread")
    assert spread.startswith("`add`")


def test_the_operand_and_the_way_out_are_told() -> None:
    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        return summed(manual(lambda x, w: jnp.tanh(x @ w), in_specs=(SPLIT, WHOLE), typed=False))(x, w)

    (cause,) = causes(jax.grad(loss, argnums=1), X, WEIGHTS[0])
    assert cause.sentence.startswith("`psum` adds up the gradient of `w`, which all devices have alike, over `x` at ")
    way_out = " To add up later, pass it broadcast along a new dimension that `in_specs` split over `x`."
    assert cause.sentence.endswith(way_out)
    assert cause.moved == "`w`"


def test_within_the_shard_map_there_is_no_such_way_out() -> None:
    def body(x: jax.Array, w: jax.Array) -> jax.Array:
        return w - jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)

    (cause,) = causes(manual(body, in_specs=(SPLIT, WHOLE), out_specs=WHOLE), X, WEIGHTS[0])
    assert cause.sentence.startswith("`psum` adds up the gradient of `w`, which all devices have alike, over `x` at ")
    assert "in_specs" not in cause.sentence


def test_where_several_fit_and_are_of_several_makers_nothing_is_said_of_who_made_them() -> None:
    program = pi.inspect(jax.grad(summed(manual(ring, in_specs=SPLIT, typed=False))), X).propagation
    assert program is not None
    finder = partial(WrittenFinder(ValueNames(program)).find, axes=("x",))
    assert {finder([op]).by for op in WrittenFinder(ValueNames(program)).collectives} == {"user", "backward"}
    assert finder(WrittenFinder(ValueNames(program)).collectives).by == "backward"
    assert finder(()).by == "backward"
