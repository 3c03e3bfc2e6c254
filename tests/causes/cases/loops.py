"""Loops, branches, rematerialisation and functions with their own derivative."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import A2A, AG, AR, SUM, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []


@case(
    CASES,
    "each step of the scan is a Megatron layer: one sum over model per step",
    Want(AR, "model", "contraction", at="mm2"),
)
def scan_over_layers():
    def f(w, x):
        def layer(x, w):
            h = jnp.tanh(x @ w[0])
            return x + h @ w[1], None  # @mm2

        return jax.lax.scan(layer, x, w)[0]

    weights = array((3, 32, 64), None, None, "model"), array((3, 64, 32), None, "model", None)
    return jax.jit(f), (weights, array((16, 32), "data", None))


@case(
    CASES,
    "forward one sum over model; backward dx contracts h (model), both weight gradients contract the batch (data)",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "reduction", at="loss"),
    Want(AR, "model", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "model", "contraction", at="mm2", phase="recompute", optional=True),
)
def gradient_of_scan_with_remat():
    def loss(w, x):
        @jax.checkpoint
        def layer(x, w):
            h = jnp.tanh(x @ w[0])  # @mm1
            return x + h @ w[1], None  # @mm2

        y, _ = jax.lax.scan(layer, x, w)
        return jnp.mean(y**2)  # @loss

    weights = array((3, 32, 64), None, None, "model"), array((3, 64, 32), None, "model", None)
    return jax.jit(jax.value_and_grad(loss)), (weights, array((16, 32), "data", None))


@case(
    CASES,
    "the layers themselves are split over model; the step picks one by number, which every device needs",
    Want(f"{AG}|{AR}", "model", "indexing", at="scan"),
)
def scan_over_split_layers():
    def f(w, x):
        def layer(x, w):
            return jnp.tanh(x @ w), None

        return jax.lax.scan(layer, x, w)[0]  # @scan

    return jax.jit(f), (array((4, 32, 32), "model", None, None), array((16, 32), "data", None))


@case(
    CASES,
    "weights split over x, as is the batch: each step gathers its layer; gradients contract the batch",
    Want(AG, "x", "reshard_needed", at="mm"),
    Want(SUM, "x", "contraction", at="mm", phase="backward"),
)
def gradient_of_fsdp_scan():
    def loss(w, x):
        def layer(h, w):
            h = with_sharding_constraint(h, named("x", None, mesh=LINE))
            y = h @ w  # @mm
            return jnp.tanh(y), None

        return jnp.sum(jax.lax.scan(layer, x, w)[0])

    split = named(None, "x", None, mesh=LINE)
    arguments = array((3, 32, 32), None, "x", None, mesh=LINE), array((256, 32), "x", None, mesh=LINE)
    return jax.jit(jax.grad(loss), out_shardings=split), arguments


@case(
    CASES,
    "c and w are split in k: partial sums; slicing the result for the next step is free",
    Want(AR, "model", "contraction", at="mm"),
)
def product_in_a_fori_loop():
    def f(x, w):
        def step(_, c):
            return jnp.tanh(c @ w)  # @mm

        return jax.lax.fori_loop(0, 5, step, x)

    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 32), "model", None))


@case(
    CASES,
    "a step makes columns on model, the next step needs them whole to contract: gathered in every step",
    Want(AG, "model", "reshard_needed", at="mm"),
)
def columns_gathered_in_a_loop():
    def f(x, w):
        def step(_, c):
            return jnp.tanh(c @ w)  # @mm

        return jax.lax.fori_loop(0, 5, step, x)

    return jax.jit(f), (array((16, 32), "data", None), array((32, 32), None, "model"))


@case(
    CASES,
    "the condition needs the norm over all devices, the body nothing",
    Want(AR, "data model|data|model", "loop_predicate", at="norm"),
    revised="the same, as a reduction; a kind of its own says what it costs: all devices wait for each other each turn",
)
def reduction_in_a_while_condition():
    def f(x):
        def going(c):
            return jnp.sum(c * c) > 1.0  # @norm

        return jax.lax.while_loop(going, lambda c: c * 0.5, x)

    return jax.jit(f), (array((16, 32), "data", "model"),)


@case(
    CASES,
    "one branch takes the mean over model, the other doubles",
    Want(AR, "model", "reduction", at="mean"),
)
def reduction_in_one_branch():
    def f(x, flag):
        def centred(x):
            return x - x.mean(1, keepdims=True)  # @mean

        return jax.lax.cond(flag, centred, lambda x: x * 2, x)

    return jax.jit(f), (array((16, 32), "data", "model"), array((), dtype=jnp.bool_))


@case(
    CASES,
    "each step asks for columns and back for rows; the carry may be either, so one exchange may be the loop's need",
    Want(A2A, "model", "reshard_requested|reshard_needed"),
    revised="two exchanges per step; columns pushed back into the carry want a third one, before the loop",
)
def constraints_that_reach_the_carry():
    def f(x):
        def step(c, _):
            c = with_sharding_constraint(jnp.sin(c), named(None, "model"))
            c = with_sharding_constraint(jnp.cos(c), named("model", None))
            return c, None

        return jax.lax.scan(step, x, length=3)[0]

    return jax.jit(f), (array((16, 32), "model", None),)


@case(
    CASES,
    "each step asks for columns and back for rows; the first constraint keeps the carry in rows",
    Want(A2A, "model", "reshard_requested", at="columns"),
    Want(A2A, "model", "reshard_requested", at="rows"),
)
def constraints_in_a_scan():
    def f(x):
        def step(c, _):
            c = with_sharding_constraint(c, named("model", None))
            c = with_sharding_constraint(jnp.sin(c), named(None, "model"))  # @columns
            c = with_sharding_constraint(jnp.cos(c), named("model", None))  # @rows
            return c, None

        return jax.lax.scan(step, x, length=3)[0]

    return jax.jit(f), (array((16, 32), "model", None),)


@case(
    CASES,
    "a rematerialised layer repeats its sum over model in the backward pass, because tanh needs it",
    Want(AR, "model", "contraction", at="mm2", phase="forward"),
    Want(AR, "model", "contraction", at="mm2", phase="recompute"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "data", "reduction", at="loss"),
)
def recomputed_contraction():
    def loss(w, x):
        @jax.checkpoint
        def layer(w, x):
            h = jnp.tanh(x @ w[0])  # @mm1
            return jnp.tanh(h @ w[1])  # @mm2

        return jnp.sum(layer(w, x))  # @loss

    weights = array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(jax.value_and_grad(loss)), (weights, array((16, 32), "data", None))


@case(
    CASES,
    "the user's own backward contracts the batch (dw, data) and the columns (dx, model)",
    Want(AR, "data", "contraction", at="call"),
    Want(AR, "model", "contraction", at="call"),
    revised="the lines in the user's backward; JAX gives its operations the line of the forward call",
)
def custom_derivative():
    @jax.custom_vjp
    def product(w, x):
        return x @ w

    def forward(w, x):
        return x @ w, (w, x)

    def backward(kept, g):
        w, x = kept
        return x.T @ g, g @ w.T

    product.defvjp(forward, backward)

    def loss(w, x):
        return jnp.sum(jnp.sin(product(w, x)))  # @call

    arguments = array((32, 64), None, "model"), array((16, 32), "data", None)
    return jax.jit(jax.grad(loss, argnums=(0, 1))), arguments


@case(CASES, "psum written in the body of a scan", Want(AR, "model", "written", at="psum"))
def written_psum_in_a_scan():
    def block(w, x):
        def step(c, _):
            c = jax.lax.psum(jnp.tanh(c @ w), "model")  # @psum
            return c, None

        return jax.lax.scan(step, x, length=3)[0]

    specs = jax.P(None, None), jax.P("data", None)
    from causes.meshes import MESH

    f = jax.shard_map(block, mesh=MESH, in_specs=specs, out_specs=jax.P("data", None), check_vma=False)
    return jax.jit(f), (array((32, 32)), array((16, 32), "data", None))


@case(
    CASES,
    "batches one after another: each one's weight gradient contracts its rows, which are on data",
    Want(AR, "data", "contraction", at="mm", phase="backward"),
)
def accumulated_gradients():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.sin(y))

    def f(w, batches):
        def step(total, x):
            return total + jax.grad(loss)(w, x), None

        return jax.lax.scan(step, jnp.zeros_like(w), batches)[0]

    return jax.jit(f), (array((32, 64), None, "model"), array((4, 16, 32), None, "data", None))


@case(CASES, "an element-wise loop on blocks")
def loop_without_communication():
    def f(x):
        return jax.lax.fori_loop(0, 7, lambda i, c: jnp.sin(c) * i, x)

    return jax.jit(f), (array((16, 32), "data", "model"),)
