"""What an explanation costs: shardings of every value and a cause for every collective, against XLA's own compile.

    python benchmarks/explain.py            # about two minutes on 2 cores
    python benchmarks/explain.py --quick    # a smoke test: a small program, the figures mean nothing

Measured in this one run: the seconds XLA takes to compile the 16-layer training step, and those that its partitioner,
the causes and the table of shardings take for it. Target: 15 % of the compile; and nothing of it before anybody looks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, TypeVar

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh
from transformer import train_step

import pjit_inspect as pi
from pjit_inspect.analyze.causes.causes import CauseFinder
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.sharding.value_shardings import find_value_shardings
from pjit_inspect.handles.propagate import ask_about_copy
from pjit_inspect.observe.partitioner import service

T = TypeVar("T")


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Seconds of one call, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small program, one repeat")
    quick = parser.parse_args().quick
    layers, rounds = (1, 1) if quick else (16, 5)

    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    step, arguments = train_step(mesh, layers)
    lowered = jax.jit(step).lower(*arguments)
    record = pi.inspect(lowered)
    compile_s = record.timings.compile_s or float("nan")
    looked = record.state.analyses.known.keys() & {"propagation_and_reason", "report"}
    print(f"jax {jax.__version__}, 8 cpu devices, {os.cpu_count()} cores; medians of {rounds}")
    print(f"{layers} layers: {len(record.hlo):,} instructions; compiled by XLA in {compile_s:.2f} s")
    print(f"done before anybody looked: {'something' if looked else 'nothing'}")
    figures = measure(record, rounds)
    total = sum(figures.values())
    for name, seconds in figures.items():
        print(f"  {name:<24}{seconds * 1e3:8.0f} ms {seconds / compile_s:7.1%}")
    print(f"  {'together':<24}{total * 1e3:8.0f} ms {total / compile_s:7.1%}   target 15 %")
    causes = [cause for row in record.collectives for cause in row.causes]
    unknown = sum(cause.kind == "unknown" for cause in causes)
    values = len(record.shardings)
    print(f"{len(record.collectives)} collectives, {len(causes)} causes, {unknown} unknown; {values} values")


def measure(record: Any, rounds: int) -> dict[str, float]:
    """Median seconds of each part; that of the causes is what the collectives take longer with them."""
    bytecode, module, mesh = record.data.stablehlo.read(), record.hlo, record.mesh
    seconds: dict[str, list[float]] = {"XLA's partitioner": [], "causes": [], "table of shardings": []}
    for _ in range(rounds):
        # Answers are kept.
        service.forget_answers()
        spent, copy = timed(lambda: ask_about_copy(record.data, bytecode, timeout_s=600.0))
        program = copy.program
        seconds["XLA's partitioner"].append(spent)
        plain, _ = timed(lambda: find_collectives(module, mesh))
        whole, _ = timed(lambda program=program: find_collectives(module, mesh, causes=CauseFinder(program)))
        seconds["causes"].append(max(0.0, whole - plain))
        spent, _ = timed(lambda program=program: find_value_shardings(ValueNames(program)))
        seconds["table of shardings"].append(spent)
    return {name: statistics.median(values) for name, values in seconds.items()}


if __name__ == "__main__":
    main()
