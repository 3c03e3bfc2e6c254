"""Training steps of transformers whose layers are unrolled: TP, FSDP, both; almost no constraints.

Not its job: scanned layers (`scanned`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []

D, F, H, V, L = 32, 64, 4, 64, 2
B, T = 8, 16


def rms(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def causal_attention(x, p):
    t = x.shape[1]
    q, k, v = (jnp.einsum("btd,dhk->bhtk", x, p[n]) for n in ("wq", "wk", "wv"))
    s = jnp.einsum("bhqk,bhtk->bhqt", q, k) / jnp.sqrt(q.shape[-1])
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e30)
    return jnp.einsum("bhqt,bhtk,hkd->bqd", jax.nn.softmax(s, axis=-1), v, p["wo"])


def decoder(params, tokens):
    x = params["embed"][tokens]
    for p in params["layers"]:
        x = x + causal_attention(rms(x, p["ln1"]), p)
        x = x + jax.nn.gelu(rms(x, p["ln2"]) @ p["w1"]) @ p["w2"]
    return rms(x, params["ln_f"]) @ params["out"]


def next_token_loss(params, tokens):
    logits = decoder(params, tokens[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def weights(mesh, fs, tp, layers=L):
    layer = {
        "ln1": ((D,),),
        "ln2": ((D,),),
        "wq": ((D, H, D // H), fs, tp),
        "wk": ((D, H, D // H), fs, tp),
        "wv": ((D, H, D // H), fs, tp),
        "wo": ((H, D // H, D), tp, None, fs),
        "w1": ((D, F), fs, tp),
        "w2": ((F, D), tp, fs),
    }
    shapes = {"embed": ((V, D), tp, fs), "layers": [layer] * layers, "ln_f": ((D,),), "out": ((D, V), fs, tp)}
    return placed(mesh, shapes)


def adam_step(tx, loss):
    def train_step(params, opt_state, tokens):
        value, grads = jax.value_and_grad(loss)(params, tokens)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    return train_step


@program(
    PROGRAMS,
    "TP",
    "optax",
    "adamw",
    expected=(
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("params['layers'][0]['w2']",)),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("params['layers'][1]['w2']",)),
    ),
    never=(Never(cause="unknown"), Never(cause="reshard_requested")),
)
def tp_decoder() -> Built:
    mesh = grid(tp=4)
    params = weights(mesh, None, "tp")
    tx = optax.adamw(3e-4)
    tokens = one(mesh, (B, T + 1), dtype=jnp.int32)
    return jax.jit(adam_step(tx, next_token_loss)), (params, state_of(mesh, tx, params), tokens)


@program(
    PROGRAMS,
    "FSDP",
    "optax",
    "adam",
    "donated",
    expected=(
        Expected(
            kind="all-gather|all-reduce|all-to-all", axes="fsdp", cause="reshard_needed|contraction|indexing|reduction"
        ),
    ),
    never=(Never(cause="reshard_requested"), Never(cause="halo")),
)
def fsdp_decoder() -> Built:
    mesh = grid(fsdp=8)
    params = weights(mesh, "fsdp", None)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-4))
    tokens = one(mesh, (B, T + 1), "fsdp", dtype=jnp.int32)
    step = jax.jit(adam_step(tx, next_token_loss), donate_argnums=(0, 1))
    return step, (params, state_of(mesh, tx, params), tokens)


@program(PROGRAMS, "FSDP", "TP", "2-D", "optax", "adamw")
def fsdp_tp_decoder() -> Built:
    mesh = grid(fsdp=4, tp=2)
    params = weights(mesh, "fsdp", "tp")
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 1000)))
    tokens = one(mesh, (B, T + 1), "fsdp", None, dtype=jnp.int32)
    return jax.jit(adam_step(tx, next_token_loss)), (params, state_of(mesh, tx, params), tokens)


@program(
    PROGRAMS,
    "FSDP",
    "TP",
    "3-D",
    "constraints",
    counterfactuals=(Counterfactual(without="activations", blame=r"(:|line ){pin}\b", must=False),),
)
def three_axes_with_pinned_activations(without: str = "") -> Built:
    mesh = grid(data=2, fsdp=2, tensor=2)
    params = weights(mesh, "fsdp", "tensor")

    def pin(x):
        if without == "activations":
            return x
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(("data", "fsdp"), None, None)))  # @pin

    def loss(params, batch):
        x = pin(params["embed"][batch["inputs"]])
        for p in params["layers"]:
            x = pin(x + causal_attention(rms(x, p["ln1"]), p))
            x = pin(x + jax.nn.gelu(rms(x, p["ln2"]) @ p["w1"]) @ p["w2"])
        logits = rms(x, params["ln_f"]) @ params["out"]
        logp = jax.nn.log_softmax(logits)
        nll = -jnp.take_along_axis(logp, batch["targets"][..., None], axis=-1)[..., 0]
        return (nll * batch["mask"]).sum() / batch["mask"].sum()

    @jax.jit
    def step(params, batch):
        loss_value, grads = jax.value_and_grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads), loss_value

    ids = one(mesh, (B, T), ("data", "fsdp"), dtype=jnp.int32)
    batch = {"inputs": ids, "targets": ids, "mask": one(mesh, (B, T), ("data", "fsdp"))}
    return step, (params, batch)


@program(PROGRAMS, "FSDP", "remat", "nothing_saveable", "4 axes")
def rematerialized_on_four_axes() -> Built:
    mesh = grid(pp=1, data=2, fsdp=2, tp=2)
    params = weights(mesh, "fsdp", "tp", layers=2)

    def block(x, p):
        x = x + causal_attention(rms(x, p["ln1"]), p)
        return x + jax.nn.gelu(rms(x, p["ln2"]) @ p["w1"]) @ p["w2"]

    def loss(params, tokens, labels):
        x = jnp.take(params["embed"], tokens, axis=0)
        for p in params["layers"]:
            x = jax.checkpoint(block, policy=jax.checkpoint_policies.nothing_saveable)(x, p)
        logits = jnp.einsum("btd,dv->btv", rms(x, params["ln_f"]), params["out"])
        onehot = jax.nn.one_hot(labels, V)
        return -(jax.nn.log_softmax(logits) * onehot).sum(-1).mean()

    tx = optax.adafactor(1e-3, min_dim_size_to_factor=16)
    ids = one(mesh, (B, T), ("data", "fsdp"), dtype=jnp.int32)

    @jax.jit
    def step(params, opt_state, tokens, labels):
        grads = jax.grad(loss)(params, tokens, labels)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    return step, (params, state_of(mesh, tx, params), ids, ids)


@program(PROGRAMS, "GQA", "rotary", "SwiGLU", "FSDP", "TP", "weight tying", "reversed devices")
def llama_like() -> Built:
    mesh = grid([7, 6, 5, 4, 3, 2, 1, 0], fsdp=2, tp=4)
    heads, groups, hd = 8, 4, 8
    layer = {
        "attention_norm": ((D,),),
        "ffn_norm": ((D,),),
        "wq": ((D, heads * hd), "fsdp", "tp"),
        "wk": ((D, groups * hd), "fsdp", "tp"),
        "wv": ((D, groups * hd), "fsdp", "tp"),
        "wo": ((heads * hd, D), "tp", "fsdp"),
        "gate": ((D, F), "fsdp", "tp"),
        "up": ((D, F), "fsdp", "tp"),
        "down": ((F, D), "tp", "fsdp"),
    }
    params = placed(mesh, {"tok": ((V, D), "tp", "fsdp"), "blocks": [layer] * 2, "norm": ((D,),)})

    def rope(x):
        half = x.shape[-1] // 2
        freqs = 1.0 / 10000 ** (jnp.arange(half) / half)
        angles = jnp.arange(x.shape[1])[:, None] * freqs
        cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

    def attend(x, p):
        b, t, _ = x.shape
        q = rope((x @ p["wq"]).reshape(b, t, heads, hd))
        k = rope((x @ p["wk"]).reshape(b, t, groups, hd))
        v = (x @ p["wv"]).reshape(b, t, groups, hd)
        k, v = (jnp.repeat(a, heads // groups, axis=2) for a in (k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * hd**-0.5
        s = jnp.where(jnp.arange(t)[:, None] >= jnp.arange(t), s, jnp.finfo(s.dtype).min)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v).reshape(b, t, -1) @ p["wo"]

    def loss(params, ids):
        x = params["tok"][ids]
        for p in params["blocks"]:
            x = x + attend(rms(x, p["attention_norm"]), p)
            h = rms(x, p["ffn_norm"])
            x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        logits = rms(x, params["norm"]) @ params["tok"].T
        return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], ids[:, 1:]).mean()

    tx = optax.adamw(1e-3)
    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return jax.jit(adam_step(tx, loss)), (params, state_of(mesh, tx, params), ids)
