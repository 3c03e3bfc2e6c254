"""Inference, and training of a small part: decoding with a cache, beam search, speculation, LoRA, distillation.

Not its job: training from scratch (`transformers`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []

D, H, HD, V, T = 32, 4, 8, 64, 32


def block_weights(tp="tp", fs=None):
    return {
        "wq": ((D, H * HD), fs, tp),
        "wk": ((D, H * HD), fs, tp),
        "wv": ((D, H * HD), fs, tp),
        "wo": ((H * HD, D), tp, fs),
        "fc": ((D, 64), fs, tp),
        "proj": ((64, D), tp, fs),
    }


def attend_to_cache(p, x, cache, pos):
    b = x.shape[0]
    q, k, v = ((x @ p[n]).reshape(b, 1, H, HD) for n in ("wq", "wk", "wv"))
    keys = lax.dynamic_update_slice(cache["k"], k, (0, pos, 0, 0))
    values = lax.dynamic_update_slice(cache["v"], v, (0, pos, 0, 0))
    s = jnp.einsum("bqhd,bkhd->bhqk", q, keys) / HD**0.5
    s = jnp.where(jnp.arange(T) <= pos, s, -jnp.inf)
    o = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s, axis=-1), values)
    x = x + o.reshape(b, 1, H * HD) @ p["wo"]
    return x + jax.nn.gelu(x @ p["fc"]) @ p["proj"], {"k": keys, "v": values}


@program(
    PROGRAMS,
    "decode",
    "KV cache",
    "TP",
    "donated",
    expected=(
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("params['layers'][0]['proj']",)),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("params['layers'][1]['proj']",)),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("params['layers'][1]['wo']",)),
    ),
    never=(Never(cause="reshard_requested"), Never(cause="unknown")),
)
def decode_one_token_tp() -> Built:
    mesh = grid(batch=2, tp=4)
    params = placed(mesh, {"emb": ((V, D),), "layers": [block_weights()] * 2, "head": ((D, V), None, "tp")})
    cache = placed(mesh, [{"k": ((8, T, H, HD), "batch", None, "tp"), "v": ((8, T, H, HD), "batch", None, "tp")}] * 2)

    def decode(params, cache, token, pos):
        x = params["emb"][token][:, None]
        new = []
        for p, c in zip(params["layers"], cache, strict=True):
            x, c = attend_to_cache(p, x, c, pos)
            new.append(c)
        logits = x[:, 0] @ params["head"]
        return jnp.argmax(logits, -1), new

    token, pos = one(mesh, (8,), "batch", dtype=jnp.int32), one(mesh, (), dtype=jnp.int32)
    return jax.jit(decode, donate_argnums=1), (params, cache, token, pos)


@program(PROGRAMS, "decode", "while_loop", "sampling", "FSDP", "TP", "cache split by length")
def generate_until_done() -> Built:
    mesh = grid([4, 0, 5, 1, 6, 2, 7, 3], data=2, tp=4)
    params = placed(
        mesh, {"emb": ((V, D), "data"), "layers": [block_weights(fs="data")], "head": ((D, V), "data", "tp")}
    )
    cache = placed(mesh, [{"k": ((4, T, H, HD), None, "tp"), "v": ((4, T, H, HD), None, "tp")}])

    @jax.jit
    def generate(params, cache, prompt, key):
        def more(state):
            return (state[2] < T) & ~state[3].all()

        def one_step(state):
            tokens, cache, pos, done, key = state
            x = params["emb"][tokens[:, pos - 1]][:, None]
            x, c = attend_to_cache(params["layers"][0], x, cache[0], pos)
            key, use = jax.random.split(key)
            token = jax.random.categorical(use, (x[:, 0] @ params["head"]) / 0.8)
            token = jnp.where(done, 0, token)
            return tokens.at[:, pos].set(token), [c], pos + 1, done | (token == 1), key

        tokens = jnp.zeros((prompt.shape[0], T), jnp.int32).at[:, : prompt.shape[1]].set(prompt)
        done = jnp.zeros(prompt.shape[0], bool)
        return lax.while_loop(more, one_step, (tokens, cache, jnp.int32(prompt.shape[1]), done, key))[0]

    return generate, (params, cache, one(mesh, (4, 4), "data", dtype=jnp.int32), one(mesh, (2,), dtype=jnp.uint32))


@program(PROGRAMS, "decode", "beam search", "TP", "scan", "top-k")
def beam_search_scan() -> Built:
    mesh = grid(tp=8)
    beams = 4
    params = placed(mesh, {"emb": ((V, D),), "wx": ((D, 64), None, "tp"), "wh": ((64, 64), None, "tp"),
                           "head": ((64, V), "tp")})  # fmt: skip

    @jax.jit
    def search(params, start):
        b = start.shape[0]

        def extend(state, _):
            h, tokens, scores = state
            h = jnp.tanh(params["emb"][tokens] @ params["wx"] + h @ params["wh"])
            logp = jax.nn.log_softmax(h @ params["head"]) + scores[..., None]
            scores, best = lax.top_k(logp.reshape(b, beams * V), beams)
            parent, tokens = best // V, best % V
            h = jnp.take_along_axis(h, parent[..., None], axis=1)
            return (h, tokens, scores), (tokens, parent)

        first = jnp.zeros((b, beams, 64)), jnp.repeat(start[:, None], beams, 1), jnp.zeros((b, beams))
        (_, _, scores), path = lax.scan(extend, first, None, length=8)
        return path, scores

    return search, (params, one(mesh, (4,), dtype=jnp.int32))


@program(PROGRAMS, "prefill", "bf16", "sequence split", "Explicit", "Llama cache")
def prefill_on_explicit_axes() -> Built:
    mesh = grid(explicit=True, data=2, tp=4)
    params = placed(mesh, block_weights(), dtype=jnp.bfloat16)
    to = lambda *spec: NamedSharding(mesh, P(*spec))  # noqa: E731

    def prefill(p, x):
        b, t, _ = x.shape
        q, k, v = (jnp.einsum("btd,dm->btm", x, p[n]) for n in ("wq", "wk", "wv"))
        q, k, v = (jnp.reshape(a, (b, t, H, HD), out_sharding=to("data", None, "tp", None)) for a in (q, k, v))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32)
        w = jax.nn.softmax(jnp.where(jnp.tri(t, dtype=bool), s, -1e9)).astype(x.dtype)
        o = jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape((b, t, H * HD), out_sharding=to("data", None, "tp"))
        x = x + jnp.einsum("btm,md->btd", o, p["wo"], out_sharding=to("data", None, None))
        h = jax.nn.gelu(jnp.einsum("btd,df->btf", x, p["fc"]))
        return x + jnp.einsum("btf,fd->btd", h, p["proj"], out_sharding=to("data", None, None)), (k, v)

    return jax.jit(prefill), (params, one(mesh, (4, 16, D), "data", None, None, dtype=jnp.bfloat16))


@program(
    PROGRAMS,
    "LoRA",
    "FSDP",
    "frozen weights",
    "adamw",
    expected=(
        Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("base[0]['w']",), shape=(8, 128)),
        Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("base[1]['w']",), shape=(16, 64)),
    ),
    never=(Never(cause="reshard_requested"),),
)
def lora_on_fsdp_base() -> Built:
    mesh = grid(fsdp=8)
    widths = [(64, 128), (128, 64)]
    base = [{"w": one(mesh, s, "fsdp")} for s in widths]
    lora = [{"a": one(mesh, (i, 4)), "b": one(mesh, (4, o))} for i, o in widths]
    tx = optax.adamw(1e-3)

    def forward(lora, base, x):
        for w, ab in zip(base, lora, strict=True):
            x = jax.nn.relu(x @ w["w"] + 2.0 * (x @ ab["a"]) @ ab["b"])
        return x

    @jax.jit
    def step(lora, opt, base, x, y):
        loss, g = jax.value_and_grad(lambda ab: ((forward(ab, base, x) - y) ** 2).mean())(lora)
        u, opt = tx.update(g, opt, lora)
        return optax.apply_updates(lora, u), opt, loss

    x = one(mesh, (1024, 64), "fsdp")
    return step, (lora, state_of(mesh, tx, lora), base, x, x)


@program(PROGRAMS, "distillation", "two models", "FSDP teacher", "TP student", "cond")
def distillation_with_evaluation() -> Built:
    mesh = grid(data=4, model=2)
    teacher = [one(mesh, s, "data", "model") for s in ((32, 128), (128, 64))]
    student = [one(mesh, (32, 64), None, "model"), one(mesh, (64, 64), "model", None)]

    def net(ws, x):
        return jax.nn.relu(x @ ws[0]) @ ws[1]

    @jax.jit
    def step(student, teacher, x, step):
        soft = jax.nn.softmax(lax.stop_gradient(net(teacher, x)) / 2.0)

        def loss(ws):
            return -(soft * jax.nn.log_softmax(net(ws, x) / 2.0)).sum(-1).mean()

        value, g = jax.value_and_grad(loss)(student)
        student = jax.tree.map(lambda w, g: w - 0.1 * g, student, g)
        agreement = lax.cond(
            step % 10 == 0,
            lambda: (net(student, x).argmax(-1) == soft.argmax(-1)).mean(),
            lambda: jnp.float32(-1.0),
        )
        return student, value, agreement

    return step, (student, teacher, one(mesh, (32, 32), "data"), one(mesh, (), dtype=jnp.int32))
