"""A value is known by what computed its elements: XLA names a copy after the operation that wants it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

BATCH, LENGTH, WIDTH, HIDDEN, VOCABULARY, LAYERS = 8, 128, 256, 1024, 1024, 2
"""On 2 x 4 devices the input and the hidden array of a layer have as many elements on each: sizes tell nothing."""


def norm(x: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def layer(p: dict[str, Any], x: Any) -> Any:
    h = norm(x) @ p["wq"]
    a = jax.nn.softmax(jnp.einsum("bsd,btd->bst", h, h) / 16.0)
    x = x + jnp.einsum("bst,btd->bsd", a, h)
    return x + jax.nn.gelu(norm(x) @ p["w1"]) @ p["w2"]


def loss(params: dict[str, Any], tokens: Any) -> Any:
    x = jax.lax.with_sharding_constraint(params["emb"][tokens], P("fsdp", None, None))
    for p in params["layers"]:
        x = layer(p, x)
    return -jnp.mean(jax.nn.log_softmax(x @ params["emb"].T)[..., 0])


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    mesh = jax.make_mesh((2, 4), ("fsdp", "tp"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def shaped(shape: tuple[int, ...], *spec: str | None, dtype: Any = np.float32) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

    one = {
        "wq": shaped((WIDTH, WIDTH), "fsdp", "tp"),
        "w1": shaped((WIDTH, HIDDEN), "fsdp", "tp"),
        "w2": shaped((HIDDEN, WIDTH), "tp", "fsdp"),
    }
    params = {"emb": shaped((VOCABULARY, WIDTH), "tp", "fsdp"), "layers": [one] * LAYERS}
    with jax.set_mesh(mesh):
        return pi.inspect(jax.jit(jax.grad(loss)), params, shaped((BATCH, LENGTH), "fsdp", dtype=np.int32))


def test_what_the_backward_pass_computes_is_not_alive_before_it(record: pi.CompileRecord):
    use = record.memory_use
    values = {row.made_by: row for row in (*use.live, *use.largest)}.values()
    last = max(row.begins for row in values if row.phase == "forward")
    products = [row for row in values if row.name.startswith("gradient of") and row.name.endswith("dot_general")]
    assert [(row.name, row.begins) for row in products if row.begins < last] == []


def test_the_copy_of_a_gathered_value_is_called_after_that_value(record: pi.CompileRecord):
    """Each layer's input of `w1` is gathered over `tp` for the product and, in another layout, for its gradient."""
    copies = [row for row in record.memory_use.live if row.kind == "collective buffer" and "rsqrt" in row.name]
    assert len(copies) >= LAYERS
    for row in copies:
        assert row.name.endswith("all-gather over tp")
        assert (row.spec, row.global_shape) == (("fsdp", None, None), (BATCH, LENGTH, WIDTH))
        assert (row.last_phase, row.bytes) == ("backward", BATCH // 2 * LENGTH * WIDTH * 4)
