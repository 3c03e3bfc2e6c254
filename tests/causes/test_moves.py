"""How an array is wanted where it moves: over which axes, on which devices, and as whose result."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, PartitionSpec

import pjit_inspect as pi
from causes.meshes import CUBE, EXPLICIT, LINE, MESH, array, named
from causes.told import another_before_jax_0_10, sentences


@another_before_jax_0_10
def test_an_axis_that_came_in_the_place_of_an_equal_one_is_not_told_as_that_one():
    """Queries are split over `fsdp` where the product takes them over `tp`: pieces of both are equally large."""

    def model(p, v):
        out = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        return jax.lax.with_sharding_constraint(out, named("data", "tp", None, None, mesh=CUBE))

    p = array((4, 4, 8, 8), "data", "tp", "fsdp", mesh=CUBE)
    found = sentences(model, p, array((4, 8, 4, 8), "data", None, "tp", mesh=CUBE))
    way = "of bringing `p` from `P('data', 'tp', 'fsdp', None)` to `P('data', None, 'tp', None)`."
    assert {text.partition(way)[0] for text in found if way in text} == {"Step 1 of 2 ", "Step 2 of 2 "}


@another_before_jax_0_10
def test_pieces_that_are_computed_on_other_devices_are_not_said_to_be_wanted_otherwise():
    """The product is split over `b` where its sharding has `c`: pieces of one shape, which change places."""
    kinds = AxisType.Explicit, AxisType.Auto, AxisType.Explicit
    mesh = Mesh(CUBE.devices, ("a", "b", "c"), axis_types=kinds)
    with jax.set_mesh(mesh):
        found = sentences(
            lambda x, w: jnp.dot(x, w, out_sharding=PartitionSpec("a", "c")),
            array((16, 32), "a", "c", mesh=mesh),
            array((32, 32), "c", None, mesh=mesh),
        )
    (moved,) = (text for text in found if "sums over" not in text)
    assert moved.startswith("`jnp.dot(x, w, ")
    assert "is computed as `P('a', 'b')`." in moved
    assert moved.endswith("Its result is needed as `P('a', 'c')`.")


@another_before_jax_0_10
def test_the_pieces_of_a_gradient_are_told_in_the_order_of_its_weight():
    """JAX multiplies in another order and transposes; XLA moves what it has before that."""

    def step(w, m, x):
        gradient = jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)
        return w - 0.1 * (m + gradient), m + gradient

    found = sentences(step, array((64, 64)), array((64, 64), "data"), array((16, 64), "data"))
    (moved,) = (text for text in found if "is computed as `P(outer half of 'model', None)`." in text)
    assert moved.startswith("The gradient of `w` in `x @ w`")
    assert moved.endswith("Its result is needed as `P('data', None)`.")


@another_before_jax_0_10
def test_pieces_as_large_as_those_that_are_there_are_not_told_by_their_size():
    """Counts of the edges at each node: those that a device adds up are not those that it divides by."""

    def model(ws, x, edges):
        for w in ws:
            summed = jax.ops.segment_sum(x[edges[:, 0]] @ w, edges[:, 1], num_segments=128)
            counts = jax.ops.segment_sum(jnp.ones(512), edges[:, 1], num_segments=128)
            x = jax.nn.relu(summed / jnp.maximum(counts, 1)[:, None] + x)
        return x

    ws = array((64, 64), None, "model"), array((64, 64), "model")
    found = sentences(model, ws, array((128, 64), "data"), array((512, 2), "data", dtype=jnp.int32))
    assert not any("in pieces of [64]" in text for text in found)
    wanted = "its pieces are needed on other devices than those that have them."
    assert any("`jax.ops.segment_sum(jnp.ones(512)" in text and text.endswith(wanted) for text in found)


@another_before_jax_0_10
def test_what_each_device_gets_all_of_is_wanted_replicated():
    def contrastive(p, image, text):
        def loss(p):
            a, b = image @ p["image"], text @ p["text"]
            logits = (a / jnp.linalg.norm(a, axis=-1, keepdims=True)) @ (
                b / jnp.linalg.norm(b, axis=-1, keepdims=True)
            ).T
            own = jnp.arange(16)[:, None]
            return -sum(jnp.take_along_axis(jax.nn.log_softmax(x), own, -1).mean() for x in (logits, logits.T))

        return jax.value_and_grad(loss)(p)

    params = {"image": array((128, 64), "model"), "text": array((96, 64), "model")}
    found = sentences(contrastive, params, array((16, 128), "data"), array((16, 96), "data"))
    assert not any("in pieces of [64, 16]" in text for text in found)
    # The second goes on with what the first has moved, which others take, too.
    whole = sorted(text[:11] for text in found if "from `P(None, 'data')` to `P(None, None)`" in text)
    assert whole == ["Step 1 of 2", "Step 2 of 2"]


def test_a_sum_of_gradients_whose_name_xla_has_lost_is_told_by_what_takes_it():
    def step(w, x):
        def loss(w):
            z = x @ w
            return (jnp.sin(z).sum(-1) - z.mean(-1)).mean()

        return jax.grad(loss)(w)

    (summed,) = (
        text
        for text in sentences(step, array((64, 64)), array((16, 64), "data"))
        if "gradient of `w` in `x @ w`" in text
    )
    assert "sums over dimension 0 of the gradient of `x @ w` and" in summed


@another_before_jax_0_10
def test_a_product_is_told_in_the_order_of_dimensions_of_its_text():
    """JAX multiplies in another order and transposes; XLA takes that, and what transposes it back, for nothing."""

    def model(x, memory, w):
        keys = jnp.einsum("td,dhk->htk", memory, w)
        return jax.nn.softmax(x @ keys.mT) @ keys

    found = sentences(
        model,
        array((4, 1024, 16), "model", "data", None),
        array((512, 64), "data", None),
        array((64, 4, 16), None, "model", None),
    )
    wanted = "as `P('model', None, None)`, but it is `P('model', 'data', None)`"
    told = {text.partition("` (")[0] for text in found if "needs `jnp.einsum(" in text and wanted in text}
    assert told == {"`x @ keys.mT", "`jax.nn.softmax(x @ keys.mT) @ keys"}


def test_a_result_that_xla_puts_into_its_layout_is_not_told_by_that_operation():
    """The gradient of the second weight is a transpose; XLA gives it the layout of a result by a reshape of its own."""

    def loss(ws, x):
        return jnp.sum((jnp.tanh(x @ ws[0]) @ ws[1]) ** 2)

    gradient = jax.jit(jax.grad(loss), out_shardings=[named("model"), named()])
    weights = [array((32, 64), None, "model"), array((64, 32), "model", None)]
    record = pi.inspect(gradient, weights, array((16, 32), "data", None))
    (cause,) = (c for row in record.collectives for c in row.causes if "result[1]" in c.sentence)
    assert cause.sentence == "`result[1]` must be `P(None, None)`, but is computed as `P('model', None)`."
    assert cause.source[0].function.endswith("loss")


def test_what_no_result_is_made_of_takes_nothing():
    """Of GSPMD's program, a reshape that goes away is not what the partitioner's own reshape is for."""
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        function = jax.jit(lambda a, b: [a * 2, b.T], out_shardings=[named("model"), named()])
        record = pi.inspect(function, array((32, 64), "data", "model"), array((32, 64), None, "model"))
        clauses = [
            re.sub(r" \(test_moves.py:\d+\)", "", cause.sentence) for row in record.collectives for cause in row.causes
        ]
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)
    assert set(clauses) == {
        *(
            f"Step {step} of 2 of bringing `a * 2` from `P('data', 'model')` to `P('model', None)`. "
            "`result[0]` must be split so."
            for step in (1, 2)
        ),
        "`result[1]` must be `P(None, None)`, but is computed as `P('model', None)`.",
    }


def test_what_reverses_sorted_rows_is_for_the_reversal_and_not_for_the_sort():
    """Complete rows are sorted and put back by two exchanges; a third moves pieces in the opposite order."""
    found = sentences(lambda x: jnp.sort(x, axis=1)[:, ::-1], array((16, 64), "data", "model"))
    (other,) = (text for text in found if "sorts along" not in text)
    assert other.startswith("`jnp.sort(x, axis=1)[:, ::-1]`")
    assert "reverses dimension 1 of `jnp.sort(x, axis=1)`, split over `model`" in other


def test_what_a_product_gathers_of_sorted_rows_is_for_the_product():
    """Rows keep `data`, which the weight's columns have, too: the product takes them whole."""
    rows, weight = array((16, 64), "data", "model"), array((64, 64), "model", "data")
    found = sentences(lambda x, w: jnp.sort(x, axis=1) @ w, rows, weight)
    (gather,) = (text for text in found if "sorts along" not in text and "sums over" not in text)
    # JAX 0.8 has one trace of `jnp.sort` for equal arrays, with the line that asked first.
    gather = re.sub(r" \(line \d+\)", "", gather)
    assert "needs `jnp.sort(x, axis=1)` as `P(None, 'model')`, but it is `P('data', 'model')`" in gather


def test_a_sort_whose_result_is_split_otherwise_tells_of_each_array_its_own_axes():
    def model(x):
        return jax.lax.with_sharding_constraint(jnp.sort(x, axis=1), named("model", "data"))

    told = [text for text in sentences(model, array((16, 64), "data", "model")) if "sorts along" in text]
    assert told
    assert not any("split over `data` and `model`" in text for text in told)


def test_positions_that_change_places_are_not_told_as_what_is_looked_up():
    """Both bring `data`, so that the positions move; XLA may look up in other pieces instead."""

    def model(table, tokens):
        return jnp.tanh(table[tokens]) @ table.T

    table, tokens = array((64, 32), None, "data"), array((8, 16), "data", None, dtype=jnp.int32)
    found = sentences(model, table, tokens)
    assert not any(text.startswith("`table[tokens]` is `P('data', None)`, and its pieces") for text in found)


def test_an_axis_in_a_partly_manual_shard_map_comes_from_the_argument_that_brings_it():
    """JAX puts a constraint that asks for nothing behind every operation there."""

    def inner(x, w1, w2):
        return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "data")

    specs = PartitionSpec("data"), PartitionSpec(), PartitionSpec()
    model = jax.shard_map(
        inner, mesh=MESH, in_specs=specs, out_specs=PartitionSpec(), axis_names={"data"}, check_vma=False
    )
    arguments = array((16, 32), "data", None), array((32, 64), None, "model"), array((64, 32), "model", None)
    record = pi.inspect(jax.jit(model), *arguments)
    facts = [fact for row in record.collectives for cause in row.causes for fact in cause.facts]
    origins = [fact for fact in facts if "comes from" in fact]
    assert any(fact.startswith("`model` on `jax.nn.relu(x @ w1)`") for fact in origins)
    assert not any("constraint" in fact for fact in origins)


def test_no_sum_is_for_the_edges_of_a_window():
    """Images split by rows, channels over another axis: some versions of XLA then split the kernel's window."""

    def model(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    record = pi.inspect(
        jax.jit(lambda x, k: jnp.tanh(model(x, k))),
        array((4, 16, 16, 4), None, "data", None, None),
        array((3, 3, 4, 16), None, None, None, "model"),
    )
    causes = [(row.kind, cause.sentence) for row in record.collectives for cause in row.causes]
    assert any("slides a window" in clause for _, clause in causes)
    assert not any("slides a window" in clause for kind, clause in causes if kind == "all-reduce")


def _windowed(x: jax.Array, how: str) -> jax.Array:
    """What would need neighbours' edges, if its dimension stayed split."""
    if how == "roll":
        return jnp.roll(x, 1, 1)
    if how == "flip":
        return jnp.flip(x, 1)
    if how == "pool":
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3), (1, 1), "SAME")
    return x[:, 1:-1]


@pytest.mark.parametrize("how", ["roll", "flip", "pool", "slice"])
def test_no_edges_are_told_of_a_dimension_that_the_operation_gets_all_of(how: str):
    """The product wants the axis along the rows: without the window, as with it, all of `x` moves."""

    def model(x, scale):
        y = _windowed(x, how)
        return y * scale[:, : y.shape[1]]

    found = sentences(model, array((16, 16), None, "x", mesh=LINE), array((16, 18), "x", None, mesh=LINE))
    assert any("needs `x` as `P('x', None)`, but it is `P(None, 'x')`" in text for text in found)
    assert not any(word in text for text in found for word in ("edges", "one element along", "takes a part of"))


def test_no_edges_are_told_where_the_kernel_splits_features_over_the_axis_of_the_rows():
    def model(image, kernel):
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers)

    image = array((4, 8, 8, 16), "data", "model", None, None)
    split = sentences(model, image, array((3, 3, 16, 32), None, None, None, "model"))
    assert any("needs `image` as `P('data', None, None, None)`" in text for text in split)
    assert not any("edges" in text for text in split)
    # With all of the kernel everywhere rows stay split, and neighbours do exchange edges.
    alike = sentences(model, image, array((3, 3, 16, 32)))
    assert alike
    assert all("slides a window along dimension 1 of `image`" in text for text in alike)


def test_a_dimension_of_length_one_that_was_added_is_not_counted():
    """Of a vmapped convolution XLA has a third dimension between the two of `x`."""

    def model(x):
        return jax.vmap(lambda row: jnp.convolve(row, jnp.array([1.0, 2.0, 3.0]), mode="same"))(x)

    record = pi.inspect(model, array((16, 16), None, "x", mesh=LINE))
    causes = [cause for row in record.collectives for cause in row.causes if "slides a window" in cause.sentence]
    assert causes
    for cause in causes:
        assert "along dimension 1 of `x`" in cause.sentence
        assert any("`x`: shape [16, 16], P(None, 'x'); dimension 1 is sharded" in fact for fact in cause.facts)


@another_before_jax_0_10
def test_a_result_that_may_not_be_split_over_part_of_an_axis_is_told_as_such_beside_others():
    """Two groups of keys over four devices; of several results XLA lays each out by a reshape of its own."""

    def attention(p, x):
        q = jnp.einsum("bsd,dhk->bshk", x, p["q"])
        k, v = (jnp.repeat(jnp.einsum("bsd,dgk->bsgk", x, p[name]), 4, axis=2) for name in "kv")
        weights = jax.nn.softmax(jnp.einsum("bqhk,bshk->bhqs", q, k))
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(4, 16, 64) @ p["o"]

    groups = array((32, 2, 8), None, None, "model")
    weights = {"q": array((32, 8, 8), None, "model"), "k": groups, "v": groups, "o": array((64, 32), "model", None)}
    found = sentences(
        lambda p, x: jax.grad(lambda p: jnp.sum(attention(p, x) ** 2))(p), weights, array((4, 16, 32), "data")
    )
    for name in "kv":
        assert any(
            f"`result['{name}']` is returned replicated over `model`. It is computed as" in text for text in found
        )
    assert not any(text.startswith("`reshape` needs") for text in found)


@another_before_jax_0_10
def test_not_all_of_what_is_written_at_positions_is_told_where_a_device_gets_some_columns():
    """The gradient of an embedding that is split along both dimensions: all rows, and half of the columns."""

    def loss(table, w, tokens):
        h = table[tokens]
        h = h + jax.nn.relu(h @ w) @ w.T
        logits = jnp.einsum("bsd,vd->bsv", h, table)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1).mean()

    table, w = array((64, 32), "model", "data"), array((32, 64), "data", "model")
    found = sentences(jax.grad(loss, argnums=(0, 1)), table, w, array((4, 16), "data", dtype=jnp.int32))
    (moved,) = (
        text
        for text in found
        if text.startswith("The gradient of `table` in `table[tokens]` (")
        and "needs the gradient of `table[tokens]`" in text
    )
    assert "as `P(None, None, 'data')`, but it is `P('data', None, None)`" in moved
    assert "all of it" not in moved


@another_before_jax_0_10
def test_positions_of_a_lookup_move_and_its_table_does_not():
    def embed(table, tokens):
        return jax.lax.with_sharding_constraint(table[tokens], named("fsdp", "data", "tp", mesh=CUBE))

    table, tokens = array((256, 64), "tp", ("fsdp", "data"), mesh=CUBE), array((4, 32), "fsdp", "data", mesh=CUBE)
    tokens = jax.ShapeDtypeStruct(tokens.shape, jnp.int32, sharding=tokens.sharding)
    record = pi.inspect(embed, table, tokens)
    causes = [(row.dtype, cause) for row in record.collectives for cause in row.causes]
    moved = [(dtype, str(cause.moved)) for dtype, cause in causes if cause.kind != "indexing"]
    assert moved
    assert not [row for row in moved if row == ("s32", "`table`")]


@another_before_jax_0_10
def test_a_lookup_that_is_computed_on_other_devices_is_put_back():
    def turn(tree, node):
        rows = jnp.arange(8)
        node = tree[rows, node]
        return tree.at[rows, node].set(3)

    found = sentences(turn, array((8, 9), "model", dtype=jnp.int32), array((8,), "model", dtype=jnp.int32))
    assert not any("in other pieces" in text or "on other devices" in text for text in found)
    assert any(text.startswith("`tree[rows, node]`") and " is computed as `P('data')`. " in text for text in found)


@another_before_jax_0_10
def test_both_steps_that_put_a_lookup_back_start_where_it_was_computed():
    def embed(table, tokens):
        return jax.lax.with_sharding_constraint(table[tokens], named("model", None, "data")) * 2

    table, tokens = array((256, 64), "data", "model"), array((4, 16), "model", dtype=jnp.int32)
    found = [text for text in sentences(embed, table, tokens) if text.startswith("`table[tokens]`")]
    computed = [
        text for text in found if " is computed as `P(None, None, 'model')`, as its operands are split." in text
    ]
    assert len(computed) == 2


@pytest.mark.parametrize("spec", [(), ("data",), ("data", "model")])
def test_a_plain_slice_takes_no_part_of_its_result(spec):
    def model(x):
        return jax.lax.with_sharding_constraint(x[2:34], named("model")) * 2

    found = sentences(model, array((64, 64), *spec))
    assert found
    assert not any("its result" in text for text in found)


@another_before_jax_0_10
def test_edges_of_an_array_that_all_devices_have_are_for_the_split_result():
    def model(x):
        return jax.lax.with_sharding_constraint(x[2:34], named("model")) * 2

    found = set(sentences(model, array((64, 64))))
    assert all(text.startswith("The result of `x[2:34]`") for text in found)
    assert all(
        text.endswith("is split over `model` along dimension 0. Its pieces need what other devices hold.")
        for text in found
    )


def test_out_sharding_does_not_ask_for_the_sharding_of_a_gradient():
    def loss(x):
        t = jnp.sin(jax.sharding.reshard(x.reshape(-1, 16), PartitionSpec("model", None)))
        return (t.reshape(8, 32, 16, out_sharding=PartitionSpec("data", None, None)) ** 2).sum()

    with jax.set_mesh(EXPLICIT):
        found = sentences(jax.grad(loss), array((8, 32, 16), "data", mesh=EXPLICIT))
    asked = [text for text in found if text.startswith("`out_sharding=P('data', None, None)` of")]
    assert not any("asks for `P('model', None)`" in text for text in asked)


def test_a_collective_in_a_helper_is_told_with_the_call():
    def gather(x):
        return jax.lax.all_gather(x, "model", tiled=True)

    def body(a, b):
        first = gather(jnp.sin(a))
        return first + gather(jnp.cos(b))

    mapped = jax.shard_map(body, mesh=MESH, in_specs=PartitionSpec("model"), out_specs=PartitionSpec(), check_vma=False)
    found = [text for text in sentences(mapped, array((16,), "model"), array((16,), "model")) if "all_gather" in text]
    assert len(set(found)) == 2
    assert all(", called at line " in text for text in found)


def test_the_gradient_of_an_operand_that_is_not_known_is_not_told_as_that_of_a_gradient():
    def layer(x, w):
        return jax.lax.psum(jnp.sin(x) @ w, "model")

    mapped = jax.shard_map(
        layer,
        mesh=MESH,
        in_specs=(PartitionSpec("data"), PartitionSpec(None, "model")),
        out_specs=PartitionSpec("data"),
        check_vma=False,
    )

    def loss(ws, x):
        for w in ws:
            x = jnp.tile(mapped(x, w), (1, 4))
        return (x**2).sum()

    weights = [array((16, 16), None, "model")] * 2
    found = sentences(jax.grad(loss), weights, array((8, 16), "data"))
    assert found
    assert not any("gradient of the gradient" in text or "gradient of a gradient" in text for text in found)


@another_before_jax_0_10
def test_a_row_that_is_joined_moves_for_the_join_and_not_for_the_slice_before_it():
    def model(x):
        joined = jnp.concatenate([x[:, :1], jnp.sin(x)[:, 1:]], axis=1)
        return jax.lax.with_sharding_constraint(joined, named("data", "model", None))

    found = sentences(model, array((4, 32, 8), "data", "model"))
    assert any(text.startswith("`jnp.concatenate(") for text in found)
    assert not any("takes one element" in text for text in found)


def test_axes_of_size_one_are_no_way_to_split_anything():
    """Meshes of large programs have several: with five of them, this many ways to split took forever."""

    def shifted(mesh):
        def model(x):
            moved = jax.lax.slice_in_dim(jnp.pad(jnp.cos(x), ((0, 1), (0, 0), (0, 0))), 1, 5, axis=0)
            return jnp.sin(jax.lax.with_sharding_constraint(moved, named("stage", "fsdp", mesh=mesh))).sum()

        return sentences(jax.grad(model), array((4, 2, 16), "stage", "fsdp", mesh=mesh))

    bare = Mesh(CUBE.devices.reshape(4, 2), ("stage", "fsdp"))
    more = Mesh(CUBE.devices.reshape(4, 2, 1, 1, 1, 1, 1), ("stage", "fsdp", "a", "b", "c", "d", "e"))
    assert shifted(more) == shifted(bare) != []
