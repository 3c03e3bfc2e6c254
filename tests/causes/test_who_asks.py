"""Who asks for a sharding where no constraint does, and where a result is put that was computed on other devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from causes.meshes import CUBE, EXPLICIT, MESH, array, named
from causes.told import another_before_jax_0_10, sentences

P = PartitionSpec


def _mapped(x, w):
    specs = P("data", None), P(None, "model")
    return jax.shard_map(lambda a, b: a @ b, mesh=MESH, in_specs=specs, out_specs=P("data", "model"))(x, w)


@another_before_jax_0_10
def test_in_specs_ask_for_an_argument_whatever_the_result_is_split_over():
    (text,) = sentences(_mapped, array((8, 64), "data", "model"), array((64, 32), None, "model"))
    assert text.startswith("`in_specs` of `jax.shard_map(")
    assert text.endswith("ask for `P('data', None)`, but `x` is `P('data', 'model')`.")


@another_before_jax_0_10
def test_in_specs_ask_for_what_an_operation_before_makes():
    def model(x, w):
        return _mapped(jnp.tile(x[:, None], (1, 2, 1)).reshape(-1, 64), w)

    (text,) = sentences(model, array((8, 64), "data", "model"), array((64, 32), None, "model"))
    assert text.startswith("`in_specs` of `jax.shard_map(")
    assert " ask for `P('data', None)`. For that `jnp.tile(" in text


@another_before_jax_0_10
def test_the_result_of_a_shard_map_is_computed_as_its_out_specs_say():
    f = jax.jit(_mapped, out_shardings=named("data"))
    (text,) = sentences(f, array((8, 64), "data"), array((64, 32), None, "model"))
    assert text == "`result` must be `P('data', None)`, but is computed as `P('data', 'model')`."


@another_before_jax_0_10
def test_out_sharding_of_a_call_asks():
    def model(x, w):
        return jnp.sin(
            jnp.einsum(
                "bt,k->btk",
                x,
                w,
                out_sharding=P(None, None, None),
            )
        )

    with jax.set_mesh(EXPLICIT):
        given = array((8, 16), "data", mesh=EXPLICIT), array((4,), mesh=EXPLICIT)
        (text,) = sentences(model, *given)
    assert text.startswith("`out_sharding=P(None, None, None)` of `jnp.einsum(")
    assert text.endswith("For that it needs `x` as `P(None, None)`, but it is `P('data', None)`.")


@another_before_jax_0_10
def test_a_step_that_brings_an_operand_is_not_told_as_one_of_the_result():
    f = jax.jit(lambda h, g: h.T @ g, out_shardings=named("data"))
    found = sentences(f, array((16, 64), "data", "model"), array((16, 32), None, "data"))
    steps = [text for text in found if text.startswith("Step ")]
    assert len(steps) == 3
    assert all("needs it, as `result` must be `P('data', None)`." in text for text in steps)


@another_before_jax_0_10
def test_a_result_computed_on_other_devices_is_not_said_to_have_its_sharding_before():
    def embed(table, ids):
        x = jnp.take(table, jax.lax.with_sharding_constraint(ids, named(("data", "fsdp"), mesh=CUBE)), axis=0)
        return jax.lax.with_sharding_constraint(x, named(("data", "fsdp"), None, "tp", mesh=CUBE)) * 2

    table, ids = array((256, 64), "tp", "fsdp", mesh=CUBE), array((8, 32), mesh=CUBE, dtype=jnp.int32)
    found = sentences(embed, table, ids)
    whole = "`P(('data', 'fsdp'), None, 'tp')`"
    assert sum(text.endswith((f"Its result is needed as {whole}.", f" takes it as {whole}.")) for text in found) == 2
    assert not any(f"but it is {whole}" in text or f"is {whole}, and its pieces" in text for text in found)
    assert any(
        "needs its positions as `P(('data', 'tp'), None)`, but they are `P(('data', 'fsdp'), None)`." in text
        for text in found
    )


def test_a_sum_over_a_part_of_an_axis_says_so():
    def heads(q, k):
        q, k = (z.reshape(8, 16, 2, 32) for z in (q, k))
        return jnp.einsum("bqhd,bkhd->bhqk", q, k)

    found = sentences(heads, *[array((8, 16, 64), None, None, "model")] * 2)
    assert any("split over a part of `model`, so" in text for text in found)
