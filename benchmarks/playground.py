"""What it costs to change a sharding in a playground: from the change to counted collectives.

    python benchmarks/playground.py            # a minute or two
    python benchmarks/playground.py --quick    # a smoke test: 8 devices, one repeat

Measured in this one run, warm, for settings that XLA was not asked about before: seconds from `Playground.set` to the
variant with counted bytes, what of it this process computes itself, and how long another thread that only computes is
slowed down meanwhile. Beside it a bare question to XLA's partitioner about the same program.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import threading
import time
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh
from overhead import train_step as adam_step
from transformer import train_step as clipped_step
from what_if import train_step

import pjit_inspect as pi
from pjit_inspect.observe.partitioner import service

MESHES = {8: {"data": 2, "model": 4}, 256: {"data": 16, "model": 16}, 2048: {"data": 32, "model": 64}}
LIMITS = {"scan 8": 0.6, "scan 256": 0.6, "scan 2048": 1.2, "16 unrolled 8": 1.2}
"""Seconds. The step that clips gradients by their norm has none: XLA's partitioner alone takes longer for it."""
SPECS = (("data", None), ("model", None), (None, "data"), (None, "model"), (None, None), ("data", "model"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 devices, one repeat")
    options = parser.parse_args()
    rounds = 1 if options.quick else 7
    print(f"jax {jax.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {rounds}")
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    step, arguments = train_step(mesh)
    play = pi.playground(step, *arguments)
    play.wait()
    for devices in (8,) if options.quick else MESHES:
        measure(f"scan {devices}", play, MESHES[devices], "params['head']", "params['table']", rounds)
    play.close()
    if not options.quick:
        unrolled("16 unrolled 8", adam_step(16, 128), ("params[*]['qkv']", "params[*]['down']"), rounds)
        labels = "state['params']['head']", "state['params']['embed']"
        unrolled("16 unrolled, clipped, 8", clipped_step(mesh, 16), labels, rounds)


def unrolled(name: str, program: tuple[Any, Any], labels: tuple[str, str], rounds: int) -> None:
    """Print what one program takes on eight devices."""
    step, arguments = program
    start = time.perf_counter()
    jax.jit(step).lower(*arguments).compile()
    print(f"{name}: compiled in {time.perf_counter() - start:.1f} s")
    play = pi.playground(step, *arguments)
    play.wait()
    measure(name, play, MESHES[8], *labels, rounds)
    play.close()


def measure(name: str, play: pi.Playground, mesh: dict[str, int], first: str, second: str, rounds: int) -> None:
    """Print what one size takes."""
    settings = _settings(first, second)
    play.set(mesh=mesh)
    play.wait()
    change(play, next(settings))
    bare, at_once, taken, share = [], [], [], []
    for _ in range(rounds):
        before = time.process_time()
        begun, total = change(play, next(settings))
        at_once.append(begun)
        taken.append(total)
        share.append((time.process_time() - before) / total)
        bare.append(bare_question(play, mesh))
    slowed = slowdown(play, settings)
    median, own = statistics.median(taken), statistics.median(bare)
    limit = f"   target {LIMITS[name]:.1f} s" if name in LIMITS else ""
    print(f"{name} devices")
    print(f"  arguments at once  {statistics.median(at_once):6.3f} s")
    print(f"  counted numbers    {median:6.3f} s{limit}; this process computed {statistics.median(share):.0%} of it")
    print(f"  bare question      {own:6.3f} s; ratio {median / own:.2f}")
    print(f"  another thread     x {slowed:.2f} slower while a change is answered", flush=True)


def _settings(first: str, second: str) -> Any:
    """Specs for two matrices, none of them as captured."""
    for one, other in itertools.product(SPECS[:-1], SPECS):
        yield {first: one, second: other}


def change(play: pi.Playground, specs: dict[str, Any]) -> tuple[float, float]:
    """Seconds until arguments are known, and until collectives are counted."""
    start = time.perf_counter()
    play.set(specs=specs)
    begun = time.perf_counter() - start
    assert play.wait().stage == "partitioned", play.variant
    return begun, time.perf_counter() - start


def bare_question(play: pi.Playground, mesh: dict[str, int]) -> float:
    """The seconds that XLA takes for the program that was answered last, asked anew."""
    data = play.variant.record.data
    service._here.answers.found.clear()  # noqa: SLF001
    devices = int(np.prod(list(mesh.values())))
    start = time.perf_counter()
    service.ask_partitioner(data.stablehlo.read(), devices=devices, flags=data.flags)
    return time.perf_counter() - start


def slowdown(play: pi.Playground, settings: Any) -> float:
    """How much longer computing in Python takes while a change is answered, as a cell of a notebook would."""
    alone = statistics.median(_computed() for _ in range(3))
    taken: list[float] = []
    play.set(specs=next(settings))
    thread = threading.Thread(target=lambda: taken.append(_computed()))
    thread.start()
    play.wait()
    thread.join()
    return taken[0] / alone


def _computed() -> float:
    start = time.perf_counter()
    sum(number * number for number in range(3_000_000))
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
