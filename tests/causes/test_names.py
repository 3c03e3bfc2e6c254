"""Names that were told for another array, or that nobody could place; each from a stranger's program, made small."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from causes.meshes import array, named
from causes.told import another_before_jax_0_10, sentences


def test_a_function_traced_once_for_two_calls_stands_at_each_call() -> None:
    def stats(x):
        mean = jax.lax.pmean(jnp.sin(x), "batch")
        other = jax.lax.pmean(jnp.cos(x), "batch")
        return x * mean + other

    found = sentences(jax.vmap(stats, axis_name="batch"), array((8, 32), "model"))
    assert [text.partition(" (")[0] for text in found] == [
        '`jax.lax.pmean(jnp.cos(x), "batch")`',
        '`jax.lax.pmean(jnp.sin(x), "batch")`',
    ]
    assert not any("called at" in text for text in found)


def test_a_function_that_calls_itself_keeps_its_calls() -> None:
    def tree(x, depth):
        if depth == 0:
            return x.sum(-1, keepdims=True)
        half = x.shape[0] // 2
        return jnp.concatenate([tree(x[:half], depth - 1), tree(x[half:], depth - 1)])

    found = sentences(lambda x: tree(x, 2), array((8, 32), None, "model"))
    assert found
    assert all("x.sum(-1, keepdims=True)" in text for text in found)


@another_before_jax_0_10
def test_a_dimension_is_one_of_the_array_that_is_named() -> None:
    def tiled(probe, w):
        q = jnp.tile(probe, [16, 1, 1])
        return jnp.einsum("bld,dh->blh", q, w)

    (found,) = sentences(tiled, array((1, 1, 64), None, None, "model"), array((64, 16), "model"))
    assert "sums over dimension 2 of `jnp.tile(probe, [16, 1, 1])` (line " in found


def test_a_turns_piece_of_a_value_is_told_with_an_index() -> None:
    def scanned(x, w):
        chunks = jnp.sin(x).reshape(8, 4, 4, 32)
        return jax.lax.scan(lambda c, t: (c, t @ w), None, chunks.transpose(1, 0, 2, 3))[1]

    found = sentences(scanned, array((8, 16, 32), "data", None, "model"), array((32, 32), None, "model"))
    assert any("`chunks.transpose(1, 0, 2, 3)[i]`" in text for text in found)


def test_a_value_whose_text_is_long_is_not_something_inside_it() -> None:
    def norm(x):
        return x - jnp.mean(x, axis=-1, keepdims=True)

    def block(x, *, a_long_keyword_argument: Any, another_long_keyword: Any):
        return jnp.tanh(norm(x)) * a_long_keyword_argument

    def model(x):
        for _ in range(2):
            x = block(x, another_long_keyword=jnp.ones(3), a_long_keyword_argument=jnp.float32(12)) + x
        return norm(x)

    found = sentences(model, array((8, 64), None, "model"))
    assert sum("of `block(x, another_long_keyword=jnp.ones(3), ...) + x` (line " in text for text in found) == 2
    assert not any(" inside " in text for text in found)


def test_a_value_of_the_backward_pass_is_told_by_its_kind() -> None:
    def loss(x, scale):
        x = jax.lax.with_sharding_constraint(x, named("data", "model"))
        return jnp.sum(x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale)

    found = sentences(jax.grad(loss, (0, 1)), array((16, 64), "data", "model"), array((64,), "model"))
    assert any(" of its terms." in text for text in found)
    assert not any("` inside it" in text for text in found if text.startswith(("The gradient", "The backward")))
