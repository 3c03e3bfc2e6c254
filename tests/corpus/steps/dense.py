"""Steps of small dense networks: data parallel, tensor parallel, both, and permuted devices.

Not its job: attention (`transformers`).
"""

# ruff: noqa: E741

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "DP",
    "sgd",
    expected=(
        Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",), shape=(32, 64)),
        Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",), shape=(64, 8)),
    ),
    never=(Never(kind="all-gather"), Never(cause="reshard_requested")),
)
def mnist_data_parallel() -> Built:
    mesh = grid(data=8)

    def loss(params, images, labels):
        for w, b in params[:-1]:
            images = jax.nn.relu(jnp.dot(images, w) + b)
        w, b = params[-1]
        logp = jax.nn.log_softmax(images @ w + b)
        return -jnp.mean(jnp.sum(logp * jax.nn.one_hot(labels, 8), axis=1))

    @jax.jit
    def update(params, images, labels):
        grads = jax.grad(loss)(params, images, labels)
        return [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, grads, strict=True)]

    params = [(one(mesh, (a, b)), one(mesh, (b,))) for a, b in ((32, 64), (64, 64), (64, 8))]
    return update, (params, one(mesh, (128, 32), "data"), one(mesh, (128,), "data", dtype=jnp.int32))


@program(
    PROGRAMS,
    "TP",
    "2-D",
    "optax",
    expected=(
        Expected(kind="all-reduce", axes="model", cause="contraction", says=("params['down']",), shape=(8, 32)),
        Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",), shape=(32, 16)),
    ),
    never=(Never(kind="all-gather"), Never(cause="unknown")),
)
def megatron_mlp_step() -> Built:
    mesh = grid(data=4, model=2)
    params = placed(mesh, {"up": ((32, 32), None, "model"), "down": ((32, 32), "model", None)})
    tx = optax.sgd(1e-2, momentum=0.9)

    def loss_fn(params, x, y):
        h = jax.nn.gelu(x @ params["up"])
        out = h @ params["down"]
        return ((out - y) ** 2).mean()

    @jax.jit
    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    x = one(mesh, (32, 32), "data", None)
    return train_step, (params, state_of(mesh, tx, params), x, x)


@program(
    PROGRAMS,
    "FSDP",
    "unequal layers",
    "sgd",
    expected=(
        Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("w",)),
        Expected(kind="all-reduce|reduce-scatter", axes="fsdp", cause="contraction|reduction", says=()),
    ),
)
def fsdp_mlp_of_unequal_layers() -> Built:
    mesh = grid(fsdp=8)
    widths = [32, 128, 64, 96, 16]

    def forward(ws, x):
        for i, w in enumerate(ws):
            x = x @ w["kernel"] + w["bias"]
            if i < len(ws) - 1:
                x = jnp.tanh(x)
        return x

    def step(ws, x, y):
        def f(ws):
            return jnp.square(forward(ws, x) - y).sum() / x.shape[0]

        val, g = jax.value_and_grad(f)(ws)
        return jax.tree.map(lambda p, d: p - 3e-4 * d, ws, g), val

    ws = [
        {"kernel": one(mesh, (a, b), "fsdp", None), "bias": one(mesh, (b,), "fsdp")}
        for a, b in itertools.pairwise(widths)
    ]
    split = jax.tree.map(lambda a: a.sharding, ws)
    x, y = one(mesh, (512, 32), "fsdp", None), one(mesh, (512, 16), "fsdp", None)
    return jax.jit(step, out_shardings=(split, NamedSharding(mesh, P())), donate_argnums=0), (ws, x, y)


@program(
    PROGRAMS,
    "2-D",
    "permuted devices",
    "bf16",
    "adamw",
)
def bf16_mlp_on_permuted_devices() -> Built:
    mesh = grid([7, 6, 5, 4, 3, 2, 1, 0], data=2, model=4)
    params = placed(
        mesh,
        {"w_in": ((64, 128), "data", "model"), "w_mid": ((128, 128), "model", "data"), "w_out": ((128, 64), "data")},
    )
    tx = optax.adamw(1e-3)

    def net(p, x):
        p = jax.tree.map(lambda a: a.astype(jnp.bfloat16), p)
        h = jax.nn.silu(x.astype(jnp.bfloat16) @ p["w_in"])
        h = h + jax.nn.silu(h @ p["w_mid"])
        h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data", None)))
        return (h @ p["w_out"]).astype(jnp.float32)

    def step(p, s, batch):
        loss, g = jax.value_and_grad(lambda p: jnp.abs(net(p, batch["x"]) - batch["y"]).mean())(p)
        u, s = tx.update(g, s, p)
        return optax.apply_updates(p, u), s, {"loss": loss, "gnorm": optax.global_norm(g)}

    batch = {"x": one(mesh, (16, 64), "data"), "y": one(mesh, (16, 64), "data")}
    return jax.jit(step, donate_argnums=(0, 1)), (params, state_of(mesh, tx, params), batch)


@program(PROGRAMS, "3-D", "transposed devices", "autoencoder", "lion")
def autoencoder_on_three_axes() -> Built:
    mesh = grid([0, 4, 2, 6, 1, 5, 3, 7], dp=2, fsdp=2, tp=2)
    sizes = [(64, 48), (48, 32), (32, 48), (48, 64)]
    params = {f"layer_{i}": one(mesh, s, "fsdp", "tp") if i % 2 == 0 else one(mesh, s, "tp", "fsdp")
              for i, s in enumerate(sizes)}  # fmt: skip
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4))

    @jax.jit
    def train(params, opt_state, x):
        def loss(p):
            z = x
            for name in sorted(p):
                z = jnp.einsum("bi,ij->bj", z, p[name])
                if name != "layer_3":
                    z = jax.nn.elu(z)
            return jnp.mean((z - x) ** 2) + 1e-4 * sum(jnp.sum(jnp.abs(v)) for v in p.values())

        l, g = jax.value_and_grad(loss)(params)
        up, opt_state = tx.update(g, opt_state, params)
        return optax.apply_updates(params, up), opt_state, l

    return train, (params, state_of(mesh, tx, params), one(mesh, (16, 64), ("dp", "fsdp"), None))


@program(
    PROGRAMS,
    "DP",
    "normalisation",
    "EMA",
    expected=(Expected(kind="all-reduce", axes="batch", cause="reduction", shape=(48,)),),
    never=(Never(kind="all-gather"),),
)
def batchnorm_mlp_with_moving_average() -> Built:
    mesh = grid(batch=8)

    def forward(params, stats, x):
        new = []
        for p, s in zip(params, stats, strict=True):
            x = x @ p["w"]
            mean, var = x.mean(0), x.var(0)
            new.append({"mean": 0.9 * s["mean"] + 0.1 * mean, "var": 0.9 * s["var"] + 0.1 * var})
            x = (x - mean) / jnp.sqrt(var + 1e-5) * p["scale"] + p["shift"]
            x = jax.nn.relu(x)
        return x, new

    @jax.jit
    def step(state, x, y):
        def loss(p):
            out, stats = forward(p, state["stats"], x)
            return ((out.sum(-1) - y) ** 2).mean(), stats

        (l, stats), g = jax.value_and_grad(loss, has_aux=True)(state["params"])
        params = jax.tree.map(lambda p, g: p - 0.01 * g, state["params"], g)
        ema = jax.tree.map(lambda e, p: 0.999 * e + 0.001 * p, state["ema"], params)
        return {"params": params, "stats": stats, "ema": ema}, l

    params = [placed(mesh, {"w": ((a, 48),), "scale": ((48,),), "shift": ((48,),)}) for a in (32, 48, 48)]
    stats = [placed(mesh, {"mean": ((48,),), "var": ((48,),)}) for _ in range(3)]
    state = {"params": params, "stats": stats, "ema": params}
    return step, (state, one(mesh, (64, 32), "batch"), one(mesh, (64,), "batch"))
