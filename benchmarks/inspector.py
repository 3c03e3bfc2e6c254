"""What the inspector costs: seconds in the kernel, bytes saved, and frames in a headless Chromium.

    python benchmarks/inspector.py            # about two minutes on 2 cores
    python benchmarks/inspector.py --quick    # a smoke test: a small program; the figures mean nothing

Needs playwright and a Chromium (Debian's `chromium`, or its path in CHROMIUM). Everything is measured in this one run.

- *kernel*: report and texts known, until the notebook has the output: the payload, its compression, the page; the
  median of three new records.
- *saved*: bytes of that output in the notebook, still display included; *file*: of the exported page.
- *open*: from the start of the page's load to the inspector with all its data, the dearest collective selected.
- *cell to paint*: kernel and open together, as the frame in a notebook loads the same page.
- *graph*: the analysis of scopes and phases by itself; the first *kernel* of a record has it in it.
- *select*: from a click on another row to the end of the next frame; the median of 20.
- *expand*: the graph's largest fold closed or opened by the keyboard, to the end of the next frame; the median of 20.
- *pan*, *zoom*: the graph moved by 12 pixels, or zoomed by 3 % a frame; the median time between frames.
- *scroll*: the optimized HLO's pane moved by two pages a frame; the median time between frames.
- *cell to frame*: nothing of a new record is known yet; until the frame in a notebook's page has its next picture after
  it has all its data. Of a *file*, loading it counts. Bars: 0.15 s, 0.25 s and 0.5 s for some 1,000, 10,000 and 86,000
  instructions, and 1.5 s for a file of these.
- *mesh*: 64 x 64 devices; the first picture, and the median frame while the pointer crosses the mesh.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests" / "view")]

import view_reports  # noqa: E402
from parse import LARGE, PROGRAM, SMALL_PROGRAM, program_proto, program_text, repeated  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

import pjit_inspect as pi  # noqa: E402
from pjit_inspect.analyze.graph.build import find_graph  # noqa: E402
from pjit_inspect.model.report.collective import Collective, CollectiveTable  # noqa: E402
from pjit_inspect.view.inspector.page import inspector_page  # noqa: E402
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload  # noqa: E402

TITLES = (
    "graph s",
    "kernel s",
    "saved kB",
    "file kB",
    "open s",
    "cell to paint s",
    "select ms",
    "expand ms",
    "pan ms",
    "zoom ms",
    "scroll ms",
)
NAMES = ("chromium", "google-chrome", "chromium-browser")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), NAMES[0])
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]

FRAMES = """async (step) => {
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < 90; i++) {
    step(i);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times.sort((a, b) => a - b)[45];
}"""

SELECT = """async () => {
  const times = [];
  for (let i = 0; i < 20; i++) {
    const rows = document.querySelectorAll(".row");
    const row = rows[(i * 3 + 1) % rows.length];
    const start = performance.now();
    row.click();
    await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[10];
}"""


EXPAND = """async () => {
  const tree = document.querySelector(".graphtree");
  const press = (key) => tree.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  const current = () => [...tree.children].find((one) => one.ariaSelected === "true");
  document.querySelector(".graphbar [title^=Open]").click();
  tree.focus();
  press("Home");
  const items = [...tree.children], largest = items.findIndex((one) => / \\u00d7\\d+, shown/.test(one.textContent));
  for (let i = 0; i < Math.max(0, largest); i++) press("ArrowDown");
  if (current()?.ariaExpanded === null) return null;
  const times = [];
  for (let i = 0; i < 20; i++) {
    await new Promise((done) => setTimeout(done, 100));
    const start = performance.now();
    press("Enter");
    await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[10];
}"""

FRAME = """async (output) => {
  const start = performance.now();
  const ready = new Promise((done) => addEventListener("message", ({ data }) => data?.pjitInspect?.isOpen && done()));
  document.body.append(document.createRange().createContextualFragment(output));
  await ready;
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  return (performance.now() - start) / 1000;
}"""

PAN = "(i) => { document.querySelector('.graphbox').scrollTop = (i % 45) * 12; }"
ZOOM = """(i) => document.querySelector(".graphbox").dispatchEvent(
  new WheelEvent("wheel", {ctrlKey: true, deltaY: i < 45 ? -3 : 3, cancelable: true, clientX: 600, clientY: 300}))"""


def main() -> None:
    """Print every figure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a small program; the figures mean nothing")
    quick = options.parse_args().quick
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        print(f"Chromium {browser.version}, {os.cpu_count()} cores")
        print(f"{'program':<28}" + "".join(f"  {title}" for title in TITLES))
        for name, path in programs(Path(folder), quick=quick):
            print_program(browser, name, path, Path(folder))
        for name in (SMALL_PROGRAM,) if quick else ("mlp_step.cpu_8", SMALL_PROGRAM, PROGRAM):
            print_frame(browser, name, lambda name: pi.open(ROOT / "tests" / "data" / f"{name}.hlo.gz"))
        file = Path(folder) / "record.pjit"
        pi.open(ROOT / "tests" / "data" / f"{SMALL_PROGRAM if quick else PROGRAM}.hlo.gz").save(file)
        print_frame(browser, "file of the last", lambda _: pi.load(file), is_file=True)
        print_mesh(browser, Path(folder))
        print_ten(Path(folder))
        browser.close()


def programs(folder: Path, *, quick: bool) -> list[tuple[str, Path]]:
    """The programs, as files."""
    name = SMALL_PROGRAM if quick else PROGRAM
    text = program_text(name)
    found = [(name, ROOT / "tests" / "data" / f"{name}.hlo.gz")]
    if not quick:
        large = folder / "large.hlo.pb"
        large.write_bytes(repeated(program_proto(text), LARGE))
        found.append((f"{LARGE:,} instructions", large))
    return found


def print_program(browser: Any, name: str, path: Path, folder: Path) -> None:
    """One row of the table."""
    graph, kernel = (statistics.median(times) for times in zip(*(kernel_seconds(path) for _ in range(3)), strict=True))
    record = pi.open(path)
    output = record.show(times=False)._repr_mimebundle_()["text/html"]
    page_file = folder / "page.html"
    record.to_html(page_file)
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    opened = statistics.median(open_seconds(page, page_file) for _ in range(5))
    select = page.evaluate(SELECT)
    expand = page.evaluate(EXPAND)
    pan, zoom = (page.evaluate(f"({FRAMES})({step})") for step in (PAN, ZOOM))
    page.click("[data-tab=text]")
    pane = "[...document.querySelectorAll('.scroll')].at(-1)"
    has_text = page.evaluate(f"Boolean({pane})")
    scroll = page.evaluate(f"({FRAMES})((i) => {{ {pane}.scrollTop = i * 800; }})") if has_text else None
    page.close()
    sizes = (
        f"{graph:.2f}",
        f"{kernel:.2f}",
        f"{len(output) / 1e3:,.0f}",
        f"{page_file.stat().st_size / 1e3:,.0f}",
        f"{opened:.2f}",
    )
    times = (
        f"{kernel + opened:.2f}",
        f"{select:.1f}",
        "no fold" if expand is None else f"{expand:.1f}",
        f"{pan:.1f}",
        f"{zoom:.1f}",
        "no text" if scroll is None else f"{scroll:.1f}",
    )
    figures = zip((*sizes, *times), TITLES, strict=True)
    print(f"{name:<28}" + "".join(f"{figure:>{len(title) + 2}}" for figure, title in figures))


def kernel_seconds(path: Path) -> tuple[float, float]:
    """The graph by itself, and all of a new record's first display."""
    record = pi.open(path)
    assert record.report.collectives is not None  # the analyses are not the inspector's, nor is XLA's printer
    assert record.hlo_text is None or record.hlo_text
    start = time.perf_counter()
    find_graph(record.hlo, record.report.collectives)
    graph = time.perf_counter() - start
    start = time.perf_counter()
    record.show(times=False)._repr_mimebundle_()
    return graph, time.perf_counter() - start


def print_frame(browser: Any, name: str, make: Callable[[str], Any], *, is_file: bool = False) -> None:
    """From the end of a cell to a picture, the median of three; the first, which starts processes, is not counted."""
    found = []
    for _ in range(4):
        begin = time.perf_counter()
        record = make(name)
        start = begin if is_file else time.perf_counter()
        output = record.show(times=False)._repr_mimebundle_()["text/html"]
        kernel = time.perf_counter() - start
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.evaluate(FRAME, output)  # as in a notebook that has a frame already
        found.append((kernel, page.evaluate(FRAME, output)))
        page.close()
    kernel, painted = (statistics.median(times) for times in zip(*found[1:], strict=True))
    words = f"{name}, {len(record.hlo):,} instructions: cell to frame {kernel + painted:.2f} s"
    print(f"{words} (kernel {kernel:.2f}, frame {painted:.2f})")


def open_seconds(page: Any, path: Path) -> float:
    """From the start of the load to the inspector with all its data."""
    page.goto("about:blank")
    page.goto(path.as_uri())
    page.wait_for_selector("[data-ready]")
    return page.evaluate("performance.getEntriesByName('pjit-ready')[0].startTime") / 1e3


def print_mesh(browser: Any, folder: Path) -> None:
    """The mesh of 4,096 devices."""
    mesh = view_reports.mesh_of(data=64, model=64)
    groups = tuple(tuple(range(row * 64, row * 64 + 64)) for row in range(64))
    row = Collective(
        kind="all-gather",
        axes=("model",),
        groups=groups,
        dtype="f32",
        local_shape=(8, 8),
        payload_bytes=256,
        wire_bytes=16128,
    )
    report = view_reports.mlp("data")
    arrays = (view_reports.array("x", "float32", (4096, 4096), mesh, "data", "model"),)
    data = dataclasses.replace(
        report.data, mesh=mesh, meshes=(mesh,), devices=view_reports.devices_of(4096), inputs=arrays
    )
    report = dataclasses.replace(report, data=data, collectives=CollectiveTable((row,)), totals=())
    path = folder / "mesh.html"
    path.write_text(inspector_page(inspector_payload(InspectorInput(report=report))), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    opened = statistics.median(open_seconds(page, path) for _ in range(5))
    frame = page.evaluate(
        f"""() => {{
          const canvas = document.querySelector(".meshbox canvas"), box = canvas.getBoundingClientRect();
          return ({FRAMES})((i) => canvas.dispatchEvent(new MouseEvent("mousemove", {{
            clientX: box.left + 70 + i * 4, clientY: box.top + 30 + (i % 50), bubbles: true }})));
        }}"""
    )
    page.close()
    print(f"mesh of 4,096 devices: open {opened:.2f} s, frame {frame:.1f} ms, file {path.stat().st_size / 1e3:,.0f} kB")


def print_ten(folder: Path) -> None:
    """Ten inspectors in one notebook."""
    record = pi.open(ROOT / "tests" / "data" / f"{SMALL_PROGRAM}.hlo.gz")
    assert record.report is not None
    start = time.perf_counter()
    saved = sum(len(record.show(times=False)._repr_mimebundle_()["text/html"]) for _ in range(10))
    took = time.perf_counter() - start
    print(f"ten inspectors of {SMALL_PROGRAM}: {saved / 1e6:.1f} MB saved, {took:.1f} s of kernel time")


if __name__ == "__main__":
    main()
