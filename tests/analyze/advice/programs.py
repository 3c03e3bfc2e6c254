"""Programs whose best change is known, programs with a cost that no sharding removes, and programs without either.

Each is a small builder; public repositories have what it is modelled on. Not its job: how good the advice on them is
(`scripts/score_advice`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import optax
from corpus.arrays import grid, one, placed, state_of
from findings.clean import CLEAN as FINDINGS_CLEAN
from findings.faults import FAULTS, Built, donating_step, logits_loss, pinned, widen

Kind = Literal["edit", "fact", "clean", "public"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of the bench.

    Attributes:
      name: unique.
      build: makes the function and its arguments.
      kind: whether an edit of one place helps, only a fact can be told, or nothing is to be said; "public" where the
        search of all changes tells that, for a program of a public repository.
      fact: the kind of the fact, for a program that has one.
    """

    name: str
    build: Callable[[], Built]
    kind: Kind
    fact: str = ""


PROGRAMS: list[Program] = []


def bench(kind: Kind, fact: str = "") -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Append the decorated builder to `PROGRAMS`; the program is named after it."""

    def add(build: Callable[[], Built]) -> Callable[[], Built]:
        PROGRAMS.append(Program(name=build.__name__, build=build, kind=kind, fact=fact))
        return build

    return add


def squared(fn: Any) -> Any:
    """The mean square of what a function yields, as a loss."""
    return lambda *args: jnp.mean(fn(*args) ** 2)


def sgd(loss: Any, *, donate: bool = True) -> Any:
    """A step of gradient descent of its first argument."""

    def step(params, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    return jax.jit(step, donate_argnums=0 if donate else ())


# ---------------------------------------------------------------- one place of the source is to be changed


@bench("edit")
def scan_loses_batch() -> Built:
    """FSDP over the axis of the batch: Shardy splits what the scan carries as the weights are split."""
    mesh = grid(data=8)
    D, F = 64, 256
    shapes = {
        "q": ((4, D, 4, 16), None, "data"),
        "o": ((4, 4, 16, D), None, None, None, "data"),
        "a": ((4, D, F), None, None, "data"),
        "b": ((4, F, D), None, "data", None),
    }
    weights, places = placed(mesh, shapes), one(mesh, (1, 16, D), None, None, "data")

    def block(x, w):
        q = jnp.einsum("btd,dhk->bthk", x, w["q"])
        x = x + jnp.einsum("bthk,hkd->btd", jnp.tanh(q), w["o"])
        return x + jax.nn.gelu(x @ w["a"]) @ w["b"], None

    def loss(params, x):
        weights, places = params
        y = x + places
        return jnp.mean(jax.lax.scan(jax.checkpoint(block), y, weights)[0].mean(1) ** 2)

    return jax.jit(jax.grad(loss)), ((weights, places), one(mesh, (16, 16, D), "data"))


@bench("edit")
def constraint_with_an_axis_too_many() -> Built:
    """As EasyLM writes its layers: what goes into the MLP is asked to be split over the axis of the MLP, too."""
    mesh = grid(dp=2, fsdp=2, mp=2)
    D, H, K, F, V, B, T = 128, 8, 16, 344, 512, 16, 64
    square, up, down = ((D, D), "fsdp", "mp"), ((D, F), "fsdp", "mp"), ((F, D), "mp", "fsdp")
    layer = {"n1": ((D,),), "n2": ((D,),), "q": square, "k": square, "v": square, "o": ((D, D), "mp", "fsdp")}
    layer |= {"w1": up, "w3": up, "w2": down}
    shapes = {"emb": ((V, D), "mp", "fsdp"), "layers": [layer] * 2, "nf": ((D,),), "head": ((D, V), "fsdp", "mp")}

    def rms(x, w):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w

    def block(p, x):
        h = rms(x, p["n1"])
        q, k, v = ((h @ p[n]).reshape(B, T, H, K) for n in "qkv")
        s = jnp.einsum("bqhk,bthk->bhqt", q, k) / 4
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((T, T), bool)), s, -1e9))
        x = x + jnp.einsum("bhqt,bthk->bqhk", a, v).reshape(B, T, D) @ p["o"]
        h = rms(x, p["n2"])
        h = pinned(mesh, h, ("dp", "fsdp"), None, "mp")
        return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]

    def loss(params, tokens, targets):
        x = pinned(mesh, params["emb"][tokens], ("dp", "fsdp"), None, None)
        for p in params["layers"]:
            x = block(p, x)
        return logits_loss(rms(x, params["nf"]) @ params["head"], targets)

    tokens = one(mesh, (B, T), ("dp", "fsdp"), None, dtype=jnp.int32)
    return sgd(loss), (placed(mesh, shapes), tokens, tokens)


@bench("edit")
def experts_that_are_rematerialized() -> Built:
    """Tokens are split over both axes, experts over one: XLA gathers tokens in full to bring them to the experts."""
    mesh = grid(data=2, expert=4)
    E, C, D, F = 8, 32, 64, 128
    params = placed(mesh, {"up": ((E, D, F), "expert"), "down": ((E, F, D), "expert"), "gate": ((D, E),)})

    def loss(p, x):
        chosen = jax.nn.softmax(x @ p["gate"], axis=-1)
        taken = jax.nn.one_hot(jnp.argmax(chosen, -1), E)
        place = (jnp.cumsum(taken, 1) - 1) * taken
        there = taken[..., None] * jax.nn.one_hot(place.astype(jnp.int32), C) * chosen[..., None]
        sent = jnp.einsum("gsec,gsd->egcd", there, x)
        h = jax.nn.relu(jnp.einsum("egcd,edf->egcf", sent, p["up"]))
        back = jnp.einsum("egcf,efd->egcd", h, p["down"])
        return (jnp.einsum("gsec,egcd->gsd", there, back) ** 2).mean()

    return sgd(loss), (params, one(mesh, (8, 64, D), ("data", "expert"), None, None))


@bench("edit")
def latent_attention_weights() -> Built:
    """tpu-inference 1859: `w_uk` is split over the latent dimension, its queries over heads."""
    mesh = grid(data=2, model=4)

    def attend(q, w_uk, w_uv, kv):
        ql = jnp.einsum("tnh,nhl->tnl", q, w_uk)
        p = jax.nn.softmax(jnp.einsum("tnl,sl->tns", ql, kv), axis=-1)
        o = jnp.einsum("tns,sl->tnl", p, kv)
        return jnp.einsum("tnl,nlv->tnv", o, w_uv)

    given = (((128, 16, 64), "data", "model", None), ((16, 64, 128), None, None, "model"))
    given += (((16, 128, 64), None, "model", None), ((256, 128),))
    return jax.jit(attend), tuple(one(mesh, shape, *spec, dtype=jnp.bfloat16) for shape, *spec in given)


@bench("edit")
def gradients_returned_replicated() -> Built:
    """FSDP weights whose gradients `out_shardings` asks for in full."""
    mesh = grid(data=8)
    params = placed(mesh, {"w1": ((256, 1024), "data"), "w2": ((1024, 256), "data")})

    def loss(p, x):
        h = pinned(mesh, jax.nn.relu(x @ p["w1"]), "data", None)
        return ((h @ p["w2"]) ** 2).mean()

    whole = jax.tree.map(lambda own: jax.NamedSharding(mesh, jax.P()), params)
    return jax.jit(jax.grad(loss), out_shardings=whole), (params, one(mesh, (2048, 256), "data", None))


@bench("edit")
def cache_held_by_all() -> Built:
    """A cache that arrives on every device in full; what is written to it, and what is read, is split over heads."""
    mesh = grid(data=2, model=4)
    B, T, H, K = 8, 128, 8, 16
    cache = {"k": one(mesh, (B, T, H, K)), "v": one(mesh, (B, T, H, K))}

    def decode(cache, q, k, v, position):
        cache = {
            "k": jax.lax.dynamic_update_slice(cache["k"], k, (0, position, 0, 0)),
            "v": jax.lax.dynamic_update_slice(cache["v"], v, (0, position, 0, 0)),
        }
        s = jax.nn.softmax(jnp.einsum("bqhk,bthk->bhqt", q, cache["k"]))
        return cache, jnp.einsum("bhqt,bthk->bqhk", s, cache["v"])

    new = one(mesh, (B, 1, H, K), "data", None, "model", None)
    return jax.jit(decode, donate_argnums=0), (cache, new, new, new, one(mesh, (), dtype=jnp.int32))


@bench("edit")
def batch_lost_at_a_reshape() -> Built:
    """Batch and sequence become one dimension, and the constraint after it names the wrong axis of the mesh."""
    mesh = grid(data=4, model=2)
    params = placed(mesh, {"w1": ((128, 512), None, "model"), "w2": ((512, 128), "model", None)})

    def loss(p, x):
        flat = x.reshape(-1, 128)
        h = pinned(mesh, jax.nn.gelu(flat @ p["w1"]), None, "model")
        return ((h @ p["w2"]) ** 2).mean()

    return sgd(loss), (params, one(mesh, (32, 64, 128), "data", None, None))


@bench("edit")
def result_gathered_for_the_caller() -> Built:
    """Logits that `out_shardings` asks for in full."""
    mesh = grid(data=2, model=4)
    whole = jax.NamedSharding(mesh, jax.P())

    def logits(w1, w2, x):
        return jax.nn.gelu(x @ w1) @ w2

    given = one(mesh, (128, 256), None, None), one(mesh, (256, 4096), None, "model"), one(mesh, (512, 128), "data")
    return jax.jit(logits, out_shardings=whole), given


@bench("edit")
def optimizer_state_held_by_all() -> Built:
    """Parameters are split, the moments of the optimizer are not."""
    return next(own for own in FAULTS if own.name == "the_optimizers_state_is_replicated").build()


def _decoder(axes: dict[str, int], *, is_scanned: bool, is_recomputed: bool) -> Built:
    """A step of a decoder of four layers, FSDP over the first axis and tensor-parallel over the second if any."""
    mesh = grid(None, explicit=False, **axes)
    fsdp, tp = (*axes, None)[:2]
    D, H, F, V, B, T = 64, 8, 256, 512, 16, 64
    layer = {
        "ln1": ((D,),),
        "ln2": ((D,),),
        "wqkv": ((D, 3, H, D // H), fsdp, None, tp),
        "wo": ((H, D // H, D), tp, None, fsdp),
        "w1": ((D, F), fsdp, tp),
        "w2": ((F, D), tp, fsdp),
    }
    blocks: Any = [layer] * 4
    if is_scanned:
        blocks = {name: ((4, *shape), None, *spec) for name, (shape, *spec) in layer.items()}
    params = placed(mesh, {"emb": ((V, D), tp, fsdp), "blocks": blocks, "out": ((D, V), fsdp, tp)})

    def rms(x, scale):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale

    def block(x, p):
        h = rms(x, p["ln1"])
        qkv = jnp.einsum("btd,dchk->cbthk", h, p["wqkv"])
        q, k, v = qkv[0], qkv[1], qkv[2]
        s = jax.nn.softmax(jnp.einsum("bqhk,bthk->bhqt", q, k) / 8)
        a = jnp.einsum("bhqt,bthk->bqhk", s, v)
        x = x + jnp.einsum("bqhk,hkd->bqd", a, p["wo"])
        h = jax.nn.gelu(rms(x, p["ln2"]) @ p["w1"])
        return x + h @ p["w2"]

    own = jax.checkpoint(block) if is_recomputed else block

    def loss(params, batch):
        x = params["emb"][batch["tok"]]
        if is_scanned:
            x, _ = jax.lax.scan(lambda x, p: (own(x, p), None), x, params["blocks"])
        else:
            for p in params["blocks"]:
                x = own(x, p)
        return logits_loss(x @ params["out"], batch["tgt"])

    tx, ids = optax.sgd(1e-3), one(mesh, (B, T), fsdp, dtype=jnp.int32)
    return donating_step(loss, tx), (params, state_of(mesh, tx, params), {"tok": ids, "tgt": ids})


@bench("edit")
def step_2d_unrolled() -> Built:
    """The bound alone puts its winner far back; where the axis is lost first finds it."""
    return _decoder({"fsdp": 2, "tp": 4}, is_scanned=False, is_recomputed=False)


@bench("edit")
def step_2d_unrolled_recomputed() -> Built:
    return _decoder({"fsdp": 2, "tp": 4}, is_scanned=False, is_recomputed=True)


@bench("edit")
def step_2d_scanned() -> Built:
    return _decoder({"fsdp": 2, "tp": 4}, is_scanned=True, is_recomputed=False)


@bench("edit")
def step_fsdp_scanned() -> Built:
    return _decoder({"fsdp": 8}, is_scanned=True, is_recomputed=False)


@bench("edit")
def step_fsdp_scanned_recomputed() -> Built:
    return _decoder({"fsdp": 8}, is_scanned=True, is_recomputed=True)


@bench("edit")
def fsdp_tp_optax() -> Built:
    """The step of docs/advice.md: the embedding lookup takes the axis of the batch for the features."""
    return next(own for own in FAULTS if own.name == "fsdp_tp_step").build()


@bench("edit")
def lookup_in_columns() -> Built:
    """FSDP over one axis: the lookup in a table split by columns loses the batch."""
    return next(own for own in FAULTS if own.name == "lookup_in_a_table_split_by_columns").build()


@bench("edit")
def optax_scanned() -> Built:
    """As `fsdp_tp_optax`, with layers in a scan."""
    return next(own for own in FAULTS if own.name == "a_scanned_step").build()


@bench("edit")
def batch_in_two_axes() -> Built:
    """One of the two axes of the batch is lost at the lookup."""
    return next(own for own in FAULTS if own.name == "one_of_two_axes_of_the_batch_is_lost").build()


@bench("edit")
def constraint_forgets_the_batch() -> Built:
    """A constraint names the axis of the features alone."""
    return next(own for own in FAULTS if own.name == "a_constraint_that_forgets_the_batch").build()


# ---------------------------------------------------------------- a cost that no sharding removes


@bench("fact", "tiny_collectives")
def norms_summed_one_by_one() -> Built:
    """48 sums of one number, each of which waits for the one before: latency, no bytes."""
    mesh = grid(data=8)
    weights = [one(mesh, (256, 64), "data", None) for _ in range(48)]

    def total(weights):
        norm = jnp.float32(1)
        for own in weights:
            norm = jnp.linalg.norm(own * norm)
        return norm

    return jax.jit(total), (weights,)


@bench("fact", "written_out_layers")
def equal_layers_written_out() -> Built:
    """24 equal layers in a Python loop: each is compiled by itself."""
    mesh = grid(data=2, model=4)
    layer = {"ln2": ((64,),), "w1": ((64, 256), None, "model"), "w2": ((256, 64), "model", None)}
    params = placed(mesh, {"layers": [layer] * 24})

    def apply(params, x):
        for p in params["layers"]:
            x = pinned(mesh, widen(x, p), "data", None, None)
        return x

    return jax.jit(apply), (params, one(mesh, (16, 64, 64), "data", None, None))


# ---------------------------------------------------------------- nothing to change


@bench("clean")
def megatron_forward() -> Built:
    mesh = grid(dp=2, tp=4)
    params = placed(mesh, {"up": ((128, 512), None, "tp"), "down": ((512, 128), "tp", None)})
    return jax.jit(lambda p, x: jax.nn.gelu(x @ p["up"]) @ p["down"]), (params, one(mesh, (64, 128), "dp"))


@bench("clean")
def plain_product() -> Built:
    mesh = grid(dp=2, tp=4)
    return jax.jit(lambda a, b: a @ b), (one(mesh, (256, 512), "dp", None), one(mesh, (512, 256), None, "tp"))


@bench("clean")
def tensor_parallel_layers() -> Built:
    mesh = grid(dp=2, tp=4)
    params = placed(mesh, {"layers": [{"up": ((64, 256), None, "tp"), "down": ((256, 64), "tp", None)}] * 3})

    def apply(p, x):
        for q in p["layers"]:
            x = x + jnp.tanh(jnp.einsum("btd,df->btf", x, q["up"])) @ q["down"]
            x = pinned(mesh, x, "dp", None, None)
        return x

    return sgd(squared(apply)), (params, one(mesh, (16, 16, 64), "dp"))


@bench("clean")
def fsdp_with_constraints() -> Built:
    mesh = grid(dp=2, tp=4)
    both = ("dp", "tp")
    params = placed(mesh, {"up": ((256, 1024), both), "down": ((1024, 256), both)})

    def apply(p, x):
        h = pinned(mesh, jax.nn.gelu(x @ p["up"]), both, None)
        return pinned(mesh, h @ p["down"], both, None)

    return sgd(squared(apply)), (params, one(mesh, (8192, 256), both))


for _build in FINDINGS_CLEAN:
    PROGRAMS.append(Program(name=_build.__name__, build=_build, kind="clean"))
