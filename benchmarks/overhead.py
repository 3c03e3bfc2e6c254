"""What watching costs: steady-state calls, extra compiles, compile time, device memory held.

    python benchmarks/overhead.py            # about five minutes on 2 cores
    python benchmarks/overhead.py --tiny     # compiles of tiny functions only, two minutes
    python benchmarks/overhead.py --quick    # a smoke test: small programs, few repeats, the figures mean nothing

Everything is measured in this one run, bare and watched in turn, and reported as the median of the ratios of
neighbours: 1.000 is no cost. Targets: calls at most 1.02, extra compiles 0, compile time at most 1.05 (of a tiny
function too, and of the processor time of 2,000 of them), bytes held 0.

On a machine that does other work wall-clock ratios scatter by more than the targets, so what does not scatter stands
beside them: how many Python functions run in a steady-state call (ours among them: 0 is no cost at all), and the
processor time of a compile.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.observe.watch import listener

COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


def mesh() -> Mesh:
    """Eight devices as 2 x 4."""
    return Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))


# ---------------------------------------------------------------- steady-state calls


def call_cases() -> dict[str, tuple[Callable[..., Any], Any]]:
    """Jitted functions that do almost nothing, so that the call itself is what is timed."""
    sharded = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh(), P(("data", "model"))))
    leaves = {f"leaf{i}": jnp.float32(i) for i in range(100)}
    return {
        "scalar": (jax.jit(lambda x: x + 1), jnp.float32(1)),
        "100-leaf dict": (jax.jit(lambda d: {k: v + 1 for k, v in d.items()}), leaves),
        "sharded over 8": (jax.jit(lambda x: x + 1), sharded),
    }


def seconds_per_call(function: Callable[..., Any], argument: Any, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        result = function(argument)
    jax.block_until_ready(result)
    return (time.perf_counter() - start) / calls


def steady_state(rounds: int, calls: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds per call, bare and watched, measured in turn; which goes first alternates."""
    seconds = {}
    for name, (function, argument) in call_cases().items():
        function(argument)
        times: dict[bool, list[float]] = {False: [], True: []}
        for i in range(2 * rounds):
            watched = (i + i // 2) % 2 == 1
            if watched:
                with pi.capture():
                    times[True].append(seconds_per_call(function, argument, calls))
            else:
                times[False].append(seconds_per_call(function, argument, calls))
        seconds[name] = (times[False], times[True])
    return seconds


def python_calls(function: Callable[..., Any], argument: Any, calls: int = 100) -> tuple[int, int]:
    """Python functions that run while a watched, compiled function is called: all, and those of this package."""
    package = os.path.dirname(pi.__file__)
    found = [0, 0]

    def count(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found[0] += 1
            found[1] += frame.f_code.co_filename.startswith(package)

    with pi.capture():
        function(argument)
        sys.setprofile(count)
        try:
            for _ in range(calls):
                function(argument)
        finally:
            sys.setprofile(None)
    return found[0], found[1]


def ratio(bare: list[float], watched: list[float]) -> float:
    """The median of the ratios of neighbours: what slows the machine for a while slows both."""
    return statistics.median(w / b for b, w in zip(bare, watched, strict=True))


# ---------------------------------------------------------------- compiles


def train_step(layers: int, width: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """An unrolled transformer train step with Adam, as a fresh function object, and its arguments."""
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    specs = {"qkv": ("data", "model"), "out": ("model", "data"), "up": ("data", "model"), "down": ("model", "data")}

    def block(x: Any, p: dict[str, Any]) -> Any:
        q, k, v = jnp.split(jax.nn.standardize(x) @ p["qkv"], 3, -1)
        scores = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / width**0.5)
        x = x + jnp.einsum("bqk,bkd->bqd", scores, v) @ p["out"]
        return x + jax.nn.gelu(jax.nn.standardize(x) @ p["up"]) @ p["down"]

    def loss(params: list[Any], x: Any) -> Any:
        for layer in params:
            x = block(x, layer)
        return (x**2).mean()

    def step(params: Any, first: Any, second: Any, x: Any) -> Any:
        gradients = jax.grad(loss)(params, x)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, second, gradients)
        update = jax.tree.map(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8), params, first, second)
        return update, first, second

    over = mesh()
    weights = [
        {k: jax.ShapeDtypeStruct(s, jnp.float32, sharding=NamedSharding(over, P(*specs[k]))) for k, s in shapes.items()}
        for _ in range(layers)
    ]
    x = jax.ShapeDtypeStruct((8, 64, width), jnp.float32, sharding=NamedSharding(over, P("data")))
    return step, (weights, weights, weights, x)


def compile_seconds(layers: int, width: int) -> tuple[float, float]:
    """Seconds from a function to an executable (trace, lower, compile, nothing cached): wall clock, and processors."""
    jax.clear_caches()
    step, args = train_step(layers, width)
    start, start_cpu = time.perf_counter(), time.process_time()
    jax.jit(step).lower(*args).compile()
    return time.perf_counter() - start, time.process_time() - start_cpu


Seconds = list[tuple[float, float]]


def compile_times(layers: int, width: int, rounds: int) -> tuple[Seconds, Seconds, list[float]]:
    """Seconds of bare and of watched compiles in turn, and the seconds of each watched one spent in our listener."""
    compile_seconds(1, width)
    bare, watched, listening = [], [], []
    for i in range(2 * rounds):
        if (i + i // 2) % 2 == 1:
            with pi.capture(), timed_listener() as spent:
                watched.append(compile_seconds(layers, width))
            listening.append(sum(spent))
        else:
            bare.append(compile_seconds(layers, width))
    return bare, watched, listening


# ---------------------------------------------------------------- compiles of tiny functions


def tiny_cases() -> dict[str, Any]:
    """Arguments of functions of one operation or two, on one device and on eight."""
    sharded = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh(), P(("data", "model"))))
    return {"one device": jnp.float32(1), "eight devices": sharded}


def compile_tiny(number: int, argument: Any) -> tuple[float, float]:
    """Seconds of the first call of a new function: wall clock, and processors."""

    def tiny(x: Any) -> Any:
        return x * number + 1

    start, start_cpu = time.perf_counter(), time.process_time()
    jax.block_until_ready(jax.jit(tiny)(argument))
    return time.perf_counter() - start, time.process_time() - start_cpu


def tiny_compiles(argument: Any, pairs: int) -> tuple[Seconds, Seconds]:
    """Seconds of single compiles, bare and watched in turn."""
    bare, watched = [], []
    compile_tiny(-1, argument)
    for i in range(2 * pairs):
        if (i + i // 2) % 2 == 1:
            with pi.capture():
                watched.append(compile_tiny(i, argument))
        else:
            bare.append(compile_tiny(i, argument))
    return bare, watched


def many_compiles(argument: Any, compiles: int, blocks: int = 20) -> tuple[list[float], list[float]]:
    """Processor seconds of blocks of compiles, bare and from `start` to `stop` in turn."""
    bare, watched, number = [], [], compiles
    for i in range(2 * blocks):
        is_watched = (i + i // 2) % 2 == 1
        start = time.process_time()
        if is_watched:
            pi.start()
        for _ in range(compiles // blocks):
            number += 1
            compile_tiny(number, argument)
        if is_watched:
            pi.stop()
        (watched if is_watched else bare).append(time.process_time() - start)
    pi.start().clear()
    pi.stop()
    return bare, watched


def print_tiny(pairs: int, compiles: int) -> None:
    for name, argument in tiny_cases().items():
        bare, watched = tiny_compiles(argument, pairs)
        for number, clock in enumerate(("wall clock", "processors")):
            one, two = [times[number] for times in bare], [times[number] for times in watched]
            print(f"compile of a tiny function, {name}, {clock}: bare {statistics.median(one) * 1e3:.2f} ms, ", end="")
            print(f"watched {statistics.median(two) * 1e3:.2f} ms, ratio {ratio(one, two):.3f}, ", end="")
            print(f"of the medians {statistics.median(two) / statistics.median(one):.3f}   target 1.05")
        bare, watched = many_compiles(argument, compiles)
        print(f"{compiles} compiles of tiny functions, {name}, processors: ", end="")
        print(f"bare {sum(bare):.1f} s, watched {sum(watched):.1f} s, ratio {ratio(bare, watched):.3f}, ", end="")
        print(f"of the sums {sum(watched) / sum(bare):.3f}   target 1.05")


@contextmanager
def timed_listener() -> Iterator[list[float]]:
    """Collects the seconds of each call of our listener."""
    spent: list[float] = []
    handlers = dict(listener._HANDLERS)  # noqa: SLF001

    def timed(handle: Callable[..., None]) -> Callable[..., None]:
        def run(*args: Any) -> None:
            start = time.perf_counter()
            handle(*args)
            spent.append(time.perf_counter() - start)

        return run

    listener._HANDLERS.update({event: timed(handle) for event, handle in handlers.items()})  # noqa: SLF001
    try:
        yield spent
    finally:
        listener._HANDLERS.update(handlers)  # noqa: SLF001


def extra_compiles(layers: int, width: int) -> int:
    """XLA compiles of a program that is run and watched, less those of the same program run bare."""
    count = [0]

    def listen(event: str, *_: Any, **__: Any) -> None:
        count[0] += event == COMPILE_EVENT

    jax.monitoring.register_event_duration_secs_listener(listen)
    counts = []
    for watched in (False, True):
        count[0] = 0
        if watched:
            with pi.capture(calls=True) as log:
                run_step(layers, width)
            for record in log.user_records():
                repr(record.collectives), repr(record.show())
        else:
            run_step(layers, width)
        counts.append(count[0])
    return counts[1] - counts[0]


def run_step(layers: int, width: int) -> None:
    jax.clear_caches()
    step, args = train_step(layers, width)
    arrays = jax.tree.map(lambda s: jax.device_put(np.zeros(s.shape, s.dtype), s.sharding), args)
    jitted = jax.jit(step)
    jax.block_until_ready(jitted(*arrays))
    jax.block_until_ready(jitted(*arrays))


def bytes_held(layers: int, width: int) -> int:
    """Bytes of live device arrays after everything but the log is dropped, over what was live before."""
    gc.collect()
    before = sum(a.nbytes for a in jax.live_arrays())
    with pi.capture() as log:
        run_step(layers, width)
    jax.clear_caches()
    gc.collect()
    after = sum(a.nbytes for a in jax.live_arrays())
    assert len(log) > 0
    return after - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: the figures mean nothing")
    parser.add_argument("--tiny", action="store_true", help="compiles of tiny functions only")
    given = parser.parse_args()
    quick = given.quick
    layers, width, rounds, calls = (1, 16, 1, 20) if quick else (16, 128, 7, 2000)
    print(f"jax {jax.__version__}, {len(jax.devices())} {jax.devices()[0].platform} devices, ", end="")
    print(f"{os.cpu_count()} cores")
    print_tiny(*((2, 20) if quick else (150, 2000)))
    if given.tiny:
        return
    print(f"{'call':<16}{'bare us':>10}{'watched us':>12}{'ratio':>8}   target 1.02")
    for name, (bare, watched) in steady_state(3 if quick else 25, calls).items():
        middle, over = statistics.median(bare) * 1e6, statistics.median(watched) * 1e6
        print(f"{name:<16}{middle:>10.2f}{over:>12.2f}{ratio(bare, watched):>8.3f}")
    for name, case in call_cases().items():
        every, ours = python_calls(*case)
        print(f"Python functions run in 100 watched calls, {name}: {every}, of this package {ours}   target 0")
    bare, watched, listening = compile_times(layers, width, rounds)
    for number, clock in enumerate(("wall clock", "processors")):
        one, two = [times[number] for times in bare], [times[number] for times in watched]
        print(f"compile of {layers} layers with Adam, {clock}: bare {statistics.median(one):.2f} s, ", end="")
        print(f"watched {statistics.median(two):.2f} s, ratio {ratio(one, two):.3f}   target 1.05")
        print(f"  range of bare {min(one):.2f} to {max(one):.2f} s")
    print(f"in our listener: {statistics.median(listening) * 1e3:.0f} ms of the watched compile, wall clock")
    print(f"extra compiles: {extra_compiles(min(layers, 2), width)}   target 0")
    print(f"device bytes held by the log: {bytes_held(min(layers, 2), width)}   target 0")


if __name__ == "__main__":
    main()
