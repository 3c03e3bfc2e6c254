"""What joining the records of 64 processes costs: seconds of `pjit_inspect.merge`, of processes that are simulated.

    python benchmarks/merge.py            # about a minute on 2 cores
    python benchmarks/merge.py --quick    # a smoke test: eight processes, the figures mean nothing

One process compiles a train step and small programs for 256 fake devices; each record is written 64 times, as 64
processes with four devices each would have saved it. Target: 64 processes with two programs each in 2 s.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUM_CPU_DEVICES"] = "32" if "--quick" in sys.argv else "256"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.files.record_folder import file_name, folder_name

EACH = 4
PROCESSES = int(os.environ["JAX_NUM_CPU_DEVICES"]) // EACH


def compiled(small: int) -> pi.Log:
    """A train step of four layers, and as many small programs."""
    mesh = Mesh(np.array(jax.devices()).reshape(PROCESSES, EACH), ("data", "model"))

    def array(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))

    def loss(params, x):
        for layer in params:
            x = x + jax.nn.relu(x @ layer["up"]) @ layer["down"]
        return (x**2).mean()

    def step(params, x):
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss)(params, x))

    layer = {"up": array((64, 256), None, "model"), "down": array((256, 64), "model", None)}
    rows = 2 * PROCESSES
    with pi.capture() as log:
        jax.jit(step).lower([layer] * 4, array((rows, 64), "data", None)).compile()
        for number in range(small):
            jax.jit(lambda x, number=number: (x * number).sum(0)).lower(array((rows, 64), "data", "model")).compile()
    return log


def write_all(log: pi.Log, folder: Path) -> None:
    """The records as every process would have saved them."""
    first = folder / "first.pjit"
    for number, record in enumerate(log):
        record.save(first)
        data = read_record(first)
        for process in range(PROCESSES):
            place = folder / folder_name(process, PROCESSES)
            place.mkdir(exist_ok=True)
            write_record(of_process(data, process, number), place / file_name(number, data.name))
    first.unlink()


def of_process(data: RecordData, process: int, number: int) -> RecordData:
    assert data.key is not None
    return replace(
        data,
        devices=tuple(replace(device, process=device.id // EACH) for device in data.devices),
        process_index=process,
        process_count=PROCESSES,
        key=replace(data.key, process=f"process {process}", serial=number),
    )


def seconds(folder: Path, rounds: int) -> tuple[Sequence[float], Sequence[float]]:
    """Of some merges: wall clock, and processors."""
    wall, processors = [], []
    for _ in range(rounds):
        start, start_cpu = time.perf_counter(), time.process_time()
        merged = pi.merge(folder)
        wall.append(time.perf_counter() - start)
        processors.append(time.process_time() - start_cpu)
        assert merged, str(merged)
        assert len(merged.processes) == PROCESSES
    return wall, processors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: the figures mean nothing")
    quick = parser.parse_args().quick
    for programs in (2, 10):
        with tempfile.TemporaryDirectory() as folder:
            write_all(compiled(programs - 1), Path(folder))
            wall, processors = seconds(Path(folder), 1 if quick else 5)
        target = "   target 2 s" if programs == 2 else ""
        print(f"{PROCESSES} processes with {programs} programs each: ", end="")
        print(f"{statistics.median(wall):.2f} s, of processors {statistics.median(processors):.2f} s{target}")


if __name__ == "__main__":
    main()
