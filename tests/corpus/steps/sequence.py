"""Sequence models: state spaces by scan and by associative scan, Mamba, LSTM, T5's encoder and decoder, a linear one.

Not its job: decoding token by token (`serving`).
"""

# ruff: noqa: E741

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "SSM",
    "associative_scan",
    "DP",
    expected=(Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",)),),
    never=(Never(kind="all-gather"),),
)
def s5_by_associative_scan() -> Built:
    mesh = grid(data=8)
    d, n = 16, 32
    params = [
        placed(mesh, {"log_a": ((n,),), "B": ((d, n),), "C": ((n, d),), "D": ((d,),), "glu": ((d, 2 * d),)})
        for _ in range(2)
    ]

    def ssm(p, u):
        a = jnp.broadcast_to(jnp.exp(-jnp.exp(p["log_a"])), (*u.shape[:2], n))
        bu = u @ p["B"]
        _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (a, bu), axis=1)
        return h @ p["C"] + u * p["D"]

    @jax.jit
    def step(params, x, y):
        def loss(params):
            h = x
            for p in params:
                a, b = jnp.split(jax.nn.gelu(ssm(p, h)) @ p["glu"], 2, axis=-1)
                h = h + a * jax.nn.sigmoid(b)
            return jnp.mean((h[:, -1] - y) ** 2)

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, g), value

    return step, (params, one(mesh, (16, 16, d), "data"), one(mesh, (16, d), "data"))


@program(PROGRAMS, "Mamba", "lax.scan", "TP", "FSDP", "adamw")
def mamba_like() -> Built:
    mesh = grid(fsdp=2, tp=4)
    d, e, n, v = 32, 64, 8, 64
    layer = {
        "norm": ((d,),),
        "in_proj": ((d, 2 * e), "fsdp", "tp"),
        "conv": ((4, e), None, "tp"),
        "x_proj": ((e, 2 * n), "tp", None),
        "dt": ((e,), "tp"),
        "A": ((e, n), "tp", None),
        "out_proj": ((e, d), "tp", "fsdp"),
    }
    params = placed(mesh, {"emb": ((v, d), None, "fsdp"), "layers": [layer] * 2})

    def mixer(p, x):
        z, gate = jnp.split(x @ p["in_proj"], 2, axis=-1)
        padded = jnp.pad(z, ((0, 0), (3, 0), (0, 0)))
        z = jax.nn.silu(sum(padded[:, i : i + z.shape[1]] * p["conv"][i] for i in range(4)))
        B, C = jnp.split(z @ p["x_proj"], 2, axis=-1)
        delta = jax.nn.softplus(z + p["dt"])

        def tick(h, inputs):
            zt, dt, bt, ct = inputs
            h = jnp.exp(dt[..., None] * -jnp.exp(p["A"])) * h + (dt * zt)[..., None] * bt[:, None]
            return h, (h * ct[:, None]).sum(-1)

        h0 = jnp.zeros((x.shape[0], e, n))
        _, y = lax.scan(tick, h0, tuple(jnp.swapaxes(a, 0, 1) for a in (z, delta, B, C)))
        return (jnp.swapaxes(y, 0, 1) * jax.nn.silu(gate)) @ p["out_proj"]

    tx = optax.adamw(1e-3)

    @jax.jit
    def step(params, opt, ids):
        def loss(params):
            x = params["emb"][ids]
            for p in params["layers"]:
                x = x + mixer(p, x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p["norm"])
            logits = x @ params["emb"].T
            return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], ids[:, 1:]).mean()

        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, value

    return step, (params, state_of(mesh, tx, params), one(mesh, (8, 16), "fsdp", dtype=jnp.int32))


@program(PROGRAMS, "LSTM", "lax.scan", "2-D", "sgd")
def lstm_character_model() -> Built:
    mesh = grid(data=2, model=4)
    h, v = 32, 48
    params = placed(mesh, {"emb": ((v, h), None, "model"), "wx": ((h, 4 * h), None, "model"),
                           "wh": ((h, 4 * h), None, "model"), "b": ((4 * h,), "model"),
                           "out": ((h, v), "model")})  # fmt: skip

    def loss(params, ids):
        xs = params["emb"][ids] @ params["wx"] + params["b"]

        def cell(carry, x):
            hid, c = carry
            i, f, g, o = jnp.split(x + hid @ params["wh"], 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            hid = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (hid, c), hid

        zero = jnp.zeros((ids.shape[0], h))
        _, hs = lax.scan(cell, (zero, zero), xs.transpose(1, 0, 2))
        logp = jax.nn.log_softmax(hs.transpose(1, 0, 2)[:, :-1] @ params["out"])
        return -jnp.take_along_axis(logp, ids[:, 1:, None], axis=2).mean()

    def step(params, ids):
        value, g = jax.value_and_grad(loss)(params, ids)
        g = jax.tree.map(lambda g: jnp.clip(g, -1, 1), g)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), value

    return jax.jit(step, donate_argnums=0), (params, one(mesh, (8, 16), "data", dtype=jnp.int32))


@program(PROGRAMS, "T5", "encoder-decoder", "FSDP", "TP", "adafactor", "reshaped devices")
def t5_encoder_decoder() -> Built:
    mesh = grid([0, 2, 4, 6, 1, 3, 5, 7], data=4, model=2)
    d, heads, f, v = 32, 4, 64, 64
    att = dict.fromkeys("qkv", ((d, d), "data", "model")) | {"o": ((d, d), "model", "data"), "ln": ((d,),)}
    ffn = {"wi": ((d, f), "data", "model"), "wo": ((f, d), "model", "data"), "ln": ((d,),)}
    params = placed(mesh, {"shared": ((v, d), "model", "data"), "bias": ((32, heads), None, "model"),
                           "enc": [{"self": att, "ffn": ffn}],
                           "dec": [{"self": att, "cross": att, "ffn": ffn}]})  # fmt: skip

    def norm(x, g):
        return x * lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6) * g

    def attention(p, x, kv, bias):
        split = lambda a: a.reshape(*a.shape[:2], heads, d // heads)  # noqa: E731
        q, k, val = split(norm(x, p["ln"]) @ p["q"]), split(kv @ p["k"]), split(kv @ p["v"])
        w = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) + bias, axis=-1)
        return x + jnp.einsum("bhqk,bkhd->bqhd", w, val).reshape(x.shape) @ p["o"]

    def feed(p, x):
        return x + jax.nn.relu(norm(x, p["ln"]) @ p["wi"]) @ p["wo"]

    def model(params, src, tgt):
        buckets = jnp.clip(jnp.arange(16)[:, None] - jnp.arange(16) + 16, 0, 31)
        bias = params["bias"][buckets].transpose(2, 0, 1)[None]
        x = params["shared"][src]
        for p in params["enc"]:
            x = feed(p["ffn"], attention(p["self"], x, norm(x, p["self"]["ln"]), bias))
        y = params["shared"][jnp.pad(tgt, ((0, 0), (1, 0)))[:, :-1]]
        mask = jnp.where(jnp.tri(16, dtype=bool), 0.0, -1e9)
        for p in params["dec"]:
            y = attention(p["self"], y, norm(y, p["self"]["ln"]), bias + mask)
            y = feed(p["ffn"], attention(p["cross"], y, x, 0.0))
        return y @ params["shared"].T / d**0.5

    tx = optax.adafactor(1e-2, min_dim_size_to_factor=16)

    @jax.jit
    def step(params, opt, src, tgt):
        def loss(p):
            logits = model(p, src, tgt)
            weights = (tgt > 0).astype(logits.dtype)
            return (optax.softmax_cross_entropy_with_integer_labels(logits, tgt) * weights).sum() / weights.sum()

        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, value

    ids = one(mesh, (8, 16), "data", dtype=jnp.int32)
    return step, (params, state_of(mesh, tx, params), ids, ids)


@program(PROGRAMS, "linear attention", "chunks", "sequence split", "context parallel")
def linear_attention_with_split_sequence() -> Built:
    mesh = grid(dp=2, sp=4)
    d, heads = 32, 2
    params = [placed(mesh, {"qkv": ((d, 3, heads, 16),), "o": ((heads, 16, d),), "decay": ((heads,),)})] * 2

    def mix(p, x):
        q, k, v = jnp.einsum("btd,dchk->cbhtk", x, p["qkv"])
        g = jnp.exp(-jax.nn.softplus(p["decay"]))[None, :, None, None]
        kv = jnp.einsum("bhtk,bhtv->bhtkv", jax.nn.elu(k) + 1, v)
        state = jnp.cumsum(kv * g[..., None], axis=2)
        return x + jnp.einsum("bhtk,bhtkv,hvd->btd", jax.nn.elu(q) + 1, state, p["o"])

    @jax.jit
    def step(params, x, y):
        def loss(params):
            h = x
            for p in params:
                h = mix(p, h)
            return optax.huber_loss(h, y).mean()

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, g), value

    x = one(mesh, (4, 32, d), "dp", "sp")
    return step, (params, x, x)


@program(PROGRAMS, "BERT", "masked", "segment_sum", "TP", "DP", "Explicit grid of one axis")
def bert_masked_tokens() -> Built:
    mesh = grid([4, 5, 6, 7, 0, 1, 2, 3], data=2, tensor=4)
    d, v = 32, 64
    params = placed(mesh, {"tok": ((v, d), "tensor"), "typ": ((2, d),), "q": ((d, 4, 8), None, "tensor"),
                           "k": ((d, 4, 8), None, "tensor"), "v": ((d, 4, 8), None, "tensor"),
                           "o": ((4, 8, d), "tensor"), "up": ((d, 128), None, "tensor"), "down": ((128, d), "tensor"),
                           "pool": ((d, 2),)})  # fmt: skip

    def loss(p, ids, types, positions, labels):
        x = p["tok"][ids] + p["typ"][types]
        q, k, val = jnp.einsum("btd,dhk->bthk", x, p["q"]), x @ p["k"].reshape(d, -1), x @ p["v"].reshape(d, -1)
        k, val = k.reshape(q.shape), val.reshape(q.shape)
        s = jnp.where((ids > 0)[:, None, None, :], jnp.einsum("bqhk,bthk->bhqt", q, k), -1e9)
        x = x + jnp.einsum("bhqt,bthk,hkd->bqd", jax.nn.softmax(s), val, p["o"])
        x = x + jax.nn.gelu(x @ p["up"]) @ p["down"]
        masked = jnp.take_along_axis(x, positions[..., None], axis=1)
        logits = masked @ p["tok"].T
        nll = jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
        nsp = jax.nn.log_softmax(x[:, 0] @ p["pool"])[:, 1]
        return nll.mean() - nsp.mean()

    step = jax.jit(lambda p, *b: jax.tree.map(lambda w, g: w - 0.1 * g, p, jax.grad(loss)(p, *b)))
    ids = one(mesh, (8, 16), "data", dtype=jnp.int32)
    few = one(mesh, (8, 4), "data", dtype=jnp.int32)
    return step, (params, ids, ids, few, few)
