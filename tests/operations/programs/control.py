"""Loops, branches, maps and rules of differentiation around operations on sharded arrays.

Not its job: the operations inside (`reading`, `products`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array, named

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_X = array((16, 32), "data", "model")
_W = array((32, 32), "model", None)
_BOTH = ("contraction", "reshard_needed")


@operation(
    OPERATIONS,
    "each turn reads one row; rows are sharded",
    array((32,), "data"),
    array((16, 32), "model", None),
    causes=("indexing",),
    backward=("reshard_needed",),
)
def scan_over_sharded_rows(c, rows):
    return jax.lax.scan(lambda c, row: (jnp.tanh(c + row), None), c, rows)[0]


@operation(
    OPERATIONS,
    "the carry is sharded over data, what it meets over model",
    array((32,), "data"),
    array((16, 32), None, "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def scan_whose_carry_meets_other_columns(c, rows):
    return jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c), c, rows)


@operation(
    OPERATIONS,
    "weights of all layers are stacked along a sharded dimension",
    array((16, 32), "data", None),
    array((8, 32, 32), "model", None, None),
    causes=("indexing",),
    backward=_BOTH,
)
def scan_over_sharded_layers(x, ws):
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, ws)[0]


@operation(
    OPERATIONS,
    "each turn sums over the sharded dimension, and its result must be sharded again",
    _X,
    _W,
    causes=_BOTH,
    never=_NOWHERE,
)
def loop_of_products(x, w):
    return jax.lax.fori_loop(0, 3, lambda _, x: jnp.tanh(x @ w), x)


@operation(
    OPERATIONS,
    "all devices wait for the sum that decides",
    _X,
    causes=("loop_predicate",),
    never=_NOWHERE,
    has_gradient=False,
)
def loop_until_small(x):
    return jax.lax.while_loop(lambda x: jnp.sum(x * x) > 1.0, lambda x: x * 0.5, x)


@operation(
    OPERATIONS,
    "the same with the largest change, kept in the carry: reduced in the body, read by the predicate",
    _X,
    causes=("loop_predicate", "reduction"),
    never=_NOWHERE,
    has_gradient=False,
)
def loop_until_converged(x):
    def step(state):
        x, _ = state
        new = jnp.cos(x)
        return new, jnp.max(jnp.abs(new - x))

    return jax.lax.while_loop(lambda state: state[1] > 1e-3, step, (x, jnp.inf))[0]


@operation(
    OPERATIONS,
    "a sum over all devices decides",
    _X,
    causes=("reduction",),
    backward=("reduction",),
    never=_NOWHERE,
)
def condition_on_a_sum(x):
    return jax.lax.cond(jnp.sum(x) > 0, lambda x: x * 2.0, jnp.sin, x)


@operation(
    OPERATIONS,
    "the branch that runs is known at run time; one of them sums over a sharded dimension",
    _X,
    integers(()),
    causes=("reduction",),
    never=_NOWHERE,
)
def switch_of_three(x, i):
    branches = (lambda x: x * 2.0, lambda x: x - jnp.mean(x, 1, keepdims=True), jnp.cos)
    return jax.lax.switch(i, branches, x)


@operation(
    OPERATIONS,
    "the place of the largest decides the branch",
    array((16,), "model"),
    causes=("reduction",),
    backward=("reduction",),
    never=_NOWHERE,
)
def switch_on_the_largest(x):
    return jax.lax.switch(jnp.argmax(x) % 2, (jnp.sin, jnp.cos), x)


@operation(
    OPERATIONS,
    "a product for each of a sharded batch; what is summed is sharded, too",
    array((8, 16, 32), "data", None, "model"),
    array((8, 32, 16), "data", "model", None),
    causes=("contraction",),
    backward=_BOTH,
    never=_NOWHERE,
)
def mapped_product(a, b):
    return jax.vmap(jnp.matmul)(a, b)


@operation(
    OPERATIONS,
    "each row has a position of its own: a gather along the sharded sequence",
    array((8, 64), "data", "model"),
    integers((8,), "data"),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def mapped_dynamic_slice(x, starts):
    return jax.vmap(lambda row, i: jax.lax.dynamic_slice_in_dim(row, i, 4))(x, starts)


@operation(
    OPERATIONS, "a loop over sharded rows", array((16, 32), "model", None), causes=("indexing", "reshard_needed")
)
def map_one_by_one(x):
    return jax.lax.map(jnp.sin, x)


@operation(
    OPERATIONS,
    "a layer computed again in the backward pass",
    _X,
    _W,
    array((32, 32), None, "model"),
    causes=_BOTH,
    never=_NOWHERE,
)
def checkpointed_layer(x, up, down):
    return jax.checkpoint(lambda x, up, down: jnp.tanh(x @ up) @ down)(x, up, down)


@operation(
    OPERATIONS,
    "a barrier moves nothing; what comes after meets columns with rows",
    _X,
    array((16, 32), "model", "data"),
    causes=("reshard_needed",),
    never=_NOWHERE,
    has_gradient=False,
)
def sum_after_a_barrier(x, y):
    x, y = jax.lax.optimization_barrier((x, y))
    return x + y


@jax.custom_vjp
def _clipped_product(x, w):
    return x @ w


def _clipped_forward(x, w):
    return x @ w, (x, w)


def _clipped_backward(saved, g):
    x, w = saved
    g = jnp.clip(g, -1.0, 1.0)
    return g @ w.T, x.T @ g


_clipped_product.defvjp(_clipped_forward, _clipped_backward)


@operation(
    OPERATIONS, "a product with a gradient of its own", _X, _W, causes=("contraction",), backward=_BOTH, never=_NOWHERE
)
def product_with_own_gradient(x, w):
    return _clipped_product(x, w)


@jax.custom_jvp
def _logsumexp(x):
    top = jnp.max(x, axis=-1, keepdims=True)
    return (jnp.log(jnp.sum(jnp.exp(x - top), axis=-1, keepdims=True)) + top)[..., 0]


@_logsumexp.defjvp
def _logsumexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _logsumexp(x), jnp.sum(jax.nn.softmax(x, axis=-1) * t, axis=-1)


@operation(
    OPERATIONS, "largest and sum along model, with a derivative of its own", _X, causes=("reduction",), never=_NOWHERE
)
def logsumexp_with_own_derivative(x):
    return _logsumexp(x)


@operation(OPERATIONS, "a product in an inner jit, twice", _X, _W, causes=_BOTH, never=_NOWHERE)
def nested_jit(x, w):
    inner = jax.jit(lambda x, w: jnp.tanh(x @ w))
    return inner(inner(x, w), w)


@operation(
    OPERATIONS,
    "a constraint asks for rows, x has columns",
    array((16, 32), None, "model"),
    causes=("reshard_requested",),
    never=_NOWHERE,
)
def constrained(x):
    return jax.lax.with_sharding_constraint(jnp.sin(x), named("model", None)) * 2.0


@operation(
    OPERATIONS,
    "pieces are summed by the user",
    _X,
    causes=("written",),
    never=_NOWHERE,
)
def sum_in_shard_map(x):
    mesh = named().mesh
    spec = jax.sharding.PartitionSpec
    body = jax.shard_map(
        lambda x: jax.lax.psum(x, "model"), mesh=mesh, in_specs=spec("data", "model"), out_specs=spec("data", None)
    )
    return body(x)


@operation(
    OPERATIONS,
    "what enters is sharded otherwise than the specs say",
    array((16, 32), "model", "data"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def shard_map_of_other_pieces(x):
    mesh = named().mesh
    spec = jax.sharding.PartitionSpec("data", "model")
    return jax.shard_map(jnp.sin, mesh=mesh, in_specs=spec, out_specs=spec)(x)
