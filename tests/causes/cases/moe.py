"""Mixtures of experts: tokens split by batch meet experts split over the same axis."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import A2A, AG, AR, CP, SUM, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []

EXPERTS = named("x", None, None, None, mesh=LINE)
GROUPS = named(None, "x", None, None, mesh=LINE)


def tokens_and_mask():
    """Groups g over x; s tokens of d features in each; for each token a place c at an expert e."""
    tokens = array((8, 4, 16), "x", None, None, mesh=LINE)
    return tokens, array((8, 4, 8, 2), "x", None, None, None, mesh=LINE)


@case(
    CASES,
    "the user's constraints turn groups into experts and back: one all-to-all each; the experts' product is local",
    Want(A2A, "x", "reshard_requested", at="there"),
    Want(A2A, "x", "reshard_requested", at="back"),
)
def dispatch_with_constraints():
    def f(tokens, mask, w):
        sent = jnp.einsum("gsd,gsec->egcd", tokens, mask)
        sent = with_sharding_constraint(sent, EXPERTS)  # @there
        done = jnp.tanh(jnp.einsum("egcd,edf->egcf", sent, w))
        done = with_sharding_constraint(done, GROUPS)  # @back
        return jnp.einsum("egcf,gsec->gsf", done, mask)

    return jax.jit(f), (*tokens_and_mask(), array((8, 16, 16), "x", None, None, mesh=LINE))


@case(
    CASES,
    "without constraints groups and experts want the same axis: tokens or weights move; the way back may sum instead",
    Want(f"{A2A}|{AG}", "x", "reshard_needed", at="expert"),
    Want(f"{A2A}|{AG}", "x", "reshard_needed", at="combine", optional=True),
    Want(SUM, "x", "contraction", at="combine", optional=True),
)
def dispatch_without_constraints():
    def f(tokens, mask, w):
        sent = jnp.einsum("gsd,gsec->egcd", tokens, mask)
        done = jnp.einsum("egcd,edf->egcf", sent, w)  # @expert
        return jnp.einsum("egcf,gsec->gsf", jnp.tanh(done), mask)  # @combine

    split = named("x", None, None, mesh=LINE)
    return jax.jit(f, out_shardings=split), (*tokens_and_mask(), array((8, 16, 64), "x", None, None, mesh=LINE))


@case(
    CASES,
    "forward as asked; backward the cotangent comes in by groups and meets tokens by experts for dw",
    Want(A2A, "x", "reshard_requested", at="there"),
    Want(A2A, "x", "reshard_requested", at="back"),
    Want(A2A, "x", "reshard_needed", at="expert", phase="backward"),
    Want(AR, "x", "reduction", at="loss"),
    revised="the same, but at tanh: XLA may as well do tanh' by groups, and exchange for dw; both are now on one line",
)
def gradient_of_dispatch():
    def loss(w, tokens, mask):
        sent = jnp.einsum("gsd,gsec->egcd", tokens, mask)
        sent = with_sharding_constraint(sent, EXPERTS)  # @there
        done = jnp.tanh(jnp.einsum("egcd,edf->egcf", sent, w))  # @expert
        done = with_sharding_constraint(done, GROUPS)  # @back
        y = jnp.einsum("egcf,gsec->gsf", done, mask)
        return jnp.sum(y**2)  # @loss

    experts = named("x", None, None, mesh=LINE)
    step = jax.jit(jax.value_and_grad(loss), out_shardings=(None, experts))
    return step, (array((8, 16, 16), "x", None, None, mesh=LINE), *tokens_and_mask())


@case(
    CASES,
    "the router's scores have experts on model: softmax sums over it, and the best two are looked for across it",
    Want(AR, "model", "reduction", at="softmax"),
    Want(AG, "model", "indexing", at="best", platform="not tpu"),
    Want(AG, "data", "no_sharding_rule", at="best", optional=True, platform="not tpu"),
    Want(A2A, "model", "indexing", at="best", platform="tpu"),
    Want(CP, "model", "halo", at="best", platform="tpu"),
    Want(f"{AR}|{AG}", "model", "output", at="best", platform="tpu"),
    revised="that the rows stay on data; XLA cannot split its top-k call at all, and gathers the rows as well",
    elsewhere="TPU: top_k is a sort and a slice, both split over experts; complete rows are sorted and put back, the "
    "best two go to two devices, and two columns that four devices do not divide are returned replicated",
)
def router_with_split_experts():
    def f(x, w):
        scores = jax.nn.softmax(x @ w, axis=-1)  # @softmax
        return jax.lax.top_k(scores, 2)  # @best

    return jax.jit(f), (array((32, 16), "data", None), array((16, 64), None, "model"))


@case(
    CASES,
    "every expert sees every token: e is a free dimension until the gated sum over e, which is split over model",
    Want(AR, "model", "contraction", at="mix"),
)
def dense_mixture():
    def f(x, w, gate):
        done = jnp.tanh(jnp.einsum("sd,edf->esf", x, w))
        return jnp.einsum("esf,se->sf", done, gate)  # @mix

    arguments = array((32, 16), "data", None), array((8, 16, 16), "model", None, None), array((32, 8), "data", "model")
    return jax.jit(f), arguments
