"""Steps with one request or one split that a cause must blame: each can be built without it.

Not its job: the check that something then changes (`checks`).
"""

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


@program(
    PROGRAMS,
    "ZeRO-1",
    "a request that does nothing",
    "adam",
    expected=(Expected(kind="all-gather", axes="data", cause="reshard_requested|output", says=("{first}",)),),
    never=(Never(says=":{later})"),),
    counterfactuals=(
        Counterfactual(without="both", blame=r"(:|line ){first}\b", kinds="all-gather"),
        Counterfactual(without="later", blame=r"(:|line ){later}\b", must=False),
    ),
)
def zero1_asks_twice(without: str = "") -> Built:
    mesh = grid(data=8)
    params, tx = placed(mesh, {"w1": ((32, 64),), "w2": ((64, 32),)}), optax.adam(1e-3)
    split = lambda _, leaf: P("data") if leaf.ndim == 2 else P()  # noqa: E731
    state = described(mesh, jax.eval_shape(tx.init, params), split)

    @jax.jit
    def step(params, opt, x, y):
        grads = jax.grad(lambda p: ((jax.nn.relu(x @ p["w1"]) @ p["w2"] - y) ** 2).mean())(params)
        grads = lax.with_sharding_constraint(grads, NamedSharding(mesh, P("data")))
        updates, opt = tx.update(grads, opt, params)
        new = jax.tree.map(lambda p, u: p + u, params, updates)
        if without != "both":
            new = lax.with_sharding_constraint(new, NamedSharding(mesh, P()))  # @first
        new = jax.tree.map(lambda p: p * (1 - 1e-4), new)
        if without not in ("both", "later"):
            new = lax.with_sharding_constraint(new, NamedSharding(mesh, P()))  # @later
        return new, opt

    x = one(mesh, (32, 32), "data")
    return step, (params, state, x, x)


@program(
    PROGRAMS,
    "out_shardings",
    "evaluation",
    expected=(Expected(kind="all-gather", axes="model", cause="output", shape=(4, 16)),),
    counterfactuals=(
        Counterfactual(without="out_shardings", blame=r"result|out_shardings|return", kinds="all-gather"),
    ),
)
def predictions_returned_replicated_over_model(without: str = "") -> Built:
    mesh = grid(data=4, model=2)
    params = placed(mesh, {"up": ((32, 64), None, "model"), "out": ((64, 32), None, "model")})

    def predict(params, x):
        h = lax.with_sharding_constraint(jax.nn.relu(x @ params["up"]), NamedSharding(mesh, P("data", None)))
        return jax.nn.sigmoid(h @ params["out"])

    spec = P("data", "model") if without == "out_shardings" else P("data", None)
    jitted = jax.jit(predict, out_shardings=NamedSharding(mesh, spec))
    return jitted, (params, one(mesh, (16, 32), "data"))


@program(
    PROGRAMS,
    "vocabulary split",
    "TP",
    expected=(
        Expected(
            kind="all-gather", axes="tp", cause="reshard_requested", says=("{whole}", "p['head']"), shape=(32, 16)
        ),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("p['fc2']",)),
    ),
    counterfactuals=(Counterfactual(without="whole logits", blame=r"(:|line ){whole}\b", kinds="all-gather"),),
    revised="the logits are gathered: XLA multiplies by the weight it gathers, which is smaller",
)
def logits_gathered_before_the_loss(without: str = "") -> Built:
    mesh = grid(dp=2, tp=4)
    params = placed(mesh, {"fc1": ((32, 64), None, "tp"), "fc2": ((64, 32), "tp"), "head": ((32, 64), None, "tp")})

    @jax.jit
    def evaluate(p, x, labels):
        x = x + jax.nn.gelu(x @ p["fc1"]) @ p["fc2"]
        logits = x @ p["head"]
        if without != "whole logits":
            logits = lax.with_sharding_constraint(logits, NamedSharding(mesh, P("dp", None, None)))  # @whole
        return (jax.nn.logsumexp(logits, -1) - (jax.nn.one_hot(labels, 64) * logits).sum(-1)).mean()

    return evaluate, (params, one(mesh, (8, 16, 32), "dp"), one(mesh, (8, 16), "dp", dtype=jnp.int32))


@program(
    PROGRAMS,
    "Ulysses",
    "sequence parallel",
    "constraints",
    expected=(Expected(kind="all-gather", axes="sp", cause="reshard_requested", says=("{heads}", "`x`")),),
    counterfactuals=(Counterfactual(without="heads", blame=r"(:|line ){heads}\b"),),
    revised="an all-to-all of q, k and v: XLA makes the projections as they are asked for, and gathers x for them",
)
def heads_exchanged_for_the_sequence(without: str = "") -> Built:
    mesh = grid(dp=2, sp=4)
    p = placed(mesh, {"q": ((32, 4, 8),), "k": ((32, 4, 8),), "v": ((32, 4, 8),)})

    def attend(p, x):
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, p[n]) for n in "qkv")
        if without != "heads":
            by_heads = NamedSharding(mesh, P("dp", None, "sp"))
            q, k, v = (lax.with_sharding_constraint(a, by_heads) for a in (q, k, v))  # @heads
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)

    return jax.jit(attend), (p, one(mesh, (4, 32, 32), "dp", "sp"))


@program(
    PROGRAMS,
    "FSDP",
    "one weight split",
    expected=(Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("w['big']",), shape=(8, 128)),),
    counterfactuals=(Counterfactual(without="fsdp", blame=r"w\['big'\]", kinds="all-gather"),),
)
def one_split_weight_among_others(without: str = "") -> Built:
    mesh = grid(fsdp=8)
    w = {"small": one(mesh, (32, 64)), "big": one(mesh, (64, 128), *(() if without == "fsdp" else ("fsdp",)))}

    @jax.jit
    def forward(w, x):
        return jnp.tanh(jnp.tanh(x @ w["small"]) @ w["big"]).sum(-1)

    return forward, (w, one(mesh, (512, 32), "fsdp"))


@program(
    PROGRAMS,
    "batch split",
    "gradients",
    expected=(Expected(kind="all-reduce", axes="data", cause="contraction", says=("gradient",), shape=(32, 16)),),
    never=(Never(kind="all-reduce", axes="model", says="gradient of `x @"),),
    counterfactuals=(Counterfactual(without="data", blame=r"over `data`", kinds="all-reduce"),),
)
def gradients_summed_over_the_batch(without: str = "") -> Built:
    mesh = grid(data=2, model=4)
    w = placed(mesh, {"a": ((32, 64), None, "model"), "b": ((64, 8), "model")})

    @jax.jit
    def step(w, x, y):
        def loss(w):
            h = jax.nn.relu(x @ w["a"])
            return ((h @ w["b"] - y) ** 2).mean()

        return jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w))

    spec = () if without == "data" else ("data",)
    return step, (w, one(mesh, (32, 32), *spec), one(mesh, (32, 8), *spec))


@program(
    PROGRAMS,
    "embedding",
    "vocabulary split",
    expected=(Expected(kind="all-reduce", axes="tp", cause="indexing", says=("table",), shape=(8, 16, 32)),),
    counterfactuals=(Counterfactual(without="vocabulary", blame=r"table", kinds="all-reduce"),),
)
def lookup_in_a_split_table(without: str = "") -> Built:
    mesh = grid(tp=8)
    table = one(mesh, (64, 32), *((None, "tp") if without == "vocabulary" else ("tp", None)))

    @jax.jit
    def embed(table, ids):
        return jnp.sqrt(32.0) * table[ids]

    return embed, (table, one(mesh, (8, 16), dtype=jnp.int32))


@program(
    PROGRAMS,
    "layer norm",
    "features split",
    expected=(Expected(kind="all-reduce", axes="tp", cause="reduction", shape=(4, 16)),),
    counterfactuals=(Counterfactual(without="features", blame=r"over `tp`", kinds="all-reduce"),),
)
def norm_over_split_features(without: str = "") -> Built:
    mesh = grid([1, 3, 5, 7, 0, 2, 4, 6], dp=2, tp=4)

    @jax.jit
    def norm(x, scale):
        mu = x.mean(-1, keepdims=True)
        return (x - mu) / jnp.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + 1e-6) * scale

    spec = ("dp", None, None if without == "features" else "tp")
    return norm, (one(mesh, (8, 16, 32), *spec), one(mesh, (32,)))


@program(
    PROGRAMS,
    "token shift",
    "RWKV",
    "sequence split",
    expected=(Expected(kind="collective-permute", axes="sp", cause="halo"),),
    never=(Never(kind="collective-permute", cause="reshard_needed"),),
    counterfactuals=(Counterfactual(without="sequence", blame=r"`sp`", kinds="collective-permute"),),
)
def token_shift_over_a_split_sequence(without: str = "") -> Built:
    mesh = grid(dp=2, sp=4)
    params = placed(mesh, {"mix": ((32,),), "k": ((32, 32),), "v": ((32, 32),)})

    @jax.jit
    def channel_mix(p, x):
        before = jnp.roll(x, 1, axis=1)
        h = x * p["mix"] + before * (1 - p["mix"])
        return x + jnp.square(jax.nn.relu(h @ p["k"])) @ p["v"]

    spec = ("dp", None if without == "sequence" else "sp")
    return channel_mix, (params, one(mesh, (4, 32, 32), *spec))


@program(
    PROGRAMS,
    "optax",
    "clip_by_global_norm",
    "FSDP",
    expected=(Expected(kind="all-reduce", axes="fsdp", cause="reduction", shape=()),),
    counterfactuals=(Counterfactual(without="clip", blame=r"reduc|norm", kinds="all-reduce", must=True),),
)
def clipping_of_split_gradients(without: str = "") -> Built:
    mesh = grid(fsdp=8)
    params = placed(mesh, {"a": ((64, 32), "fsdp"), "b": ((128, 16), "fsdp")})
    tx = optax.sgd(0.1) if without == "clip" else optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))

    @jax.jit
    def apply(params, opt, grads):
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt

    return apply, (params, state_of(mesh, tx, params), params)
