"""What is called by a text is the value of that text: not what a call makes on the way to it, nor of its gradient."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn
from flax import nnx
from jax.sharding import PartitionSpec

import pjit_inspect as pi
from causes.meshes import EXPLICIT, array, named
from causes.told import another_before_jax_0_10, sentences
from pjit_inspect.analyze.sharding.value_names import ValueNames


def test_what_a_function_of_jax_makes_on_the_way_is_inside_it():
    found = sentences(lambda x: jax.nn.softmax(x, 0), array((16, 8), "data"))
    assert any("reduces dimension 0 of the `exp` inside it" in text for text in found)
    assert any("reduces dimension 0 of `x`" in text for text in found)


def test_a_hidden_activation_of_a_library_is_not_told_as_the_result_of_the_call():
    """Equinox: [8, 64] inside of a call that returns [8, 16]. The layers have each their weight."""
    model = eqx.nn.MLP(16, 16, 64, 2, key=jax.random.key(0))
    arrays, static = eqx.partition(model, eqx.is_array)

    def loss(arrays, x):
        m = eqx.combine(arrays, static)
        return jnp.mean(jax.vmap(m)(x) ** 2)

    arrays = jax.tree.map(lambda leaf: array(leaf.shape), arrays)
    found = [text for text in sentences(jax.grad(loss), arrays, array((8, 16), "data")) if " sums over " in text]
    assert len(found) == 3
    for number in range(3):
        assert (
            sum(f"he gradient of `arrays.layers[{number}].weight` in `jax.vmap(m)(x)`" in text for text in found) == 1
        )
    assert sum("dimension 0 of the `eqx.nn.MLP/max` inside `jax.vmap(m)(x)`" in text for text in found) == 2
    assert not [text for text in found if "dimension 0 of `jax.vmap" in text]


def test_a_table_that_a_library_transposes_is_not_told_as_the_logits():
    table = nnx.Embed(256, 64, rngs=nnx.Rngs(0))
    static, _ = nnx.split(table)

    def loss(state, x):
        m = nnx.merge(static, state)
        return jnp.sin(m.attend(x)).mean()

    state = jax.tree.map(lambda leaf: array((256, 64), "model"), nnx.state(table))
    found = sentences(jax.grad(loss, argnums=(0, 1)), state, array((16, 64), "data"))
    (across,) = (text for text in found if "over `model`" in text or "`model` on both" in text)
    assert across.startswith("The gradient of `x` in `m.attend(x)`")
    assert "dimension 1 of `state['embedding'].value` transposed" in across
    assert any(text.startswith("The gradient of `state['embedding'].value` in `m.attend(x)`") for text in found)


def test_what_a_product_of_the_backward_pass_takes_is_the_gradient_of_its_value():
    """The gradient of a sum is one: what is left of its product with the cosine is the cosine."""

    def loss(w, x):
        return jnp.sum(jnp.sin(x @ w))

    (text,) = sentences(jax.grad(loss), array((8, 8)), array((16, 8), "data"))
    assert "dimension 0 of the gradient of `x @ w` and dimension 0 of `x`" in text


def test_a_value_that_only_a_gradient_takes_has_its_name():
    """The last product itself is not needed, and its side is, for the gradient of the weight."""

    def loss(w, x):
        return jnp.sum(jnp.tanh(x) @ w)

    (text,) = sentences(jax.grad(loss), array((8, 8)), array((16, 8), "data"))
    assert "dimension 0 of `jnp.tanh(x)`" in text


def test_a_gradient_names_what_it_is_with_respect_to():
    def loss(w, b, x):
        return jnp.mean(jnp.tanh(x @ w + b) ** 2)

    found = sentences(
        jax.grad(loss, argnums=(0, 1, 2)), array((8, 32), None, "model"), array((32,)), array((16, 8), "data")
    )
    assert {text.partition(" (")[0] for text in found} == {
        "The gradient of `w` in `x @ w`",
        "The gradient of `x` in `x @ w`",
        "The gradient of `b` in `x @ w + b`",
    }


@another_before_jax_0_10
def test_weights_of_layers_that_are_computed_again_are_told_apart():
    """In a Python loop all layers have one text, and what is computed again is another array than the first time."""

    def loss(ws, x):
        @jax.checkpoint
        def layer(w, x):
            return jnp.tanh(jnp.sin(x @ w[0]) @ w[1])

        for w in ws:
            x = layer(w, x)
        return jnp.mean(x**2)

    ws = [[array((8, 8))] * 2] * 3
    found = sentences(jax.grad(loss), ws, array((16, 8), "data"))
    for number in range(3):
        assert sum(f"gradient of `ws[{number}][0]` in `x @ w[0]`" in text for text in found) == 1
        assert sum(f"gradient of `ws[{number}][1]` in `jnp.sin(x @ w[0]) @ w[1]`" in text for text in found) == 1


def test_an_inner_product_of_an_einsum_of_three_is_inside_it():
    def model(a, b, c):
        return jnp.einsum("ij,jk,kl->il", a, b, c)

    found = sentences(model, array((4, 32)), array((32, 64), None, "model"), array((64, 128), "model"))
    assert any("of the `dot_general` inside it and dimension 0 of `c`" in text for text in found)


def test_a_dimension_of_an_einsum_with_an_asked_sharding_is_one_of_those_that_are_written():
    def model(h, w):
        return jnp.einsum("BTD,CKDH->CBTKH", h, w, out_sharding=PartitionSpec(None, "data", None, "model", None))

    with jax.set_mesh(EXPLICIT):
        given = (
            array((8, 16, 32), "data", None, "model", mesh=EXPLICIT),
            array((2, 4, 32, 8), None, "model", "data", mesh=EXPLICIT),
        )
        found = sentences(model, *given)
    assert any("xis `data` already splits dimension 1 of the result" in text for text in found)
    assert any("xis `model` already splits dimension 3 of the result" in text for text in found)


def test_a_helper_with_several_callers_is_told_with_the_call():
    def dense(w, x):
        return x @ w

    def model(v, w, x):
        x = jnp.tanh(dense(v, x))
        return dense(w, x)

    line = model.__code__.co_firstlineno
    found = sentences(model, *[array((32, 32), "model", None)] * 2, array((16, 32), None, "model"))
    assert sum(f"called at line {line + 1})" in text for text in found) == 1
    assert sum(f"called at line {line + 2})" in text for text in found) == 1


def test_a_helper_with_one_caller_is_told_without_it():
    def dense(w, x):
        return x @ w

    found = sentences(lambda w, x: dense(w, x), array((32, 32), "model", None), array((16, 32), None, "model"))
    assert found
    assert not [text for text in found if "called at" in text]


def test_a_text_of_several_lines_is_one_line_cut_between_its_arguments():
    def model(x, w):
        return jnp.einsum(
            "bti,ij->btj",  # the features
            x,
            w,
            precision=jax.lax.Precision.HIGHEST,
        )

    (text,) = sentences(model, array((4, 8, 16), None, None, "model"), array((16, 32), "model"))
    assert text.startswith('`jnp.einsum("bti,ij->btj", x, w, ...)` (')


def test_a_sum_of_gradients_says_of_which_value():
    def loss(w, v, x):
        h = x @ w
        # `h` goes to two products: its gradient is the sum of both.
        return jnp.sum(jnp.sin(h @ v)) + jnp.sum(jnp.cos(h @ v.T))

    square = array((32, 32), None, None)
    found = sentences(jax.grad(loss), array((16, 32), None, None), square, array((8, 16), "data", None))
    assert [text for text in found if "dimension 0 of the gradient of `x @ w`" in text]


def test_what_a_call_makes_and_hands_on_is_not_told_as_another_array_it_takes(tmp_path):
    """The gradient that is added up is that of `h`; `scale` has its shape, and is taken from elsewhere."""
    file = tmp_path / "lib" / "python3" / "site-packages" / "flax" / "layer.py"
    library = {"jnp": jnp}
    code = "def layer(x, w, scale):\n    h = x @ w\n    return h, jnp.tanh(h) * scale\n"
    exec(compile(code, str(file), "exec"), library)

    def loss(w, x, scale):
        h, y = library["layer"](x, w, scale)
        return jnp.sum(y**2) + jnp.sum(h**3)

    x, scale = array((8, 16), "data", None), array((8, 32), "data", None)
    record = pi.inspect(jax.grad(loss), array((16, 32), None, None), x, scale)
    names = ValueNames(record.propagation, record.data.sources)
    sums = [names.op(op) for op in record.propagation.ops if op.op_name.endswith("add_any")]
    assert sums
    assert not any("gradients of `scale`" in text for text in sums)


@another_before_jax_0_10
def test_the_operation_inside_a_call_of_a_library_whose_result_moves_is_told() -> None:
    """`jnp.take` looks up, and then puts what is outside of the table to a value of its own."""

    def model(table, tokens):
        return jax.lax.with_sharding_constraint(jnp.take(table, tokens, axis=0), named("data", None, "model"))

    found = sentences(model, array((256, 64), "model"), array((8, 32), "data", dtype="int32"))
    assert any(text.startswith("The `gather` inside `jnp.take(table, tokens, axis=0)` (") for text in found)
    assert not any(text.startswith("`jnp.take(table, tokens, axis=0)`") and "is computed" in text for text in found)


def test_what_a_call_makes_and_broadcasts_is_said_to_be_broadcast():
    """The mask is of one row, and what moves has all of them."""
    drop = nn.Dropout(rate=0.1, broadcast_dims=(-2,))

    def loss(w, v, x, key):
        y = drop.apply({}, jnp.sin(x @ w), deterministic=False, rngs={"dropout": key})
        y = jax.lax.with_sharding_constraint(y, named(None, "model"))
        return jnp.sum(jnp.sin(y @ v))

    arrays = array((32, 64), None, "model"), array((64, 32), "model"), array((48, 32), "data")
    found = sentences(jax.grad(loss), *arrays, jax.random.key(0))
    (mask,) = (text for text in found if "`Dropout/lt`" in text)
    assert "needs the `Dropout/lt` inside it broadcast as `P(None, 'model')`" in mask


def test_what_vmap_has_batched_is_said_to_be_beside_what_is_not():
    """`m.transpose()` has two dimensions, and its sharding is of three."""

    def model(x):
        return jax.lax.top_k(jax.vmap(lambda m: m.transpose())(jnp.sin(x)), 2)

    (text,) = sentences(model, array((8, 16, 4), "data"))
    line = model.__code__.co_firstlineno + 1
    assert f"all of `m.transpose()` (line {line}, within `vmap`), which is `P('data', None, None)`" in text


@pytest.mark.parametrize("differentiate", [lambda f: f, jax.grad], ids=["forward", "grad"])
def test_one_device_runs_only_the_callback_of_a_call(differentiate):
    def f(x):
        return jnp.mean(eqx.error_if(jnp.sin(x), jnp.any(x > 10.0), "too large") ** 2)

    found = [text for text in sentences(differentiate(f), array((16, 8), "data")) if text.startswith("One device")]
    assert found
    assert all(
        text.startswith("One device alone runs `branch_1_fun/pure_callback` in `eqx.error_if(") for text in found
    )


def test_what_an_inner_loop_begins_with_is_a_turns_piece_of_the_argument():
    """`xs` has a dimension more than the array that the inner loop carries."""

    def model(ws, xs):
        def turn(total, x):
            return total + jnp.sum(jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, ws)[0] ** 2), None

        return jax.lax.scan(turn, 0.0, xs)[0]

    found = sentences(jax.grad(model), array((3, 32, 32), None, None, "model"), array((4, 8, 32), None, "data"))
    carried = [text for text in found if "carries" in text]
    assert carried
    assert all("the `xs[i]` that" in text for text in carried)
