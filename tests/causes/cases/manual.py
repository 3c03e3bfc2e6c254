"""Collectives the user wrote, in shard_map and pmap, and what their gradients make of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, AR, CP, SUM, Case, Want, case
from causes.meshes import LINE, MESH, array

CASES: list[Case] = []

P = jax.P
RING = [(i, (i + 1) % 4) for i in range(4)]


@case(CASES, "psum over model", Want(AR, "model", "written", at="psum"))
def shard_map_psum():
    def block(x):
        return jax.lax.psum(x, "model")  # @psum

    f = jax.shard_map(block, mesh=MESH, in_specs=P("data", "model"), out_specs=P("data", None))
    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(CASES, "psum over both axes at once", Want(AR, "data model", "written", at="psum"))
def shard_map_psum_over_two_axes():
    def block(x):
        return jax.lax.psum(x.sum(), ("data", "model"))  # @psum

    f = jax.shard_map(block, mesh=MESH, in_specs=P("data", "model"), out_specs=P())
    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "one of each, each on its own line",
    Want(AR, "model", "written", at="pmax"),
    Want(AG, "model", "written", at="gather"),
    Want(CP, "model", "written", at="permute"),
    Want(A2A, "model", "written", at="exchange"),
    Want(SUM, "model", "written", at="scatter"),
)
def shard_map_every_collective():
    def block(x):
        top = jax.lax.pmax(x, "model")  # @pmax
        rows = jax.lax.all_gather(x, "model")  # @gather
        ring = jax.lax.ppermute(x, "model", RING)  # @permute
        swapped = jax.lax.all_to_all(x, "model", 0, 1)  # @exchange
        part = jax.lax.psum_scatter(x, "model", tiled=True)  # @scatter
        return top.sum() + rows.sum() + ring.sum() + swapped.sum() + part.sum() + x

    f = jax.shard_map(block, mesh=MESH, in_specs=P("data", "model"), out_specs=P("data", "model"), check_vma=False)
    return jax.jit(f), (array((8, 8), "data", "model"),)


@case(CASES, "pmean is psum and a division", Want(AR, "x", "written", at="mean"))
def shard_map_mean_gradient():
    def block(w, x):
        g = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        return jax.lax.pmean(g, "x")  # @mean

    f = jax.shard_map(block, mesh=LINE, in_specs=(P(), P("x", None)), out_specs=P(), check_vma=False)
    return jax.jit(f), (array((32, 16), mesh=LINE), array((16, 32), "x", None, mesh=LINE))


@case(CASES, "the body uses only its own block")
def shard_map_without_communication():
    def block(x):
        return x * jax.lax.axis_index("model")

    f = jax.shard_map(block, mesh=MESH, in_specs=P("data", "model"), out_specs=P("data", "model"))
    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "data is manual (psum written), model is left to the partitioner: the product contracts it",
    Want(AR, "model", "contraction", at="mm"),
    Want(AR, "data", "written", at="psum"),
)
def shard_map_of_one_axis_only():
    def block(x, w):
        y = x @ w  # @mm
        return jax.lax.psum(y.sum(0), "data")  # @psum

    f = jax.shard_map(block, mesh=MESH, in_specs=(P("data", None), P()), out_specs=P(), axis_names={"data"})
    return jax.jit(f), (array((16, 32), "data", "model"), array((32, 64), "model", None))


@case(
    CASES,
    "w enters every device whole, so its gradient is a sum over x: the transpose of shard_map's replication",
    Want(AR, "x", "written", at="meets", phase="backward"),
    revised="the line of the call; shard_map marks w as varying where it meets x, and that is what is transposed",
)
def gradient_through_shard_map():
    def block(w, x):
        return jax.lax.psum(jnp.tanh(x @ w).sum(), "x")  # @meets

    f = jax.shard_map(block, mesh=LINE, in_specs=(P(), P("x", None)), out_specs=P())

    return jax.jit(jax.grad(f)), (array((32, 16), mesh=LINE), array((16, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "the weight is gathered by hand; the transpose of all_gather is psum_scatter",
    Want(AG, "x", "written", at="gather"),
    Want(SUM, "x", "written", at="gather", phase="backward"),
)
def gradient_of_written_all_gather():
    def block(w, x):
        whole = jax.lax.all_gather(w, "x", tiled=True)  # @gather
        return jnp.tanh(x @ whole).sum()[None]

    f = jax.shard_map(block, mesh=LINE, in_specs=(P("x", None), P("x", None)), out_specs=P("x"))

    def loss(w, x):
        return f(w, x).sum()

    return jax.jit(jax.grad(loss)), (array((32, 16), "x", None, mesh=LINE), array((16, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "a ring shift, and backward the shift the other way",
    Want(CP, "x", "written", at="shift"),
    Want(CP, "x", "written", at="shift", phase="backward"),
)
def gradient_of_written_permute():
    ring = [(i, (i + 1) % 8) for i in range(8)]

    def block(x, y):
        return jnp.sin(jax.lax.ppermute(x, "x", ring)) * y  # @shift

    split = P("x", None)
    f = jax.shard_map(block, mesh=LINE, in_specs=(split, split), out_specs=split)

    def loss(x, y):
        return f(x, y).sum()

    a = array((16, 8), "x", None, mesh=LINE)
    return jax.jit(jax.grad(loss)), (a, a)


@case(
    CASES,
    "the function wants its rows whole (in_specs), the argument has them on data: gathered before the call",
    Want(AG, "data", "reshard_requested", at="call"),
    Want(AR, "model", "written", at="psum"),
    revised="that nobody asks: whoever writes `in_specs` does",
)
def argument_that_does_not_fit_in_specs():
    def block(x):
        return jax.lax.psum(x, "model")  # @psum

    mapped = jax.shard_map(block, mesh=MESH, in_specs=P(None, "model"), out_specs=P())

    def f(x):
        return mapped(x * 2)  # @call

    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "tokens go to the experts' devices and come back: two exchanges by hand",
    Want(A2A, "x", "written", at="there"),
    Want(A2A, "x", "written", at="back"),
)
def experts_by_hand():
    def block(tokens, w):
        sent = jax.lax.all_to_all(tokens, "x", 0, 1, tiled=True)  # @there
        done = jnp.tanh(jnp.einsum("ecd,edf->ecf", sent, w))
        return jax.lax.all_to_all(done, "x", 1, 0, tiled=True)  # @back

    f = jax.shard_map(block, mesh=LINE, in_specs=(P(None, "x", None), P("x", None, None)), out_specs=P(None, "x", None))
    return jax.jit(f), (array((8, 64, 16), None, "x", None, mesh=LINE), array((8, 16, 16), "x", None, None, mesh=LINE))


@case(
    CASES,
    "a pipeline: each of the scan's steps hands its result to the next stage",
    Want(CP, "model", "written", at="next"),
)
def pipeline_in_a_scan():
    def block(w, x):
        def step(state, _):
            state = jnp.tanh(state @ w[0])
            return jax.lax.ppermute(state, "model", RING), None  # @next

        return jax.lax.scan(step, x, length=4)[0]

    f = jax.shard_map(
        block,
        mesh=MESH,
        in_specs=(P("model", None, None), P("data", None)),
        out_specs=P("data", "model"),
        check_vma=False,
    )
    return jax.jit(f), (array((4, 16, 16), "model", None, None), array((16, 16), "data", None))


@case(CASES, "psum inside pmap", Want(AR, "i", "written", at="psum"))
def pmap_psum():
    def f(x):
        return x / jax.lax.psum(x, "i")  # @psum

    return jax.pmap(f, axis_name="i"), (jax.ShapeDtypeStruct((8, 4), jnp.float32),)


@case(
    CASES,
    "a data parallel step in pmap: gradients are averaged by hand",
    Want(AR, "i", "written", at="mean"),
)
def pmap_gradient_step():
    def f(w, x):
        g = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        g = jax.lax.pmean(g, "i")  # @mean
        return w - 0.1 * g

    arguments = jax.ShapeDtypeStruct((8, 16, 4), jnp.float32), jax.ShapeDtypeStruct((8, 4, 16), jnp.float32)
    return jax.pmap(f, axis_name="i"), arguments


@case(CASES, "pmap without collectives computes on each device alone")
def pmap_without_communication():
    return jax.pmap(jnp.sin, axis_name="i"), (jax.ShapeDtypeStruct((8, 4), jnp.float32),)
