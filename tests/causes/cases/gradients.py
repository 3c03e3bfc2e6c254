"""Derivatives of what the other files do forward, and of products in several modes."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, AR, CP, SUM, Case, Want, case
from causes.meshes import CUBE, EXPLICIT, LINE, MESH, array, named

CASES: list[Case] = []

MOVE = f"{AG}|{A2A}|{CP}|{AR}"


@case(
    CASES,
    "loss over both axes; dw contracts the batch (data), dx contracts the columns (model)",
    Want(AR, "data model|data|model", "reduction", at="loss"),
    Want(AR, "data", "contraction", at="mm", phase="backward"),
    Want(AR, "model", "contraction", at="mm", phase="backward"),
)
def gradient_of_a_product():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(y**2)  # @loss

    step = jax.value_and_grad(loss, argnums=(0, 1))
    return jax.jit(step), (array((32, 64), None, "model"), array((16, 32), "data", None))


@case(
    CASES,
    "y is a sum over model; dw = x.T dy contracts the batch (data); dx = dy w.T contracts nothing split",
    Want(AR, "model", "contraction", at="mm"),
    Want(AR, "data", "contraction", at="mm", phase="backward"),
    Want(AR, "data", "reduction", at="loss"),
)
def gradient_of_a_contraction():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.tanh(y))  # @loss

    step = jax.value_and_grad(loss, argnums=(0, 1))
    return jax.jit(step), (array((32, 64), "model", None), array((16, 32), "data", "model"))


@case(
    CASES,
    "prefixes forward, suffixes backward, both along the split rows",
    Want(MOVE, "model", "indexing", at="cumsum"),
)
def gradient_of_cumsum():
    def loss(x):
        y = jnp.cumsum(x, axis=0)  # @cumsum
        return jnp.sum(jnp.sin(y))

    return jax.jit(jax.grad(loss)), (array((16, 8), "model", None),)


@case(
    CASES,
    "backward, the winner of a window may lie on the neighbour, and what it gets is added there",
    Want(CP, "model", "halo", at="pool", phase="backward"),
)
def gradient_of_max_pool():
    def loss(x, y):
        pooled = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3, 3), (1, 1), "SAME")  # @pool
        return jnp.sum(pooled * y)

    return jax.jit(jax.grad(loss)), (array((16, 16), "model", None), array((16, 16), "model", None))


@case(
    CASES,
    "backward each half of the joined rows goes back to where its rows came from",
    Want(MOVE, "model", "halo", at="join"),
)
def gradient_of_concatenate():
    def loss(x, y, z):
        joined = jnp.concatenate([x, y], axis=0)  # @join
        return jnp.sum(joined * z)

    a = array((16, 8), "model", None)
    split = named("model", None)
    step = jax.jit(jax.grad(loss, argnums=(0, 1)), out_shardings=(split, split))
    return step, (a, a, array((32, 8), "model", None))


@case(
    CASES,
    "forward some rows by number; backward they are put into zeros, of which every device makes its own rows",
)
def gradient_of_dynamic_slice():
    def loss(x, y, i):
        rows = jax.lax.dynamic_slice_in_dim(x, i, 4, axis=0)
        return jnp.sum(rows * y)

    arguments = array((16, 8), "model", None), array((4, 8)), array((), dtype=jnp.int32)
    return jax.jit(jax.grad(loss)), arguments


@case(
    CASES,
    "the sum of i comes first (data), then j is contracted (model)",
    Want(AR, "data", "reduction", at="einsum"),
    Want(AR, "model", "contraction", at="einsum"),
)
def einsum_with_a_summed_index():
    def f(x, w):
        return jnp.einsum("ij,kj->k", x, w)  # @einsum

    return jax.jit(f), (array((16, 32), "data", "model"), array((8, 32), None, "model"))


@case(CASES, "each example's own gradient: nothing is summed over the batch")
def gradients_per_example():
    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w))

    f = jax.vmap(jax.grad(loss), in_axes=(None, 0))
    return jax.jit(f), (array((32, 16)), array((16, 32), ("data", "model"), None))


@case(
    CASES,
    "forward mode: the product and its derivative both contract model",
    Want(AR, "model", "contraction", at="mm"),
)
def forward_mode_derivative():
    def f(x, w):
        return jnp.sin(x @ w)  # @mm

    def both(x, w, dx):
        return jax.jvp(lambda x: f(x, w), (x,), (dx,))

    arguments = array((16, 32), "data", "model"), array((32, 64), "model", None), array((16, 32), "data", "model")
    return jax.jit(both), arguments


@case(
    CASES,
    "products are saved, so nothing is repeated: one sum over model forward; gradients contract the batch",
    Want(AR, "model", "contraction", at="mm2", phase="forward"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
)
def remat_that_saves_products():
    def loss(w, x):
        @jax.checkpoint
        def layer(w, x):
            h = jnp.tanh(x @ w[0])  # @mm1
            return jnp.tanh(h @ w[1])  # @mm2

        saving = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)
        return jnp.sum(saving(w, x))

    weights = array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(jax.grad(loss)), (weights, array((16, 32), "data", None))


@case(
    CASES,
    "outside the partitioner contracts model; inside the user adds over data",
    Want(AR, "model", "contraction", at="mm"),
    Want(AR, "data", "written", at="psum"),
)
def product_then_shard_map():
    def block(y):
        return jax.lax.psum(y.sum(0), "data")  # @psum

    mapped = jax.shard_map(block, mesh=MESH, in_specs=jax.P("data", None), out_specs=jax.P())

    def f(x, w):
        y = x @ w  # @mm
        return mapped(y)

    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 64), "model", None))


@case(
    CASES,
    "map takes the rows one by one, but they lie on different devices: each row by number must reach everybody",
    Want(f"{AG}|{AR}", "x", "indexing", at="map"),
)
def map_over_split_rows():
    def f(x):
        return jax.lax.map(jnp.sin, x)  # @map

    return jax.jit(f, out_shardings=named(mesh=LINE)), (array((16, 8), "x", None, mesh=LINE),)


@case(
    CASES,
    "time is split, and the recurrence takes one step after the other",
    Want(f"{AG}|{AR}", "x", "indexing", at="scan"),
)
def recurrence_over_split_time():
    def f(start, x):
        def step(c, x):
            return jnp.tanh(c + x), None

        return jax.lax.scan(step, start, x)[0]  # @scan

    return jax.jit(f), (array((8,), mesh=LINE), array((16, 8), "x", None, mesh=LINE))


@case(
    CASES,
    "the gradient is wanted split by x: the batch is summed and each device keeps its rows",
    Want(SUM, "x", "contraction", at="mm", phase="backward"),
)
def gradient_wanted_split():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.sin(y))

    step = jax.jit(jax.grad(loss), out_shardings=named("x", None, mesh=LINE))
    return step, (array((32, 16), mesh=LINE), array((64, 32), "x", None, mesh=LINE))


@case(CASES, "gathered by hand over both axes at once", Want(AG, "data model", "written", at="gather"))
def written_gather_over_two_axes():
    def block(x):
        return jax.lax.all_gather(x, ("data", "model"), tiled=True)  # @gather

    f = jax.shard_map(block, mesh=MESH, in_specs=jax.P(("data", "model")), out_specs=jax.P(), check_vma=False)
    return jax.jit(f), (array((64,), ("data", "model")),)


@case(
    CASES,
    "two groups of keys for four heads: keys are whole, queries split; only the output projection contracts heads",
    Want(AR, "model", "contraction", at="out"),
)
def attention_with_shared_keys():
    def f(q, k, v, wo):
        k, v = jnp.repeat(k, 2, axis=2), jnp.repeat(v, 2, axis=2)
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        return jnp.einsum("bqhd,hdm->bqm", o, wo)  # @out

    few = array((4, 16, 2, 8), "data", None, None, None)
    return jax.jit(f), (
        array((4, 16, 4, 8), "data", None, "model", None),
        few,
        few,
        array((4, 8, 32), "model", None, None),
    )


@case(
    CASES,
    "an Explicit scan over Megatron layers: one sum per step",
    Want(AR, "model", "contraction", at="mm2"),
)
def explicit_scan_over_layers():
    whole = named("data", None, mesh=EXPLICIT)

    def f(w, x):
        def layer(x, w):
            h = jnp.tanh(x @ w[0])
            return x + jnp.einsum("bi,ij->bj", h, w[1], out_sharding=whole), None  # @mm2

        return jax.lax.scan(layer, x, w)[0]

    weights = (
        array((3, 32, 64), None, None, "model", mesh=EXPLICIT),
        array((3, 64, 32), None, "model", None, mesh=EXPLICIT),
    )
    return jax.jit(f), (weights, array((16, 32), "data", None, mesh=EXPLICIT))


@case(
    CASES,
    "the backward of a three-axis tensor parallel product: dw over the batch's two axes, dx over tp",
    Want(AR, "data fsdp|data|fsdp", "contraction", at="mm", phase="backward"),
    Want(AR, "tp", "contraction", at="mm", phase="backward"),
)
def gradient_on_three_axes():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.sin(y))

    step = jax.jit(jax.grad(loss, argnums=(0, 1)))
    return step, (array((32, 64), None, "tp", mesh=CUBE), array((16, 32), ("data", "fsdp"), None, mesh=CUBE))


@case(
    CASES,
    "bfloat16 gradients of a replicated model contract the batch, whatever type the sum is done in",
    Want(AR, "x", "contraction", at="mm0", phase="backward"),
    Want(AR, "x", "contraction", at="mm1", phase="backward"),
)
def bfloat16_data_parallel_gradients():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm0
        y = h @ w[1]  # @mm1
        return jnp.sum(jnp.sin(y))

    w = [array((32, 64), mesh=LINE, dtype=jnp.bfloat16), array((64, 32), mesh=LINE, dtype=jnp.bfloat16)]
    return jax.jit(jax.grad(loss)), (w, array((16, 32), "x", None, mesh=LINE, dtype=jnp.bfloat16))
