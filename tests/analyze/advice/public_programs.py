"""Programs of public repositories, rewritten small, with the shardings that the repositories have.

Vision, diffusion, experts, pipelines, reinforcement learning. No fault is planted: what is best to change was found by
a search of all single changes. Not its job: language models (`public_language_models`).
"""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import optax
from analyze.advice.programs import Program, sgd
from analyze.advice.public_language_models import LANGUAGE_MODELS, normed
from corpus.arrays import grid, one, placed, state_of
from findings.faults import Built, pinned


def maxtext_pipeline() -> Built:
    """AI-Hypercomputer/maxtext, MaxText/layers/pipeline.py: stages under vmap, the state shifts by one each turn."""
    mesh = grid(stage=4, data=2)
    S, M, B, T, D, F = 4, 8, 8, 16, 64, 128
    params = placed(mesh, {"up": ((S, D, F), "stage"), "down": ((S, F, D), "stage")})

    def layer(p, x):
        return x + jax.nn.gelu(normed(x) @ p["up"]) @ p["down"]

    def loss(params, batch):
        micro = batch.reshape(S, M // S, B, T, D)
        state_io = pinned(mesh, micro, "stage", None, "data", None, None)
        shift = pinned(mesh, jnp.zeros((S, B, T, D)), "stage", "data", None, None)
        first = jax.lax.broadcasted_iota("int32", shift.shape, 0) == 0

        def turn(carry, step):
            state_io, shift = carry
            own = jax.lax.dynamic_index_in_dim(state_io, step % (M // S), 1, keepdims=False)
            stages_in = pinned(mesh, jnp.where(first, own, shift), "stage", "data", None, None)
            output = pinned(mesh, jax.vmap(layer)(params, stages_in), "stage", "data", None, None)
            moved = jnp.concatenate([output[-1:], output[:-1]])
            state_io = jax.lax.dynamic_update_index_in_dim(state_io, output, step % (M // S), 1)
            return (state_io, moved), None

        (state_io, _), _ = jax.lax.scan(turn, (state_io, shift), jnp.arange(M + S - 1))
        return jnp.mean(state_io**2)

    return sgd(loss), (params, one(mesh, (M * B, T, D), "data"))


def vmoe() -> Built:
    """google-research/vmoe, vmoe/moe.py: groups are split over experts and replicas, and so is what is dispatched."""
    mesh = grid(expert=4, replica=2)
    G, S, E, C, D, F = 8, 32, 8, 16, 64, 128
    both = ("expert", "replica")
    params = placed(mesh, {"router": ((D, E),), "up": ((E, D, F), "expert"), "down": ((E, F, D), "expert")})

    def dispatch(x, spec):
        x = pinned(mesh, x, spec)
        x = jnp.swapaxes(x.reshape(E, -1, E, C, D), 0, 2).reshape(-1, D)
        return pinned(mesh, x, spec).reshape(E, G * C, D)

    def receive(x, spec):
        x = pinned(mesh, x.reshape(-1, D), spec)
        x = jnp.swapaxes(x.reshape(E, G // E, E, C, D), 0, 2)
        return pinned(mesh, x.reshape(G, E, C, D), spec)

    def loss(p, x):
        gates = jax.nn.softmax(x @ p["router"])
        taken = jax.nn.one_hot(jnp.argmax(gates, -1), E)
        places = ((jnp.cumsum(taken, 1) - 1) * taken).sum(-1).astype(jnp.int32)
        combine = gates[..., None] * taken[..., None] * jax.nn.one_hot(places, C)[:, :, None]
        given = dispatch(jnp.einsum("gsec,gsd->gecd", (combine > 0).astype(x.dtype), x), both)
        h = jax.nn.gelu(jnp.einsum("ebd,edf->ebf", given, p["up"]))
        back = receive(jnp.einsum("ebf,efd->ebd", h, p["down"]), both)
        return jnp.mean(jnp.einsum("gsec,gecd->gsd", combine, back) ** 2)

    return sgd(loss), (params, one(mesh, (G, S, D), both))


def big_vision() -> Built:
    """google-research/big_vision, big_vision/sharding.py: a ViT; the largest dimension of large weights over data."""
    mesh = grid(data=8)
    D, H, F, N, B, C = 64, 8, 256, 16, 16, 128
    block = dict.fromkeys("qkv", ((D, H, D // H), "data")) | {"o": ((H, D // H, D), None, None, "data")}
    block |= {"up": ((D, F), None, "data"), "down": ((F, D), "data"), "bias": ((F,),)}
    shapes = {"patch": ((192, D), "data"), "pos": ((N, D),), "blocks": [block] * 2, "head": ((D, C), None, "data")}

    def loss(params, images, labels):
        patches = images.reshape(B, 4, 8, 4, 8, 3).transpose(0, 1, 3, 2, 4, 5).reshape(B, N, 192)
        x = patches @ params["patch"] + params["pos"]
        for p in params["blocks"]:
            h = normed(x)
            q, k, v = (jnp.einsum("bnd,dhk->bnhk", h, p[name]) for name in "qkv")
            a = jnp.einsum("bhnm,bmhk->bnhk", jax.nn.softmax(jnp.einsum("bnhk,bmhk->bhnm", q, k)), v)
            x = x + jnp.einsum("bnhk,hkd->bnd", a, p["o"])
            x = x + jax.nn.gelu(normed(x) @ p["up"] + p["bias"]) @ p["down"]
        logits = x.mean(1) @ params["head"]
        return optax.sigmoid_binary_cross_entropy(logits, labels).sum(-1).mean()

    batch = one(mesh, (B, 32, 32, 3), "data"), one(mesh, (B, C), "data")
    return sgd(loss), (placed(mesh, shapes), *batch)


def equinox_parallelism() -> Built:
    """patrick-kidger/equinox, docs/examples/parallelism.ipynb: the model on all devices, the batch is split."""
    mesh = grid(batch=8)
    params, tx = (
        placed(mesh, {"w1": ((32, 128),), "b1": ((128,),), "w2": ((128, 32),), "b2": ((32,),)}),
        optax.adam(3e-4),
    )

    def everywhere(tree):
        return jax.tree.map(lambda own: pinned(mesh, own), tree)

    def step(model, state, x, y):
        model, state = everywhere(model), everywhere(state)
        x, y = pinned(mesh, x, "batch"), pinned(mesh, y, "batch")

        def loss(model):
            one_of = lambda v: jax.nn.relu(v @ model["w1"] + model["b1"]) @ model["w2"] + model["b2"]  # noqa: E731
            return jnp.mean((y - jax.vmap(one_of)(x)) ** 2)

        updates, state = tx.update(jax.grad(loss)(model), state)
        return everywhere(optax.apply_updates(model, updates)), everywhere(state)

    batch = one(mesh, (512, 32), "batch")
    return jax.jit(step, donate_argnums=(0, 1)), (params, state_of(mesh, tx, params), batch, batch)


def diffusion_transformer() -> Built:
    """kvfrans/jax-diffusion-transformer, train_diffusion.py: data parallel, with a moving average of the model."""
    mesh = grid(data=8)
    D, H, F, N, B = 64, 8, 256, 16, 32
    block = {"ada": ((D, 6 * D),), "qkv": ((D, 3 * D),), "o": ((D, D),), "up": ((D, F),), "down": ((F, D),)}
    params = placed(
        mesh, {"time": ((64, D),), "label": ((1000, D),), "patch": ((16, D),), "out": ((D, 16),), "b": [block] * 2}
    )

    def denoise(p, x, t, label):
        c = jnp.cos(t[:, None] * jnp.arange(64.0)) @ p["time"] + p["label"][label]
        x = x @ p["patch"]
        for q in p["b"]:
            m = jnp.split((jax.nn.silu(c) @ q["ada"])[:, None], 6, axis=-1)
            h = normed(x) * (1 + m[0]) + m[1]
            query, key, value = ((h @ q["qkv"]).reshape(B, N, 3, H, D // H)[:, :, index] for index in range(3))
            a = jax.nn.softmax(jnp.einsum("bnhk,bmhk->bhnm", query, key))
            x = x + m[2] * (jnp.einsum("bhnm,bmhk->bnhk", a, value).reshape(B, N, D) @ q["o"])
            h = normed(x) * (1 + m[3]) + m[4]
            x = x + m[5] * (jax.nn.gelu(h @ q["up"]) @ q["down"])
        return normed(x) @ p["out"]

    def step(params, average, images, noise, t, labels):
        def loss(p):
            mixed = (1 - t)[:, None, None] * noise + t[:, None, None] * images
            return jnp.mean((denoise(p, mixed, t, labels) - (images - noise)) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        params = jax.tree.map(lambda p, g: p - 1e-4 * g, params, grads)
        return params, jax.tree.map(lambda a, p: 0.999 * a + 0.001 * p, average, params), value

    images, t = one(mesh, (B, N, 16), "data"), one(mesh, (B,), "data")
    labels = one(mesh, (B,), "data", dtype=jnp.int32)
    return jax.jit(step, donate_argnums=(0, 1)), (params, params, images, images, t, labels)


def dreamer_world_model() -> Built:
    """danijar/dreamerv3, dreamerv3/rssm.py and embodied/jax/transform.py: a recurrent scan over time, batch over two
    axes, all parameters on all devices."""
    mesh = grid(d=4, f=2)
    B, T, D, Z = 16, 16, 64, 32
    shapes = {
        "enc": ((D, D),),
        "gru": ((D + Z, 3 * D),),
        "prior": ((D, Z),),
        "post": ((2 * D, Z),),
        "dec": ((D + Z, D),),
    }
    batch = ("d", "f")

    def loss(p, obs, reset):
        embed = jax.nn.silu(obs @ p["enc"])

        def step(carry, given):
            deter, stoch = carry
            token, first = given
            deter, stoch = (own * (1 - first)[:, None] for own in (deter, stoch))
            r, c, u = jnp.split(jnp.concatenate([deter, stoch], -1) @ p["gru"], 3, axis=-1)
            u = jax.nn.sigmoid(u - 1)
            deter = u * jnp.tanh(jax.nn.sigmoid(r) * c) + (1 - u) * deter
            stoch = jax.nn.softmax(jnp.concatenate([deter, token], -1) @ p["post"])
            return (deter, stoch), (deter, stoch)

        start = jnp.zeros((B, D)), jnp.zeros((B, Z))
        _, (deter, stoch) = jax.lax.scan(step, start, (embed.swapaxes(0, 1), reset.swapaxes(0, 1)))
        recon = jnp.concatenate([deter, stoch], -1) @ p["dec"]
        gap = jnp.sum(stoch * (jnp.log(stoch + 1e-6) - jax.nn.log_softmax(deter @ p["prior"])))
        return jnp.mean((recon - obs.swapaxes(0, 1)) ** 2) + gap

    return sgd(loss), (placed(mesh, shapes), one(mesh, (B, T, D), batch), one(mesh, (B, T), batch))


def ring_attention() -> Built:
    """haoliuhl/ringattention, ringattention/ringattention_jax.py: keys and values go round in a manual region."""
    mesh = grid(fsdp=2, sp=4)
    B, T, H, K, D = 4, 64, 4, 16, 64
    params = placed(mesh, dict.fromkeys("qkvo", ((D, D), "fsdp")))
    spec = jax.P("fsdp", "sp", None, None)

    def ring(q, k, v):
        def turn(carry, _):
            out, total, k, v = carry
            s = jnp.exp(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
            out = out + jnp.einsum("bhqk,bkhd->bqhd", s, v)
            total = total + s.sum(-1).swapaxes(1, 2)
            k, v = (jax.lax.ppermute(own, "sp", [(i, (i + 1) % 4) for i in range(4)]) for own in (k, v))
            return (out, total, k, v), None

        (out, total, _, _), _ = jax.lax.scan(turn, (q * 0, q[..., 0] * 0, k, v), length=4)
        return out / total[..., None]

    def loss(p, x):
        q, k, v = ((x @ p[name]).reshape(B, T, H, K) for name in "qkv")
        out = jax.shard_map(ring, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec)(q, k, v)
        return jnp.mean((x + out.reshape(B, T, D) @ p["o"]) ** 2)

    return sgd(loss), (params, one(mesh, (B, T, D), "fsdp", "sp"))


def brax_ppo() -> Built:
    """google/brax, brax/training/agents/ppo/train.py: environments over devices, shuffled into minibatches."""
    mesh = grid(i=8)
    N, T, D, A, M = 64, 8, 32, 8, 4
    params = placed(mesh, {"policy": [((D, 64),), ((64, A),)], "value": [((D, 64),), ((64, 1),)]})

    def mlp(layers, x):
        return jnp.tanh(x @ layers[0]) @ layers[1]

    def loss(p, data):
        obs, action, reward = data
        value = mlp(p["value"], obs)[..., 0]
        gain = jax.lax.stop_gradient(reward - value)
        log = jax.nn.log_softmax(mlp(p["policy"], obs))
        return jnp.mean((value - reward) ** 2) - jnp.mean(jnp.sum(log * action, -1) * gain)

    def train(params, data, key):
        def shuffle(x):
            x = jax.random.permutation(key, x)
            return x.reshape(M, -1, *x.shape[1:])

        def minibatch(params, data):
            grads = jax.grad(loss)(params, data)
            return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), None

        return jax.lax.scan(minibatch, params, jax.tree.map(shuffle, data))[0]

    data = one(mesh, (N, T, D), "i"), one(mesh, (N, T, A), "i"), one(mesh, (N, T), "i")
    return jax.jit(train, donate_argnums=0), (params, data, one(mesh, (2,), dtype=jnp.uint32))


def jax_guide_mlp() -> Built:
    """jax-ml/jax, docs/notebooks/Distributed_arrays_and_automatic_parallelization.md: four layers, the second of each
    pair split over its rows."""
    mesh = grid(batch=4, model=2)
    sizes = [128, 512, 128, 512, 128]
    shapes = {}
    for index, (size, out) in enumerate(itertools.pairwise(sizes)):
        is_first = index % 2 == 0
        shapes[f"w{index}"] = ((size, out), None, "model") if is_first else ((size, out), "model", None)
        shapes[f"b{index}"] = ((out,), "model") if is_first else ((out,),)

    def loss(p, inputs, targets):
        x = inputs
        for index in range(4):
            x = jnp.dot(x, p[f"w{index}"]) + p[f"b{index}"]
            x = jnp.maximum(x, 0) if index < 3 else x
        return jnp.mean(jnp.sum((x - targets) ** 2, axis=-1))

    batch = one(mesh, (1024, 128), "batch")
    return sgd(loss), (placed(mesh, shapes), batch, batch)


def flax_gspmd_guide() -> Built:
    """google/flax, docs_nnx/guides/flax_gspmd.md: two products with a sum of their own between, in a scan."""
    mesh = grid(data=2, model=4)
    L, D, B = 4, 128, 256
    params = placed(mesh, {"dot1": ((L, D, D), None, None, "model"), "w2": ((L, D, D), None, "model", None)})

    def layer(x, p):
        y = x @ p["dot1"]
        y = jax.nn.relu(y)
        y = pinned(mesh, y, "data", "model")
        return jnp.dot(y, p["w2"]), None

    def loss(p, x, y):
        x, _ = jax.lax.scan(layer, x, p)
        return jnp.mean((x - y) ** 2)

    params_state = optax.adam(1e-3)
    batch = one(mesh, (B, D), "data"), one(mesh, (B, D), "data")

    def step(params, state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = params_state.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return jax.jit(step, donate_argnums=(0, 1)), (params, state_of(mesh, params_state, params), *batch)


_OTHERS = (
    maxtext_pipeline,
    vmoe,
    big_vision,
    equinox_parallelism,
    diffusion_transformer,
    dreamer_world_model,
    ring_attention,
    brax_ppo,
    jax_guide_mlp,
    flax_gspmd_guide,
)
PUBLIC = [Program(name=build.__name__, build=build, kind="public") for build in (*LANGUAGE_MODELS, *_OTHERS)]
