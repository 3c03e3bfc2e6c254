"""Containers whose keys are plain strings, which JAX joins without brackets; all arguments handed over in a pair."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pjit_inspect as pi


class Tree(dict):
    pass


jax.tree_util.register_pytree_with_keys(
    Tree,
    lambda tree: (tuple((key, tree[key]) for key in sorted(tree)), tuple(sorted(tree))),
    lambda keys, values: Tree(zip(keys, values, strict=True)),
)


@jax.tree_util.register_pytree_with_keys_class
@dataclass
class Layer:
    w_up: Any

    def tree_flatten_with_keys(self):
        return (("w_up", self.w_up),), None

    @classmethod
    def tree_unflatten(cls, _, values):
        return cls(*values)


def test_keys_that_are_plain_strings_are_written_as_the_user_does() -> None:
    @jax.jit
    def f(state, x):
        return jnp.tanh(x @ state["layer"].w_up), Tree(layer=state["layer"])

    record = pi.inspect(f, Tree(layer=Layer(np.ones((4, 8), np.float32)), bias=np.ones(3)), np.ones((2, 4), np.float32))
    assert [layout.path for layout in record.data.inputs] == ["state['bias']", "state['layer'].w_up", "x"]
    assert [layout.path for layout in record.data.outputs] == ["result[0]", "result[1]['layer'].w_up"]


HALIAX = """
class Wrapper:
    def __init__(self, function, jit):
        self.__wrapped__, self.jit = function, jit
    def lower(self, *args, **kwargs):
        return self._call(True, *args, **kwargs)
    def __call__(self, *args, **kwargs):
        return self._call(False, *args, **kwargs)
    def _call(self, is_lower, *args, **kwargs):
        given = None, (None, (args, kwargs))
        return self.jit.lower(*given) if is_lower else self.jit(*given)[0]
"""


def test_arguments_that_a_wrapper_hands_over_in_a_pair_have_the_names_of_its_function(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "haliax", ModuleType("haliax"))
    haliax: dict[str, Any] = {}
    exec(compile(HALIAX, "/venv/lib/python3.12/site-packages/haliax/partitioning.py", "exec"), haliax)

    def step(model, x, unused, *, scale):
        return {"y": x @ model["w"] * scale}, x.sum()

    def packed(dynamic_donated, dynamic_reserved):
        args, kwargs = dynamic_reserved[1]
        return step(*args, **kwargs), None

    wrapped = haliax["Wrapper"](step, jax.jit(packed))
    given = {"w": jnp.ones((4, 4))}, jnp.ones((2, 4)), None
    with pi.capture() as log:
        wrapped(*given, scale=jnp.float32(2))
    for record in (log[-1], pi.inspect(wrapped, *given, scale=jnp.float32(2))):
        assert [layout.path for layout in record.data.inputs] == ["model['w']", "x", "scale"]
        assert [layout.path for layout in record.data.outputs] == ["result[0]['y']", "result[1]"]
