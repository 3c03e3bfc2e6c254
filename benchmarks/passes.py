"""What XLA's passes cost, against the user's own compile of the same program.

    python benchmarks/passes.py            # some minutes on 2 cores
    python benchmarks/passes.py --quick    # a smoke test: one layer, the figures mean nothing

Measured in this one run, in seconds of wall time, which other work on the machine makes longer: the compile of a
training step; the same compile in a process apart, without and with all passes (target: 1.5 times); reading the passes,
for the strip (target: 3 s); the texts of two steps and their differences (target: 0.3 s a step); the page. Memory is
the most this process held (target: 1 GiB).
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh
from transformer import train_step

import pjit_inspect as pi


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one layer")
    layers = 1 if parser.parse_args().quick else 16
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    step, arguments = train_step(mesh, layers)
    record = pi.inspect(jax.jit(step).lower(*arguments))
    record.what_if()  # starts the process apart
    print(f"jax {jax.__version__}, {layers} layers; compiled by XLA in {record.timings.compile_s or 0:.2f} s")
    bare, _ = timed(lambda: record.what_if(effort="full"))
    whole, asked = timed(lambda: record.what_if(effort="full", passes=True))
    print(f"  apart without passes {bare:8.2f} s")
    print(f"  apart with passes    {whole:8.2f} s   {whole / bare:.2f} times; target 1.5")
    strip, passes = timed(lambda: asked.passes)
    print(f"  the strip            {strip:8.2f} s   target 3; {len(passes)} passes, {len(passes.lives)} lives")
    last = [row.number for row in passes if row.did][-1]
    one, changed = timed(lambda: passes.changed(last))
    print(f"  one step             {one:8.2f} s   target 0.3; {len(changed):,} instructions differ")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "passes.html"
        seconds, _ = timed(lambda: passes.to_html(page))
        print(f"  the page with texts  {seconds:8.2f} s   {page.stat().st_size / 2**20:.1f} MiB")
    print(f"  memory               {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:8.2f} GiB target 1")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = call()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main()
