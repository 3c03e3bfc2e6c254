"""What it takes to show a record as text for the first time, by the number of arrays of its function.

    python benchmarks/display.py            # two minutes on 2 cores
    python benchmarks/display.py --quick    # a smoke test: few arrays, the figures mean nothing

Measured in this one run: the seconds of the first `show("text")` after the call, beside those that XLA takes to compile
the function, and to print it (`compiled.as_text()`), which is what people read otherwise. Every round is a function of
its own. Target: 10,000 arrays in half a second.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import jax.numpy as jnp

import pjit_inspect as pi


def seconds(function: Callable[[], Any]) -> float:
    """Of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(arrays: int) -> tuple[float, float, float]:
    """Compile, text of XLA's, and the first display, of a function of so many arrays that was never compiled before."""
    leaves = {f"leaf{i}": jnp.ones((8,), jnp.float32) for i in range(arrays)}
    step = jax.jit(lambda tree: jax.tree.map(lambda x: x * 2 + 1, tree))
    with pi.capture() as log:
        step(leaves)
    record = log[-1]
    shown = seconds(lambda: record.show("text"))
    compiled = step.lower(leaves).compile()
    return record.timings.compile_s or float("nan"), seconds(compiled.as_text), shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few arrays, one round")
    quick = parser.parse_args().quick
    sizes, rounds = ((10,), 1) if quick else ((100, 1_000, 10_000), 3)
    measure(2)  # What is imported and traced once is not of the first size.
    print(f"jax {jax.__version__}, 8 cpu devices, {os.cpu_count()} cores; measured, the least of {rounds}, seconds")
    print(f"{'arrays':>8}{'XLA compiles':>14}{'XLA prints':>12}{'show text':>11}{'of compile':>12}")
    for arrays in sizes:
        compile_s, text_s, shown_s = map(min, zip(*(measure(arrays) for _ in range(rounds)), strict=True))
        print(f"{arrays:>8,}{compile_s:>14.2f}{text_s:>12.3f}{shown_s:>11.3f}{shown_s / compile_s:>12.0%}")


if __name__ == "__main__":
    main()
