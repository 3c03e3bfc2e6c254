"""Programs with one fault each, and the same without it.

Which finding, which line and which remedy were written down before the programs ran. Not its job: running them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from corpus.arrays import grid, one, placed, state_of
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from findings.case import Built, Fault, fault

FAULTS: list[Fault] = []

D, F, H, V, B, T = 64, 256, 8, 512, 16, 64


def pinned(mesh: Any, x: Any, *spec: Any) -> Any:
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


def varying(x: Any, axis: str) -> Any:
    """The same array as one of which each device along the axis may have another; JAX 0.8 calls that otherwise."""
    cast = getattr(jax.lax, "pcast", None)
    return cast(x, axis, to="varying") if cast is not None else jax.lax.pvary(x, axis)


def rms(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attend(x, p):
    h = rms(x, p["ln1"])
    q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[n]) for n in ("wq", "wk", "wv"))
    s = jax.nn.softmax(jnp.einsum("bqhk,bthk->bhqt", q, k) / q.shape[-1] ** 0.5)
    return x + jnp.einsum("bhqt,bthk,hkd->bqd", s, v, p["wo"])


def widen(x, p):
    return x + jax.nn.gelu(rms(x, p["ln2"]) @ p["w1"]) @ p["w2"]


def transformer(mesh: Any, fs: Any, tp: Any, layers: int) -> Any:
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
    return placed(mesh, {"emb": ((V, D), tp, fs), "layers": [layer] * layers, "out": ((D, V), fs, tp)})


def logits_loss(logits, targets):
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def donating_step(loss: Any, tx: Any) -> Any:
    def step(params, opt, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, value

    return jax.jit(step, donate_argnums=(0, 1))


# ---------------------------------------------------------------- an axis is lost


@fault(
    FAULTS,
    "axis_lost",
    says=('`params["emb"][batch["tok"]]`', "loses `fsdp`"),
    remedy=("with_sharding_constraint", "P('fsdp', None, None)"),
)
def fsdp_tp_step(*, fixed: bool = False) -> Built:
    mesh = grid(fsdp=2, tp=4)
    params, tx = transformer(mesh, "fsdp", "tp", 4), optax.adamw(1e-3)

    def loss(params, batch):
        x = params["emb"][batch["tok"]]  # @here
        if fixed:
            x = pinned(mesh, x, "fsdp", None, None)
        for p in params["layers"]:
            x = widen(attend(x, p), p)
        return logits_loss(x @ params["out"], batch["tgt"])

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@fault(
    FAULTS,
    "axis_lost",
    says=("loses `fsdp`",),
    remedy=("with_sharding_constraint", "P('fsdp', None, None)"),
)
def lookup_in_a_table_split_by_columns(*, fixed: bool = False) -> Built:
    mesh = grid(fsdp=8)
    params, tx = transformer(mesh, "fsdp", None, 2), optax.adam(1e-3)

    def loss(params, batch):
        x = jnp.take(params["emb"], batch["tok"], axis=0)  # @here
        if fixed:
            x = pinned(mesh, x, "fsdp", None, None)
        for p in params["layers"]:
            x = widen(attend(x, p), p)
        return logits_loss(x @ params["out"], batch["tgt"])

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@fault(
    FAULTS,
    "axis_lost",
    says=("loses `fsdp`",),
    remedy=("with_sharding_constraint", "P(('data', 'fsdp'), None, None)"),
)
def one_of_two_axes_of_the_batch_is_lost(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, fsdp=2, tp=2)
    params = transformer(mesh, "fsdp", "tp", 2)

    def loss(params, tok, tgt):
        x = params["emb"][tok]  # @here
        if fixed:
            x = pinned(mesh, x, ("data", "fsdp"), None, None)
        for p in params["layers"]:
            x = widen(attend(x, p), p)
        return logits_loss(x @ params["out"], tgt)

    def step(params, tok, tgt):
        grads = jax.grad(loss)(params, tok, tgt)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads)

    ids = one(mesh, (B, T), ("data", "fsdp"), dtype=jnp.int32)
    return jax.jit(step, donate_argnums=0), (params, ids, ids)


@fault(
    FAULTS,
    "axis_lost",
    says=("loses `fsdp`",),
    remedy=("with_sharding_constraint", "P('fsdp', None, None)"),
    revised="it was added when programs of the corpus had shown that lookups before a `scan` were missed",
)
def a_scanned_step(*, fixed: bool = False) -> Built:
    mesh = grid(fsdp=2, tp=4)
    block = {"w1": ((4, D, F), None, "fsdp", "tp"), "w2": ((4, F, D), None, "tp", "fsdp"), "ln2": ((4, D),)}
    params = placed(mesh, {"emb": ((V, D), "tp", "fsdp"), "blocks": block, "out": ((D, V), "fsdp", "tp")})
    tx = optax.adamw(1e-3)

    def loss(params, batch):
        x = params["emb"][batch["tok"]]  # @here
        if fixed:
            x = pinned(mesh, x, "fsdp", None, None)
        x, _ = jax.lax.scan(lambda x, p: (widen(x, p), None), x, params["blocks"])
        return logits_loss(x @ params["out"], batch["tgt"])

    ids = one(mesh, (B, T), "fsdp", dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@fault(
    FAULTS,
    "axis_lost",
    says=("loses `data`", "constraint"),
    remedy=("P('data', 'model')",),
)
def a_constraint_that_forgets_the_batch(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)
    w1, w2 = one(mesh, (D, F), None, "model"), one(mesh, (F, D), "model", None)

    @jax.jit
    def apply(w1, w2, x):
        h = jax.nn.gelu(x @ w1)
        h = pinned(mesh, h, "data" if fixed else None, "model")  # @here
        return h @ w2

    return apply, (w1, w2, one(mesh, (1024, D), "data", None))


# ---------------------------------------------------------------- gathered again, summed again


@fault(
    FAULTS,
    "gathered_again",
    says=("`w`", "each of the 8 turns"),
    remedy=("with_sharding_constraint", "P(None, None)", "before"),
    revised="a loop of `tanh(x @ w)` alone: XLA moves that gather out of the loop, so it runs once and is no fault; "
    "what a checkpoint computes again for the gradient stays in the loop",
)
def a_weight_is_gathered_in_every_turn(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    @jax.checkpoint
    def part(w, x):
        return (jnp.tanh(jnp.tanh(x @ w) @ w) ** 2).mean()

    def step(w, xs):
        whole = pinned(mesh, w, None, None) if fixed else w

        def turn(total, x):
            return total + part(whole, x), None

        return jax.lax.scan(turn, 0.0, xs)[0]  # @here

    @jax.jit
    def gradient(w, xs):
        return jax.grad(step)(w, xs)

    return gradient, (one(mesh, (256, 256), "data", None), one(mesh, (8, 512, 256), None, "data", None))


@fault(
    FAULTS,
    "gathered_again",
    says=("`w`", "2 times", "`data`"),
    remedy=("with_sharding_constraint", "P(None, None)", "once"),
)
def tied_weights_are_gathered_as_they_are_and_transposed(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    @jax.jit
    def decode(w, x):
        if fixed:
            w = pinned(mesh, w, None, None)
        return jnp.tanh(x @ w) @ w.T  # @here

    return decode, (one(mesh, (256, 256), "data", None), one(mesh, (1024, 256), "data", None))


@fault(
    FAULTS,
    "gathered_again",
    says=("`memory`", "2 times", "`data`"),
    remedy=("with_sharding_constraint", "P(None, None)", "once"),
)
def keys_that_are_the_values_too(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    @jax.jit
    def recall(x, memory):
        if fixed:
            memory = pinned(mesh, memory, None, None)
        weights = jax.nn.softmax(x @ memory.T)  # @here
        return weights @ memory

    return recall, (one(mesh, (1024, 64), "data", None), one(mesh, (512, 64), "data", None))


@fault(
    FAULTS,
    "gathered_again",
    says=("einsum", "2 times", "`data`"),
    remedy=("with_sharding_constraint", "P('model', None, None)", "once"),
)
def keys_of_heads_whose_product_has_another_order(*, fixed: bool = False) -> Built:
    mesh = grid(data=4, model=2)

    @jax.jit
    def recall(x, memory, w):
        keys = jnp.einsum("td,dhk->htk", memory, w)
        if fixed:
            keys = pinned(mesh, keys, "model", None, None)
        return jax.nn.softmax(x @ keys.mT) @ keys  # @here

    queries, memory = one(mesh, (4, 1024, 16), "model", "data", None), one(mesh, (512, 64), "data", None)
    return recall, (queries, memory, one(mesh, (64, 4, 16), None, "model", None))


@fault(
    FAULTS,
    "summed_per_turn",
    says=("`data`", "8 turns"),
    remedy=("psum", "after the loop"),
    tried=False,
)
def gradients_are_summed_for_every_micro_batch(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    def loss(w, x, y):
        return ((jnp.tanh(x @ w) - y) ** 2).mean()

    def accumulated(w, xs, ys):
        def turn(total, xy):
            return total + jax.grad(loss)(w, *xy), None  # @here

        return jax.lax.scan(turn, jnp.zeros_like(w), (xs, ys))[0]

    def once(w, xs, ys):
        # The gradient with respect to a copy of each device's own is that of its own data.
        own = varying(w, "data")
        return jax.lax.psum(accumulated(own, xs, ys), "data") / 8

    specs = {"in_specs": (P(), P(None, "data"), P(None, "data")), "out_specs": P()}
    gradient = jax.shard_map(once, mesh=mesh, **specs) if fixed else accumulated

    def step(w, xs, ys):
        return w - 0.1 * gradient(w, xs, ys)

    data = one(mesh, (8, 64, 128), None, "data", None)
    return jax.jit(step, donate_argnums=0), (one(mesh, (128, 128)), data, data)


@fault(
    FAULTS,
    "summed_per_turn",
    says=("`data`", "8 turns", "but for 1 other array", "1/8 of that"),
    remedy=("psum", "after the loop"),
    tried=False,
)
def the_mean_gradient_of_micro_batches_beside_their_losses(*, fixed: bool = False) -> Built:
    """As it is mostly written: weights in bfloat16, gradients added up as float32, each turn's loss kept for a plot."""
    mesh = grid(data=8)

    def loss(p, x, y):
        return ((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2).mean()

    def accumulated(p, xs, ys):
        low = jax.tree.map(lambda own: own.astype(jnp.bfloat16), p)

        def turn(total, xy):
            value, grads = jax.value_and_grad(loss)(low, *xy)
            return jax.tree.map(lambda t, g: t + g.astype(jnp.float32) / 8, total, grads), value  # @here

        return jax.lax.scan(turn, jax.tree.map(jnp.zeros_like, p), (xs, ys))

    def once(p, xs, ys):
        own = jax.tree.map(lambda one: varying(one, "data"), p)
        total, values = accumulated(own, xs, ys)
        return jax.tree.map(lambda one: jax.lax.psum(one, "data") / 8, total), jax.lax.pmean(values, "data")

    specs = {"in_specs": (P(), P(None, "data"), P(None, "data")), "out_specs": P()}
    gradients = jax.shard_map(once, mesh=mesh, **specs) if fixed else accumulated

    def step(p, xs, ys):
        grads, values = gradients(p, xs, ys)
        return jax.tree.map(lambda own, g: own - 0.1 * g, p, grads), values

    data = one(mesh, (8, 64, 128), None, "data", None)
    weights = {"a": one(mesh, (128, 256)), "b": one(mesh, (256, 128))}
    return jax.jit(step, donate_argnums=0), (weights, data, data)


# ---------------------------------------------------------------- arguments


@fault(
    FAULTS,
    "replicated_argument",
    line="call",
    says=("`opt", "every device"),
    remedy=("P(None, 'model')",),
    saves="held",
)
def the_optimizers_state_is_replicated(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)
    params = {"w1": one(mesh, (D, F), None, "model"), "w2": one(mesh, (F, D), "model", None)}
    tx = optax.adam(1e-3)

    def loss(params, batch):
        return ((jax.nn.gelu(batch["x"] @ params["w1"]) @ params["w2"] - batch["y"]) ** 2).mean()

    state = state_of(mesh, tx, params)
    if not fixed:
        state = jax.tree.map(lambda leaf: one(mesh, leaf.shape, dtype=leaf.dtype), state)
    x = one(mesh, (B, D), "data", None)
    return donating_step(loss, tx), (params, state, {"x": x, "y": x})


@fault(
    FAULTS,
    "not_donated",
    line="definition",
    says=("`params`", "twice"),
    remedy=("donate_argnums",),
    saves="temporary",
    tried=False,
)
def a_step_that_keeps_the_old_parameters(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)
    params = {"w1": one(mesh, (D, F)), "w2": one(mesh, (F, D))}

    def loss(params, batch):
        return ((jax.nn.gelu(batch["x"] @ params["w1"]) @ params["w2"] - batch["y"]) ** 2).mean()

    def step(params, batch):  # @here
        grads = jax.grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    x = one(mesh, (B, D), "data", None)
    return jax.jit(step, donate_argnums=0 if fixed else ()), (params, {"x": x, "y": x})


@fault(
    FAULTS,
    "not_donated",
    line="definition",
    says=("`cache`", "twice"),
    remedy=("donate_argnums",),
    saves="temporary",
    tried=False,
)
def a_cache_that_is_copied_for_every_token(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)
    shape, spec = (B, T, H, D // H), ("data", None, "model", None)
    cache = {"k": one(mesh, shape, *spec), "v": one(mesh, shape, *spec)}

    def decode(cache, q, k, v, position):  # @here
        cache = {
            "k": jax.lax.dynamic_update_slice(cache["k"], k, (0, position, 0, 0)),
            "v": jax.lax.dynamic_update_slice(cache["v"], v, (0, position, 0, 0)),
        }
        s = jax.nn.softmax(jnp.einsum("bqhk,bthk->bhqt", q, cache["k"]))
        return cache, jnp.einsum("bhqt,bthk->bqhk", s, cache["v"])

    new = one(mesh, (B, 1, H, D // H), *spec)
    return jax.jit(decode, donate_argnums=0 if fixed else ()), (cache, new, new, new, one(mesh, (), dtype=jnp.int32))


@fault(
    FAULTS,
    "resharded_argument",
    line="call",
    says=("2 arguments", "each call"),
    remedy=("device_put",),
    saves="copies",
    tried=False,
    is_called=True,
)
def parameters_arrive_on_one_device(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)
    layout = {"w1": NamedSharding(mesh, P(None, "model")), "w2": NamedSharding(mesh, P("model", None))}
    params = {"w1": jnp.ones((D, F)), "w2": jnp.ones((F, D))}
    if fixed:
        params = jax.device_put(params, layout)
    x = jax.device_put(np.ones((B, D), np.float32), NamedSharding(mesh, P("data", None)))
    apply = jax.jit(lambda params, x: jax.nn.gelu(x @ params["w1"]) @ params["w2"], in_shardings=(layout, x.sharding))
    return apply, (params, x)


@fault(
    FAULTS,
    "resharded_argument",
    line="call",
    says=("2 arguments", "each call"),
    remedy=("`init` returned them", "jax.jit(init, out_shardings=shardings)"),
    saves="copies",
    tried=False,
    is_called=True,
)
def parameters_that_init_makes_on_one_device(*, fixed: bool = False) -> Built:
    mesh = grid(data=2, model=4)
    layout = {"w1": NamedSharding(mesh, P(None, "model")), "w2": NamedSharding(mesh, P("model", None))}
    x = jax.device_put(np.ones((B, D), np.float32), NamedSharding(mesh, P("data", None)))
    apply = jax.jit(lambda params, x: jax.nn.gelu(x @ params["w1"]) @ params["w2"], in_shardings=(layout, x.sharding))

    def init():
        return {"w1": jnp.ones((D, F)), "w2": jnp.ones((F, D))}

    def train(x):
        params = jax.jit(init, out_shardings=layout)() if fixed else jax.jit(init)()
        return apply(params, x)

    return train, (x,)


# ---------------------------------------------------------------- loops and kernels


@fault(
    FAULTS,
    "loop_predicate",
    says=("`data`", "every turn"),
    remedy=("fori_loop",),
    tried=False,
)
def every_turn_asks_all_devices_whether_to_go_on(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    def root(x, a):
        return 0.5 * (x + a / x)

    @jax.jit
    def newton(a):
        if fixed:
            return jax.lax.fori_loop(0, 20, lambda _, x: root(x, a), a)
        return jax.lax.while_loop(lambda x: jnp.abs(x * x - a).max() > 1e-3, lambda x: root(x, a), a)  # @here

    return newton, (one(mesh, (4096,), "data"),)


@fault(
    FAULTS,
    "no_sharding_rule",
    says=("`data`",),
    remedy=("shard_map",),
    tried=False,
)
def a_callback_gathers_the_batch(*, fixed: bool = False) -> Built:
    mesh = grid(data=8)

    def on_host(x):
        return jax.pure_callback(np.sort, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # @here

    if fixed:
        on_host = jax.shard_map(on_host, mesh=mesh, in_specs=P("data", None), out_specs=P("data", None))

    @jax.jit
    def apply(x):
        return on_host(x * 2) + 1

    return apply, (one(mesh, (64, 128), "data", None),)
