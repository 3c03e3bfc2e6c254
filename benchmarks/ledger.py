"""What the ledger costs: reading a key at each compile, finding a reason among many, adding a ledger up.

    python benchmarks/ledger.py            # about a minute on 2 cores
    python benchmarks/ledger.py --quick    # a smoke test: few compiles, the figures mean nothing

Keys are read from real compiles; the thousand records of one function are made of those keys, as compiling a thousand
programs takes minutes. Targets: a key at most 0.3 ms, a reason at most 1 ms with 1,000 records of one function.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.recompiles.ledger import Compile, build_ledger
from pjit_inspect.analyze.recompiles.recompiles import KeyHistory
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.watch import record


def step(params: dict[str, Any], x: Any) -> Any:
    """As little as reads every parameter by name."""
    return x.sum() + params["w0"].sum()


def parameters(leaves: int) -> dict[str, Any]:
    """Sharded arrays on a mesh of 2 x 4."""
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    place = NamedSharding(mesh, P("data"))
    return {f"w{i}": jax.device_put(np.ones((8, 8), np.float32), place) for i in range(leaves)}


def recorded(leaves: int, compiles: int) -> tuple[list[RecordData], list[float]]:
    """Records of one function whose batch grows, and the seconds each key took to read."""
    params, function, seconds = parameters(leaves), jax.jit(step), []
    whole: list[float] = []
    kept = record.call_facts, record.key_of
    record.call_facts, record.key_of = timed(record.call_facts, whole), timed(record.key_of, whole)
    try:
        with pi.capture() as log:
            for length in range(1, compiles + 1):
                before = len(whole)
                function(params, np.ones(length, np.float32))
                seconds.append(sum(whole[before:]))
    finally:
        record.call_facts, record.key_of = kept
    return [one.data for one in log.user_records()], seconds


def timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent.append(time.perf_counter() - start)

    return run


def many(records: list[RecordData], count: int) -> list[RecordData]:
    """`count` records of the same function, each with a batch of its own length."""
    made = []
    for number in range(count):
        data = records[number % len(records)]
        assert data.key is not None
        *others, x = data.key.arguments
        x = dataclasses.replace(x, shape=(number + 1,))
        key = dataclasses.replace(data.key, serial=number + 1, arguments=(*others, x))
        made.append(dataclasses.replace(data, key=key))
    return made


def reason_seconds(records: list[RecordData], lookups: int) -> list[float]:
    """Seconds of finding the reason of each of the newest records, in a history that holds all of them."""
    history = KeyHistory()
    for data in records:
        history.add(data)
    seconds = []
    for data in records[-lookups:]:
        start = time.perf_counter()
        reason = history.reason(data)
        seconds.append(time.perf_counter() - start)
        assert reason.sentence.startswith("`x`: length "), reason.sentence
    return seconds


def ledger_seconds(records: list[RecordData]) -> float:
    history = KeyHistory()
    for data in records:
        history.add(data)
    start = time.perf_counter()
    ledger = build_ledger([Compile(index=i, data=d, reason=history.reason(d)) for i, d in enumerate(records)])
    assert ledger.compiles == len(records)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: the figures mean nothing")
    quick = parser.parse_args().quick
    compiles, count = (3, 20) if quick else (12, 1000)
    print(f"jax {jax.__version__}, {os.cpu_count()} cores; {count} records of one function; ms, median (worst)")
    print(f"{'leaves':>6}{'key':>16}{'reason':>16}{'ledger':>10}   targets: key 0.3, reason 1.0")
    for leaves in (1, 100, 1000):
        records, keys = recorded(leaves, compiles)
        thousand = many(records, count)
        reasons = reason_seconds(thousand, min(count - 1, 200))
        # The first key of a program reads its source and makes its arguments' facts; the others find them made.
        shown = [f"{statistics.median(s) * 1e3:.2f} ({max(s) * 1e3:.2f})" for s in (keys, reasons)]
        print(f"{leaves:>6}{shown[0]:>16}{shown[1]:>16}{ledger_seconds(thousand) * 1e3:>10.0f}")


if __name__ == "__main__":
    main()
