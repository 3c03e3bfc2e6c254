"""Results that are split differently: XLA makes the same of it as of `out_shardings`, and so are the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError

MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def over(*spec: Any) -> NamedSharding:
    return NamedSharding(MESH, P(*spec))


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=over(*spec))


def train_step(params, state, batch):
    """Two layers in a list, Adam by hand, a loss with figures beside it: some results are next values, some are not."""

    def loss(params, batch):
        h = batch["x"]
        for layer in params["layers"]:
            h = jax.lax.with_sharding_constraint(jax.nn.gelu(h @ layer["w1"]), over("data", "model")) @ layer["w2"] + h
        each = ((h - batch["y"]) ** 2).mean(-1)
        return each.mean(), {"each": each, "hidden": h}

    (value, figures), slope = jax.value_and_grad(loss, has_aux=True)(params, batch)
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], slope)
    nu = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["nu"], slope)
    params = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, mu, nu)
    return params, {"mu": mu, "nu": nu, "count": state["count"] + 1}, {"loss": value, **figures}


def arguments() -> tuple[Any, ...]:
    layer = {"w1": array((32, 64), None, "model"), "w2": array((64, 32), "model", None)}
    params = {"layers": [dict(layer), dict(layer)]}
    state = {"mu": params, "nu": params, "count": array(())}
    return params, state, {"x": array((128, 32), "data"), "y": array((128, 32), "data")}


def results(**wanted: Any) -> Any:
    """`out_shardings` with None, which leaves a result to XLA, for all that is not named."""
    layer = {"w1": wanted.get("w1"), "w2": None}
    params = {"layers": [layer, layer]}
    figures = {"loss": None, "each": wanted.get("each"), "hidden": wanted.get("hidden")}
    return params, {"mu": params, "nu": {"layers": [{"w1": None, "w2": None}] * 2}, "count": None}, figures


def collectives(record: Any) -> Counter[Any]:
    return Counter((row.kind, row.axes, row.dtype, row.local_shape, row.count) for row in record.collectives)


@pytest.fixture
def play() -> Iterator[pi.Playground]:
    made = pi.playground(jax.jit(train_step), *arguments())
    yield made
    made.close()


def control(play: pi.Playground, label: str) -> Any:
    return next(own for own in play.controls.results if own.label == label)


SETTINGS = (
    ({"result[2]['hidden']": P()}, {"hidden": over()}),
    ({"result[2]['each']": P(("data", "model"))}, {"each": over(("data", "model"))}),
    (
        {"result[0]['layers'][*]['w1']": P("data"), "result[1]['mu']['layers'][*]['w1']": P("data")},
        {"w1": over("data")},
    ),
)


@pytest.mark.parametrize(("asked", "written"), SETTINGS)
def test_a_result_that_is_set_gives_the_collectives_of_out_shardings(
    play: pi.Playground, asked: dict[str, P], written: dict[str, Any]
):
    base = play.wait()
    play.set(results=asked)
    found = play.wait()
    compiled = pi.inspect(jax.jit(train_step, out_shardings=results(**written)), *arguments(), effort="partition")
    assert collectives(found.record) == collectives(compiled)
    assert collectives(found.record) != collectives(base.record)
    assert {own.label for own in play.controls.results if not own.is_free} == set(asked)
    proof = play.code(prove=True).proof
    assert proof is not None
    assert proof.outcome == "equal"


def test_the_written_out_shardings_leave_the_other_results_to_xla(play: pi.Playground):
    play.set(results={"result[2]['hidden']": P(None, "model")})
    wanted = collectives(play.wait().record)
    lines = [line for line in play.code().plain.splitlines() if "device_put(" not in line and "= jax.jit(" not in line]
    names: dict[str, Any] = {"train_step": train_step}
    names |= dict(zip(("params", "state", "batch"), arguments(), strict=True))
    exec(compile("\n".join(lines), "written", "exec"), names)
    # The mesh of the written lines has devices, that of the arguments none.
    placed = jax.tree.map(
        lambda own: jax.ShapeDtypeStruct(
            own.shape, own.dtype, sharding=NamedSharding(names["mesh"], own.sharding.spec)
        ),
        arguments(),
    )
    function = jax.jit(train_step, out_shardings=names["out_shardings"])
    assert collectives(pi.inspect(function, *placed, effort="partition")) == wanted


def test_a_result_is_left_to_xla_until_it_is_set_and_again_afterwards(play: pi.Playground):
    play.wait()
    before = control(play, "result[2]['each']")
    assert (before.is_free, before.spec) == (True, ("data",))
    found = play.set(results={"result[2]['each']": P()})
    assert found.change == ("result[2]['each']: P(None)",)
    # What XLA makes of the others is open again.
    assert control(play, "result[2]['hidden']").spec is None
    play.wait()
    assert (control(play, "result[2]['each']").is_free, control(play, "result[2]['each']").spec) == (False, (None,))
    assert play.set(results={"result[2]['each']": None}).number == 0


def test_out_shardings_of_the_program_are_left_to_xla_and_put_back():
    function = jax.jit(lambda x: {"y": x * 2}, out_shardings={"y": over("data")})
    play = pi.playground(function, array((8, 8), "model"))
    play.wait()
    assert not control(play, "result['y']").is_free
    found = play.set(results={"result['y']": None})
    assert found.change == ("result['y']: left to XLA",)
    assert play.wait().collectives == 0
    assert control(play, "result['y']").spec == ("model", None)
    assert play.set(results={"result['y']": P("data")}).number == 0
    play.close()


def test_an_argument_may_have_the_name_of_a_result():
    play = pi.playground(jax.jit(lambda result: result["y"] @ result["y"]), {"y": array((8, 8), "data")})
    play.wait()
    found = play.set(results={"result": P("model")})
    assert found.controls.results[0].spec == ("model", None)
    assert found.controls.groups[0].spec == ("data", None)
    with pytest.raises(ChangeError, match="has no result 'other'"):
        play.set(results={"other": P()})
    play.close()


def test_what_does_not_divide_is_refused_beside_the_result(play: pi.Playground):
    play.set(mesh={"data": 2, "model": 4}, results={"result[2]['each']": P("data")})
    found = play.set(mesh={"data": 256, "model": 1})
    assert found.stage == "refused"
    assert found.problem is not None
    assert "does not divide" in found.problem.text
    assert control(play, "result[2]['each']").problem == "dimension 0: 128 / data=256 = 0.50, does not divide"


def test_the_text_has_the_results_with_what_is_left_to_xla(play: pi.Playground):
    play.wait()
    play.set(results={"result[2]['each']": P()})
    play.wait()
    section = str(play).partition("\nresults")[2].partition("\nhistory")[0].splitlines()
    rows = {line.split()[0]: line for line in section if "result[" in line}
    assert next(iter(rows)) == "result[2]['each']"
    assert "as XLA chooses" not in rows["result[2]['each']"]
    assert "as XLA chooses" in rows["result[2]['hidden']"]
