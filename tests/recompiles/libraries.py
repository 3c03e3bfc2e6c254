"""flax, equinox and optax: wrappers that hide the user's arguments and functions."""

from __future__ import annotations

import equinox
import flax.linen
import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState

from recompiles.scenario import scenario

X = np.ones((2, 3), np.float32)
OPTIMIZER = "(chain.<locals>.init_fn, chain.<locals>.update_fn)"


@scenario(f"static field `state.tx`: another object, {OPTIMIZER} both times")
def flax_train_state_with_a_new_optimizer(_):
    model = flax.linen.Dense(4)
    params = model.init(jax.random.key(0), X)
    step = jax.jit(lambda state, x: state.step + x.sum())
    for _ in range(2):
        step(TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1)), X)


@scenario("`x`: length 2 -> 5 (dimension 0)")
def flax_linen_apply(_):
    model = flax.linen.Dense(4)
    params = model.init(jax.random.key(0), X)
    step = jax.jit(lambda params, x: model.apply(params, x))
    step(params, X), step(params, np.ones((5, 3), np.float32))


@flax.struct.dataclass
class Settings:
    w: jax.Array
    activation: str = flax.struct.field(pytree_node=False, default="relu")


@scenario("static field `settings.activation`: 'relu' -> 'gelu'")
def flax_struct(_):
    step = jax.jit(lambda settings: settings.w * 2)
    step(Settings(w=X)), step(Settings(w=X, activation="gelu"))


class Rated(nnx.Module):
    def __init__(self, rate, rngs):
        self.linear = nnx.Linear(3, 4, rngs=rngs)
        self.rate = rate

    def __call__(self, x):
        return self.linear(x) * self.rate


@scenario("`x`: length 2 -> 5 (dimension 0)")
def nnx_length(_):
    model = Rated(0.5, nnx.Rngs(0))
    step = nnx.jit(lambda model, x: model(x))
    step(model, X), step(model, np.ones((5, 3), np.float32))


@scenario("static field `model.rate`: 0.5 -> 0.1")
def nnx_attribute(_):
    step = nnx.jit(lambda model, x: model(x))
    for rate in (0.5, 0.1):
        step(Rated(rate, nnx.Rngs(0)), X)


@scenario("a new wrapper object (`JitFn`) around `<lambda>`")
def nnx_jit_made_anew(_):
    model = Rated(0.5, nnx.Rngs(0))
    for _ in range(2):
        nnx.jit(lambda model, x: model(x))(model, X)


class Scaled(equinox.Module):
    w: jax.Array
    rate: float
    power: int = equinox.field(static=True)

    def __call__(self, x):
        return (x * self.w * self.rate) ** self.power


@scenario("`x`: length 2 -> 5 (dimension 0)")
def equinox_length(_):
    model = Scaled(jnp.ones(3), 0.1, 2)
    step = equinox.filter_jit(lambda model, x: model(x))
    step(model, X), step(model, np.ones((5, 3), np.float32))


@scenario("static argument `model.rate`: 0.1 -> 0.2")
def equinox_python_leaf(_):
    step = equinox.filter_jit(lambda model, x: model(x))
    for rate in (0.1, 0.2):
        step(Scaled(jnp.ones(3), rate, 2), X)


@scenario("static argument `model.power`: 2 -> 3")
def equinox_static_field(_):
    step = equinox.filter_jit(lambda model, x: model(x))
    for power in (2, 3):
        step(Scaled(jnp.ones(3), 0.1, power), X)


@scenario("a new `<lambda>` object with the same code")
def equinox_function_made_anew(_):
    for _ in range(2):
        equinox.filter_jit(lambda x: x * 2)(X)


def make_step(tx):
    @jax.jit
    def step(params, state, grads):
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    return step


@scenario(f"`tx`, which `step` closes over: another value, {OPTIMIZER} both times")
def optax_optimizer_made_anew(_):
    params = {"w": X}
    for _ in range(2):
        tx = optax.sgd(0.1)
        make_step(tx)(params, tx.init(params), params)


@scenario("`params['w']` and 1 more: length 2 -> 5 (dimension 0)")
def optax_length(_):
    tx = optax.sgd(0.1)
    step = make_step(tx)
    for length in (2, 5):
        params = {"w": np.ones((length, 3), np.float32)}
        step(params, tx.init(params), params)


def f(model, x):
    return model(x)


def fun(model, x):
    return model(x)


def fun_wrapped(model, x):
    return model(x)


def _with_equinox(function):
    model, step = Scaled(jnp.ones(3), 0.1, 2), equinox.filter_jit(function)
    step(model, X), step(model, np.ones((5, 3), np.float32))


@scenario("`x`: length 2 -> 5 (dimension 0)")
def equinox_of_a_function_named_f(_):
    _with_equinox(f)


@scenario("`x`: length 2 -> 5 (dimension 0)")
def equinox_of_a_function_named_fun(_):
    _with_equinox(fun)


@scenario("`x`: length 2 -> 5 (dimension 0)")
def equinox_of_a_function_named_as_its_own_wrapper(_):
    _with_equinox(fun_wrapped)
