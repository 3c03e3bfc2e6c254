"""Language models of public repositories, rewritten small, with the shardings that the repositories have.

No fault is planted: what is best to change was found by a search of all single changes. Not its job: other models
(`public_programs`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
from analyze.advice.programs import sgd
from corpus.arrays import grid, one, placed, state_of
from findings.faults import Built, donating_step, logits_loss, pinned


def normed(x: Any, scale: Any = 1.0) -> Any:
    """A root mean square norm."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def causal(scores: Any) -> Any:
    """Attention weights of scores whose last two dimensions are queries and keys."""
    return jax.nn.softmax(jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9))


def nanodo() -> Built:
    """google-deepmind/nanodo, nanodo/model.py and fsdp.py: FSDP over the model's dimension, embeddings are tied."""
    mesh = grid(data=8)
    D, H, F, V, B, T = 64, 8, 256, 512, 16, 32
    attention = dict.fromkeys("qkv", ((D, H, D // H), "data")) | {"o": ((H, D // H, D), None, None, "data")}
    block = attention | {"up": ((D, F), "data"), "down": ((F, D), "data"), "n1": ((D,),), "n2": ((D,),)}
    shapes = {"embed": ((V, D), None, "data"), "pos": ((T, D), None, "data"), "blocks": [block] * 2, "ln": ((D,),)}

    def loss(params, tokens):
        y = params["embed"][tokens]
        y = y + params["pos"][None, :T]
        for p in params["blocks"]:
            x = normed(y, p["n1"])
            q, k, v = (jnp.einsum("bld,dhk->blhk", x, p[name]) for name in "qkv")
            weights = causal(jnp.einsum("bqhk,bthk->bhqt", q / (D // H) ** 0.5, k))
            out = jnp.einsum("bhqt,bthk->bqhk", weights, v)
            x = jnp.einsum("bqhk,hkd->bqd", out, p["o"]) + y
            z = jax.nn.gelu(normed(x, p["n2"]) @ p["up"])
            y = x + z @ p["down"]
        logits = normed(y, params["ln"]) @ params["embed"].T
        return logits_loss(logits[:, :-1], tokens[:, 1:])

    params, tx = placed(mesh, shapes), optax.adam(1e-3)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), one(mesh, (B, T), "data", dtype=jnp.int32))


def easylm() -> Built:
    """young-geng/EasyLM, EasyLM/models/llama/llama_model.py: three axes; queries, keys and weights are constrained."""
    mesh = grid(dp=1, fsdp=4, mp=2)
    D, H, F, V, B, T = 64, 8, 176, 256, 16, 32
    square = ((D, D), "fsdp", "mp")
    layer = {"q": square, "k": square, "v": square, "o": ((D, D), "mp", "fsdp"), "n1": ((D,),), "n2": ((D,),)}
    layer |= {"w1": ((D, F), "fsdp", "mp"), "w2": ((F, D), "mp", "fsdp"), "w3": ((D, F), "fsdp", "mp")}
    shapes = {"wte": ((V, D), "mp", "fsdp"), "h": [layer], "ln": ((D,),), "head": ((D, V), "fsdp", "mp")}
    batch = ("dp", "fsdp")

    def loss(params, tokens, targets):
        x = params["wte"][tokens]
        for p in params["h"]:
            h = normed(x, p["n1"])
            q = pinned(mesh, h @ p["q"], batch, None, "mp").reshape(B, T, H, D // H)
            k = pinned(mesh, h @ p["k"], batch, None, "mp").reshape(B, T, H, D // H)
            v = pinned(mesh, h @ p["v"], batch, None, "mp").reshape(B, T, H, D // H)
            weights = pinned(mesh, causal(jnp.einsum("bqhk,bthk->bhqt", q, k)), batch, "mp", None, None)
            x = x + jnp.einsum("bhqt,bthk->bqhk", weights, v).reshape(B, T, D) @ p["o"]
            h = normed(x, p["n2"])
            x = x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]
        logits = normed(x, params["ln"]) @ params["head"]
        return logits_loss(pinned(mesh, logits, batch, None, "mp"), targets)

    ids = one(mesh, (B, T), batch, dtype=jnp.int32)
    return sgd(loss), (placed(mesh, shapes), ids, ids)


def minformer() -> Built:
    """sholtodouglas/minformer, minformer/model.py: all weights, norms too, are split over the model's dimension."""
    mesh = grid(x=8)
    D, H, K, F, V, B, T = 64, 8, 8, 256, 256, 16, 32
    shapes: Any = dict.fromkeys("qkv", ((D, H, K), "x")) | {"proj": ((H, K, D), None, None, "x")}
    shapes |= {"w1": ((D, F), "x"), "w2": ((F, D), None, "x"), "g1": ((D,), "x"), "g2": ((D,), "x")}
    shapes = {"layers": [shapes] * 2, "embedding": ((V, D), None, "x"), "out": ((D, V), "x"), "g": ((D,), "x")}

    def forward(params, tokens):
        x = params["embedding"][tokens]
        for p in params["layers"]:
            h = normed(x, p["g1"])
            q, k, v = (jnp.einsum("btd,dhk->bhtk", h, p[name]) for name in "qkv")
            a = jnp.einsum("bhtT,bhTk->bhtk", causal(jnp.einsum("bhtk,bhTk->bhtT", q, k)), v)
            x = x + jnp.einsum("bhtk,hkd->btd", a, p["proj"])
            ff = jax.nn.gelu(normed(x, p["g2"]) @ p["w1"])
            x = x + ff @ p["w2"]
        return normed(x, params["g"]) @ params["out"]

    def loss(params, tokens, targets):
        return logits_loss(forward(params, tokens), targets)

    ids = one(mesh, (B, T), "x", dtype=jnp.int32)
    return sgd(loss), (placed(mesh, shapes), ids, ids)


def llama3_decode() -> Built:
    """jax-ml/jax-llm-examples, llama3/llama3_jax/model.py: one token, with a cache; query heads over two axes."""
    mesh = grid(x=2, y=4, z=1)
    D, H, G, K, F, V, B, T = 128, 8, 4, 16, 512, 512, 8, 64
    heads = ("y", "z")
    layer = {"q": ((D, H, K), None, heads), "k": ((D, G, K), None, "y"), "v": ((D, G, K), None, "y")}
    layer |= {"o": ((H, K, D), heads), "gate": ((D, F), None, heads), "up": ((D, F), None, heads)}
    layer |= {"down": ((F, D), heads), "n1": ((D,),), "n2": ((D,),)}
    weights = placed(mesh, {"embedding": ((V, D),), "layers": [layer] * 2, "head": ((D, V), None, heads)})
    cache = placed(mesh, {"k": [((B, G, T, K), "x", "y")] * 2, "v": [((B, G, T, K), "x", "y")] * 2})

    def decode(weights, cache, tokens, position):
        x = pinned(mesh, weights["embedding"][tokens], "x", None, None)
        for index, p in enumerate(weights["layers"]):
            h = normed(x, p["n1"])
            q = jnp.einsum("btd,dhq->bhtq", h, p["q"])
            k, v = jnp.einsum("btd,dhq->bhtq", h, p["k"]), jnp.einsum("btd,dhq->bhtq", h, p["v"])
            k = cache["k"][index] = jax.lax.dynamic_update_slice_in_dim(cache["k"][index], k, position, axis=2)
            v = cache["v"][index] = jax.lax.dynamic_update_slice_in_dim(cache["v"][index], v, position, axis=2)
            s = jnp.einsum("bhgtd,bhTd->bhgtT", q.reshape(B, G, H // G, 1, K), k) * K**-0.5
            a = jnp.einsum("bhgtT,bhTd->bhgtd", jax.nn.softmax(s), v).reshape(B, H, 1, K)
            x = x + pinned(mesh, jnp.einsum("bhtq,hqd->btd", a, p["o"]), "x", None, None)
            h = normed(x, p["n2"])
            ff = jax.nn.silu(h @ p["gate"]) * (h @ p["up"])
            x = x + pinned(mesh, ff @ p["down"], "x", None, None)
        return normed(x) @ weights["head"], cache

    tokens, position = one(mesh, (B, 1), "x", dtype=jnp.int32), one(mesh, (), dtype=jnp.int32)
    return jax.jit(decode, donate_argnums=1), (weights, cache, tokens, position)


def deepseek_attention() -> Built:
    """jax-ml/jax-llm-examples, deepseek_r1_jax/deepseek_r1_jax/model.py: latent attention, all heads over two axes."""
    mesh = grid(x=2, y=4, z=1)
    D, H, N, R, Q, L, B, T = 128, 8, 16, 8, 64, 32, 8, 32
    heads = ("y", "z")
    shapes = {"q_a": ((D, Q),), "q_b": ((Q, H, N + R), None, heads), "kv_a": ((D, L),), "k_rope": ((D, R),)}
    shapes |= {"k_b": ((L, H, N), None, heads), "v_b": ((L, H, N), None, heads), "o": ((H, N, D), heads)}

    def attend(p, x):
        q = jnp.einsum("btq,qhn->bhtn", normed(x @ p["q_a"]), p["q_b"])
        latent = normed(x @ p["kv_a"])
        k = jnp.einsum("btl,lhn->bhtn", latent, p["k_b"])
        v = jnp.einsum("btl,lhn->bhtn", latent, p["v_b"])
        rope = jnp.broadcast_to((x @ p["k_rope"])[:, None], (B, H, T, R))
        s = jnp.einsum("bhtn,bhTn->bhtT", q, jnp.concatenate([k, rope], -1)) * (N + R) ** -0.5
        out = jnp.einsum("bhtT,bhTn->bhtn", causal(s), v)
        return pinned(mesh, jnp.einsum("bhtn,hnd->btd", out, p["o"]), "x", None, None)

    return jax.jit(attend), (placed(mesh, shapes), one(mesh, (B, T, D), "x"))


def grok_experts() -> Built:
    """xai-org/grok-1, model.py: expert weights over data and model, the embedding over both, for inference."""
    mesh = grid(data=2, model=4)
    D, H, E, F, V, B, T = 64, 8, 8, 128, 512, 8, 32
    shapes = {"embed": ((V, D), None, ("data", "model")), "router": ((D, E), "data"), "n1": ((D,),), "n2": ((D,),)}
    shapes |= dict.fromkeys("qkv", ((D, D), "data", "model")) | {"o": ((D, D), "model", "data")}
    shapes |= {"w": ((E, D, F), None, "data", "model"), "w_v": ((E, D, F), None, "data", "model")}
    shapes |= {"w_1": ((E, F, D), None, "model", "data")}

    def forward(p, tokens):
        x = pinned(mesh, p["embed"][tokens], "data", None, "model")
        h = normed(x, p["n1"])
        q, k, v = ((h @ p[name]).reshape(B, T, H, D // H) for name in "qkv")
        a = jnp.einsum("bhqt,bthk->bqhk", causal(jnp.einsum("bqhk,bthk->bhqt", q, k)), v)
        x = x + pinned(mesh, a.reshape(B, T, D) @ p["o"], "data", None, "model")
        h = normed(x, p["n2"])
        routing = jax.nn.softmax(h @ p["router"])
        gate, index = jax.lax.top_k(routing, 2)
        chosen = (jax.nn.one_hot(index, E) * gate[..., None]).sum(2)
        up = jax.nn.gelu(jnp.einsum("btd,edf->btef", h, p["w"])) * jnp.einsum("btd,edf->btef", h, p["w_v"])
        out = jnp.einsum("btef,efd->bted", up, p["w_1"])
        x = x + jnp.einsum("bted,bte->btd", out, chosen)
        return normed(x) @ p["embed"].T

    return jax.jit(forward), (placed(mesh, shapes), one(mesh, (B, T), "data", dtype=jnp.int32))


def dalle_mini() -> Built:
    """borisdayma/dalle-mini, src/dalle_mini/model/partitions.py: Megatron's layout, with a gated MLP and biases."""
    mesh = grid(dp=2, mp=4)
    D, H, F, V, B, T = 64, 8, 256, 512, 16, 32
    layer = dict.fromkeys("qkv", ((D, D), None, "mp")) | {"out": ((D, D), "mp", None)}
    layer |= {"d0": ((D, F), None, "mp"), "d1": ((D, F), None, "mp"), "d2": ((F, D), "mp", None), "scale": ((D,),)}
    embeddings = {"tokens": ((V, D), "mp", None), "positions": ((T, D), "mp", None)}
    shapes = {"embed": embeddings, "layers": [layer], "lm_head": ((D, V), None, "mp")}

    def loss(params, tokens, labels):
        x = params["embed"]["tokens"][tokens] + params["embed"]["positions"][jnp.arange(T)]
        for p in params["layers"]:
            h = normed(x, p["scale"])
            q, k, v = ((h @ p[name]).reshape(B, T, H, D // H) for name in "qkv")
            a = jnp.einsum("bhqt,bthk->bqhk", causal(jnp.einsum("bqhk,bthk->bhqt", q, k)), v)
            x = x + a.reshape(B, T, D) @ p["out"]
            h = normed(x)
            x = x + (jax.nn.gelu(h @ p["d0"]) * (h @ p["d1"])) @ p["d2"]
        return logits_loss(x @ params["lm_head"], labels)

    ids = one(mesh, (B, T), "dp", dtype=jnp.int32)
    return sgd(loss), (placed(mesh, shapes), ids, ids)


def t5x_layers() -> Built:
    """google-research/t5x, t5x/examples/t5/layers.py: heads and MLP over model, the embedding over data, too."""
    mesh = grid(data=4, model=2)
    D, H, K, F, B, T = 64, 8, 8, 256, 16, 32
    shapes: Any = dict.fromkeys(("query", "key", "value"), ((D, H * K), "data", "model"))
    shapes |= {"out": ((H * K, D), "model", "data"), "wi_0": ((D, F), "data", "model")}
    shapes |= {"wi_1": ((D, F), "data", "model"), "wo": ((F, D), "model", "data"), "scale": ((D,), "data")}

    def loss(params, x):
        for p in params:
            h = normed(x, p["scale"])
            q, k, v = ((h @ p[name]).reshape(B, T, H, K) for name in ("query", "key", "value"))
            q, k, v = (pinned(mesh, own, "data", None, "model", None) for own in (q, k, v))
            weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
            x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(B, T, H * K) @ p["out"]
            h = jax.nn.gelu(x @ p["wi_0"]) * (x @ p["wi_1"])
            x = x + pinned(mesh, h, "data", None, "model") @ p["wo"]
        return jnp.mean(x**2)

    return sgd(loss), (placed(mesh, {"layers": [shapes]})["layers"], one(mesh, (B, T, D), "data"))


def levanter() -> Built:
    """stanford-crfm/levanter, src/levanter/models/gpt2.py: FSDP over data, a scan over layers computed again."""
    mesh = grid(data=8)
    D, H, F, V, B, T, L = 64, 8, 256, 512, 16, 32, 4
    blocks = {"qkv": ((L, D, 3, H, D // H), None, "data"), "proj": ((L, H, D // H, D), None, None, None, "data")}
    blocks |= {"fc": ((L, D, F), None, "data"), "out": ((L, F, D), None, None, "data"), "ln": ((L, D), None, "data")}
    shapes = {"token": ((V, D), None, "data"), "position": ((T, D), None, "data"), "blocks": blocks}

    @jax.checkpoint
    def block(x, p):
        qkv = jnp.einsum("btd,dchk->cbthk", normed(x, p["ln"]), p["qkv"])
        weights = causal(jnp.einsum("bqhk,bthk->bhqt", qkv[0], qkv[1]))
        x = x + jnp.einsum("bhqt,bthk,hkd->bqd", weights, qkv[2], p["proj"])
        return x + jax.nn.gelu(x @ p["fc"]) @ p["out"], None

    def loss(params, tokens):
        x = params["token"][tokens] + params["position"]
        x = pinned(mesh, x, "data", None, None)
        x, _ = jax.lax.scan(block, x, params["blocks"])
        return logits_loss((x @ params["token"].T)[:, :-1], tokens[:, 1:])

    return sgd(loss), (placed(mesh, shapes), one(mesh, (B, T), "data", dtype=jnp.int32))


def gemma_tuning() -> Built:
    """google-deepmind/gemma, examples/sharding.py: the largest dimension of every weight over all devices."""
    mesh = grid(devices=8)
    D, N, G, K, F, V, B, T = 64, 8, 2, 16, 256, 1024, 16, 32
    layer = {"q": ((N, D, K), None, "devices"), "kv": ((2, G, D, K), None, None, "devices"), "n1": ((D,),)}
    layer |= {"o": ((N, K, D), None, None, "devices"), "gating": ((2, F, D), None, "devices"), "n2": ((D,),)}
    layer |= {"linear": ((F, D), "devices")}
    shapes = {"embedder": ((V, D), "devices"), "layers": [layer] * 2, "norm": ((D,),)}

    def loss(params, tokens, mask):
        x = params["embedder"][tokens] * D**0.5
        for p in params["layers"]:
            h = normed(x, p["n1"])
            q = jnp.einsum("btd,ndh->btnh", h, p["q"]).reshape(B, T, G, N // G, K)
            k, v = jnp.einsum("bsd,ckdh->cbskh", h, p["kv"])
            a = jnp.einsum("bkgts,bskh->btkgh", causal(jnp.einsum("btkgh,bskh->bkgts", q, k)), v)
            x = x + jnp.einsum("btnh,nhd->btd", a.reshape(B, T, N, K), p["o"])
            gate = jnp.einsum("btd,cfd->cbtf", normed(x, p["n2"]), p["gating"])
            x = x + (jax.nn.gelu(gate[0]) * gate[1]) @ p["linear"]
        logits = normed(x, params["norm"]) @ params["embedder"].T
        each = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:])
        return jnp.sum(each * mask[:, 1:]) / jnp.sum(mask)

    ids, mask = one(mesh, (B, T), "devices", dtype=jnp.int32), one(mesh, (B, T), "devices")
    return sgd(loss), (placed(mesh, shapes), ids, mask)


def maxtext_decoder() -> Built:
    """AI-Hypercomputer/maxtext, MaxText/layers/llama2.py: activations over fsdp and tensor, a scan over layers."""
    mesh = grid(fsdp=4, tensor=2)
    D, H, F, V, B, T, L = 64, 8, 256, 512, 16, 32, 4
    layers = dict.fromkeys("qkv", ((L, D, H, D // H), None, "fsdp", "tensor"))
    layers |= {
        "o": ((L, H, D // H, D), None, "tensor", None, "fsdp"),
        "wi": ((L, D, 2, F), None, "fsdp", None, "tensor"),
    }
    layers |= {"wo": ((L, F, D), None, "tensor", "fsdp"), "n1": ((L, D),), "n2": ((L, D),)}
    shapes = {"embedding": ((V, D), "tensor", "fsdp"), "layers": layers, "logits": ((D, V), "fsdp", "tensor")}

    def layer(x, p):
        x = pinned(mesh, x, "fsdp", None, "tensor")
        h = pinned(mesh, normed(x, p["n1"]), "fsdp", None, "tensor")
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[name]) for name in "qkv")
        q, k, v = (pinned(mesh, own, "fsdp", None, "tensor", None) for own in (q, k, v))
        a = jnp.einsum("bhqt,bthk->bqhk", causal(jnp.einsum("bqhk,bthk->bhqt", q, k)), v)
        x = x + pinned(mesh, jnp.einsum("bqhk,hkd->bqd", a, p["o"]), "fsdp", None, "tensor")
        gate = jnp.einsum("btd,dcf->cbtf", normed(x, p["n2"]), p["wi"])
        h = pinned(mesh, jax.nn.silu(gate[0]) * gate[1], "fsdp", None, "tensor")
        return pinned(mesh, x + h @ p["wo"], "fsdp", None, "tensor"), None

    def loss(params, tokens, targets):
        x = pinned(mesh, params["embedding"][tokens], "fsdp", None, "tensor")
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
        return logits_loss(normed(x) @ params["logits"], targets)

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return sgd(loss), (placed(mesh, shapes), ids, ids)


LANGUAGE_MODELS = (
    nanodo,
    easylm,
    minformer,
    llama3_decode,
    deepseek_attention,
    grok_experts,
    dalle_mini,
    t5x_layers,
    levanter,
    gemma_tuning,
    maxtext_decoder,
)
