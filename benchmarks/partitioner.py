"""What an answer of XLA's partitioner costs, against the user's own compile of the same program.

    python benchmarks/partitioner.py            # about two minutes on 2 cores
    python benchmarks/partitioner.py --quick    # a smoke test: a small program, the figures mean nothing

Measured in this one run: the seconds of XLA's compile of a training step of 4 and of 16 layers, and from a question to
its answer: the first one, which starts the server, and later ones, which are not answered from memory. Target: 15 % of
the compile. Also counted: the collectives of the compiled program that the answer has, by channel and kind.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh
from transformer import train_step

import pjit_inspect as pi
from pjit_inspect.observe.contract._jax import hlo_module
from pjit_inspect.observe.partitioner.service import Partitioned, ask_partitioner, stop_server

COLLECTIVE = re.compile(
    r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(.*?channel_id=(\d+)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small program, one repeat")
    quick = parser.parse_args().quick
    sizes, rounds = ((1,), 1) if quick else ((4, 16), 5)
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    print(f"jax {jax.__version__}, 8 cpu devices, {os.cpu_count()} cores; medians of {rounds}")
    for layers in sizes:
        step, arguments = train_step(mesh, layers)
        measure(layers, pi.inspect(jax.jit(step).lower(*arguments)), rounds)


def measure(layers: int, record: pi.CompileRecord, rounds: int) -> None:
    """Ask about one compiled program and print what it took."""
    program, flags = record.data.stablehlo.read(), record.data.flags
    compile_s = record.timings.compile_s or float("nan")
    stop_server()
    first, found = seconds(program, flags)
    later = statistics.median(seconds(program, flags)[0] for _ in range(rounds))
    compiled, asked = (channels(hlo_module(proto).to_string()) for proto in (record.data.hlo.read(), found.after))
    print(f"{layers} layers: {len(program) >> 10:,} KiB of StableHLO; compiled by XLA in {compile_s:.2f} s")
    print(f"  first question        {first * 1e3:8.0f} ms {first / compile_s:7.1%}")
    print(f"  later questions       {later * 1e3:8.0f} ms {later / compile_s:7.1%}   target 15 %")
    same = len(compiled.items() & asked.items())
    print(f"  {len(asked)} collectives as partitioned; of {len(compiled)} compiled ones {same} are among them")


def seconds(program: bytes, flags: dict[str, str]) -> tuple[float, Partitioned]:
    """How long an answer takes that is not known yet, and the answer."""
    start = time.perf_counter()
    # A flag of JAX's is no option of the compiler, but makes another question.
    found = ask_partitioner(program, devices=8, flags={**flags, "jax_asked_at": str(start)})
    return time.perf_counter() - start, found


def channels(hlo: str) -> dict[str, str]:
    """Channel -> kind, of every collective in a program's text."""
    return {number: kind for kind, number in COLLECTIVE.findall(hlo)}


if __name__ == "__main__":
    main()
