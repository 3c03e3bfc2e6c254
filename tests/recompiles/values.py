"""Values: static ones that are odd about equality, numbers of many types, random keys."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from recompiles.scenario import scenario

X = np.arange(4, dtype=np.float32)


def _with(*values):
    f = jax.jit(lambda x, n: x * 2, static_argnums=1)
    for value in values:
        f(X, value)


class Never:
    """Equal to nothing, itself included."""

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 1


class Itself:
    """Equal to itself alone, by a method of its own."""

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 1


class Alike:
    """Equal to all of its class."""

    def __eq__(self, other):
        return isinstance(other, Alike)

    def __hash__(self):
        return 1


@dataclass(frozen=True)
class Settings:
    rate: float = 0.1


@scenario("static argument `n`: nan, which is not equal to itself")
def nan_made_anew(_):
    _with(float("nan"), float("nan"))


@scenario(None, compiles=1)
def one_nan_is_found_again_by_identity(_):
    _with(math.nan, math.nan)


@scenario("static argument `n`: <Never>, which is not equal to itself")
def an_object_that_is_not_equal_to_itself(_):
    _with(Never(), Never())


@scenario(None, compiles=1)
def one_such_object_is_found_again_by_identity(_):
    never = Never()
    _with(never, never)


@scenario("static argument `n`: another object, <Itself> both times")
def an_object_with_an_equality_of_its_own(_):
    _with(Itself(), Itself())


@scenario(None, compiles=1)
def objects_that_are_equal(_):
    _with(Alike(), Alike())


@scenario("`x`: length 4 -> 5 (dimension 0)")
def objects_that_are_equal_and_another_length(_):
    f = jax.jit(lambda x, n: x * 2, static_argnums=1)
    f(X, Alike()), f(np.ones(5, np.float32), Alike())


@scenario("`x`: length 4 -> 5 (dimension 0)")
def one_object_that_is_not_equal_to_itself_and_another_length(_):
    f, never = jax.jit(lambda x, n: x * 2, static_argnums=1), Never()
    f(X, never), f(np.ones(5, np.float32), never)


@scenario(None, compiles=1)
def settings_that_are_equal(_):
    _with(Settings(), Settings())


@scenario("static argument `n`: Settings(rate=0.1) -> Settings(rate=0.2)")
def settings_with_another_value(_):
    _with(Settings(), Settings(0.2))


@scenario("static argument `n`: another object, Settings(rate=nan) both times")
def settings_that_hold_another_nan(_):
    _with(Settings(float("nan")), Settings(float("nan")))


@scenario("static argument `n`: <lambda> -> loss")
def a_static_function(_):
    def loss(x):
        return x

    loss.__qualname__ = "loss"
    other = lambda x: x  # noqa: E731
    other.__qualname__ = "<lambda>"
    _with(other, loss)


@scenario("static argument `n`: another object, <lambda> both times")
def a_static_lambda_made_anew(_):
    functions = [lambda x: x for _ in range(2)]
    for function in functions:
        function.__qualname__ = "<lambda>"
    _with(*functions)


# ---------------------------------------------------------------- numbers


@scenario("`lr`: Python float (weak type) -> numpy.float32 (not weak), both float32")
def a_number_of_numpys(_):
    f = jax.jit(lambda x, lr: x * lr)
    f(X, 0.1), f(X, np.float32(0.1))


@scenario(None, compiles=1)
def a_number_and_an_array_of_numpys_are_one(_):
    f = jax.jit(lambda x, lr: x * lr)
    f(X, np.float32(0.1)), f(X, np.array(0.2, np.float32))


@scenario("`lr`: jax.Array (not weak) -> jax.Array (weak type), both float32", compiles=3)
def a_result_of_python_numbers_alone(_):
    f = jax.jit(lambda x, lr: x * lr)
    weak = jax.jit(lambda n: n * 2)(0.1)
    jax.clear_caches()
    f(X, jnp.float32(0.1)), f(X, weak)


# ---------------------------------------------------------------- random keys


@scenario("`key`: rank 0 -> 1, shape [] -> [2]; `key`: dtype key<fry> -> uint32")
def a_key_of_the_old_kind(_):
    f = jax.jit(lambda key: jax.random.normal(key))
    f(jax.random.key(0)), f(jax.random.PRNGKey(0))


@scenario("`key`: dtype key<fry> -> key<rbg>")
def a_key_of_another_generator(_):
    f = jax.jit(lambda key: jax.random.normal(key))
    f(jax.random.key(0)), f(jax.random.key(0, impl="rbg"))


@scenario(None, compiles=1)
def another_seed_is_no_compile(_):
    f = jax.jit(lambda key: jax.random.normal(key))
    f(jax.random.key(0)), f(jax.random.key(1))
