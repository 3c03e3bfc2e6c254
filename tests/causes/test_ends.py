"""What moves, from which sharding, and to which: as the collectives of the partitioned program have it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec

import pjit_inspect as pi
from causes.meshes import CUBE, EXPLICIT, MESH, array, named
from causes.told import another_before_jax_0_10, sentences

P = PartitionSpec


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
    assert not any("split differently" in text or "on other devices" in text for text in found)
    assert any(text.startswith("`tree[rows, node]`") and " is computed in pieces of [4] on" in text for text in found)


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
        t = jnp.sin(jax.sharding.reshard(x.reshape(-1, 16), P("model", None)))
        return (t.reshape(8, 32, 16, out_sharding=P("data", None, None)) ** 2).sum()

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

    mapped = jax.shard_map(body, mesh=MESH, in_specs=P("model"), out_specs=P(), check_vma=False)
    found = [text for text in sentences(mapped, array((16,), "model"), array((16,), "model")) if "all_gather" in text]
    assert len(set(found)) == 2
    assert all(", called at line " in text for text in found)


def test_the_gradient_of_an_operand_that_is_not_known_is_not_told_as_that_of_a_gradient():
    def layer(x, w):
        return jax.lax.psum(jnp.sin(x) @ w, "model")

    mapped = jax.shard_map(
        layer, mesh=MESH, in_specs=(P("data"), P(None, "model")), out_specs=P("data"), check_vma=False
    )

    def loss(ws, x):
        for w in ws:
            x = jnp.tile(mapped(x, w), (1, 4))
        return (x**2).sum()

    weights = [array((16, 16), None, "model")] * 2
    found = sentences(jax.grad(loss), weights, array((8, 16), "data"))
    assert found
    assert not any("gradient of the gradient" in text or "gradient of a gradient" in text for text in found)
