"""Advice on memory, and what buffers are called, where the obvious rule says what is not so."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.memory.could import find_suggestions
from pjit_inspect.analyze.memory.values_named import MemoryFacts
from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue

MIB = 1 << 20
BIG = 1 << 20
MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def shaped(*shape: int, spec: P = P(), dtype: Any = jnp.float32, mesh: Any = MESH) -> Any:  # noqa: B008
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))


def compiled(function: Any, *args: Any) -> pi.CompileRecord:
    return pi.inspect(function, *args, target="cpu:8", effort="full")


# ------------------------------------------------------------ types


def descent(weights: Any, x: Any) -> Any:
    def loss(weights: Any) -> Any:
        h = x
        for w in weights:
            h = jnp.tanh(h @ w)
        return h.sum()

    return [w - g for w, g in zip(weights, jax.grad(loss)(weights), strict=True)]


@pytest.mark.parametrize(("dtype", "kinds"), [(jnp.bfloat16, set()), (jnp.float32, {"smaller type"})])
def test_what_the_program_has_as_bf16_is_not_advised_to_be_bf16(dtype: Any, kinds: set[str]):
    """Up to JAX 0.11 CPUs compute bfloat16 as float32: what is saved is float32 there, of both programs."""
    weights, x = [jax.ShapeDtypeStruct((256, 256), dtype)] * 4, jax.ShapeDtypeStruct((2048, 256), dtype)
    use = pi.inspect(jax.jit(descent), weights, x).memory_use
    saved = {row.dtype for row in use.live if row.kind == "saved for backward"}
    assert saved
    if jax.__version_info__ < (0, 11):
        assert "f32" in saved
    assert {one.kind for one in use.suggestions} & {"smaller type"} == kinds


# ------------------------------------------------------------ axes


def row(**facts: Any) -> LiveValue:
    base = {"name": "h", "bytes": 8 * MIB, "kind": "temporary", "spec": (None, None), "local_shape": (2048, 1024)}
    return LiveValue(**{**base, **facts})


def advised(one: LiveValue) -> list[str]:
    record = compiled(jax.jit(lambda x: x * 2), shaped(8, 8))
    return [one.sentence for one in find_suggestions(LiveTable(rows=(one,)), MemoryFacts(mesh=record.mesh))]


def test_what_was_gathered_or_summed_over_an_axis_is_not_split_over_it_again():
    assert "over model and data" in advised(row())[0]
    (left,) = advised(row(collective_axes=("model",)))
    assert "also split over data: " in left
    assert not advised(row(collective_axes=("model", "data")))


def test_axes_of_the_collective_are_known_to_what_it_makes_and_to_what_is_computed_from_that():
    """`x @ w` sums over `model`: each device has parts of sums, the all-reduce's result, and what follows."""

    def two(x: Any, w: Any) -> Any:
        h = jnp.tanh(x @ w)
        h = jnp.sort(h) * jax.lax.rsqrt((h * h).mean(-1, keepdims=True))
        return h @ h.T

    record = compiled(jax.jit(two), shaped(512, 512, spec=P(None, "model")), shaped(512, 512, spec=P("model", None)))
    whole = [row for row in record.memory_use.largest if row.local_shape == (512, 512) and row.kind == "temporary"]
    whole = [row for row in whole if row.spec is not None]
    assert len(whole) >= 3
    assert {one.collective_axes for one in whole} == {("model",)}
    assert not [one for one in record.memory_use.suggestions if one.kind == "shard" and "over model" in one.sentence]


# ------------------------------------------------------------ kinds


def test_a_gathered_batch_is_no_gradient():
    """Rows are split, and the gradient of `x @ w` for a `w` split over the same axis needs all of them."""

    def step(w: Any, x: Any) -> Any:
        grad = jax.grad(lambda w: jnp.tanh(x @ w).sum())(w)
        with jax.named_scope("optimizer"):
            return w - 0.1 * grad

    data = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    record = compiled(
        jax.jit(step, out_shardings=NamedSharding(data, P(None, "data"))),
        shaped(512, 1024, spec=P(None, "data"), mesh=data),
        shaped(256, 512, spec=P("data"), mesh=data),
    )
    gathered = [row for row in record.memory_use.largest if "all-gather" in row.name and row.name.startswith("x,")]
    assert gathered
    assert {row.kind for row in gathered} == {"collective buffer"}


# ------------------------------------------------------------ beside a donated argument


def looped(x: Any) -> Any:
    y = jnp.exp(x)
    return y * jax.lax.fori_loop(0, 8, lambda i, s: s + y[i * (BIG // 8)], 0.0)


def sliced(x: Any) -> Any:
    y = jnp.exp(x)
    read = y[:: BIG // 8]
    return y * jax.lax.fori_loop(0, 8, lambda i, s: s + read[i], 0.0)


def test_why_a_temporary_is_not_in_a_donated_argument_is_said_and_the_way_out_is_one():
    """4 MiB of `jnp.exp(x)` beside 4 MiB of `x`; with what the loop reads taken out before it, 4 MiB in all."""
    donated = {"donate_argnums": 0}
    x = jax.ShapeDtypeStruct((BIG,), jnp.float32)
    before = pi.inspect(jax.jit(looped, **donated), x).memory_use
    after = pi.inspect(jax.jit(sliced, **donated), x).memory_use
    assert after.beside == ()
    if not before.beside:
        # Newer XLA needs no more for it.
        assert before.peak_bytes == pytest.approx(after.peak_bytes, abs=0.1 * MIB)
        return
    (sentence,) = before.beside
    assert sentence.startswith("jnp.exp(x), 4 MiB, does not lie in the memory of the donated x: ")
    assert sentence.endswith("; give the loop only what it reads of it")
    assert (before.peak_bytes or 0) - (after.peak_bytes or 0) > 3.9 * MIB


def test_what_xla_copies_into_a_donated_argument_is_said_so():
    def step(x: Any) -> Any:
        y = jnp.exp(x)
        return y * y.sum()

    record = pi.inspect(jax.jit(step, donate_argnums=0), jax.ShapeDtypeStruct((BIG,), jnp.float32))
    use = record.memory_use
    root = record.hlo.instruction(int(record.hlo.computations.root[record.hlo.entry]))  # type: ignore[union-attr]
    assert bool(use.beside) == (root.opcode == "copy")
    assert all(one.endswith("XLA computes it apart and copies it there") for one in use.beside)
