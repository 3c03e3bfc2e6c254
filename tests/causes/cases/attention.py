"""Attention: heads split, sequences split, a cache for decoding."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import A2A, AG, AR, CP, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []


@case(CASES, "the head is a batch dimension of both products: nothing to exchange")
def heads_split():
    def f(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        p = jax.nn.softmax(s, axis=-1)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    a = array((4, 16, 4, 8), "data", None, "model", None)
    return jax.jit(f), (a, a, a)


@case(
    CASES,
    "projections keep the heads on model; only the output projection contracts them",
    Want(AR, "model", "contraction", at="out"),
)
def heads_split_with_projections():
    def f(x, wq, wk, wv, wo):
        q = jnp.einsum("bsm,mhd->bshd", x, wq)
        k = jnp.einsum("bsm,mhd->bshd", x, wk)
        v = jnp.einsum("bsm,mhd->bshd", x, wv)
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        s = jnp.where(jnp.tri(16, dtype=bool), s, -1e9)
        p = jax.nn.softmax(s, axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        return jnp.einsum("bshd,hdm->bsm", o, wo)  # @out

    into = array((32, 4, 8), None, "model", None)
    out = array((4, 8, 32), "model", None, None)
    return jax.jit(f), (array((4, 16, 32), "data", None, None), into, into, into, out)


@case(
    CASES,
    "the output projection contracts heads (model), dx does so three times; every weight gradient contracts data",
    Want(AR, "model", "contraction", at="out"),
    Want(AR, "model", "contraction", at="q", phase="backward"),
    Want(AR, "model", "contraction", at="k", phase="backward"),
    Want(AR, "model", "contraction", at="v", phase="backward"),
    Want(AR, "data", "contraction", at="q", phase="backward"),
    Want(AR, "data", "contraction", at="k", phase="backward"),
    Want(AR, "data", "contraction", at="v", phase="backward"),
    Want(AR, "data", "contraction", at="out", phase="backward"),
)
def gradient_of_heads_split():
    def loss(w, x):
        q = jnp.einsum("bsm,mhd->bshd", x, w["q"])  # @q
        k = jnp.einsum("bsm,mhd->bshd", x, w["k"])  # @k
        v = jnp.einsum("bsm,mhd->bshd", x, w["v"])  # @v
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        y = jnp.einsum("bshd,hdm->bsm", o, w["o"])  # @out
        return jnp.sum(jnp.sin(y))

    weights = {name: array((32, 4, 8), None, "model", None) for name in "qkv"}
    weights["o"] = array((4, 8, 32), "model", None, None)
    return jax.jit(jax.grad(loss, argnums=(0, 1))), (weights, array((4, 16, 32), "data", None, None))


@case(
    CASES,
    "queries keep model on their sequence (constraint on the scores), so each device gathers all keys and all values",
    Want(AG, "model", "reshard_needed", at="qk"),
    Want(AG, "model", "reshard_needed", at="pv"),
)
def sequence_split_gathers_keys_and_values():
    def f(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k)  # @qk
        s = with_sharding_constraint(s, named("data", None, "model", None))
        p = jax.nn.softmax(s, axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)  # @pv
        return with_sharding_constraint(o, named("data", "model", None, None))

    a = array((4, 32, 3, 16), "data", "model", None, None)
    return jax.jit(f), (a, a, a)


@case(
    CASES,
    "the user asks for heads instead of sequence (Ulysses) and back: one all-to-all for each constraint",
    Want(A2A, "model", "reshard_requested", at="q"),
    Want(A2A, "model", "reshard_requested", at="k"),
    Want(A2A, "model", "reshard_requested", at="v"),
    Want(A2A, "model", "reshard_requested", at="back"),
)
def sequence_to_heads_and_back():
    def f(q, k, v):
        q = with_sharding_constraint(q * 2, named("data", None, "model", None))  # @q
        k = with_sharding_constraint(k * 3, named("data", None, "model", None))  # @k
        v = with_sharding_constraint(v * 4, named("data", None, "model", None))  # @v
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
        return with_sharding_constraint(o, named("data", "model", None, None))  # @back

    a = array((4, 32, 4, 8), "data", "model", None, None)
    return jax.jit(f), (a, a, a)


@case(
    CASES,
    "cache and query are split by heads, positions are whole: only the projection contracts heads",
    Want(AR, "model", "contraction", at="out"),
)
def decode_with_heads_split():
    def f(q, k_new, cache_k, cache_v, position, wo):
        cache_k = jax.lax.dynamic_update_slice(cache_k, k_new, (0, position, 0, 0))
        s = jnp.einsum("bhd,bkhd->bhk", q, cache_k)
        p = jax.nn.softmax(s, axis=-1)
        o = jnp.einsum("bhk,bkhd->bhd", p, cache_v)
        return jnp.einsum("bhd,hdm->bm", o, wo), cache_k  # @out

    cache = array((4, 32, 4, 8), "data", None, "model", None)
    arguments = (
        array((4, 4, 8), "data", "model", None),
        array((4, 1, 4, 8), "data", None, "model", None),
        cache,
        cache,
        array((), dtype=jnp.int32),
        array((4, 8, 32), "model", None, None),
    )
    return jax.jit(f), arguments


@case(
    CASES,
    "one position lies on one device: it is written under a mask; softmax and values run over the split positions",
    Want(AR, "model", "reduction", at="softmax"),
    Want(AR, "model", "contraction", at="pv"),
)
def decode_with_positions_split():
    def f(q, k_new, cache_k, cache_v, position):
        cache_k = jax.lax.dynamic_update_slice(cache_k, k_new, (0, position, 0, 0))
        s = jnp.einsum("bhd,bkhd->bhk", q, cache_k)
        p = jax.nn.softmax(s, axis=-1)  # @softmax
        return jnp.einsum("bhk,bkhd->bhd", p, cache_v), cache_k  # @pv

    cache = array((4, 32, 3, 8), "data", "model", None, None)
    arguments = (
        array((4, 3, 8), "data", None, None),
        array((4, 1, 3, 8), "data", None, None, None),
        cache,
        cache,
        array((), dtype=jnp.int32),
    )
    return jax.jit(f, out_shardings=(named("data", None, None), cache.sharding)), arguments


@case(
    CASES,
    "the written ring passes keys and values to the next device at every step",
    Want(CP, "x", "written", at="k"),
    Want(CP, "x", "written", at="v"),
)
def ring_attention_by_hand():
    ring = [(i, (i + 1) % 8) for i in range(8)]

    def block(q, k, v):
        def step(_, carry):
            k, v, total, norm = carry
            p = jnp.exp(q @ k.T)
            total, norm = total + p @ v, norm + p.sum(-1)
            k = jax.lax.ppermute(k, "x", ring)  # @k
            v = jax.lax.ppermute(v, "x", ring)  # @v
            return k, v, total, norm

        start = k, v, jnp.zeros_like(q), jnp.zeros_like(q[:, 0])
        _, _, total, norm = jax.lax.fori_loop(0, 8, step, start)
        return total / norm[:, None]

    split = jax.P("x", None)
    f = jax.shard_map(block, mesh=LINE, in_specs=(split,) * 3, out_specs=split, check_vma=False)
    a = array((32, 16), "x", None, mesh=LINE)
    return jax.jit(f), (a, a, a)


@case(
    CASES,
    "each block also needs its predecessor: a shift by one block, which lies on another device at every fourth block",
    Want(CP, "model", "halo", at="previous"),
)
def blocks_attend_to_previous_block():
    def f(q, k):
        previous = jnp.roll(k, 1, axis=1)  # @previous
        return jnp.einsum("bnqd,bnkd->bnqk", q, k) + jnp.einsum("bnqd,bnkd->bnqk", q, previous)

    a = array((4, 16, 4, 8), "data", "model", None, None)
    return jax.jit(f), (a, a)
