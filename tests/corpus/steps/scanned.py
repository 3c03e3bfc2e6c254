"""Training steps whose layers are scanned over stacked weights, with remat policies, Explicit axes, mixed precision.

Not its job: recurrences over time (`sequence`).
"""

# ruff: noqa: E741

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []

D, F, H, V, L = 32, 64, 4, 64, 3
B, T = 8, 16


def layer_norm(x, scale):
    mu = x.mean(-1, keepdims=True)
    return (x - mu) * jax.lax.rsqrt(((x - mu) ** 2).mean(-1, keepdims=True) + 1e-5) * scale


def block(x, w):
    h = layer_norm(x, w["norm"])
    q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", h, w["qkv"]), 2, 0)
    s = jnp.einsum("bqhk,bthk->bhqt", q, k) / 8**0.5
    s += jnp.triu(jnp.full((x.shape[1], x.shape[1]), -1e9), 1)
    o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(s), v)
    x = x + checkpoint_name(jnp.einsum("bqhk,hkd->bqd", o, w["proj"]), "attn_out")
    return x + checkpoint_name(jax.nn.gelu(layer_norm(x, w["norm2"]) @ w["fc"]) @ w["fc2"], "mlp_out")


def stacked(mesh, fs, tp, layers=L):
    layer = {
        "norm": ((layers, D),),
        "norm2": ((layers, D),),
        "qkv": ((layers, D, 3, H, D // H), None, fs, None, tp),
        "proj": ((layers, H, D // H, D), None, tp, None, fs),
        "fc": ((layers, D, F), None, fs, tp),
        "fc2": ((layers, F, D), None, tp, fs),
    }
    return placed(mesh, {"wte": ((V, D), tp, fs), "wpe": ((T, D), None, fs), "h": layer, "lm_head": ((D, V), fs, tp)})


def scan_loss(params, ids, wrap=lambda f: f):
    x = params["wte"][ids] + params["wpe"]
    x, _ = jax.lax.scan(lambda c, w: (wrap(block)(c, w), None), x, params["h"])
    logits = (x @ params["lm_head"])[:, :-1]
    return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean()


def optax_step(tx, loss):
    def step(state, ids):
        value, g = jax.value_and_grad(loss)(state["params"], ids)
        up, opt = tx.update(g, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], up), "opt": opt, "step": state["step"] + 1}, value

    return step


def train_state(mesh, tx, params):
    return {"params": params, "opt": state_of(mesh, tx, params), "step": one(mesh, (), dtype=jnp.int32)}


@program(
    PROGRAMS,
    "FSDP",
    "scan",
    "optax",
    "donated",
    never=(Never(cause="reshard_requested"),),
)
def fsdp_gpt_scan() -> Built:
    mesh = grid(data=8)
    params, tx = stacked(mesh, "data", None), optax.adamw(1e-3)
    ids = one(mesh, (B, T), "data", dtype=jnp.int32)
    return jax.jit(optax_step(tx, scan_loss), donate_argnums=0), (train_state(mesh, tx, params), ids)


@program(
    PROGRAMS,
    "TP",
    "scan",
    "remat",
    "dots_saveable",
    expected=(
        Expected(kind="all-reduce", axes="mp", cause="contraction", shape=(B // 2, T, D)),
        Expected(kind="all-reduce", axes="dp", cause="contraction", says=("gradient",)),
    ),
    never=(Never(cause="unknown"),),
)
def tp_gpt_scan_remat_dots() -> Built:
    mesh = grid(dp=2, mp=4)
    params, tx = stacked(mesh, None, "mp"), optax.sgd(1e-2, momentum=0.9, nesterov=True)
    remat = partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
    ids = one(mesh, (B, T), "dp", dtype=jnp.int32)
    return jax.jit(optax_step(tx, partial(scan_loss, wrap=remat))), (train_state(mesh, tx, params), ids)


@program(PROGRAMS, "FSDP", "TP", "scan", "remat", "checkpoint_name", "permuted devices")
def fsdp_tp_gpt_scan_named_residuals() -> Built:
    mesh = grid([0, 2, 4, 6, 1, 3, 5, 7], fsdp=4, mp=2)
    params, tx = stacked(mesh, "fsdp", "mp"), optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    policy = jax.checkpoint_policies.save_only_these_names("attn_out", "mlp_out")
    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    loss = partial(scan_loss, wrap=partial(jax.checkpoint, policy=policy))
    return jax.jit(optax_step(tx, loss)), (train_state(mesh, tx, params), ids)


@program(PROGRAMS, "FSDP", "scan", "bf16", "remat", "everything recomputed")
def bf16_compute_fp32_master() -> Built:
    mesh = grid(fsdp=8)
    params, tx = stacked(mesh, "fsdp", None), optax.adam(1e-3, mu_dtype=jnp.bfloat16)

    def loss(params, ids):
        half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        return scan_loss(half, ids, wrap=jax.checkpoint).astype(jnp.float32)

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return jax.jit(optax_step(tx, loss)), (train_state(mesh, tx, params), ids)


@program(
    PROGRAMS,
    "sequence parallel",
    "TP",
    "scan",
    "constraints",
    counterfactuals=(Counterfactual(without="sequence", blame=r"(:|line ){gathered}\b", kinds="all-gather"),),
)
def sequence_parallel_scan(without: str = "") -> Built:
    mesh = grid(dp=2, tp=4)
    params = stacked(mesh, None, "tp", layers=2)

    def shard(x, *spec):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))

    def layer(x, w):
        if without != "sequence":
            x = shard(x, "dp", "tp", None)
        h = layer_norm(x, w["norm"])
        h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("dp", None, None)))  # @gathered
        x = x + jax.nn.gelu(h @ w["fc"]) @ w["fc2"]
        return x, None

    @jax.jit
    def step(params, ids, targets):
        def loss(params):
            x = params["wte"][ids]
            x, _ = jax.lax.scan(layer, x, params["h"])
            logits = x @ params["lm_head"]
            z = jax.nn.logsumexp(logits, -1)
            return (z - jnp.take_along_axis(logits, targets[..., None], -1).squeeze(-1)).mean()

        l, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), l

    del params["wpe"], params["h"]["qkv"], params["h"]["proj"], params["h"]["norm2"]
    ids = one(mesh, (B, T), "dp", dtype=jnp.int32)
    return step, (params, ids, ids)


@program(PROGRAMS, "Explicit", "TP", "scan")
def explicit_axes_mlp_scan() -> Built:
    mesh = grid(explicit=True, data=2, model=4)
    ws = placed(mesh, {"up": ((L, D, F), None, None, "model"), "down": ((L, F, D), None, "model", None)})

    def layer(x, w):
        h = jax.nn.relu(x @ w["up"])
        y = jnp.einsum("bf,fd->bd", h, w["down"], out_sharding=NamedSharding(mesh, P("data", None)))
        return x + y, None

    def loss(ws, x):
        y, _ = jax.lax.scan(layer, x, ws)
        return (y**2).mean()

    def step(ws, x):
        l, g = jax.value_and_grad(loss)(ws, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, ws, g), l

    return jax.jit(step), (ws, one(mesh, (16, D), "data", None))
