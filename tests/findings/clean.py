"""Programs as they should be: nothing is to be found in them.

Not its job: running them (`score`).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from corpus.arrays import grid, one, placed, state_of
from jax.sharding import PartitionSpec as P

from findings.case import Built
from findings.faults import B, D, F, T, attend, donating_step, logits_loss, pinned, transformer, varying, widen

CLEAN: list[Callable[[], Built]] = []


def clean(build: Callable[[], Built]) -> Callable[[], Built]:
    CLEAN.append(build)
    return build


def squared(params, batch):
    return ((jax.nn.gelu(batch["x"] @ params["w1"]) @ params["w2"] - batch["y"]) ** 2).mean()


@clean
def megatron_mlp() -> Built:
    mesh = grid(data=2, model=4)
    w1, w2 = one(mesh, (D, F), None, "model"), one(mesh, (F, D), "model", None)
    return jax.jit(lambda w1, w2, x: jax.nn.gelu(x @ w1) @ w2), (w1, w2, one(mesh, (B, D), "data", None))


@clean
def megatron_mlp_step() -> Built:
    mesh, tx = grid(data=2, model=4), optax.adam(1e-3)
    params = placed(mesh, {"w1": ((D, F), None, "model"), "w2": ((F, D), "model", None)})
    x = one(mesh, (B, D), "data", None)
    return donating_step(squared, tx), (params, state_of(mesh, tx, params), {"x": x, "y": x})


@clean
def data_parallel_step() -> Built:
    mesh, tx = grid(data=8), optax.adamw(1e-3)
    params = placed(mesh, {"w1": ((D, F),), "w2": ((F, D),)})
    x = one(mesh, (64, D), "data", None)
    return donating_step(squared, tx), (params, state_of(mesh, tx, params), {"x": x, "y": x})


@clean
def fsdp_step_with_constraints() -> Built:
    mesh, tx = grid(fsdp=8), optax.adamw(1e-3)
    params = transformer(mesh, "fsdp", None, 2)

    def loss(params, batch):
        x = pinned(mesh, params["emb"][batch["tok"]], "fsdp", None, None)
        for p in params["layers"]:
            x = pinned(mesh, widen(attend(x, p), p), "fsdp", None, None)
        return logits_loss(x @ params["out"], batch["tgt"])

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@clean
def fsdp_tp_step_with_constraints() -> Built:
    mesh, tx = grid(fsdp=2, tp=4), optax.adamw(1e-3)
    params = transformer(mesh, "fsdp", "tp", 2)

    def loss(params, batch):
        x = pinned(mesh, params["emb"][batch["tok"]], "fsdp", None, None)
        for p in params["layers"]:
            x = pinned(mesh, widen(attend(x, p), p), "fsdp", None, None)
        return logits_loss(x @ params["out"], batch["tgt"])

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@clean
def ring_of_a_shard_map() -> Built:
    mesh = grid(x=8)

    def ring(block):
        def turn(_, carried):
            total, moving = carried
            moving = jax.lax.ppermute(moving, "x", [(i, (i + 1) % 8) for i in range(8)])
            return total + moving, moving

        return jax.lax.fori_loop(0, 7, turn, (block, block))[0]

    rotated = jax.shard_map(ring, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))
    return jax.jit(rotated), (one(mesh, (64, 128), "x", None),)


@clean
def micro_batches_summed_once() -> Built:
    mesh = grid(data=8)

    def gradient(w, xs, ys):
        own = varying(w, "data")

        def turn(total, xy):
            x, y = xy
            return total + jax.grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(own), None

        return jax.lax.psum(jax.lax.scan(turn, jnp.zeros_like(own), (xs, ys))[0], "data") / 8

    summed = jax.shard_map(gradient, mesh=mesh, in_specs=(P(), P(None, "data"), P(None, "data")), out_specs=P())
    data = one(mesh, (8, 64, 128), None, "data", None)
    return jax.jit(lambda w, xs, ys: w - summed(w, xs, ys), donate_argnums=0), (one(mesh, (128, 128)), data, data)


@clean
def layers_scanned_with_a_gather_for_each() -> Built:
    mesh, tx = grid(fsdp=8), optax.sgd(1e-2)
    params = placed(mesh, {"w1": ((4, D, F), None, "fsdp", None), "w2": ((4, F, D), None, "fsdp", None)})

    def loss(params, batch):
        def layer(x, p):
            return pinned(mesh, x + jax.nn.gelu(x @ p["w1"]) @ p["w2"], "fsdp", None), None

        return ((jax.lax.scan(layer, batch["x"], params)[0] - batch["y"]) ** 2).mean()

    x = one(mesh, (512, D), "fsdp", None)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"x": x, "y": x})


@clean
def experts_and_a_written_all_to_all() -> Built:
    mesh = grid(expert=8)

    def routed(x, w1, w2):
        x = jax.lax.all_to_all(x, "expert", 0, 0, tiled=True)
        x = jax.nn.gelu(x @ w1[0]) @ w2[0]
        return jax.lax.all_to_all(x, "expert", 0, 0, tiled=True)

    specs = (P("expert", None), P("expert", None, None), P("expert", None, None))
    moved = jax.shard_map(routed, mesh=mesh, in_specs=specs, out_specs=P("expert", None))
    weights = one(mesh, (8, D, F), "expert"), one(mesh, (8, F, D), "expert")
    return jax.jit(moved), (one(mesh, (512, D), "expert", None), *weights)


@clean
def sequence_parallel_block() -> Built:
    mesh = grid(data=2, model=4)

    def block(w1, w2, x):
        h = pinned(mesh, x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True)), "data", "model", None)
        h = pinned(mesh, h, "data", None, None)
        h = pinned(mesh, jax.nn.gelu(h @ w1), "data", None, "model")
        return x + pinned(mesh, h @ w2, "data", "model", None)

    weights = one(mesh, (D, F), None, "model"), one(mesh, (F, D), "model", None)
    return jax.jit(block), (*weights, one(mesh, (4, 16, D), "data", "model", None))


@clean
def attention_by_heads() -> Built:
    mesh = grid(data=2, tp=4)
    p = transformer(mesh, None, "tp", 1)["layers"][0]
    return jax.jit(lambda p, x: widen(attend(x, p), p)), (p, one(mesh, (B, T, D), "data", None, None))


@clean
def inference_with_a_donated_cache() -> Built:
    mesh = grid(data=8)
    cache = one(mesh, (64, 128, D), "data", None, None)

    def decode(cache, x, position):
        cache = jax.lax.dynamic_update_slice(cache, x[:, None], (0, position, 0))
        return cache, jnp.einsum("bd,btd->bt", x, cache)

    new = one(mesh, (64, D), "data", None)
    return jax.jit(decode, donate_argnums=0), (cache, new, one(mesh, (), dtype=jnp.int32))


@clean
def tied_weights_gathered_once() -> Built:
    mesh = grid(data=8)

    def decode(w, x):
        w = pinned(mesh, w, None, None)
        return jnp.tanh(x @ w) @ w.T

    return jax.jit(decode), (one(mesh, (256, 256), "data", None), one(mesh, (1024, 256), "data", None))


@clean
def weights_gathered_again_where_they_are_computed_again() -> Built:
    mesh = grid(fsdp=8)
    params = placed(mesh, {"w1": ((D, F), None, "fsdp"), "w2": ((F, D), None, "fsdp")})

    @jax.checkpoint
    def block(p, x):
        return pinned(mesh, x + jax.nn.gelu(x @ p["w1"]) @ p["w2"], "fsdp", None)

    def step(p, x, y):
        grads = jax.grad(lambda p: ((block(p, block(p, x)) - y) ** 2).mean())(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads)

    x = one(mesh, (512, D), "fsdp", None)
    return jax.jit(step, donate_argnums=0), (params, x, x)


@clean
def two_weights_gathered_once_each() -> Built:
    mesh = grid(data=8)
    weights = one(mesh, (D, F), "data", None), one(mesh, (F, D), "data", None)
    return jax.jit(lambda w1, w2, x: jax.nn.gelu(x @ w1) @ w2), (*weights, one(mesh, (1024, D), "data", None))


@clean
def gradients_whose_norm_is_wanted_in_every_turn() -> Built:
    mesh = grid(data=8)

    def loss(w, x, y):
        return ((jnp.tanh(x @ w) - y) ** 2).mean()

    def step(w, xs, ys):
        def turn(total, xy):
            grads = jax.grad(loss)(w, *xy)
            return total + grads, jnp.linalg.norm(grads)

        total, norms = jax.lax.scan(turn, jnp.zeros_like(w), (xs, ys))
        return w - 0.1 * total, norms

    data = one(mesh, (8, 64, 128), None, "data", None)
    return jax.jit(step, donate_argnums=0), (one(mesh, (128, 128)), data, data)
