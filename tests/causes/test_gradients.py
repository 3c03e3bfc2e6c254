"""Of which value a gradient is said to be: "the gradient of V" is dL/dV, with V's dimensions, wherever it is said."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from causes.meshes import array, named
from causes.told import sentences
from pjit_inspect.analyze.sharding.value_names import ValueNames


def test_what_a_view_hands_on_is_not_told_as_the_gradient_of_its_value():
    """`h[:, 0]` has two dimensions, and the gradient that the product takes has three."""

    def loss(w, v, x):
        h = jnp.tanh(x) @ w
        return jnp.sum(jnp.cos(h[:, 0] @ v))

    found = sentences(
        jax.grad(loss, argnums=(0, 2)), array((32, 64), None, "model"), array((64, 8)), array((16, 8, 32), "data")
    )
    assert any("dimension 2 of the gradient of `jnp.tanh(x) @ w` and dimension 1 of `w`" in text for text in found)
    assert any("dimension 0 of the gradient of `jnp.tanh(x) @ w` and" in text for text in found)
    assert not any("the gradient of `h[:, 0]` (" in text for text in found)


def test_a_parameter_that_is_broadcast_is_what_its_gradient_is_of():
    def loss(p, x):
        return jnp.sum(jnp.cos(jnp.sin(x) + p["pos"]))

    (text,) = sentences(jax.grad(loss), {"pos": array((1, 8, 32))}, array((16, 8, 32), "data"))
    assert text.startswith("The gradient of `p['pos']` in `jnp.sin(x) + p[\"pos\"]`")
    assert 'reduces dimension 0 of the gradient of `jnp.sin(x) + p["pos"]`.' in text


def test_the_kernel_that_the_gradient_of_a_convolution_reverses_has_its_name():
    def loss(k, x):
        layout = ("NHWC", "HWIO", "NHWC")
        return jnp.sum(jnp.cos(jax.lax.conv_general_dilated(jnp.sin(x), k, (1, 1), "SAME", dimension_numbers=layout)))

    given = array((3, 3, 16, 16), None, None, None, "model"), array((8, 8, 8, 16), "data")
    found = sentences(jax.grad(loss, argnums=1), *given)
    assert any("dimension 3 of `k` reversed" in text for text in found)


@pytest.mark.parametrize("layers", [1, 3])
def test_a_sum_within_a_norm_is_the_gradient_of_what_the_norm_takes(layers: int):
    """The gradient of a residual stream is added up in the norm of each layer, of which the text says nothing."""

    def norm(x, g):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g

    def loss(ws, x):
        for up, down, g in ws:
            x = x + jax.nn.gelu(norm(x, g) @ up) @ down
        return jnp.sum(x**2)

    ws = [(array((64, 128), "data"), array((128, 64), "data"), array((64,)))] * layers
    shardings = jax.tree.map(lambda w: w.sharding, ws), named("data")
    gradient = jax.jit(jax.grad(loss, (0, 1)), out_shardings=shardings)
    found = sentences(gradient, ws, array((16, 32, 64), None, None, "data"))
    assert any("`result[1]` must be" in text and "The gradient of `x` is computed" in text for text in found)
    assert not any("gradients at" in text for text in found)


def test_a_loop_is_no_name_for_what_it_takes_for_one_turn():
    @jax.checkpoint
    def mixed(a, c):
        def step(x, ac):
            x = ac[0][:, None] * x + 1.0
            return x, x @ ac[1]

        return jax.lax.scan(step, jnp.zeros((64, 8)), (a, c))[1]

    def loss(w, a, h):
        return jnp.sum(jax.vmap(mixed)(jnp.tanh(a), h @ w) ** 2)

    given = array((16, 8)), array((4, 12, 64), "data", None, "model"), array((4, 12, 16), "data")
    found = [text for text in sentences(jax.grad(loss, (0, 1)), *given) if " in `x @ ac[1]` (" in text]
    if jax.__version_info__ >= (0, 10):
        assert any(text.startswith("The gradient of `(h @ w)[i]` (") for text in found)
    assert not any(text.startswith("The gradient of `jax.lax.scan(") for text in found)


def test_a_value_that_its_gradient_takes_too_is_no_derivative():
    """XLA makes one broadcast of `n` for the division and for its gradient."""

    def step(params, x, mask):
        def loss(params):
            n = mask.sum()
            per = jnp.sin(x @ params).sum(axis=1) / n
            return per.mean(), per

        return jax.grad(loss, has_aux=True)(params)

    found = sentences(step, array((16, 16)), array((8, 16), "data"), array((8,), "data"))
    assert any(text.startswith("`mask.sum()` (") for text in found)
    assert not any("derivative" in text for text in found)


@pytest.mark.parametrize("is_jitted", [False, True])
def test_a_gradient_stands_at_the_call_of_which_it_is_the_transpose(is_jitted: bool):
    """JAX traces the gradient of the helper once, and gives that trace's call to both."""

    def pool(rows, ids):
        return jax.ops.segment_sum(rows, ids, 16)

    pool = jax.jit(pool) if is_jitted else pool

    def loss(w, x, senders, receivers):
        rows = jnp.sin(x @ w)
        out = jnp.tanh(pool(rows, senders))
        out = out * pool(rows, receivers)
        return jax.lax.with_sharding_constraint(out, named("model", None)).sum()

    ids = array((64,), "data", dtype="int32")
    record = pi.inspect(jax.grad(loss), array((16, 16)), array((64, 16), "data"), ids, ids)
    program = record.propagation
    assert program is not None
    names, at = ValueNames(program, record.data.sources), dict[str, set[str]]()
    for op in program.ops:
        if op.kind in ("gather", "scatter") and (positions := names.argument(op.operands[1])):
            at.setdefault(positions, set()).add(names.op(op).partition(", called at ")[2])
    line = loss.__code__.co_firstlineno
    assert at == {"senders": {f"line {line + 2})"}, "receivers": {f"line {line + 3})"}}


def test_a_gradient_that_a_loop_makes_piece_by_piece_has_the_arrays_name():
    def loss(weights, shift, x):
        def layer(h, w):
            return jnp.tanh(h * w["scale"] @ w["w"] + shift), None

        return jax.lax.scan(layer, x, weights)[0].sum()

    weights = {"w": array((3, 16, 16)), "scale": array((3, 16))}
    record = pi.inspect(jax.grad(loss, (0, 1)), weights, array((16,)), array((32, 16), "data"))
    program = record.propagation
    assert program is not None
    names = ValueNames(program, record.data.sources)
    told = {str(names.value(output.value)).partition(" (")[0] for output in program.outputs}
    arrays = ("weights['w']", "weights['scale']", "shift")
    assert told == {f"the gradient of `{array}` in `jax.lax.scan(layer, x, weights)`" for array in arrays}


def test_a_loop_that_no_gradient_takes_is_no_derivative():
    def loss(w, x, key):
        t = jax.random.beta(key, 1.5, 1, x.shape[:1])
        return jnp.mean(jnp.square(jnp.sin((t[:, None] * x) @ w)))

    found = sentences(jax.value_and_grad(loss), array((32, 16)), array((8, 32), "data"), jax.random.PRNGKey(0))
    assert not any("derivative" in text for text in found)


@pytest.mark.parametrize("layers", [0, 3])
def test_the_weight_and_the_bias_of_a_norm_have_each_its_own_gradient(layers: int):
    """Both are of one shape and one text; the gradient of what is added is no product."""
    norm = eqx.nn.LayerNorm(32)

    def layer(x, norm):
        return x + jnp.sin(jax.vmap(norm)(x)), None

    def loss(norm, x):
        y = jax.lax.scan(layer, x, norm)[0] if layers else layer(x, norm)[0]
        return y.mean()

    shape, turn = (layers,) * bool(layers), "[i]" * bool(layers)
    norm = jax.tree.map(lambda leaf: array((*shape, *leaf.shape)), norm)
    found = sentences(jax.grad(loss), norm, array((16, 32), "data"))
    of = "in `jax.vmap(norm)(x)`"
    (weight,) = (text for text in found if text.startswith(f"The gradient of `norm.weight{turn}` {of}"))
    (bias,) = (text for text in found if text.startswith(f"The gradient of `norm.bias{turn}` {of}"))
    assert "reduces dimension 0 of its terms." in weight
    assert "reduces dimension 0 of the gradient of `jax.vmap(norm)(x)`" in bias
