"""What comparing two large programs costs, beside the analyses of both that it needs.

    python benchmarks/diff.py            # minutes: compiles a training step of 16 and of 17 layers
    python benchmarks/diff.py --quick    # a smoke test: 2 and 3 layers, no file of 86k instructions

Measured in this one run: seconds of all analyses of two records, and of `pjit_inspect.diff` of them behind that; and
what both take of this process's processor together, against what XLA took to compile the two (it is asked in a process
apart, which is not counted). Once
for two files of one program with 86k instructions, read with different meshes, so that much differs (files have no
values before partitioning); once for two records of this process, of steps with one layer more and less.

Then the page of both, against the inspector of the program after: bytes, and seconds from the start of the load to all
data, turn by turn in a headless Chromium, with its path in CHROMIUM (needs playwright; without it that is left out).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import numpy as np
from jax.sharding import Mesh
from transformer import train_step

import pjit_inspect as pi

PROGRAM = Path(__file__).parents[1] / "tests" / "data" / "train_step_16_layers.cpu_8.hlo.gz"
LIMIT_S = 2.0
LIMIT_ANALYSES_S = 4.0
LIMIT_OPEN = 1.5
LIMIT_BYTES = 1.6
LOADS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small programs; the figures mean nothing")
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of 3")
    if not options.quick:
        axes = ({"data": 2, "model": 4}, {"data": 4, "model": 2})
        measure("two files", [lambda own=own: pi.open(PROGRAM, mesh=own) for own in axes])
    layers = (2, 3) if options.quick else (16, 17)
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    records = [pi.inspect(*steps[:1], *steps[1]) for steps in (train_step(mesh, number) for number in layers)]
    measure(f"{layers[0]} layers against {layers[1]}", [lambda one=one: one for one in records])


def measure(name: str, makers: list[Callable[[], pi.CompileRecord]]) -> None:
    """Print what one comparison takes."""
    records = [make() for make in makers]
    began, worked = time.perf_counter(), time.process_time()
    for record in records:
        _ = record.report, record.shardings, record.warnings
    analyses = time.perf_counter() - began
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        diff = pi.diff(*records)
        seconds.append(time.perf_counter() - began)
        if len(seconds) == 1:
            worked = time.process_time() - worked
    began = time.perf_counter()
    text = str(diff)
    drawn = time.perf_counter() - began
    counts = " and ".join(f"{record.report.instructions:,}" for record in records)
    middle = statistics.median(seconds)
    print(f"{name}: {counts} instructions, {len(diff.shardings):,} pairs of values, {len(diff.kernels):,} of kernels")
    print(f"  analyses of both   {analyses:6.2f} s")
    print(f"  comparing them     {middle:6.2f} s, the first time {seconds[0]:.2f} s   target {LIMIT_S:.0f}")
    compiles = sum(record.timings.compile_s or 0 for record in records)
    ratio = f", {worked / compiles:.0%} of the two compiles" if compiles else ""
    print(f"  both, once         {worked:6.2f} s of this process{ratio}   target {LIMIT_ANALYSES_S:.0f} s")
    print(f"  as text            {drawn:6.2f} s, {len(text):,} characters")
    print(f"  {diff!r}; not the same work: {'; '.join(diff.data.parity) or 'it is'}")
    with tempfile.TemporaryDirectory() as folder:
        print_pages(Path(folder), diff, records[1])


def print_pages(folder: Path, diff: pi.Diff, after: pi.CompileRecord) -> None:
    """Print how large the page of both programs is and how long it opens, against one inspector."""
    pages = (folder / "compare.html", folder / "inspector.html")
    diff.to_html(pages[0])
    after.to_html(pages[1])
    sizes = [page.stat().st_size for page in pages]
    against = f"the inspector {sizes[1] / 1e3:,.0f} kB, ratio {sizes[0] / sizes[1]:.2f}"
    print(f"  page               {sizes[0] / 1e3:,.0f} kB, {against}   target {LIMIT_BYTES}")
    try:
        seconds = load_seconds(pages)
    except (ImportError, OSError) as error:
        print(f"  opening            not measured: {error}")
        return
    compare, inspector = map(statistics.median, seconds)
    against = f"the inspector {inspector:.2f} s, ratio {compare / inspector:.2f}"
    print(f"  opening            {compare:6.2f} s, {against}   target {LIMIT_OPEN}; medians of {LOADS}")


def load_seconds(pages: tuple[Path, ...]) -> list[list[float]]:
    """Seconds that each page takes to be ready, turn by turn. Raises ImportError or OSError without a browser."""
    from inspector import CHROMIUM, OPTIONS, open_seconds
    from playwright.sync_api import sync_playwright

    if not Path(CHROMIUM).exists():
        raise FileNotFoundError(f"there is no {CHROMIUM}; set CHROMIUM to the path of one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        for page in pages:
            open_seconds(tab, page)
        turns = [[open_seconds(tab, page) for page in pages] for _ in range(LOADS)]
        browser.close()
    return [list(one) for one in zip(*turns, strict=True)]


if __name__ == "__main__":
    main()
