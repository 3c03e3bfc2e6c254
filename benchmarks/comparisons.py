"""Which of two programs is faster, and by how much: estimated with the speeds of this CPU, and measured on it.

    python benchmarks/comparisons.py            # two minutes
    python benchmarks/comparisons.py --calls 5  # a smoke test

Ten pairs: another mesh, rematerialization, batch, depth, length, or a constraint, of a decoder and of a dense network
on two fake devices. Speeds are fitted to the first program of each pair alone; the second is estimated with them. Calls
are made in turn. What is measured is the least wall time of a call, and the least time of processors, which other
processes of a busy machine disturb less: the second decides. A pair counts as right if the estimated ratio is within
8 % of the measured one; its sign must be right where the measured ratio is 5 % or more from 1.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

CALLS_AT_ONCE = 2
"""The clock of processors has steps."""


@dataclass(frozen=True)
class Setting:
    """One program."""

    model: str = "decoder"
    data: int = 2
    batch: int = 8
    layers: int = 4
    length: int = 64
    width: int = 128
    remat: bool = False
    gathered: bool = False


BASE, DENSE = Setting(), Setting(model="dense", batch=256, width=256)
PAIRS: tuple[tuple[str, Setting, Setting], ...] = (
    ("decoder: model parallel", BASE, replace(BASE, data=1)),
    ("decoder: remat", BASE, replace(BASE, remat=True)),
    ("decoder: twice the batch", BASE, replace(BASE, batch=16)),
    ("decoder: twice the layers", BASE, replace(BASE, layers=8)),
    ("decoder: twice the length", BASE, replace(BASE, length=128)),
    ("decoder: hidden gathered", BASE, replace(BASE, gathered=True)),
    ("dense: model parallel", DENSE, replace(DENSE, data=1)),
    ("dense: remat", DENSE, replace(DENSE, remat=True)),
    ("dense: half the batch", DENSE, replace(DENSE, batch=128)),
    ("dense: hidden gathered", DENSE, replace(DENSE, gathered=True)),
)


def build(setting: Setting) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A training step and its arguments, on two devices."""
    mesh = Mesh(np.array(jax.devices()[:2]).reshape(setting.data, 2 // setting.data), ("data", "model"))

    def place(value: np.ndarray, *spec: Any) -> jax.Array:
        return jax.device_put(jnp.asarray(value, jnp.float32), NamedSharding(mesh, P(*spec)))

    def gathered(x: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P())) if setting.gathered else x

    rng, width = np.random.default_rng(0), setting.width
    columns, rows = (None, None, "model"), (None, "model", None)
    shapes = {"up": ((width, 4 * width), columns), "down": ((4 * width, width), rows)}
    if setting.model == "decoder":
        shapes |= dict.fromkeys("qkv", ((width, width), columns)) | {"o": ((width, width), rows)}
    params = {
        name: place(rng.normal(size=(setting.layers, *shape), scale=0.05), *spec)
        for name, (shape, spec) in shapes.items()
    }

    def attend(x: jax.Array, w: dict[str, jax.Array]) -> jax.Array:
        q, k, v = ((x @ w[name]).reshape(*x.shape[:2], 4, -1) for name in "qkv")
        weights = jax.nn.softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k))
        return jnp.einsum("bhqk,bkhe->bqhe", weights, v).reshape(x.shape) @ w["o"]

    def layer(x: jax.Array, w: dict[str, jax.Array]) -> tuple[jax.Array, None]:
        if setting.model == "decoder":
            x = x + attend(x, w)
        return x + gathered(jax.nn.relu(x @ w["up"])) @ w["down"], None

    def loss(params: Any, x: jax.Array) -> jax.Array:
        return jnp.mean(jax.lax.scan(jax.checkpoint(layer) if setting.remat else layer, x, params)[0] ** 2)

    def step(params: Any, x: jax.Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))

    length = (setting.length,) if setting.model == "decoder" else ()
    return step, (params, place(rng.normal(size=(setting.batch, *length, width)), "data"))


def measured(
    settings: list[Setting], calls: int
) -> tuple[dict[Setting, pi.CompileRecord], dict[Setting, tuple[float, float]]]:
    """The record of each program, with measured times, and the least seconds of a call: on the wall, of processors."""
    made = {}
    for number, setting in enumerate(settings):
        function, arguments = build(setting)
        function.__name__ = f"step_{number}"
        made[setting] = jax.jit(function), arguments
    least: dict[Setting, tuple[float, float]] = {}
    for function, arguments in made.values():
        jax.block_until_ready(function(*arguments))
    for _ in range(calls):
        for setting, (function, arguments) in made.items():
            begun = time.perf_counter(), time.process_time()
            for _ in range(CALLS_AT_ONCE):
                jax.block_until_ready(function(*arguments))
            took = time.perf_counter() - begun[0], time.process_time() - begun[1]
            before = least.get(setting, (float("inf"), float("inf")))
            least[setting] = tuple(min(a, b / CALLS_AT_ONCE) for a, b in zip(before, took, strict=True))
    jax.clear_caches()
    with pi.capture(measure=True) as log:
        for _ in range(calls):
            for function, arguments in made.values():
                jax.block_until_ready(function(*arguments))
    return {setting: log[f"step_{number}"] for number, setting in enumerate(settings)}, least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=15)
    given = parser.parse_args()
    settings = list(dict.fromkeys(setting for _, *pair in PAIRS for setting in pair))
    records, least = measured(settings, given.calls)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    errors, signs = [], []
    for words, before, after in PAIRS:
        hardware = pi.calibrate(records[before])
        old, new = (records[setting].time_on(hardware).step_s or float("nan") for setting in (before, after))
        wall, true = (own / old_own for own, old_own in zip(least[after], least[before], strict=True))
        said = new / old
        errors.append(abs(said / true - 1))
        if abs(true - 1) >= 0.05:
            signs.append((true > 1) == (said > 1))
        print(
            f"{words:28} measured {1e3 * least[before][1]:6.1f} -> {1e3 * least[after][1]:6.1f} ms of processors, "
            f"{true:5.2f} times (wall {wall:5.2f} times); "
            f"estimated {1e3 * old:6.1f} -> {1e3 * new:6.1f} ms, {said:5.2f} times; {100 * (said / true - 1):+6.1f} %"
        )
    near, mean = sum(error <= 0.08 for error in errors), 100 * np.mean(errors)
    print(f"within 8 %: {near} of {len(errors)}; mean {mean:.1f} %; sign right: {sum(signs)} of {len(signs)}")


if __name__ == "__main__":
    main()
