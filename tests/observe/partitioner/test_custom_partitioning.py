"""Programs that Python functions of the user's process split: their rules are asked there, and never elsewhere."""

from __future__ import annotations

import gc
import os

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.observe.partitioner import service

MESH = jax.make_mesh((2, 4), ("d", "m"), axis_types=(AxisType.Auto,) * 2)
asked_in: list[int] = []
"""The processes in which the partition rule was asked."""


def on(*spec: str | None) -> NamedSharding:
    return NamedSharding(MESH, P(*spec))


@custom_partitioning
def dot(x, w):
    return x @ w


def partition(mesh, arguments, result):
    asked_in.append(os.getpid())
    return mesh, lambda x, w: jax.lax.psum(x @ w, "m"), on("d", None), (on("d", "m"), on("m", None))


dot.def_partition(partition=partition, sharding_rule="a b, b c -> a c", reduction_factors=("b",))


def array(*spec: str | None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((16, 16), jnp.float32, sharding=on(*spec))


def model(x, w):
    return (dot(x, w) * 2).sum(0)


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    return pi.inspect(jax.jit(model), array("d", "m"), array(None, "m"))


def sentences(record: pi.CompileRecord) -> list[str]:
    return [str(cause.sentence) for row in record.collectives for cause in row.causes]


def test_a_collective_of_a_rule_is_told_by_its_line_there_and_its_call(record: pi.CompileRecord) -> None:
    line = partition.__code__.co_firstlineno + 2
    (told,) = (text for text in sentences(record) if "psum" in text)
    call = model.__code__.co_firstlineno + 1
    assert told.startswith(f"`psum` at {os.path.basename(__file__)}:{line} is a collective in the partition rule of ")
    assert told.endswith(f"`dot(x, w)` ({os.path.basename(__file__)}:{call}).")


def test_what_a_rule_wants_of_an_operand_is_asked_by_it(record: pi.CompileRecord) -> None:
    (told,) = (text for text in sentences(record) if "asks" in text)
    assert told.startswith("`partition` of `dot(x, w)` (")
    assert told.endswith("asks for `P('m', None)`, but `w` is `P(None, 'm')`.")


def test_only_what_a_rule_has_is_written_and_the_rest_is_the_partitioners(record: pi.CompileRecord) -> None:
    written = [row for row in record.collectives if row.implicit is False]
    assert [(row.kind, row.axes) for row in written] == [("all-reduce", ("m",))]
    assert [row.kind for row in record.collectives if row.implicit] == ["all-to-all", "all-reduce"]
    assert any("reduces dimension 0" in text for text in sentences(record))


def test_the_sharding_of_every_value_is_known(record: pi.CompileRecord) -> None:
    program = record.ask_partitioner()
    (call,) = (op for op in program.ops if op.kind == "custom_call")
    assert call.wanted == ((("d",), ("m",)), (("m",), ()))
    assert program.values[call.results[0]].spec == (("d",), ("m",))


def test_rules_are_asked_in_the_users_process_alone(record: pi.CompileRecord) -> None:
    sentences(record)
    assert set(asked_in) == {os.getpid()}


@pytest.mark.parametrize("effort", ["partition", "full"])
def test_another_spec_asks_the_rule_anew(record: pi.CompileRecord, effort: str) -> None:
    changed = record.what_if(specs={"w": P("m", None)}, effort=effort)
    assert [(row.kind, row.implicit) for row in changed.collectives] == [("all-reduce", False), ("all-reduce", True)]


@pytest.mark.parametrize("asked", [{"target": "tpu:v5e:2x4", "effort": "full"}, {"mesh": {"d": 4, "m": 2}}])
def test_no_other_machine_or_mesh_is_offered_or_advised(record: pi.CompileRecord, asked: dict[str, object]) -> None:
    why = "the program has 1 call of custom_partitioning, whose partition rule is traced for one mesh"
    with pytest.raises(ChangeError, match=why) as raised:
        record.what_if(**asked)
    assert "inspect(" not in str(raised.value)
    assert "did not help" not in str(raised.value)


def test_a_rule_around_which_a_loop_is_differentiated_is_told_in_both_directions() -> None:
    @jax.custom_vjp
    def product(x, w):
        return dot(x, w)

    product.defvjp(lambda x, w: (dot(x, w), (x, w)), lambda kept, g: (dot(g, kept[1].T), dot(kept[0].T, g)))

    def loss(x, w):
        return jax.lax.scan(lambda y, _: (jnp.sin(product(y, w)), None), x, None, length=3)[0].sum()

    made = pi.inspect(jax.jit(jax.grad(loss, argnums=1)), array("d", "m"), array("m", None))
    told = [text for text in sentences(made) if text.startswith("`psum`")]
    assert any("in the partition rule of the backward pass of `product(y, w)`" in text for text in told)
    assert any("in the partition rule of `product(y, w)`" in text for text in told)
    assert not any("By that name alone" in text for text in sentences(made))


def test_several_results_are_split_as_the_rule_says() -> None:
    @custom_partitioning
    def both(x):
        return x * 2, x.sum(1)

    def rule(mesh, arguments, result):
        return mesh, lambda x: (x * 2, jax.lax.psum(x.sum(1), "m")), (on("d", "m"), on("d")), (on("d", "m"),)

    both.def_partition(partition=rule, sharding_rule="a b -> a b, a")
    (told,) = sentences(pi.inspect(jax.jit(lambda x: both(x)), array("d", "m")))
    assert "is a collective in the partition rule of `both(x)`" in told


def test_a_rule_that_is_gone_is_said_to_be() -> None:
    gone = pi.inspect(jax.jit(lambda x, w: dot(x, w) + 1), array("d", "m"), array("m", None))
    jax.clear_caches()
    gc.collect()
    with pytest.raises(CaptureError, match="the partition rule of a custom_partitioning call is gone"):
        gone.ask_partitioner()


def test_a_rule_that_fails_costs_the_answer_and_says_why() -> None:
    is_asked_again: list[bool] = []

    @custom_partitioning
    def twice(x):
        return x * 2

    def rule(mesh, arguments, result):
        if is_asked_again:
            raise ValueError("not twice")
        return mesh, lambda x: x * 2, arguments[0].sharding, (arguments[0].sharding,)

    twice.def_partition(partition=rule, sharding_rule="a b -> a b")
    function = jax.jit(lambda x: twice(x).sum())
    made = pi.inspect(function, array("d", "m"))
    is_asked_again.append(True)
    service.forget_answers()
    with pytest.raises(CaptureError, match="custom_partitioning call failed: ValueError: not twice"):
        made.ask_partitioner()


def test_without_shardy_it_is_said_what_is_not_asked() -> None:
    @custom_partitioning
    def twice(x):
        return x * 2

    def rule(mesh, arguments, result):
        return mesh, lambda x: x * 2, arguments[0].sharding, (arguments[0].sharding,)

    twice.def_partition(partition=rule, infer_sharding_from_operands=lambda mesh, arguments, _: arguments[0].sharding)
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        made = pi.inspect(jax.jit(lambda x: twice(x).sum()), array("d", "m"))
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)
    with pytest.raises(CaptureError, match="was compiled without Shardy"):
        made.ask_partitioner()
