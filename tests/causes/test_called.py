"""What arrays are called in causes: resharded ones, sums of gradients, and what `scan(unroll=)` hands its turns.

A name that holds for another array makes a sentence false, however right the rest of it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import PartitionSpec, reshard

import pjit_inspect as pi
from causes.meshes import EXPLICIT, LINE, array, named
from causes.told import another_before_jax_0_10, sentences

ask = jax.lax.with_sharding_constraint


def test_an_array_with_another_sharding_than_its_argument_is_said_to_be_resharded():
    def model(x):
        x = ask(x, named(None, "model"))
        return x.sum(1)

    found = sentences(model, array((16, 16), "model", None))
    # The argument's own dimension 1 is whole, and the constraint's sentence says so.
    assert any("reduces dimension 1 of `x` (resharded)." in text for text in found)
    assert any("asks for `P(None, 'model')`, but `x` is `P('model', None)`" in text for text in found)


def test_a_reshard_of_explicit_mode_is_not_told_as_the_array_before_it():
    def model(x):
        return reshard(jnp.sin(x), PartitionSpec(None, "model")).sum(1)

    with jax.set_mesh(EXPLICIT):
        found = sentences(model, array((16, 32), "data", None, mesh=EXPLICIT))
    (summed,) = (text for text in found if "reduces" in text)
    assert re.search(r"dimension 1 of `jnp.sin\(x\)`( \(line \d+\))? \(resharded\)\.", summed)


def test_a_constraint_is_not_blamed_for_what_another_operand_brings():
    def model(x, g):
        return ask(jnp.sin(x) * g, named("data"))

    (told,) = sentences(model, array((8, 16, 32), "data"), array((32,), "data"))
    assert told.startswith("`jnp.sin(x) * g` (")
    assert told.endswith(
        "needs `g` as `P(None)`, but it is `P('data')`. Axis `data` already splits dimension 0 of the result."
    )


def test_a_collective_of_a_partition_rule_is_told_at_the_call():
    @custom_partitioning
    def shift(a):
        return jnp.roll(a, 1, 0)

    def partition(mesh, arguments, result):
        ring = [(k, (k + 1) % 8) for k in range(8)]
        own = arguments[0].sharding
        return mesh, lambda a: jnp.concatenate([jax.lax.ppermute(a[-1:], "x", ring), a[:-1]]), own, (own,)

    shift.def_partition(
        infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding,
        partition=partition,
        sharding_rule="i j -> i j",
    )
    (told,) = sentences(lambda x: x + 0.1 * shift(x), array((16, 4), "x", mesh=LINE))
    assert told.startswith("`ppermute` at test_called.py:")
    assert "is a collective in the partition rule of `shift(x)` (test_called.py:" in told


def test_a_constraint_that_changes_nothing_is_not_told():
    found = sentences(lambda x: ask(x, named("data", "model")).sum(1), array((16, 32), "data", "model"))
    assert [text for text in found if "dimension 1 of `x`." in text]


@pytest.mark.parametrize(
    ("shape", "wanted"), [((1, 16, 32), "P(None, None, {})"), ((32,), "P({})"), ((16, 32), "P(None, {})")]
)
def test_a_sharding_has_the_dimensions_of_the_array_that_is_named(shape: tuple[int, ...], wanted: str):
    """XLA leaves out dimensions of length 1, and adds some, to broadcast an array."""
    spec = (None,) * (len(shape) - 1)
    function = jax.jit(lambda pos, x: jnp.sin(x) + pos, out_shardings=named("data"))
    (told,) = sentences(function, array(shape, *spec, "data"), array((16, 16, 32), "data"))
    assert f"needs `pos` as `{wanted.format(None)}`, but it is `{wanted.format(repr('data'))}`." in told


def test_a_module_is_no_name_for_the_statistics_that_it_keeps():
    linen = pytest.importorskip("flax.linen")
    norm = linen.BatchNorm(use_running_average=False)

    def step(kept, x):
        y, new = norm.apply(kept, x, mutable=["batch_stats"])
        return jnp.sin(y), jax.lax.pmean(new["batch_stats"]["mean"], "i")

    one = jnp.ones(16)
    kept = {"params": {"scale": one, "bias": one}, "batch_stats": {"mean": one, "var": one}}
    function = jax.pmap(step, axis_name="i", in_axes=(None, 0))
    (told,) = sentences(function, kept, jnp.ones((8, 4, 16)))
    assert 'It takes the `BatchNorm/add` inside `norm.apply(kept, x, mutable=["batch_stats"])` (line ' in told


def test_the_sum_of_a_residuals_gradients_is_told_by_what_takes_it():
    """The gradient of `up` and `down` of one layer are of all that its output goes to: the next layer, and past it."""

    def loss(layers, x):
        for up, down in layers:
            x = x + jnp.tanh(x @ up) @ down
        return jnp.sum(jnp.sin(x))

    def gradient(layers, x):
        return jax.grad(loss)(layers, x)

    layer = array((32, 64), None, "model"), array((64, 32), "model", None)
    found = sentences(gradient, [layer] * 2, array((16, 32), "data", None))
    for number, text in enumerate(("x @ up", "jnp.tanh(x @ up) @ down")):
        own = f"The gradient of `layers[0][{number}]` in `{text}`"
        (first,) = (other for other in found if other.startswith(own))
        assert f"sums over dimension 0 of the gradient of `{text}` and" in first
    assert not any("gradients at" in text for text in found)


@pytest.mark.parametrize("unroll", [1, 2, 4])
def test_a_turns_piece_has_the_arrays_name_however_many_turns_are_unrolled(unroll: int):
    def model(w, xs):
        def step(h, x):
            return jnp.tanh(h + x @ w), None

        return jax.lax.scan(step, jnp.zeros((8, 32)), xs, unroll=unroll)[0]

    found = sentences(model, array((16, 32), "model", None), array((8, 8, 16), None, None, "model"))
    assert found
    assert all("sums over dimension 1 of `xs[i]` and dimension 0 of `w`" in text for text in found)


@another_before_jax_0_10
def test_what_an_unrolled_loop_saved_is_not_told_as_a_gradient():
    def loss(w, xs):
        def step(h, x):
            return jnp.tanh(h @ w + x), None

        return jax.lax.scan(step, jnp.zeros((8, 32)), xs, unroll=2)[0].sum()

    found = sentences(jax.grad(loss), array((32, 32), "model", None), array((6, 8, 32), None, "data", None))
    # The products of the gradient take what the forward loop saved: the carry, and never its gradient.
    products = [text for text in found if text.startswith("The gradient of `w` in `h @ w`")]
    assert products
    assert not [text for text in found if "of the gradient of `jax.lax.scan" in text]


@pytest.mark.parametrize(
    ("spec", "called"), [((None, "data"), "`w[i]` (resharded)"), ((None, "data", "model"), "`w[i]`")]
)
def test_an_array_that_a_loop_takes_resharded_is_said_to_be(spec: tuple[str | None, ...], called: str):
    """`w` has no `model`; the turns' pieces have, as what the partitioner makes of the constraint in the body."""

    def model(w, x):
        return jax.lax.scan(lambda h, p: (ask(jnp.tanh(h @ p), named("data", "model")), None), x, w, unroll=2)[0]

    found = sentences(model, array((4, 32, 32), *spec), array((16, 32), "data", None))
    assert f"needs {called} as `P(None, 'model')`, but it is `P('data', 'model')`" in " ".join(found)


def test_what_a_shard_map_takes_and_returns_is_not_said_to_be_resharded():
    specs = {"in_specs": PartitionSpec("data", "model"), "out_specs": PartitionSpec("data", "model")}
    manual = jax.shard_map(lambda a: jnp.sin(a) * 2, mesh=named().mesh, **specs)
    same = jax.shard_map(lambda a: a.reshape(a.shape), mesh=named().mesh, **specs)

    def model(x, w):
        return manual(x) @ w, same(x).sum(1)

    found = sentences(model, array((16, 32), "data", "model"), array((32, 8), "model"))
    assert len(found) == 2
    assert not [text for text in found if "resharded" in text]


def test_a_dimension_of_an_einsum_is_one_of_those_that_are_written():
    """JAX makes `b h q k` of it first, where `q` is dimension 2, and XLA `b h k q`."""

    def model(s, v):
        return jnp.einsum("bhqt,bthk->bqhk", s, v)

    found = sentences(model, array((4, 4, 16, 16), None, None, "model", None), array((4, 16, 4, 8), None, "model"))
    assert any("needs `v` as" in text and "already splits dimension 1 of the result" in text for text in found)


def first(xs):
    return jax.lax.scan(lambda c, x: (c + x, None), jnp.zeros((24, 24)), xs)[0]


def second(series, carry):
    def tick(carry, row):
        return jnp.sin(carry @ row), None

    return jax.lax.scan(tick, carry, series)[0]


@pytest.mark.parametrize("function", [second, jax.grad(lambda series, carry: second(series, carry).sum())])
def test_a_scan_is_not_told_as_the_first_one_over_arrays_of_its_shape(function: Callable[..., Any]):
    """JAX traces what takes a turn's piece once for all scans over a shape, and keeps the place of the first."""
    pi.inspect(first, array((8, 24, 24), "data", None, None))
    arguments = array((8, 24, 24), None, "data", "model"), array((16, 24), "data", None)
    moved = [text for text in sentences(function, *arguments) if "as `P(None, 'model')`" in text]
    assert moved
    assert all("needs `series[i]` as `P(None, 'model')`" in text for text in moved)


def test_two_scans_of_one_program_have_each_their_own_array_and_place():
    """The frames that JAX keeps are then those of the whole way to the first scan, which is in the same program."""

    def encode(rows, x):
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, rows)[0]

    def decode(layers, x):
        return jax.lax.scan(lambda c, w: (jnp.sin(c @ w), None), x, layers)[0]

    def model(rows, layers, x):
        return decode(layers, encode(rows, x)).sum()

    weights = array((4, 40, 40), None, "data")
    record = pi.inspect(jax.grad(model, argnums=(0, 1)), weights, weights, array((16, 40), "data"))
    gathers = [row for row in record.collectives if row.kind == "all-gather"]
    named_as = {"encode": "`rows[i]`", "decode": "`layers[i]`"}
    assert {row.source[0].function.split(".")[-3] for row in gathers} == set(named_as)
    for row in gathers:
        assert named_as[row.source[0].function.split(".")[-3]] == row.cause.moved
    assert not [cause for row in record.collectives for cause in row.causes if "gradient of `jax.lax" in cause.sentence]


def test_what_takes_a_turns_piece_stands_at_its_own_scan():
    pi.inspect(first, array((8, 24, 24)))
    record = pi.inspect(second, array((8, 24, 24), "data", None, None), array((16, 24)))
    (row,) = (row for row in record.collectives if row.cause.kind == "indexing")
    assert "dimension 0 of `series`, split over `data`" in row.cause.sentence
    assert row.cause.source[0].function == row.source[0].function == "second"


@another_before_jax_0_10
def test_what_is_taken_in_a_while_loop_stands_where_it_was_written():
    def model(x, count):
        def body(state):
            total, turn = state
            row = jax.lax.dynamic_index_in_dim(x, turn * 3 % 16, 0, keepdims=False)
            return total + row, turn + 1

        return jax.lax.while_loop(lambda state: state[1] < count, body, (jnp.zeros(32), 0))[0]

    record = pi.inspect(model, array((16, 32), "data", None), array((), dtype=jnp.int32))
    (cause,) = (cause for row in record.collectives for cause in row.causes if cause.kind == "indexing")
    assert cause.source[0].function == f"{model.__qualname__}.<locals>.body"
    assert cause.sentence.startswith("`jax.lax.dynamic_index_in_dim(x, turn")


NETWORK = """
def network(update):
    def apply(parts):
        return update(numpy.concatenate(parts, axis=1)) * 2
    return apply
"""


def test_a_call_is_no_name_for_what_it_hands_to_a_function_of_the_users():
    """A library prepares what the user's function takes, as jraph's `GraphNetwork` does."""
    library: dict[str, Any] = {"numpy": jnp}
    exec(compile(NETWORK, "/venv/lib/python3.12/site-packages/netlib.py", "exec"), library)

    def loss(v, w, a, b):
        net = library["network"](lambda feats: jnp.tanh(feats @ w))
        return jnp.sum(net([jnp.cos(a @ v), jnp.sin(b)]) ** 2)

    given = (
        array((32, 32), None, "model"),
        array((64, 32), None, "model"),
        array((16, 32)),
        array((16, 32), None, "model"),
    )
    found = sentences(jax.jit(loss), *given)
    assert any("needs the `concatenate` inside `net([jnp.cos(a @ v), jnp.sin(b)])` (" in text for text in found)


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


def test_the_arrays_of_a_loop_are_told_apart() -> None:
    """Which array of a loop it is: by what each turn saves, and by the argument or the result that it carries."""

    def model(params, x):
        def step(carry, _):
            w, v, h = carry
            y = jnp.tanh(h @ w)
            z = jnp.sin(y)
            return (w * 0.9, v + 1.0, z), (y, z)

        carry = (params["w"], jnp.zeros((16, 16)), x)
        (w, v, h), (ys, zs) = jax.lax.scan(step, carry, None, length=4)
        return {"w": w, "v": v}, ys.sum(1), jnp.cos(zs), h.sum(0)

    given = {"w": array((16, 16), "model")}, array((64, 16), "data")
    found = sentences(model, *given)
    assert any(
        "dimension 0 of the `params['w']` that `jax.lax.scan(step, carry, None, length=4)` (line" in s for s in found
    )
    assert any("dimension 1 of `jnp.tanh(h @ w)` (line" in s and "stacked by `jax.lax.scan(" in s for s in found)
    assert any("dimension 0 of a result of `jax.lax.scan(" in s for s in found)
    assert not any("of `jax.lax.scan(" in s.replace("a result of `jax.lax.scan(", "") for s in found)


def test_what_is_unpacked_is_the_target_that_it_is_given_to() -> None:
    def scores(w, x):
        q, k = jnp.einsum("bnd,dth->tbnh", x, w)
        return jnp.einsum("bnh,bmh->bnm", q, k).max(-1)

    found = sentences(scores, array((32, 2, 16), None, None, "model"), array((8, 16, 32), "data", "model"))
    assert any("needs `k` (line" in text for text in found)
    assert not any("`q, k`" in text for text in found)


def test_what_one_text_made_before_is_no_part_of_it() -> None:
    """Python runs the line of a loop that it unrolls again and again."""

    def model(x, w):
        for _ in range(2):
            x = x @ w
        return x

    found = sentences(model, array((16, 32), "data"), array((32, 32), None, "model"))
    assert any("needs an earlier `x @ w` as " in text for text in found)


CUSTOM = """
flat = lambda t: t.reshape(-1, t.shape[2])
chunk = lambda t, i: jax.lax.dynamic_slice(t, (0, i), (t.shape[0], 8))

@jax.custom_vjp
def attend(q, k):
    return q

def forward(q, k):
    a, b = flat(q), flat(k)
    _, y = jax.lax.scan(lambda i, _: (i + 8, chunk(a, i) * chunk(b, i)), 0, None, length=2)
    return y, (q, k)

def backward(kept, g):
    a, b = map(flat, kept)
    _, d = jax.lax.scan(lambda i, g: (i + 8, (g * chunk(b, i), g * chunk(a, i))), 0, g, length=2)
    return tuple(jnp.moveaxis(d, 0, 1).reshape(kept[0].shape) for d in d)

attend.defvjp(forward, backward)
"""


def test_what_the_forward_pass_makes_is_not_inside_a_loop_of_the_backward_pass() -> None:
    """Of the rule for the gradient JAX keeps the call alone: its loop stands there."""
    library: dict[str, Any] = {"jax": jax, "jnp": jnp}
    exec(CUSTOM, library)

    def loss(w, x):
        qk = jnp.einsum("bnd,dth->tbhn", x, w)
        return (library["attend"](*qk) ** 2).sum()

    found = sentences(jax.grad(loss), array((32, 2, 4), None, None, "model"), array((4, 16, 32), "data"))
    # JAX 0.12 unstacks what earlier versions slice.
    inside = re.compile(r'the `(slice|unstack)` inside `library\["attend"\]\(\*qk\)`')
    assert any(inside.search(text) for text in found)
    assert not any("inside the backward pass" in text for text in found)


def test_every_view_of_an_array_is_told() -> None:
    @jax.custom_vjp
    def attend(q, k):
        return q

    def backward(kept, g):
        a, b = (t.transpose(2, 0, 1).reshape(t.shape[2], -1) for t in kept)
        return g * (a @ b.T).sum(), g

    attend.defvjp(lambda q, k: (jnp.sin(q) * k, (q, k)), backward)

    def loss(w, x):
        qk = jnp.einsum("bnd,dth->tbhn", x, w)
        return (attend(*qk) ** 2).sum()

    found = sentences(jax.grad(loss), array((32, 2, 4), None, None, "model"), array((4, 16, 32), "data"))
    told = r"needs the `(slice` inside `attend\(\*qk\)` reshaped and|unstack` inside `attend\(\*qk\)`) transposed as "
    assert any(re.search(told + r"`P\(None, 'data', None\)`, but it is ", text) for text in found)


@pytest.mark.xfail(
    jax.__version_info__ < (0, 10),
    reason="JAX 0.8 writes `tile` as three operations, whose last is gone: the one before has the call's text",
)
def test_a_broadcast_inside_a_call_is_not_the_calls_value() -> None:
    """XLA makes the last view of `jnp.tile` one with the next, so that its value has other dimensions nowhere."""

    def model(x, w):
        x = jnp.reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))
        x = jnp.tile(x[:, jnp.newaxis, :], (1, 2, 1))
        x = jnp.reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))
        return jax.lax.with_sharding_constraint(x, named(None, None)) @ w

    found = sentences(model, array((1, 32, 64), None, None, "model"), array((64, 64), None, "model"))
    assert found
    assert not any("needs `jnp.tile(" in text for text in found)


def test_what_a_loop_saves_for_its_gradient_has_the_name_of_a_turn_in_explicit_mode_too() -> None:
    """Explicit mode constrains the array that is saved to its own type; that is no other array."""

    def layer(x, w):
        return x + jax.nn.relu(x @ w), None

    def loss(ws, x):
        return (jax.lax.scan(layer, x, ws)[0] ** 2).mean()

    with jax.set_mesh(EXPLICIT):
        found = sentences(jax.grad(loss), array((3, 32, 32), mesh=EXPLICIT), array((16, 32), "data", mesh=EXPLICIT))
    assert any("and dimension 0 of the `x` that `jax.lax.scan(layer, x, ws)`" in text for text in found)
    assert not any("stacked by" in text or "a dimension of" in text for text in found)
