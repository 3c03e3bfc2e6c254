"""Operations of programs, against counts by hand and XLA's own count of twins without loops: within 1 %."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.model.time.step_time import StepTime


def step_of(fn, *shapes, **specs) -> StepTime:
    return pi.inspect(jax.jit(fn), *(jax.ShapeDtypeStruct(shape, jnp.float32, **specs) for shape in shapes)).time


def xla_counts(fn, *structs) -> dict[str, float]:
    """XLA's own cost analysis of a program."""
    return dict(jax.jit(fn).lower(*structs).compile().cost_analysis() or {})


def products(fn, *shapes) -> int:
    return step_of(fn, *shapes).product_flops


def test_a_product_is_two_operations_per_multiply_add():
    assert products(lambda a, b: a @ b, (64, 32), (32, 16)) == 2 * 64 * 32 * 16


def test_attention_is_two_products_of_queries_and_keys():
    batch, length, heads, width = 2, 64, 4, 16

    def attention(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    shape = (batch, length, heads, width)
    assert products(attention, shape, shape, shape) == 2 * 2 * batch * heads * length * length * width


def test_a_backward_pass_is_twice_a_forward_one_and_remat_does_that_again():
    def layers(is_again: bool):
        def layer(x, w):
            return jnp.tanh(jnp.tanh(x @ w) @ w.T), None

        def loss(x, w):
            body = jax.checkpoint(layer) if is_again else layer
            return jnp.sum(jax.lax.scan(body, x, w)[0])

        return jax.grad(loss, argnums=(0, 1))

    batch, width, depth = 32, 64, 5
    forward = 2 * depth * 2 * batch * width * width
    plain = step_of(layers(False), (batch, width), (depth, width, width))
    assert plain.product_flops == 3 * forward
    assert plain.product_flops == plain.model_flops
    # Both products are done again: the second one's result is what the last tanh is of.
    again = step_of(layers(True), (batch, width), (depth, width, width))
    assert again.product_flops == 4 * forward
    assert again.model_flops == 3 * forward
    shares = {share.name: share for share in again.by("phase")}
    assert shares["recompute"].share == pytest.approx(1 / 4, rel=0.02)
    assert sum(share.share or 0.0 for share in shares.values()) == pytest.approx(1.0)


def test_experts_are_products_of_their_tokens():
    tokens, experts, width, hidden, capacity = 64, 4, 32, 48, 16

    def experts_of(x, route, inward, outward):
        chosen = jnp.einsum("tec,td->ecd", route, x)
        made = jnp.einsum("ecd,edh->ech", chosen, inward)
        return jnp.einsum("tec,ecd->td", route, jnp.einsum("ech,ehd->ecd", made, outward))

    expected = 2 * (2 * tokens * experts * capacity * width + 2 * experts * capacity * width * hidden)
    shapes = (tokens, width), (tokens, experts, capacity), (experts, width, hidden), (experts, hidden, width)
    assert products(experts_of, *shapes) == expected


def test_a_convolution_counts_what_meets_data():
    def convolved(x, kernel):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID")

    assert products(convolved, (2, 3, 16, 16), (8, 3, 3, 3)) == 2 * 2 * 8 * 14 * 14 * 3 * 3 * 3


@pytest.mark.parametrize("turns", [1, 7, 100])
def test_a_loop_counts_every_turn_and_equals_its_unrolled_twin(turns):
    def body(x, w):
        return jnp.sin(x @ w) + x, None

    def rolled(x, w):
        return jax.lax.scan(body, x, jnp.broadcast_to(w, (turns, *w.shape)))[0]

    def unrolled(x, w):
        for _ in range(turns):
            x, _ = body(x, w)
        return x

    shapes = (64, 128), (128, 128)
    found = step_of(rolled, *shapes)
    assert found.product_flops == turns * 2 * 64 * 128 * 128
    structs = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    cost = xla_counts(unrolled, *structs)
    assert found.flops == pytest.approx(cost["flops"] + cost.get("transcendentals", 0.0), rel=0.01)


def test_arithmetic_counts_as_xla_counts_it():
    def arithmetic(x, y):
        return jnp.sum(jnp.exp(x) * y + jnp.maximum(x, y), axis=1)

    found = step_of(arithmetic, (256, 512), (256, 512))
    cost = xla_counts(arithmetic, *[jax.ShapeDtypeStruct((256, 512), jnp.float32)] * 2)
    assert found.flops == pytest.approx(cost["flops"] + cost["transcendentals"], rel=0.01)
    assert found.flops == pytest.approx(5 * 256 * 512, rel=0.01)


def test_bytes_are_those_that_xla_counts_in_a_program_without_loops():
    def step(x, w, v):
        return jnp.tanh(x @ w) @ v

    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((256, 512), (512, 1024), (1024, 128))]
    found = pi.inspect(jax.jit(step), *shapes).time
    mine = sum((row.bytes_read or 0) + (row.bytes_written or 0) for row in found.kernels)
    assert mine == pytest.approx(xla_counts(step, *shapes)["bytes accessed"], rel=0.05)


def test_a_training_step_is_6nd_with_attention_and_remat_beside_it():
    """Two layers of a decoder in a scan: 6 ND, attention's own term, and what is done again, each by hand."""
    batch, length, heads, each, hidden, layers, words = 2, 64, 4, 16, 256, 2, 128
    width = heads * each

    def layer(x, w):
        q, k, v = ((x @ w[name]).reshape(batch, length, heads, each) for name in "qkv")
        weights = jax.nn.softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k))
        x = x + jnp.einsum("bhqk,bkhe->bqhe", weights, v).reshape(x.shape) @ w["o"]
        return x + jnp.tanh(x @ w["up"]) @ w["down"], None

    def loss(params, x):
        x = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])[0]
        return jnp.sum(jnp.tanh(x @ params["head"]))

    shapes = dict.fromkeys("qkvo", (layers, width, width))
    shapes |= {"up": (layers, width, hidden), "down": (layers, hidden, width)}
    params = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()}
    given = {"layers": params, "head": jax.ShapeDtypeStruct((width, words), jnp.float32)}
    x = jax.ShapeDtypeStruct((batch, length, width), jnp.float32)
    found = pi.inspect(jax.jit(jax.grad(loss)), given, x).time
    tokens, one = batch * length, 2 * batch * heads * length * length * each
    weights = layers * (4 * width * width + 2 * width * hidden)
    forward_and_backward = 6 * tokens * (weights + width * words) + layers * 3 * 2 * one
    # Of the last product of a layer nothing is needed again.
    again = 2 * tokens * (weights - layers * hidden * width) + layers * 2 * one
    assert found.model_flops == pytest.approx(forward_and_backward, rel=0.01)
    assert found.product_flops == pytest.approx(forward_and_backward + again, rel=0.01)


def test_a_fourier_transform_counts_as_xla_counts_it():
    x = jax.ShapeDtypeStruct((4, 64, 128), jnp.float32)
    for fn in (jnp.fft.rfft2, jnp.fft.fft2, lambda x: jnp.fft.irfft(x)):
        found = pi.inspect(jax.jit(fn), x)
        assert found.time.flops == pytest.approx(xla_counts(fn, x)["flops"], rel=0.01)


def test_a_conditional_counts_as_its_dearest_branch_and_says_so():
    def fn(x, w):
        return jax.lax.cond(x[0, 0] > 0, lambda: x + 1, lambda: jnp.tanh(x @ w) @ w)

    for branches in (fn, lambda x, w: jax.lax.cond(x[0, 0] > 0, lambda: (x @ w) @ w, lambda: x)):
        found = step_of(branches, (64, 64), (64, 64))
        assert found.product_flops == 2 * 2 * 64**3
        assert "1 conditional counts as its dearest branch, whichever a call takes" in found.notes


def test_a_sharded_program_counts_one_device():
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

    def place(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    record = pi.inspect(jax.jit(lambda x, w: x @ w), place((64, 32), "data"), place((32, 16), None, "model"))
    assert record.time.product_flops == 2 * 16 * 32 * 8
    assert record.time.devices == 8


def test_on_a_cpu_seconds_are_unknown_and_the_page_says_what_to_do():
    found = step_of(lambda a, b: a @ b, (64, 32), (32, 16))
    assert found.step_s is found.kernels_s is found.floor_s is found.mfu is None
    assert "record.time_on(" in found.missing
    assert found.bound_by == "unknown"
    assert found.ceilings == ()
