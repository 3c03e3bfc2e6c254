"""Multi-layer perceptrons: tensor parallel, fully sharded, data parallel, and mixtures, forward and backward."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import AG, AR, SUM, Case, Want, case
from causes.meshes import CUBE, LINE, PERMUTED, array, named

CASES: list[Case] = []

BOTH = "data model|data|model"


@case(
    CASES,
    "columns then rows: the first product needs nothing, the second contracts the hidden dimension over model",
    Want(AR, "model", "contraction", at="mm2"),
)
def megatron_forward():
    def f(x, w0, w1):
        h = jnp.tanh(x @ w0)
        return h @ w1  # @mm2

    arguments = array((16, 32), "data", None), array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(f), arguments


@case(
    CASES,
    "forward: a sum over model at the second product; dw0, dw1 contract the batch (data); dx contracts h (model)",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "reduction", at="loss"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "model", "contraction", at="mm1", phase="backward"),
)
def megatron_backward():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        y = h @ w[1]  # @mm2
        return jnp.sum(y**2)  # @loss

    weights = array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1))), (weights, array((16, 32), "data", None))


@case(
    CASES,
    "each bias gradient sums the batch (data); the first bias is split over model, which its sum does not touch",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
    Want(AR, "data", "reduction", at="bias0", phase="backward"),
    Want(AR, "data", "reduction", at="bias1", phase="backward"),
)
def megatron_bias_gradients():
    def loss(params, x):
        w0, b0, w1, b1 = params
        h = x @ w0  # @mm1
        h = jnp.tanh(h + b0)  # @bias0
        y = h @ w1  # @mm2
        y = jnp.sin(y + b1)  # @bias1
        return jnp.sum(y)

    params = (
        array((32, 64), None, "model"),
        array((64,), "model"),
        array((64, 32), "model", None),
        array((32,), None),
    )
    return jax.jit(jax.grad(loss)), (params, array((16, 32), "data", None))


@case(
    CASES,
    "x is split by sequence over model; h keeps model on its columns, so x is gathered; then sums land split again",
    Want(AG, "model", "reshard_needed", at="mm1"),
    Want(SUM, "model", "contraction", at="mm2"),
)
def megatron_sequence_parallel_forward():
    def f(x, w0, w1):
        h = x @ w0  # @mm1
        h = jnp.tanh(with_sharding_constraint(h, named("data", None, "model")))
        y = h @ w1  # @mm2
        return with_sharding_constraint(y, named("data", "model", None))

    arguments = (
        array((4, 16, 32), "data", "model", None),
        array((32, 64), None, "model"),
        array((64, 32), "model", None),
    )
    return jax.jit(f), arguments


@case(
    CASES,
    "backward mirrors forward: dy is gathered over model for dh and dw1, dx is a sum over model; dw contract the batch",
    Want(AG, "model", "reshard_needed", at="mm1"),
    Want(SUM, "model", "contraction", at="mm2"),
    Want(AR, BOTH, "reduction", at="loss"),
    Want(AG, "model", "reshard_needed", at="mm2", phase="backward", optional=True),
    Want(AR, BOTH, "contraction", at="mm1", phase="backward"),
    Want(AR, BOTH, "contraction", at="mm2", phase="backward"),
    Want(SUM, "model", "contraction", at="mm1", phase="backward"),
    revised="the same without the gradient of the first weight, which had been forgotten",
)
def megatron_sequence_parallel_backward():
    def loss(w, x):
        h = x @ w[0]  # @mm1
        h = jnp.tanh(with_sharding_constraint(h, named("data", None, "model")))
        y = h @ w[1]  # @mm2
        y = with_sharding_constraint(y, named("data", "model", None))
        return jnp.sum(y**2)  # @loss

    weights = array((32, 64), None, "model"), array((64, 32), "model", None)
    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1))), (weights, array((4, 16, 32), "data", "model", None))


@case(
    CASES,
    "x is taken by the batch, so each weight (smaller than the activations) is gathered where it is used",
    Want(AG, "x", "reshard_needed", at="mm1"),
    Want(AG, "x", "reshard_needed", at="mm2"),
)
def fsdp_forward():
    def f(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        return h @ w[1]  # @mm2

    weights = array((32, 64), "x", None, mesh=LINE), array((64, 32), "x", None, mesh=LINE)
    return jax.jit(f), (weights, array((256, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "the constraint on h keeps the batch on x, so weights are gathered although larger than the activations",
    Want(AG, "x", "reshard_needed", at="mm1"),
    Want(AG, "x", "reshard_needed", at="mm2"),
)
def fsdp_forward_with_constraints():
    def f(w, x):
        h = x @ w[0]  # @mm1
        h = jnp.tanh(with_sharding_constraint(h, named("x", None, mesh=LINE)))
        y = h @ w[1]  # @mm2
        return with_sharding_constraint(y, named("x", None, mesh=LINE))

    weights = array((64, 128), "x", None, mesh=LINE), array((128, 64), "x", None, mesh=LINE)
    return jax.jit(f), (weights, array((32, 64), "x", None, mesh=LINE))


@case(
    CASES,
    "weights split in columns: x would be on both free dimensions, so they are gathered just the same",
    Want(AG, "x", "reshard_needed", at="mm"),
)
def fsdp_columns():
    def f(w, x):
        return x @ w  # @mm

    return jax.jit(f), (array((32, 64), None, "x", mesh=LINE), array((256, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "weights are gathered for the forward and (w1) for dh; weight gradients contract the batch and are kept split",
    Want(AG, "x", "reshard_needed", at="mm1"),
    Want(AG, "x", "reshard_needed", at="mm2"),
    Want(AR, "x", "reduction", at="loss"),
    Want(SUM, "x", "contraction", at="mm1", phase="backward"),
    Want(SUM, "x", "contraction", at="mm2", phase="backward"),
)
def fsdp_backward():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        y = h @ w[1]  # @mm2
        return jnp.mean(y**2)  # @loss

    split = named("x", None, mesh=LINE)
    weights = array((32, 64), "x", None, mesh=LINE), array((64, 32), "x", None, mesh=LINE)
    step = jax.jit(jax.value_and_grad(loss), out_shardings=(None, (split, split)))
    return step, (weights, array((256, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "the user gathers each weight with a constraint; its transpose asks for a replicated gradient: the batch is summed",
    Want(AG, "x", "reshard_requested", at="gather0"),
    Want(AG, "x", "reshard_requested", at="gather1"),
    Want(AR, "x", "reduction", at="loss"),
    Want(SUM, "x", "contraction", at="mm1", phase="backward"),
    Want(SUM, "x", "contraction", at="mm2", phase="backward"),
)
def fsdp_with_weights_gathered_by_hand():
    def loss(w, x):
        w0 = with_sharding_constraint(w[0], named(mesh=LINE))  # @gather0
        w1 = with_sharding_constraint(w[1], named(mesh=LINE))  # @gather1
        h = jnp.tanh(x @ w0)  # @mm1
        y = h @ w1  # @mm2
        return jnp.mean(y**2)  # @loss

    split = named("x", None, mesh=LINE)
    weights = array((32, 64), "x", None, mesh=LINE), array((64, 32), "x", None, mesh=LINE)
    step = jax.jit(jax.value_and_grad(loss), out_shardings=(None, (split, split)))
    return step, (weights, array((256, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "w0 and w1 are gathered over fsdp, which the batch takes; h @ w1 contracts tp",
    Want(AG, "fsdp", "reshard_needed", at="mm1"),
    Want(AG, "fsdp", "reshard_needed", at="mm2"),
    Want(AR, "tp", "contraction", at="mm2"),
)
def fsdp_and_tensor_parallel_forward():
    def f(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        return h @ w[1]  # @mm2

    weights = array((32, 64), "fsdp", "tp", mesh=CUBE), array((64, 32), "tp", "fsdp", mesh=CUBE)
    return jax.jit(f), (weights, array((256, 32), ("data", "fsdp"), None, mesh=CUBE))


@case(
    CASES,
    "as forward; weight gradients contract the batch over data and fsdp; only dh needs a weight again (w1)",
    Want(AG, "fsdp", "reshard_needed", at="mm1"),
    Want(AG, "fsdp", "reshard_needed", at="mm2"),
    Want(AR, "tp", "contraction", at="mm2"),
    Want(AR, "data fsdp|data|fsdp", "reduction", at="loss"),
    Want(SUM, "data fsdp|data|fsdp", "contraction", at="mm1", phase="backward"),
    Want(SUM, "data fsdp|data|fsdp", "contraction", at="mm2", phase="backward"),
)
def fsdp_and_tensor_parallel_backward():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        y = h @ w[1]  # @mm2
        return jnp.mean(y**2)  # @loss

    weights = array((32, 64), "fsdp", "tp", mesh=CUBE), array((64, 32), "tp", "fsdp", mesh=CUBE)
    split = named("fsdp", "tp", mesh=CUBE), named("tp", "fsdp", mesh=CUBE)
    step = jax.jit(jax.value_and_grad(loss), out_shardings=(None, split))
    return step, (weights, array((256, 32), ("data", "fsdp"), None, mesh=CUBE))


@case(
    CASES,
    "weights split over model, replicated over data; the batch takes both: gather over model, sum gradients over both",
    Want(AG, "model", "reshard_needed", at="mm"),
    Want(SUM, BOTH, "contraction", at="mm", phase="backward"),
)
def hybrid_sharding_backward():
    def loss(w, x):
        y = x @ w  # @mm
        return jnp.sum(jnp.tanh(y))

    split = named("model", None)
    return jax.jit(jax.grad(loss), out_shardings=split), (
        array((32, 16), "model", None),
        array((256, 32), ("data", "model"), None),
    )


@case(
    CASES,
    "every weight gradient contracts the batch, the bias gradient sums it: XLA may combine them",
    Want(AR, "x", "contraction", at="mm0", phase="backward"),
    Want(AR, "x", "contraction", at="mm1", phase="backward"),
    Want(AR, "x", "contraction", at="mm2", phase="backward"),
    Want(AR, "x", "reduction", at="mm0", phase="backward"),
    Want(AR, "x", "reduction", at="loss"),
)
def data_parallel_gradients():
    def loss(params, x):
        x = jnp.tanh(x @ params["w0"] + params["b0"])  # @mm0
        x = jnp.tanh(x @ params["w1"])  # @mm1
        y = x @ params["w2"]  # @mm2
        return jnp.mean(y**2)  # @loss

    params = {name: array((32, 32), mesh=LINE) for name in ("w0", "w1", "w2")} | {"b0": array((32,), mesh=LINE)}
    return jax.jit(jax.value_and_grad(loss)), (params, array((16, 32), "x", None, mesh=LINE))


@case(
    CASES,
    "the same on devices in another order",
    Want(AR, "model", "contraction", at="mm2"),
    Want(AR, "data", "contraction", at="mm2", phase="backward"),
    Want(AR, "data", "contraction", at="mm1", phase="backward"),
)
def megatron_gradients_on_permuted_devices():
    def loss(w, x):
        h = jnp.tanh(x @ w[0])  # @mm1
        y = jnp.tanh(h @ w[1])  # @mm2
        return jnp.sum(y)

    weights = array((32, 64), None, "model", mesh=PERMUTED), array((64, 32), "model", None, mesh=PERMUTED)
    return jax.jit(jax.grad(loss)), (weights, array((16, 32), "data", None, mesh=PERMUTED))


@case(
    CASES,
    "bfloat16 changes types, not communication; both gates share x, so only the last product sums",
    Want(AR, "model", "contraction", at="down"),
)
def gated_mlp_bfloat16():
    def f(x, gate, up, down):
        h = jax.nn.silu(x @ gate) * (x @ up)
        return h @ down  # @down

    wide = array((32, 64), None, "model", dtype=jnp.bfloat16)
    arguments = (
        array((16, 32), "data", None, dtype=jnp.bfloat16),
        wide,
        wide,
        array((64, 32), "model", None, dtype=jnp.bfloat16),
    )
    return jax.jit(f), arguments
