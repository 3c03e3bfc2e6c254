"""ZeRO stages, gradient accumulation, loss scaling, averages of weights: what is around the model.

Not its job: the models, which are small.
"""

# ruff: noqa: E741

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import described, grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []


def mlp_loss(params, x, y):
    for p in params:
        x = x + jnp.tanh(x @ p["a"] + p["b"]) @ p["c"]
    return optax.l2_loss(x, y).mean()


def mlp(mesh, *spec, n=3, d=32, f=64):
    return [placed(mesh, {"a": ((d, f), *spec), "b": ((f,),), "c": ((f, d), *spec)}) for _ in range(n)]


@program(
    PROGRAMS,
    "ZeRO-1",
    "adam",
    expected=(
        Expected(kind="all-reduce|reduce-scatter", axes="data", cause="contraction", says=("gradient",)),
        Expected(kind="all-gather", axes="data", cause="output", shape=(4, 64)),
    ),
    never=(Never(cause="unknown"),),
)
def zero1_by_out_shardings() -> Built:
    mesh = grid(data=8)
    params, tx = mlp(mesh), optax.adam(1e-3)
    state = described(
        mesh,
        jax.eval_shape(tx.init, params),
        lambda _, leaf: P("data") if leaf.ndim and leaf.shape[0] % 8 == 0 else P(),
    )

    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    where = [jax.tree.map(lambda a: a.sharding, tree) for tree in (params, state)]
    x = one(mesh, (32, 32), "data")
    return jax.jit(step, out_shardings=(*where, None)), (params, state, x, x)


@program(
    PROGRAMS,
    "ZeRO-2",
    "momentum",
    "constraints",
    counterfactuals=(Counterfactual(without="replicate", blame=r"(:|line ){whole}\b"),),
)
def zero2_by_constraints(without: str = "") -> Built:
    mesh = grid([3, 2, 1, 0, 7, 6, 5, 4], dp=8)
    params = mlp(mesh)
    m = mlp(mesh, "dp")

    @jax.jit
    def step(params, m, x, y):
        grads = jax.grad(mlp_loss)(params, x, y)
        split = NamedSharding(mesh, P("dp"))
        grads = jax.tree.map(lambda g: lax.with_sharding_constraint(g, split), grads)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        params = jax.tree.map(lambda p, m: p - 0.01 * m, params, m)
        if without != "replicate":
            params = jax.tree.map(lambda p: lax.with_sharding_constraint(p, NamedSharding(mesh, P())), params)  # @whole
        return params, m

    x = one(mesh, (64, 32), "dp")
    return step, (params, m, x, x)


@program(
    PROGRAMS,
    "ZeRO-3",
    "FSDP",
    "constraints",
    "donated",
)
def zero3_gathers_by_hand() -> Built:
    mesh = grid(fsdp=8)
    params, tx = mlp(mesh, "fsdp", n=2), optax.adamw(1e-3)
    whole = NamedSharding(mesh, P())

    def loss(params, x, y):
        for p in params:
            p = jax.tree.map(lambda w: lax.with_sharding_constraint(w, whole), p)
            x = x + jnp.tanh(x @ p["a"] + p["b"]) @ p["c"]
        return ((x - y) ** 2).mean()

    def step(state, batch):
        params, opt = state
        l, g = jax.value_and_grad(loss)(params, *batch)
        g = jax.tree.map(lambda g, p: lax.with_sharding_constraint(g, p), g, jax.tree.map(lambda p: p.sharding, ws))
        u, opt = tx.update(g, opt, params)
        return (optax.apply_updates(params, u), opt), l

    ws = params
    x = one(mesh, (128, 32), "fsdp")
    return jax.jit(step, donate_argnums=0), ((params, state_of(mesh, tx, params)), (x, x))


@program(
    PROGRAMS,
    "DP",
    "gradient accumulation",
    "scan",
    expected=(Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",)),),
)
def accumulation_over_micro_batches() -> Built:
    mesh = grid(data=4, unused=2)
    params, tx = mlp(mesh), optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))

    @jax.jit
    def step(params, opt_state, xs, ys):
        def micro(acc, xy):
            l, g = jax.value_and_grad(mlp_loss)(params, *xy)
            return jax.tree.map(jnp.add, acc, g), l

        zeros = jax.tree.map(jnp.zeros_like, params)
        grads, losses = lax.scan(micro, zeros, (xs, ys))
        grads = jax.tree.map(lambda g: g / xs.shape[0], grads)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, losses.mean()

    xs = one(mesh, (4, 16, 32), None, "data")
    return step, (params, state_of(mesh, tx, params), xs, xs)


@program(PROGRAMS, "FSDP", "TP", "gradient accumulation", "reshape", "MultiSteps")
def fsdp_accumulation_by_reshape() -> Built:
    mesh = grid(fsdp=4, tp=2)
    params = [placed(mesh, {"a": ((32, 64), "fsdp", "tp"), "b": ((64,), "tp"), "c": ((64, 32), "tp", "fsdp")})] * 2
    tx = optax.MultiSteps(optax.adam(1e-3), every_k_schedule=4)

    def step(params, opt_state, x, y):
        xs, ys = (a.reshape(2, -1, a.shape[-1]) for a in (x, y))
        loss, grads = 0.0, jax.tree.map(lambda p: jnp.zeros(p.shape), params)
        for i in range(2):
            l, g = jax.value_and_grad(mlp_loss)(params, xs[i], ys[i])
            loss, grads = loss + l / 2, jax.tree.map(lambda a, b: a + b / 2, grads, g)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    x = one(mesh, (32, 32), "fsdp")
    return jax.jit(step, donate_argnums=(0, 1)), (params, state_of(mesh, tx, params), x, x)


@program(PROGRAMS, "FSDP", "mixed precision", "loss scaling", "EMA")
def loss_scaling_with_skipped_steps() -> Built:
    mesh = grid(shard=8)
    params, tx = mlp(mesh, None, "shard", n=2), optax.adam(1e-3)

    def step(state, x, y):
        params, ema, opt, scale = state["params"], state["ema"], state["opt"], state["scale"]

        def scaled(params):
            half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
            return mlp_loss(half, x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)).astype(jnp.float32) * scale

        loss, g = jax.value_and_grad(scaled)(params)
        g = jax.tree.map(lambda g: g.astype(jnp.float32) / scale, g)
        finite = jnp.all(jnp.array([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(g)]))
        u, new_opt = tx.update(g, opt, params)
        keep = lambda new, old: jax.tree.map(lambda a, b: jnp.where(finite, a, b), new, old)  # noqa: E731
        params, opt = keep(optax.apply_updates(params, u), params), keep(new_opt, opt)
        ema = optax.incremental_update(params, ema, 0.001)
        scale = jnp.where(finite, scale, scale / 2)
        return {"params": params, "ema": ema, "opt": opt, "scale": scale}, loss / scale

    state = {"params": params, "ema": params, "opt": state_of(mesh, tx, params), "scale": one(mesh, ())}
    x = one(mesh, (16, 32), "shard")
    return jax.jit(step), (state, x, x)
