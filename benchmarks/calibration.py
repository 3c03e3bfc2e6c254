"""How well the speeds of this CPU, fitted to one program, tell the seconds of others: on the devices that are here.

    python benchmarks/calibration.py                # a minute
    python benchmarks/calibration.py --kernels      # every kernel of over 100 us, too
    python benchmarks/calibration.py --quick        # a smoke test: few and short calls

Programs are called in turn, so that what else the machine does meets them all; the least seconds of the calls count,
for fitting and for judging. Printed for each program: the median ratio of estimated to measured seconds (the larger
over the smaller), the same without direction, Spearman's rank correlation, over kernels of over 100 us; and the ratio
of their sums. The line of the program that was fitted says how well it fits itself.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "1")

import jax
import jax.numpy as jnp
import numpy as np

import pjit_inspect as pi
from pjit_inspect.analyze.time.calibrate import rank_correlation
from pjit_inspect.model.time.rows import TimedKernel
from pjit_inspect.model.time.step_time import StepTime

LONG_S = 100e-6


def decoder(scale: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A training step of a decoder with two layers of different widths: what speeds are fitted to."""
    batch, length, heads = 4, 128, 4

    def block(x: jax.Array, w: dict[str, jax.Array]) -> jax.Array:
        width = x.shape[-1]
        q, k, v = (jnp.einsum("bsd,dhe->bshe", x, w[name].reshape(width, heads, -1)) for name in "qkv")
        weights = jax.nn.softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k))
        x = x + jnp.einsum("bhqk,bkhe->bqhe", weights, v).reshape(x.shape) @ w["o"]
        h = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
        return x + jax.nn.gelu(h @ w["up"]) @ w["down"]

    def loss(params: Any, ids: jax.Array) -> jax.Array:
        x = params["table"][ids]
        x = block(x, params["first"])
        x = block(x @ params["wide"], params["second"])
        logits = x @ params["head"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), ids[..., None], -1))

    def step(params: Any, ids: jax.Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, ids))

    small, large, words = 128 * scale, 384 * scale, 1024 * scale

    def weights(width: int) -> dict[str, jax.Array]:
        square = {name: ones(width, width) for name in "qkvo"}
        return square | {"up": ones(width, 4 * width), "down": ones(4 * width, width)}

    params = {
        "table": ones(words, small), "first": weights(small), "wide": ones(small, large), "second": weights(large),
        "head": ones(large, words),
    }  # fmt: skip
    return step, (params, jnp.zeros((batch, length), jnp.int32))


def dense(scale: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A training step of a dense network in a scan, with momentum."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.mean(jax.lax.scan(lambda h, each: (jnp.tanh(h @ each), None), x, w)[0] ** 2)

    def step(w: jax.Array, m: jax.Array, x: jax.Array) -> Any:
        m = 0.9 * m + jax.grad(loss)(w, x)
        return w - 0.1 * m, m

    width = 512 * scale
    return step, (ones(4, width, width), ones(4, width, width), ones(256, width))


def pictures(scale: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A training step of a network over pixels, each by itself, with pooling: wide and flat products."""

    def loss(ws: list[jax.Array], x: jax.Array) -> jax.Array:
        for w in ws:
            x = jax.nn.relu(jnp.einsum("bhwc,cd->bhwd", x, w))
            x = x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, -1).mean((2, 4))
        return jnp.sum(x**2)

    def step(ws: list[jax.Array], x: jax.Array) -> Any:
        return [w - 1e-3 * g for w, g in zip(ws, jax.grad(loss)(ws, x), strict=True)]

    return step, ([ones(16, 64), ones(64, 128), ones(128, 256 * scale)], ones(8, 64, 64, 16))


def attending(scale: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The gradient of attention, many heads over long sequences: products in batches, exponentials, large arrays."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        s = jnp.einsum("hqe,hke->hqk", q, k)
        s = jnp.where(jnp.tril(jnp.ones(s.shape[1:], bool)), s, -1e9)
        return jnp.sum(jnp.einsum("hqk,hke->hqe", jax.nn.softmax(s), v) ** 2)

    return jax.grad(attend, argnums=(0, 1, 2)), tuple(ones(8 * scale, 512, 64) for _ in range(3))


def ones(*shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(len(shape)).normal(size=shape, scale=0.05), jnp.float32)


PROGRAMS = {"decoder": decoder, "dense": dense, "pictures": pictures, "attending": attending}


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        return function(*arguments)

    called.__name__ = name
    return called


def measured(scale: int, calls: int) -> dict[str, pi.CompileRecord]:
    """All programs, called in turn, with measured times."""
    made = {name: build(scale) for name, build in PROGRAMS.items()}
    functions: dict[str, Any] = {}
    for name, (function, _) in made.items():
        functions[name] = jax.jit(named(name, function))
    with pi.capture(measure=True) as log:
        for _ in range(calls):
            for name, (_, arguments) in made.items():
                jax.block_until_ready(functions[name](*arguments))
    return {name: log[name] for name in made}


def ratios(step: StepTime) -> tuple[list[TimedKernel], np.ndarray, np.ndarray]:
    """The kernels of over 100 us a run, and their measured and estimated seconds."""
    rows = [row for row in step.kernels if row.fastest_s and row.seconds and row.fastest_s / (row.runs or 1) > LONG_S]
    return rows, np.array([row.fastest_s for row in rows], float), np.array([row.seconds for row in rows], float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--fit", default="decoder", choices=PROGRAMS)
    given = parser.parse_args()
    records = measured(1, 3 if given.quick else given.calls)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    hardware = pi.calibrate(records[given.fit])
    print(hardware.name, "-", hardware.fit)
    for name, record in records.items():
        step = record.time_on(hardware)
        rows, seen, said = ratios(step)
        apart = np.maximum(seen / said, said / seen)
        print(
            f"{name:10} {'(fitted) ' if name == given.fit else ''}{len(rows)} kernels of over 100 us: median ratio "
            f"{np.median(apart) if rows else float('nan'):.2f}, worst {apart.max(initial=1.0):.2f}, rank correlation "
            f"{rank_correlation(seen, said):.2f}, sum {said.sum() / max(1e-12, seen.sum()):.2f} of measured"
        )
        if given.kernels:
            for row, own in zip(rows, said / seen, strict=True):
                print(
                    f"   {own:6.2f}  {(row.fastest_s or 0) * 1e6:9.0f} us  {row.runs} runs  {row.bytes or 0:,} B  "
                    f"{row.product_flops or 0:,} in products  {(row.flops or 0) - (row.product_flops or 0):,} others  "
                    f"{row.label}  {row.name}"
                )


if __name__ == "__main__":
    main()
