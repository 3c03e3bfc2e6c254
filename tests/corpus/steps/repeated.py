"""Steps whose parts have one text, one line or one shape: what only dataflow tells apart.

Not its job: layers of one scan (`scanned`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []

D, L = 32, 4


def encode(params, x):
    return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, params["enc"])[0]


def decode(params, x):
    def block(carry, layer):
        return jnp.sin(carry @ layer), None

    return jax.lax.scan(block, x, params["dec"])[0]


@program(
    PROGRAMS,
    "FSDP",
    "two scans",
    "one shape",
    # Both are gathered, turn by turn; the second scan is not told at the first one's line, nor by its weights.
    expected=(
        Expected(kind="all-gather", axes="data", cause="reshard_needed|contraction", says=("params['enc']",)),
        Expected(kind="all-gather", axes="data", cause="reshard_needed|contraction", says=("params['dec']",)),
    ),
    never=(Never(kind="all-gather", says="jax.lax.scan"), Never(says="the gradient of `jax.lax.scan")),
)
def two_scans_over_weights_of_one_shape() -> Built:
    mesh = grid(data=8)
    params = placed(mesh, {"enc": ((L, D, D), None, "data"), "dec": ((L, D, D), None, "data")})

    def loss(params, x):
        return (decode(params, encode(params, x)) ** 2).mean()

    @jax.jit
    def step(params, x):
        value, g = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), value

    return step, (params, one(mesh, (64, D), "data"))


@program(
    PROGRAMS,
    "FSDP",
    "scan(unroll=2)",
    "adam",
    expected=(
        Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("params['gate'][i]` as",)),
        # `w` is not split over `model`; its pieces in the loop are.
        Expected(kind="all-gather", axes="fsdp", cause="reshard_needed", says=("params['w'][i]` (resharded) as",)),
    ),
    never=(Never(says="gradient of `jax.lax.scan"),),
)
def unrolled_scan_of_gated_layers() -> Built:
    mesh = grid(fsdp=4, model=2)
    shapes = {"w": ((L, D, D), None, "fsdp"), "gate": ((L, D, D), None, "fsdp", "model"), "out": ((D, 8), "fsdp")}
    params = placed(mesh, shapes)

    def loss(params, x, y):
        def layer(h, p):
            return h + jax.nn.sigmoid(h @ p["gate"]) * (h @ p["w"]), None

        h, _ = jax.lax.scan(layer, x, {"w": params["w"], "gate": params["gate"]}, unroll=2)
        return optax.softmax_cross_entropy_with_integer_labels(h @ params["out"], y).mean()

    @jax.jit
    def step(params, x, y):
        return jax.value_and_grad(loss)(params, x, y)

    return step, (params, one(mesh, (32, D), "fsdp"), one(mesh, (32,), "fsdp", dtype=jnp.int32))


@program(
    PROGRAMS,
    "TP",
    "residual",
    "tied weights",
    "loop in Python",
    # The gradient of the stream is a sum of what every layer gives: it is not that of one layer's text.
    never=(
        Never(says="of the gradient of `x = x + "),
        Never(says='dimension 0 of the gradient of `x @ params["up"]`'),
    ),
)
def tied_layers_on_a_residual_stream() -> Built:
    mesh = grid(data=2, model=4)
    shapes = {"emb": ((64, D), "model"), "up": ((D, 4 * D), None, "model"), "down": ((4 * D, D), "model")}
    params = placed(mesh, shapes)

    def loss(params, ids):
        x = params["emb"][ids]
        for _ in range(3):
            x = x + jax.nn.gelu(x @ params["up"]) @ params["down"]
        logits = x @ params["emb"].T
        return optax.softmax_cross_entropy_with_integer_labels(logits, ids).mean()

    @jax.jit
    def step(params, ids):
        value, g = jax.value_and_grad(loss)(params, ids)
        scale = 1 / jnp.maximum(1.0, optax.global_norm(g))
        return jax.tree.map(lambda p, g: p - 0.1 * scale * g, params, g), value

    return step, (params, one(mesh, (8, 16), "data", dtype=jnp.int32))


@program(
    PROGRAMS,
    "three axes",
    "axes of one size",
    "constraints",
    # `fsdp` splits the queries, which are dimension 1 of "bqhk" and dimension 2 of "bhqt".
    expected=(
        Expected(
            kind="all-gather",
            axes="fsdp",
            cause="reshard_needed",
            says=('`jnp.einsum("bhqt,bthk->bqhk"', "splits dimension 1 of the result"),
        ),
        Expected(
            kind="all-gather",
            axes="fsdp",
            cause="reshard_needed",
            says=('`jnp.einsum("bqhk,bthk->bhqt"', "splits dimension 2 of the result"),
        ),
    ),
)
def attention_over_axes_of_one_size() -> Built:
    mesh = grid(dp=2, fsdp=2, tp=2)
    params = placed(mesh, {"qkv": ((D, 3, 4, 8), "fsdp", None, "tp"), "out": ((4, 8, D), "tp", None, "fsdp")})

    def split(x, *spec):
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))

    def loss(params, x):
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", x, params["qkv"]), 2, 0)
        q = split(q, "dp", "fsdp", "tp")
        s = jnp.einsum("bqhk,bthk->bhqt", q, split(k, ("dp", "fsdp"), None, "tp"))
        o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(s), v)
        return (split(jnp.einsum("bqhk,hkd->bqd", o, params["out"]), ("dp", "fsdp")) ** 2).mean()

    return jax.jit(jax.value_and_grad(loss)), (params, one(mesh, (8, 16, D), ("dp", "fsdp")))
