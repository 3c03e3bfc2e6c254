"""Steps beside networks: solvers until convergence, stencils, Fourier layers, clustering, Gaussian processes, Muon.

Not its job: models of language or images (the other files).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "FFT",
    "Fourier neural operator",
    "2-D",
    expected=(Expected(kind="all-reduce", axes="batch", cause="contraction", says=("gradient",)),),
    never=(Never(cause="reshard_requested"),),
)
def fourier_neural_operator() -> Built:
    mesh = grid(batch=4, model=2)
    c, modes = 16, 5
    params = [
        placed(
            mesh,
            {"re": ((modes, c, c), None, None, "model"), "im": ((modes, c, c), None, None, "model"), "w": ((c, c),)},
        )
        for _ in range(2)
    ]

    def layer(p, x):
        f = jnp.fft.rfft(x, axis=1)[:, :modes]
        f = jnp.einsum("bmi,mio->bmo", f, p["re"] + 1j * p["im"])
        f = jnp.pad(f, ((0, 0), (0, x.shape[1] // 2 + 1 - modes), (0, 0)))
        return jax.nn.gelu(jnp.fft.irfft(f, n=x.shape[1], axis=1) + x @ p["w"])

    @jax.jit
    def step(params, x, y):
        def loss(params):
            h = x
            for p in params:
                h = layer(p, h)
            return jnp.linalg.norm(h - y) / jnp.linalg.norm(y)

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, g), value

    x = one(mesh, (8, 32, c), "batch")
    return step, (params, x, x)


@program(
    PROGRAMS,
    "while_loop",
    "conjugate gradient",
    "rows split",
    expected=(
        Expected(kind="all-gather", axes="rows", cause="reshard_needed|contraction", shape=(8,)),
        Expected(kind="all-reduce", axes="rows", cause="contraction|reduction", shape=()),
    ),
    never=(Never(kind="collective-permute"),),
)
def conjugate_gradient_until_converged() -> Built:
    mesh = grid(rows=8)

    @jax.jit
    def solve(a, b):
        def go_on(state):
            _, _, rr, _, k = state
            return (rr > 1e-6) & (k < 100)

        def iterate(state):
            x, r, rr, p, k = state
            ap = a @ p
            alpha = rr / (p @ ap)
            x, r = x + alpha * p, r - alpha * ap
            new = r @ r
            return x, r, new, r + new / rr * p, k + 1

        return lax.while_loop(go_on, iterate, (jnp.zeros_like(b), b, b @ b, b, 0))

    return solve, (one(mesh, (64, 64), "rows", None), one(mesh, (64,), "rows"))


@program(
    PROGRAMS,
    "stencil",
    "halo",
    "fori_loop",
    "2-D split",
    expected=(
        Expected(kind="collective-permute", axes="y", cause="halo"),
        Expected(kind="collective-permute", axes="x", cause="halo"),
    ),
    never=(Never(kind="all-gather"), Never(cause="reshard_needed")),
    counterfactuals=(Counterfactual(without="x", blame=r"`x`", kinds="collective-permute"),),
)
def heat_equation_on_a_split_plate(without: str = "") -> Built:
    mesh = grid([0, 1, 3, 2, 4, 5, 7, 6], y=2, x=4)

    @jax.jit
    def simulate(u):
        def tick(_, u):
            around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
            return u + 0.1 * (around - 4 * u)

        return lax.fori_loop(0, 10, tick, u)

    return simulate, (one(mesh, (32, 64), "y", None if without == "x" else "x"),)


@program(
    PROGRAMS,
    "k-means",
    "DP",
    "one_hot",
    expected=(
        Expected(kind="all-reduce", axes="points", cause="contraction", shape=(8, 16)),
        Expected(kind="all-reduce", axes="points", cause="reduction", shape=(8,)),
    ),
    never=(Never(kind="all-gather"), Never(kind="all-to-all")),
)
def k_means_iteration() -> Built:
    mesh = grid(points=8)

    @jax.jit
    def iterate(centers, x):
        d = (x**2).sum(-1)[:, None] - 2 * x @ centers.T + (centers**2).sum(-1)
        mine = jax.nn.one_hot(d.argmin(-1), centers.shape[0])
        new = jnp.einsum("nk,nd->kd", mine, x) / (mine.sum(0)[:, None] + 1e-6)
        return new, d.min(-1).mean()

    return iterate, (one(mesh, (8, 16)), one(mesh, (256, 16), "points"))


@program(PROGRAMS, "Gaussian process", "cholesky", "custom call", "gradient")
def gaussian_process_likelihood() -> Built:
    mesh = grid(rows=4, cols=2)

    @jax.jit
    def step(theta, x, y):
        def nll(theta):
            d = ((x[:, None] - x[None]) ** 2).sum(-1)
            k = jnp.exp(theta["scale"]) * jnp.exp(-d / jnp.exp(theta["length"])) + 1e-3 * jnp.eye(x.shape[0])
            k = lax.with_sharding_constraint(k, NamedSharding(mesh, P("rows", "cols")))
            chol = jnp.linalg.cholesky(k)
            a = jax.scipy.linalg.cho_solve((chol, True), y)
            return 0.5 * y @ a + jnp.log(jnp.diagonal(chol)).sum()

        value, g = jax.value_and_grad(nll)(theta)
        return jax.tree.map(lambda t, g: t - 0.01 * g, theta, g), value

    theta = {"scale": one(mesh, ()), "length": one(mesh, ())}
    return step, (theta, one(mesh, (32, 4), "rows"), one(mesh, (32,), "rows"))


@program(PROGRAMS, "Muon", "Newton-Schulz", "FSDP", "optimizer of matrices", "host callback")
def muon_with_logging() -> Built:
    mesh = grid(fsdp=8)
    shapes = [(64, 32), (32, 64), (64, 16)]
    params = [one(mesh, s, "fsdp") for s in shapes]

    def orthogonal(g):
        x = g / (jnp.linalg.norm(g) + 1e-7)
        x = x.T if g.shape[0] > g.shape[1] else x
        for _ in range(3):
            a = x @ x.T
            x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
        return x.T if g.shape[0] > g.shape[1] else x

    def log(loss):
        np.asarray(loss)

    @jax.jit
    def step(params, momentum, x, y):
        def loss(ws):
            h = x
            for w in ws[:-1]:
                h = jax.nn.relu(h @ w)
            return ((h @ ws[-1] - y) ** 2).mean()

        value, g = jax.value_and_grad(loss)(params)
        jax.debug.callback(log, value)
        momentum = jax.tree.map(lambda m, g: 0.95 * m + g, momentum, g)
        return jax.tree.map(lambda p, m: p - 0.02 * orthogonal(m), params, momentum), momentum, value

    return step, (params, params, one(mesh, (32, 64), "fsdp"), one(mesh, (32, 16), "fsdp"))
