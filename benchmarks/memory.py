"""How long it takes to find what is alive in memory, beside parsing the program: 16 layers, 85,912 instructions.

    python benchmarks/memory.py [--runs 5]

Prints the least CPU time of several runs, and each as a part of what parsing takes in the same run. The aim is 0.5 s.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "data")]

import hlo_fixtures  # noqa: E402

from pjit_inspect.analyze.graph.build import find_graph  # noqa: E402
from pjit_inspect.analyze.memory.memory_use import MemoryFinder  # noqa: E402
from pjit_inspect.analyze.memory.occupancy import occupancy_of  # noqa: E402
from pjit_inspect.analyze.memory.values_named import MemoryFacts  # noqa: E402
from pjit_inspect.model.report.collective import CollectiveTable  # noqa: E402
from pjit_inspect.parse.hlo_proto.hlo import parse_program  # noqa: E402


def main() -> None:
    """Time each step, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    proto = hlo_fixtures.proto(hlo_fixtures.LARGE)
    module = parse_program(proto)
    graph = find_graph(module, CollectiveTable(()))
    steps: dict[str, Callable[[], Any]] = {
        "parse the program": lambda: parse_program(proto),
        "live ranges, and what lies where": lambda: occupancy_of(parsed(proto)),
        "all of memory_use": lambda: MemoryFinder(
            occupancy_of(parsed(proto)), MemoryFacts(graph=graph, platform="cpu")
        ).found(),
    }
    print(f"{len(module):,} instructions, {len(module.order):,} of them ordered")
    first = None
    for name, step in steps.items():
        seconds = min(timed(step, runs))
        first = first or seconds
        print(f"{name:36}{1000 * seconds:8.0f} ms{seconds / first:8.2f} x parsing")


_READY: list[Any] = []


def parsed(proto: bytes) -> Any:
    """A module that nobody has asked anything yet; made before the clock starts."""
    return _READY.pop() if _READY else parse_program(proto)


def timed(step: Callable[[], Any], runs: int) -> list[float]:
    """Seconds of each run."""
    seconds = []
    for _ in range(runs):
        _READY[:] = [parse_program(hlo_fixtures.proto(hlo_fixtures.LARGE))]
        start = time.process_time()
        step()
        seconds.append(time.process_time() - start)
    return seconds


if __name__ == "__main__":
    main()
