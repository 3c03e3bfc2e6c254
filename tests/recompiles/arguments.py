"""Arguments that change: shape, type, tree, keywords, static values."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recompiles.scenario import scenario

X = np.arange(4, dtype=np.float32)


@scenario("`batch['tokens']`: length 511 -> 512 (dimension 1)")
def one_length(_):
    f = jax.jit(lambda batch: batch["tokens"] * 2)
    for length in (511, 512):
        f({"tokens": np.ones((2, length), np.int32)})


@scenario("`x`: shape [2, 3] -> [4, 5] (dimensions 0 and 1)")
def two_lengths(_):
    f = jax.jit(lambda x: x * 2)
    f(np.ones((2, 3))), f(np.ones((4, 5)))


@scenario("`x`: rank 1 -> 2, shape [4] -> [4, 2]")
def rank(_):
    f = jax.jit(lambda x: x * 2)
    f(np.ones(4)), f(np.ones((4, 2)))


@scenario("`batch['x']` and 1 more: length 3 -> 4 (dimension 0)")
def two_arguments_grow_together(_):
    f = jax.jit(lambda batch: batch["x"] + batch["y"])
    for length in (3, 4):
        f({"x": np.ones(length), "y": np.ones(length)})


@scenario("`x`: length 300 -> 301 (dimension 0)", compiles=3)
def the_nearest_earlier_compile_counts_not_the_first(_):
    f = jax.jit(lambda x, y: x.sum() + y.sum())
    f(np.ones(3), np.ones(5)), f(np.ones(300), np.ones(7)), f(np.ones(301), np.ones(7))


@scenario("`x`: dtype float32 -> bfloat16")
def dtype(_):
    f = jax.jit(lambda x: x * 2)
    f(X), f(X.astype(jnp.bfloat16))


@scenario("`params['w0']` and 2 more: dtype float32 -> bfloat16")
def dtype_of_all_parameters(_):
    f = jax.jit(lambda params, x: sum(w.sum() for w in params.values()) + x)
    for kind in (np.float32, jnp.bfloat16):
        f({f"w{i}": np.ones(i + 2, kind) for i in range(3)}, X)


@scenario("`lr`: Python float (weak type) -> jax.Array (not weak), both float32")
def weak_type(_):
    f = jax.jit(lambda x, lr: x * lr)
    f(X, 0.1), f(X, jnp.float32(0.1))


@scenario("`n`: dtype int32 -> float32 (Python int (weak type) -> numpy.ndarray (not weak))")
def weak_type_and_dtype(_):
    f = jax.jit(lambda x, n: x * n)
    f(X, 2), f(X, np.ones((), np.float32))


@scenario("`n`: dtype int32 -> float32")
def another_python_number(_):
    f = jax.jit(lambda x, n: x * n)
    f(X, 2), f(X, 2.0)


@scenario(None, compiles=1)
def another_value_of_the_same_type_is_no_compile(_):
    f = jax.jit(lambda x, n: x * n)
    f(X, 2), f(X, 3), f(jnp.asarray(X), 4)


# ---------------------------------------------------------------- tree and keywords


@scenario("argument tree: `batch['mask']` is new")
def a_key_more(_):
    f = jax.jit(lambda batch: batch["tokens"] * 2)
    f({"tokens": X}), f({"tokens": X, "mask": X})


@scenario("argument tree: `batch['mask']` is gone")
def a_key_less(_):
    f = jax.jit(lambda batch: batch["tokens"] * 2)
    f({"tokens": X, "mask": X}), f({"tokens": X})


@scenario("argument tree: `x['m']` is new")
def none_became_an_array(_):
    f = jax.jit(lambda x: x["a"] * 2)
    f({"a": X, "m": None}), f({"a": X, "m": X})


@scenario("argument tree: `state`: list -> tuple")
def a_list_became_a_tuple(_):
    f = jax.jit(lambda state: state[0] + state[1])
    f([X, X]), f((X, X))


@scenario("argument tree: `layers[2]['b']` and 1 more are new")
def a_layer_more(_):
    f = jax.jit(lambda layers: sum(layer["w"].sum() for layer in layers))
    for count in (2, 3):
        f([{"w": X, "b": X} for _ in range(count)])


class Before(NamedTuple):
    a: np.ndarray
    b: np.ndarray


class After(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@scenario("argument tree: `t`: Before -> After")
def another_named_tuple_with_the_same_fields(_):
    f = jax.jit(lambda t: t.a + t.b)
    f(Before(X, X)), f(After(X, X))


@jax.tree_util.register_dataclass
@dataclass
class Model:
    w: jax.Array
    activation: str = field(metadata={"static": True}, default="relu")


@scenario("static field `model.activation`: 'relu' -> 'gelu'")
def a_static_field_of_a_dataclass(_):
    f = jax.jit(lambda model: model.w * 2)
    f(Model(w=X)), f(Model(w=X, activation="gelu"))


@jax.tree_util.register_dataclass
@dataclass
class Trained:
    model: Model
    phase: str = field(metadata={"static": True}, default="warm up")


@scenario("static field `state.phase`: 'warm up' -> 'decay'")
def a_static_field_of_a_dataclass_around_another(_):
    f = jax.jit(lambda state: state.model.w * 2)
    f(Trained(Model(w=X))), f(Trained(Model(w=X), phase="decay"))


@scenario("static field `params['layers.0'].activation`: 'relu' -> 'gelu'")
def a_static_field_under_a_key_with_a_dot(_):
    f = jax.jit(lambda params: params["layers.0"].w * 2)
    f({"layers.0": Model(w=X)}), f({"layers.0": Model(w=X, activation="gelu")})


@scenario("static data of a Partial without arrays: <PjitFunction> -> <PjitFunction>|"
          "static data of a Partial without arrays: another object, <PjitFunction> both times")  # fmt: skip
def a_function_passed_as_an_argument(_):
    f = jax.jit(lambda act, x: act(x))
    for act in (jnp.sin, jnp.cos):
        f(jax.tree_util.Partial(act), X)


@scenario("static field `activation` of a Model without arrays: 'relu' -> 'gelu'")
def a_static_field_where_there_is_no_array(_):
    f = jax.jit(lambda model, x: x * 2)
    f(Model(w=None), X), f(Model(w=None, activation="gelu"), X)


@scenario("static field `state.activation`: 'relu' -> 'gelu'")
def a_static_field_where_there_is_no_array_between_arrays_of_one_argument(_):
    f = jax.jit(lambda state: state[0] + state[2])
    for activation in ("relu", "gelu"):
        f((X, Model(w=None, activation=activation), X))


@scenario("`x` is passed by keyword, before by position")
def by_keyword(_):
    f = jax.jit(lambda x: x * 2)
    f(X), f(x=X)


@scenario("`x` is passed by position, before by keyword")
def by_position(_):
    f = jax.jit(lambda x: x * 2)
    f(x=X), f(X)


@scenario("keyword argument `scale` is new")
def a_keyword_more(_):
    f = jax.jit(lambda x, scale=2.0: x * scale)
    f(X), f(X, scale=3.0)


@scenario(None, compiles=1)
def keywords_in_another_order_are_no_compile(_):
    f = jax.jit(lambda x, a, b: x * a + b)
    f(X, a=1.0, b=2.0), f(X, b=2.0, a=1.0)


# ---------------------------------------------------------------- static arguments


@scenario("static argument `n`: 2 -> 3")
def static_argument(_):
    f = jax.jit(lambda x, n: x**n, static_argnums=1)
    f(X, 2), f(X, 3)


@scenario("static argument `mode`: 'train' -> 'eval'")
def static_argument_by_name(_):
    f = jax.jit(lambda x, mode: x * (2 if mode == "train" else 1), static_argnames="mode")
    f(X, mode="train"), f(X, mode="eval")


class Config:
    """Compared by identity, so that each is a static value of its own."""


@scenario("static argument `config`: another object, <Config> both times")
def static_argument_without_equality(_):
    f = jax.jit(lambda x, config: x * 2, static_argnums=1)
    f(X, Config()), f(X, Config())


@scenario("static argument `shape`: (2, 2) -> (4, 1)")
def static_tuple_through_a_decorator(_):
    @partial(jax.jit, static_argnums=(1,))
    def reshape(x, shape):
        return x.reshape(shape)

    reshape(X, (2, 2)), reshape(X, (4, 1))


@scenario("static argument `n`: 2 -> 3; `x`: length 4 -> 5 (dimension 0)")
def a_static_argument_and_a_length(_):
    f = jax.jit(lambda x, n: x**n, static_argnums=1)
    f(X, 2), f(np.ones(5, np.float32), 3)


# ---------------------------------------------------------------- ahead of time


@scenario("`x`: length 4 -> 8 (dimension 0)")
def ahead_of_time(_):
    f = jax.jit(lambda x: x * 2)
    for length in (4, 8):
        f.lower(jax.ShapeDtypeStruct((length,), np.float32)).compile()


@scenario("static argument `n`: 2 -> 3")
def ahead_of_time_with_a_static_argument(_):
    f = jax.jit(lambda x, n: x**n, static_argnums=1)
    for n in (2, 3):
        f.lower(X, n).compile()


@scenario(None, compiles=1)
def ahead_of_time_and_then_a_call_is_one_compile(_):
    f = jax.jit(lambda x: x * 2)
    f.lower(X).compile()
    f(X)


@scenario("argument tree: the same leaves in another order, `d['b']` where `d['a']` was")
def an_ordered_dict_in_another_order(_):
    f = jax.jit(lambda d: d["a"] + d["b"])
    f(OrderedDict(a=X, b=X)), f(OrderedDict(b=X, a=X))


@scenario("`n` is passed by position, before by keyword")
def a_static_argument_by_position_then_by_keyword(_):
    f = jax.jit(lambda x, n: x**n, static_argnames="n")
    f(X, n=2), f(X, 2)


@scenario("argument tree: `p['b']` is new", compiles=3)
def the_nearest_has_the_fewest_differences_to_tell(_):
    f = jax.jit(lambda p, mask=None: p["a"] + (0 if mask is None else mask))
    f({"a": X}), f({"a": X}, mask=X), f({"a": X, "b": X})


@scenario("`x` and 1 more: dtype float32 -> float16", compiles=3)
def the_nearest_has_the_fewest_facts_that_differ(_):
    f = jax.jit(lambda x, y: x @ y)
    for rows, kind in ((8, np.float32), (32, np.float32), (8, np.float16)):
        f(np.ones((rows, 16), kind), np.ones((16, 4), kind))
