"""Containers whose keys are plain strings: JAX joins these without brackets."""

from __future__ import annotations

from dataclasses import dataclass
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
