"""Steps of ordinary training, of which every shape divides on 256 devices, too.

Not its job: small programs (`causes`), or steps whose causes are known (`corpus`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from corpus.arrays import grid, one, placed
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

__all__ = ["STEPS"]

Built = tuple[Callable[..., Any], tuple[Any, ...]]

BATCH, SEQUENCE, MODEL, HEADS, HIDDEN, VOCABULARY, LAYERS = 256, 64, 256, 16, 1024, 1024, 4


def _norm(x, scale):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def _layer(constrain, x, w):
    h = _norm(x, w["n1"])
    q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / 4
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), v)
    x = constrain(x + jnp.einsum("bqhk,hkd->bqd", o, w["o"]))
    return constrain(x + jax.nn.gelu(_norm(x, w["n2"]) @ w["up"]) @ w["down"])


def _weights(fsdp, tensor, stacked):
    head = MODEL // HEADS
    shapes = {
        "n1": ((MODEL,), None),
        "n2": ((MODEL,), None),
        **dict.fromkeys("qkv", ((MODEL, HEADS, head), fsdp, tensor, None)),
        "o": ((HEADS, head, MODEL), tensor, None, fsdp),
        "up": ((MODEL, HIDDEN), fsdp, tensor),
        "down": ((HIDDEN, MODEL), tensor, fsdp),
    }
    return {name: ((LAYERS, *own[0]), None, *own[1:]) if stacked else own for name, own in shapes.items()}


def _transformer(*, is_scanned: bool) -> Built:
    mesh = grid(data=2, model=4)
    constrain = partial(lax.with_sharding_constraint, shardings=NamedSharding(mesh, P("data", None, None)))
    layers = _weights("data", "model", True) if is_scanned else [_weights("data", "model", False)] * LAYERS
    params = placed(
        mesh,
        {"table": ((VOCABULARY, MODEL), "model", "data"), "head": ((MODEL, VOCABULARY), "data", "model"),
         "layers": layers},
    )  # fmt: skip
    tokens = one(mesh, (BATCH, SEQUENCE), "data", None, dtype=jnp.int32)

    def loss(params, tokens):
        x = constrain(params["table"][tokens])
        if is_scanned:
            x, _ = lax.scan(lambda x, w: (jax.checkpoint(partial(_layer, constrain))(x, w), None), x, params["layers"])
        else:
            for own in params["layers"]:
                x = _layer(constrain, x, own)
        scores = jax.nn.log_softmax(x @ params["head"])
        return -jnp.take_along_axis(scores, tokens[..., None], -1).mean()

    @jax.jit
    def step(params, tokens):
        value, slope = jax.value_and_grad(loss)(params, tokens)
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, slope), value

    return step, (params, tokens)


def transformer_scanned() -> Built:
    return _transformer(is_scanned=True)


def transformer_unrolled() -> Built:
    return _transformer(is_scanned=False)


def experts() -> Built:
    mesh = grid(data=2, expert=4)
    count, tokens = 16, 4096
    params = placed(
        mesh,
        {"route": ((MODEL, count), None, None), "up": ((count, MODEL, HIDDEN), "expert", None, "data"),
         "down": ((count, HIDDEN, MODEL), "expert", "data", None)},
    )  # fmt: skip

    def loss(params, x):
        shares = jax.nn.softmax(x @ params["route"])
        share, chosen = lax.top_k(shares, 2)
        sent = (jax.nn.one_hot(chosen, count) * share[..., None]).sum(1)
        within = jnp.cumsum(sent > 0, 0) - 1
        room = jax.nn.one_hot(jnp.where(sent > 0, within, -1), tokens // count)
        to = lax.with_sharding_constraint(
            jnp.einsum("tec,td->ecd", room, x), NamedSharding(mesh, P("expert", "data", None))
        )
        back = jnp.einsum("ech,ehd->ecd", jax.nn.relu(jnp.einsum("ecd,edh->ech", to, params["up"])), params["down"])
        y = jnp.einsum("tec,te,ecd->td", room, sent, back)
        return ((lax.with_sharding_constraint(y, NamedSharding(mesh, P("data", None))) - x) ** 2).mean()

    @jax.jit
    def step(params, x):
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, jax.grad(loss)(params, x))

    return step, (params, one(mesh, (tokens, MODEL), "data", None))


def _dense(split_weights: bool, split_state: bool) -> Built:
    mesh = grid(fsdp=8)
    shapes = {"up": (MODEL, HIDDEN), "down": (HIDDEN, MODEL), "bias": (HIDDEN,)}
    params = {name: one(mesh, shape, "fsdp" if split_weights else None) for name, shape in shapes.items()}
    state = {name: one(mesh, shape, "fsdp" if split_state else None) for name, shape in shapes.items()}

    def loss(params, x):
        return ((jnp.tanh(x @ params["up"] + params["bias"]) @ params["down"] - x) ** 2).mean()

    def step(params, first, second, x):
        slope = jax.grad(loss)(params, x)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, second, slope)
        return jax.tree.map(lambda w, m, v: w - m * lax.rsqrt(v + 1e-8), params, first, second), first, second

    placed_so = jax.tree.map(lambda own: own.sharding, (params, state, state))
    return jax.jit(step, out_shardings=placed_so, donate_argnums=(0, 1, 2)), (
        params, state, state, one(mesh, (2048, MODEL), "fsdp", None)
    )  # fmt: skip


def fsdp() -> Built:
    return _dense(True, True)


def zero_1() -> Built:
    return _dense(False, True)


def pipeline() -> Built:
    """Stages by `shard_map`, manual over `stage` alone; the batch is left to the partitioner."""
    mesh = grid(data=2, stage=4)
    sizes = dict(mesh.shape)
    stages = sizes["stage"]

    def run(w, x):
        here = lax.axis_index("stage")

        def tick(state, number):
            state = jnp.where(here == 0, x[jnp.minimum(number, 7)], state)
            state = jnp.tanh(state @ w[0])
            return lax.ppermute(state, "stage", [(own, (own + 1) % stages) for own in range(stages)]), state

        start = lax.pcast(jnp.zeros(x.shape[1:]), ("stage",), to="varying")
        _, made = lax.scan(tick, start, jnp.arange(8 + stages - 1))
        return lax.psum(jnp.where(here == stages - 1, made[stages - 1 :], 0.0), "stage")

    forward = jax.shard_map(run, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P(), axis_names={"stage"})

    @jax.jit
    def step(w, x):
        return w - 0.1 * jax.grad(lambda w: (forward(w, x) ** 2).mean())(w)

    return step, (one(mesh, (16, MODEL, MODEL), "stage"), one(mesh, (8, 256, MODEL), None, "data", None))


def convolutional() -> Built:
    mesh = grid(data=2, model=4)
    params = placed(
        mesh,
        {"first": ((3, 3, 16, 128), None, None, None, "model"), "second": ((3, 3, 128, 128), None, None, "model", None),
         "head": ((128, 16), None, "model")},
    )  # fmt: skip

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(params, images, labels):
        x = jax.nn.relu(conv(images, params["first"]))
        x = x * lax.rsqrt(x.var((0, 1, 2), keepdims=True) + 1e-5)
        x = jax.nn.relu(conv(x, params["second"])).mean((1, 2))
        return -jnp.take_along_axis(jax.nn.log_softmax(x @ params["head"]), labels[:, None], -1).mean()

    @jax.jit
    def step(params, images, labels):
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, jax.grad(loss)(params, images, labels))

    return step, (
        params, one(mesh, (256, 32, 32, 16), "data", None, None, None), one(mesh, (256,), "data", dtype=jnp.int32)
    )  # fmt: skip


STEPS: dict[str, Callable[[], Built]] = {
    own.__name__: own
    for own in (
        transformer_scanned,
        transformer_unrolled,
        experts,
        fsdp,
        zero_1,
        pipeline,
        convolutional,
    )
}
