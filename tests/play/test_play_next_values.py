"""Which result is the next value of which argument: by dataflow, whatever the order, the names and the donation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(MESH, P()))


# Both matrices have one shape: no shape tells one from the other.
PARAMS = {"w1": array(32, 32), "w2": array(32, 32)}
X = array(64, 32)


def loss(params, x):
    return ((jax.nn.relu(x @ params["w1"]) @ params["w2"]) ** 2).mean()


def tree(function, *trees):
    return jax.tree.map(function, *trees)


def moments(params, mu, nu, x):
    slope = jax.grad(loss)(params, x)
    return tree(lambda m, g: 0.9 * m + 0.1 * g, mu, slope), tree(lambda v, g: 0.99 * v + 0.01 * g * g, nu, slope)


def stepped(params, mu, nu, count):
    def one(p, m, v):
        update = (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.99**count)) + 1e-8)
        return p - 1e-3 * (update + 1e-4 * p)

    return tree(one, params, mu, nu)


def adam(params, mu, nu, count, x):
    mu, nu = moments(params, mu, nu, x)
    return stepped(params, mu, nu, count + 1), mu, nu, count + 1


def adam_swapped(params, mu, nu, count, x):
    mu, nu = moments(params, mu, nu, x)
    return nu, count + 1, mu, stepped(params, mu, nu, count + 1)


def adam_if_finite(params, mu, nu, count, x):
    new = moments(params, mu, nu, x)
    is_finite = jnp.isfinite(new[0]["w1"]).all()
    mu, nu = (tree(lambda own, was: jnp.where(is_finite, own, was), *pair) for pair in zip(new, (mu, nu), strict=True))
    after = stepped(params, mu, nu, count + 1)
    return tree(lambda own, was: jnp.where(is_finite, own, was), after, params), mu, nu, count + 1


def sgd(params, x):
    return tree(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))


def momentum(state, x):
    params, speed = state["params"], state["speed"]
    # Decay in the gradient: the speed gets a sum of the parameters, too.
    slope = tree(lambda p, g: g + 1e-2 * p, params, jax.grad(loss)(params, x))
    speed = tree(lambda m, g: 0.9 * m + g, speed, slope)
    return {"speed": speed, "params": tree(lambda p, m: p - 0.1 * m, params, speed)}


def averaged(params, ema, x):
    new = sgd(params, x)
    return tree(lambda e, p: 0.999 * e + 0.001 * p, ema, new), new


def averaged_of_old(params, ema, x):
    return tree(lambda e, p: 0.999 * e + 0.001 * p, ema, params), sgd(params, x)


def master(params, full, x):
    slope = jax.grad(loss)(tree(lambda p: p.astype(jnp.float32), params), x)
    full = tree(lambda p, g: p - 0.1 * g, full, slope)
    return tree(lambda p: p.astype(jnp.bfloat16), full), full


def several_steps(params, x):
    return jax.lax.fori_loop(0, 4, lambda _, own: sgd(own, x), params)


def residual(params, x):
    return x + jax.nn.relu(x @ params["w1"]) @ params["w2"]


def with_hidden(params, x):
    """The loss has the hidden array beside it, which is the data and something."""

    def of(params):
        hidden = residual(params, x)
        return (hidden**2).mean(), hidden

    slope, hidden = jax.grad(of, has_aux=True)(params)
    return tree(lambda p, g: p - 0.1 * g, params, slope), hidden


def given_slopes(params, speed, slope):
    """An optimizer's step that is jitted by itself."""
    speed = tree(lambda m, g: 0.9 * m + g, speed, slope)
    return tree(lambda p, m: p - 0.1 * m, params, speed), speed


def paths(result: str, argument: str) -> dict[str, str]:
    return {f"{result}['{name}']": f"{argument}['{name}']" for name in ("w1", "w2")}


COUNT = array(dtype=jnp.int32)
ADAM = (PARAMS, PARAMS, PARAMS, COUNT, X)
HALF = {"w1": array(32, 32, dtype=jnp.bfloat16), "w2": array(32, 32, dtype=jnp.bfloat16)}
IN_ORDER = paths("result[0]", "params") | paths("result[1]", "mu") | paths("result[2]", "nu") | {"result[3]": "count"}


@pytest.mark.parametrize(
    ("step", "arguments", "wanted"),
    [
        (adam, ADAM, IN_ORDER),
        (
            adam_swapped,
            ADAM,
            paths("result[3]", "params") | paths("result[2]", "mu") | paths("result[0]", "nu") | {"result[1]": "count"},
        ),
        (adam_if_finite, ADAM, IN_ORDER),
        (sgd, (PARAMS, X), paths("result", "params")),
        (
            momentum,
            ({"params": PARAMS, "speed": PARAMS}, X),
            paths("result['params']", "state['params']") | paths("result['speed']", "state['speed']"),
        ),
        (averaged, (PARAMS, PARAMS, X), paths("result[0]", "ema") | paths("result[1]", "params")),
        (averaged_of_old, (PARAMS, PARAMS, X), paths("result[0]", "ema") | paths("result[1]", "params")),
        (master, (HALF, PARAMS, X), paths("result[1]", "full")),
        # The speed is as much a sum of the one as of the other.
        (given_slopes, (PARAMS, PARAMS, PARAMS), paths("result[0]", "params")),
        (several_steps, (PARAMS, X), paths("result", "params")),
        # A mean of two alike is no more the one than the other, and who is copied twice has no next value.
        (lambda a, b: tree(lambda p, q: 0.5 * p + 0.5 * q, a, b), (PARAMS, PARAMS), {}),
        (lambda a: (a, tree(lambda p: p * 2, a)), (PARAMS,), {}),
        (residual, (PARAMS, X), {}),
        (with_hidden, (PARAMS, X), paths("result[0]", "params")),
        (lambda a, x: x @ a["w1"] + x @ a["w2"], (PARAMS, X), {}),
        (
            lambda cache, new, place: jax.lax.dynamic_update_slice(cache, new, (place, 0)),
            (X, array(1, 32), COUNT),
            {"result": "cache"},
        ),
    ],
    ids=[
        "adam", "swapped", "if-finite", "sgd", "momentum", "ema", "ema-of-old", "master", "optimizer", "loop", "mean",
        "copies", "residual", "hidden", "forward", "cache",
    ],
)  # fmt: skip
@pytest.mark.parametrize("donates", [False, True])
def test_a_result_is_the_next_value_of_what_it_was_added_to(step, arguments, wanted, donates):
    donated = tuple(range(len(arguments) - 1)) if donates else ()
    play = pi.playground(jax.jit(step, donate_argnums=donated), *arguments)
    assert play.subject.facts.returns == wanted
    play.close()


def test_optax_in_a_scan_of_layers():
    optax = pytest.importorskip("optax")
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=1e-2))
    params = {"layers": array(4, 32, 32), "head": array(32, 32)}

    def of(params, x):
        h, _ = jax.lax.scan(jax.checkpoint(lambda h, w: (h + jnp.tanh(h @ w), None)), x, params["layers"])
        return ((h @ params["head"]) ** 2).mean()

    def step(params, state, x):
        updates, state = optimizer.update(jax.grad(of)(params, x), state, params)
        return state, optax.apply_updates(params, updates)

    state = jax.eval_shape(optimizer.init, params)
    state = jax.tree.map(lambda own: array(*own.shape, dtype=own.dtype), state)
    play = pi.playground(jax.jit(step), params, state, X)
    returns = play.subject.facts.returns
    assert returns["result[1]['layers']"] == "params['layers']"
    moved = {result: argument for result, argument in returns.items() if result.startswith("result[0]")}
    assert {result.removeprefix("result[0]") for result in moved} >= {
        "[1][0].mu['layers']", "[1][0].nu['layers']", "[1][0].mu['head']", "[1][0].count",
    }  # fmt: skip
    assert all(result.removeprefix("result[0]") == argument.removeprefix("state") for result, argument in moved.items())
    play.close()
