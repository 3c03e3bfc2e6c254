"""Programs whose collectives XLA's passes make, combine, cut, move and remove, and the lives of these by hand.

The lives were written from XLA's own dump of each program (jaxlib 0.10.2, 8 CPU devices), before our code ran on it:
what made a collective, then every pass that changed it. "+ 3" is one made of three.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh

mesh = auto_mesh()


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def one_product(x: Any, w: Any) -> Any:
    return x @ w  # contracted over model


def two_outputs(x: Any, w: Any, v: Any) -> Any:
    return jnp.sum(x @ w), jnp.sum(x @ v)


def gathered(x: Any) -> Any:
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, None))) * 2.0


def turned(x: Any) -> Any:
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, "model"))) + 1.0


@partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P("model"))
def ring(x: Any) -> Any:
    total = x
    for _ in range(3):
        x = lax.ppermute(x, "model", [(i, (i + 1) % 4) for i in range(4)])
        total = total + x
    return total


@partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P(), check_vma=False)
def twice(x: Any) -> Any:
    return lax.psum(x, "model") + lax.psum(x, "model")


@partial(jax.shard_map, mesh=mesh, in_specs=P(None, "model"), out_specs=P("model"), check_vma=False)
def scattered(x: Any) -> Any:
    return lax.psum_scatter(x, "model", scatter_dimension=0, tiled=True)


def scanned(x: Any, ws: Any) -> Any:
    def body(h, w):
        return jnp.tanh(h @ w), ()

    return lax.scan(body, x, ws)[0]


@partial(jax.shard_map, mesh=mesh, in_specs=(P("model"), P()), out_specs=P(), check_vma=False)
def hoisted(x: Any, n: Any) -> Any:
    def body(i, acc):
        return acc + lax.psum(x, "model")

    return lax.fori_loop(0, 5, body, jnp.zeros((4,), jnp.float32))


def grads(params: Any, x: Any) -> Any:
    def loss(params):
        h = x
        for w in params:
            h = jnp.tanh(h @ w)
        return jnp.sum(h * h)

    return jax.grad(loss)(params)


def attention(q: Any, k: Any, v: Any) -> Any:
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


def layers4(x: Any, ws: Any) -> Any:
    for a, b in ws:
        x = jax.nn.relu(x @ a) @ b
    return x


@partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P("model"), check_vma=False)
def swapped(x: Any) -> Any:
    return lax.all_to_all(x, "model", 0, 0, tiled=True)


@partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P("model"), check_vma=False)
def rolled(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, y: lax.ppermute(jnp.sin(y), "model", [(j, (j + 1) % 4) for j in range(4)]), x)


@partial(jax.shard_map, mesh=mesh, in_specs=(P("model"), P("model")), out_specs=P(), check_vma=False)
def pair(x: Any, y: Any) -> Any:
    return lax.psum(jnp.sin(x), "model"), lax.psum(jnp.cos(y), "model"), lax.pmax(x, "model")


@partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P(), check_vma=False)
def zeroed(x: Any) -> Any:
    return lax.psum(x, "model") * 0 + 3


@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("model")), out_specs=P(), check_vma=False)
def chosen(n: Any, x: Any) -> Any:
    return lax.cond(n > 0, lambda x: lax.psum(x, "model"), lambda x: lax.pmax(x, "model"), x)


def rematted(params: Any, x: Any) -> Any:
    @jax.checkpoint
    def layer(h, w):
        return jnp.tanh(h @ w[0]) @ w[1], ()

    def loss(params):
        return jnp.sum(lax.scan(layer, x, params)[0] ** 2)

    return jax.grad(loss)(params)


def fsdp(params: Any, x: Any) -> Any:
    def loss(params):
        h = x
        for w in params:
            h = jnp.tanh(h @ w)
        return jnp.mean(h)

    return jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "one_product": (one_product, array((8, 16), "data", "model"), array((16, 8), "model", None)),
    "two_outputs": (two_outputs, array((8, 16), "data", "model"), array((16, 8), "model"), array((16, 4), "model")),
    "gathered": (gathered, array((16, 8), "data", "model")),
    "turned": (turned, array((16, 16), "model", None)),
    "ring": (ring, array((16, 4), "model")),
    "twice": (twice, array((16,), "model")),
    "scattered": (scattered, array((16, 16), None, "model")),
    "scanned": (scanned, array((8, 16), "data", "model"), array((5, 16, 16), None, "model", None)),
    "hoisted": (hoisted, array((16,), "model"), array((), dtype=jnp.int32)),
    "grads": (
        grads,
        [array((16, 16), None, "model"), array((16, 16), "model", None), array((16, 16), None, "model")],
        array((8, 16), "data"),
    ),
    "attention": (
        attention,
        array((4, 8, 4, 8), "data", "model"),
        array((4, 8, 4, 8), "data", "model"),
        array((4, 8, 4, 8), "data", "model"),
    ),
    "layers4": (layers4, array((8, 16), "data"), [(array((16, 32), None, "model"), array((32, 16), "model"))] * 4),
    "swapped": (swapped, array((16, 4), "model")),
    "rolled": (rolled, array((16, 4), "model")),
    "pair": (pair, array((16,), "model"), array((16,), "model")),
    "zeroed": (zeroed, array((16,), "model", dtype=jnp.int32)),
    "chosen": (chosen, array((), dtype=jnp.int32), array((16,), "model")),
    "rematted": (
        rematted,
        (array((3, 16, 32), None, None, "model"), array((3, 32, 16), None, "model")),
        array((8, 16), "data"),
    ),
    "fsdp": (fsdp, [array((16, 16), "data", "model")] * 2, array((8, 16), "data")),
}

_MADE = "spmd-partitioning"
_COMBINED = "cpu-all-reduce-combiner"
_ITSELF = "before_optimizations"
_MOTION = "while-loop-invariant-code-motion"
_CUT = "all_to_all_decomposer"

LIVES: dict[str, list[str]] = {
    "one_product": [f"all-reduce: made {_MADE}"],
    "two_outputs": [f"all-reduce: made {_MADE}, combined {_COMBINED} + 2"] * 2,
    "gathered": [f"all-gather: made {_MADE}"] * 2,
    "turned": [f"all-to-all: made {_MADE}, changed {_CUT}"],
    "ring": [f"collective-permute: made {_ITSELF}"] * 3,
    "twice": [f"all-reduce: made {_ITSELF}", f"all-reduce: made {_ITSELF}, removed cse"],
    "scattered": [f"reduce-scatter: made {_ITSELF}"],
    "scanned": [f"all-reduce: made {_MADE}"],
    "hoisted": [f"all-reduce: made {_ITSELF}, moved {_MOTION}"],
    "grads": [f"all-reduce: made {_MADE}"] * 2 + [f"all-reduce: made {_MADE}, combined {_COMBINED} + 3"],
    "attention": [f"all-gather: made {_MADE}"] * 2,
    "layers4": [f"all-reduce: made {_MADE}"] * 4,
    "swapped": [f"all-to-all: made {_ITSELF}, changed {_CUT}"],
    "rolled": [f"collective-permute: made {_ITSELF}"],
    "pair": [f"all-reduce: made {_ITSELF}", f"all-reduce: made {_ITSELF}, combined {_COMBINED} + 2"],
    "zeroed": [f"all-reduce: made {_ITSELF}, removed shardy-xla"],
    "chosen": [f"all-reduce: made {_ITSELF}"] * 2,
    "rematted": [f"all-reduce: made {_MADE}"] * 2 + [f"all-reduce: made {_MADE}, combined {_COMBINED} + 2"],
    "fsdp": [
        *[f"all-gather: made {_MADE}"] * 4,
        f"all-reduce: made {_MADE}",
        f"collective-permute: made {_MADE}",
        f"all-reduce: made {_MADE}, combined {_COMBINED} + 2",
    ],
}
