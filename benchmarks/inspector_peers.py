"""The inspector beside Model Explorer and jaxviz: the same instructions, the same headless Chromium, one run.

    python benchmarks/inspector_peers.py                 # about ten minutes on 2 cores: some peers run into the limit
    python benchmarks/inspector_peers.py --quick         # the small program only
    python benchmarks/inspector_peers.py --folder PEERS  # keep the peers' environments there for the next run

Needs playwright, a Chromium (`/usr/bin/chromium`, or its path in CHROMIUM), and pip's access to PyPI: each peer is
installed into an environment of its own, none is a dependency of this project.

- *Model Explorer* (`ai-edge-model-explorer`): reads TensorFlow, TFLite, PyTorch, MLIR and its own JSON; no HLO text. So
  the program is written as its JSON: a node for each instruction of every computation, an edge for each operand and
  from each called computation's root to its caller, groups by JAX's scopes; instructions without a scope in a group of
  their own, bodies in a group by their caller's name. Its picture is WebGL, here drawn in software: a GPU is faster.
- *jaxviz* 0.1.4: its own reader and page, given the text of the optimized program (by itself it compiles the function
  anew). It leaves out what returns tuples and the bodies of loops.

- *build*: from the parsed program (ours), or the program's text (jaxviz), to the file; Model Explorer: the JSON.
- *kB*: all bytes that reach the browser. *paint*: the browser's first contentful paint. *ready*: the picture stands and
  answers (ours: all data of the inspector; Model Explorer: its progress is gone; jaxviz: nodes are in the page).
- *expand*: from the click on the first closed group to the second frame with it open.
- *pan*, *zoom*: the median frame while the picture is moved, while the wheel zooms it.
- "over N s" stands for what had not ended by then; "cannot" for what there is not, with the reason
  below; "unknown" for what this script could not measure.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import venv
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from inspector import CHROMIUM, EXPAND, OPTIONS, PAN, ZOOM  # noqa: E402
from inspector import FRAMES as OUR_FRAMES  # noqa: E402
from parse import DATA, PROGRAM, SMALL_PROGRAM  # noqa: E402
from playwright.sync_api import Error, sync_playwright  # noqa: E402
from playwright.sync_api import TimeoutError as GivenUp  # noqa: E402

import pjit_inspect as pi  # noqa: E402
from pjit_inspect.model.program.hlo import Computation, HloModule, Instruction  # noqa: E402

TOOLS = ("ours", "Model Explorer", "jaxviz")
PEERS = {"Model Explorer": "ai-edge-model-explorer==0.1.34", "jaxviz": "jaxviz==0.1.4"}
COLUMNS = ("build s", "kB", "paint s", "ready s", "expand ms", "pan ms", "zoom ms")
NO_GROUP = "the page has no closed group"

JAXVIZ = """
import gzip, sys
import jaxviz.hlo_to_graph as reader
from jaxviz.render import plot_graph
text = gzip.open(sys.argv[1], "rt").read()
reader._dump_compiled_hlo = lambda lowered: text
b = reader.build_hlo_graph(None)
names = ("adj_list", "module_info", "func_info", "node_to_module_path", "parent_module_to_nodes",
         "parent_module_to_depth", "graph_node_name_to_without_suffix", "graph_node_display_names",
         "node_to_attr_name", "ancestor_map")
page = plot_graph(*(b[name] for name in names), 0, 720, None, None, False, b["repeat_containers"],
                  show_modular_view=False, return_html=True)
open(sys.argv[2], "w").write("<!doctype html><meta charset=utf-8><body>" + page)
print(len(b["adj_list"]))
"""

WATCH = """
window.peer = {messages: 0};
window.Worker = class extends Worker {
  constructor(...given) { super(...given); this.addEventListener("message", () => { window.peer.messages++; }); }
};
new MutationObserver(() => {
  const busy = document.querySelector(".loading"), done = performance.now();
  if (busy) window.peer.began = done;
  else if (window.peer.began && !window.peer.ready && document.querySelector("canvas.main")) window.peer.ready = done;
  if (!window.peer.nodes && document.querySelector("svg g.node")) window.peer.nodes = done;
}).observe(document, {childList: true, subtree: true});
"""

FRAMES = """async ([selector, kind, ctrl]) => {
  const found = [...document.querySelectorAll(selector)].map((e) => [e, e.getBoundingClientRect()]);
  found.sort((a, b) => b[1].width * b[1].height - a[1].width * a[1].height);
  if (!found.length) return null;
  const [target, box] = found[0], x = box.left + box.width / 2, y = box.top + box.height / 2;
  const at = (i) => ({clientX: x + (i % 30) * 4, clientY: y + (i % 20) * 3, bubbles: true, cancelable: true,
                      view: window, buttons: 1, ctrlKey: ctrl});
  const send = (name, i) => {
    target.dispatchEvent(new PointerEvent("pointer" + name, {...at(i), pointerId: 1, isPrimary: true}));
    target.dispatchEvent(new MouseEvent("mouse" + name, at(i)));
  };
  const wheel = (i) => new WheelEvent("wheel", {...at(0), buttons: 0, deltaY: i % 2 ? -40 : 40});
  const step = {drag: (i) => send("move", i), scroll: (i) => { target.scrollTop = i * 800; },
    wheel: (i) => target.dispatchEvent(wheel(i))}[kind];
  if (kind === "drag") send("down", 0);
  const times = [], start = performance.now();
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < 60 && performance.now() - start < 15000; i++) {
    step(i);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  if (kind === "drag") send("up", 0);
  return times.sort((a, b) => a - b)[times.length >> 1];
}"""

TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"

GROUP_BOX = """async ([png, fill]) => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, image.width, image.height).data;
  let best = [0, 0, 0];
  for (let y = 110; y < image.height - 130; y += 2) {
    for (let x = 10, run = 0; x < image.width - 380; x++) {
      const same = fill.every((part, k) => Math.abs(data[(y * image.width + x) * 4 + k] - part) < 3);
      run = same ? run + 1 : 0;
      if (run > best[0]) best = [run, x - run / 2, y];
    }
  }
  return best;
}"""


SWATCH = """() => {
  const colors = [...document.querySelectorAll("[class*=legend] *")].map((e) => getComputedStyle(e).backgroundColor);
  const found = colors.find((color) => color.startsWith("rgb(2") && color !== "rgb(255, 255, 255)");
  return found ? found.match(/\\d+/g).slice(0, 3).map(Number) : [236, 239, 241];
}"""

JAXVIZ_EXPAND = """() => document.querySelector("svg g.node circle").dispatchEvent(
  new MouseEvent("click", {bubbles: true, view: window}))"""


class NotFoundError(Exception):
    """This script does not know how to measure it; the tool can do it."""


@dataclass(kw_only=True)
class Figures:
    """One row: what could be measured, and the reasons for the rest."""

    tool: str
    columns: dict[str, float | str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    kept: str = ""
    versions: str = ""

    def keep(self) -> None:
        """Write what is known, for the process that waits."""
        Path(self.kept).write_text(json.dumps(asdict(self)), encoding="utf-8")

    def cannot(self, *columns: str, why: str) -> None:
        """Say that some columns cannot be had."""
        self.columns |= dict.fromkeys(columns, "cannot")
        self.reasons.append(f"{self.tool}: {', '.join(columns)}: {why}")


def main() -> None:
    """Print every figure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="the small program only")
    options.add_argument("--folder", type=Path, help="where the peers' environments are kept")
    options.add_argument("--limit", type=float, default=60.0, help="seconds after which a step is given up")
    options.add_argument("--row", nargs=4, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.row:
        measure_row(given.row[0], given.row[1], Path(given.row[2]), Path(given.row[3]), given.limit)
        return
    with tempfile.TemporaryDirectory() as scratch:
        home = given.folder or Path(scratch)
        peers = {name: installed(name, home) for name in PEERS}
        for program in (SMALL_PROGRAM,) if given.quick else (SMALL_PROGRAM, PROGRAM):
            print_program(program, {tool: row_of(tool, program, peers, Path(scratch), given.limit) for tool in TOOLS})


def row_of(tool: str, program: str, peers: dict[str, Path | str], scratch: Path, limit: float) -> Figures:
    """One row, measured by a process of its own: a page that blocks its browser blocks whoever drives it."""
    commands = peers.get(tool, scratch)
    if isinstance(commands, str):
        row = Figures(tool=tool)
        row.cannot(*COLUMNS, why=commands)
        return row
    command = [sys.executable, __file__, "--limit", str(limit), "--row", tool, program, str(commands), str(scratch)]
    kept = scratch / "row.json"
    kept.unlink(missing_ok=True)
    started = subprocess.Popen(command, start_new_session=True)
    try:
        started.wait(timeout=3 * limit)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    row = Figures(**json.loads(kept.read_text())) if kept.exists() else Figures(tool=tool)
    missing = [title for title in COLUMNS if title not in row.columns]
    if missing:
        row.cannot(*missing, why=f"the page did not answer within {3 * limit:.0f} s")
    return row


def measure_row(tool: str, program: str, commands: Path, scratch: Path, limit: float) -> None:
    """Measure one row and keep it in a file, column by column."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS, "--enable-unsafe-swiftshader"])
        bench = Bench(browser, scratch, limit)
        row = Figures(tool=tool, kept=str(scratch / "row.json"), versions=f"Chromium {browser.version}")
        path = DATA / f"{program}.hlo.gz"
        if tool == "jaxviz":
            of_jaxviz(row, path, bench, commands)
        else:
            record = pi.open(path)
            assert record.report is not None  # the analyses are not the page's
            of_ours(row, record, bench) if tool == "ours" else of_model_explorer(row, record, bench, commands)
        row.keep()


def installed(name: str, folder: Path) -> Path | str:
    """The folder of a peer's commands; the reason where it cannot be installed."""
    home = folder / name.replace(" ", "_")
    if not (home / "installed").exists():
        venv.create(home, with_pip=True)
        command = [home / "bin" / "pip", "install", "--quiet", PEERS[name]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{PEERS[name]} was not installed: {done.stderr.strip().splitlines()[-1]}"
        (home / "installed").touch()
    return home / "bin"


@dataclass(frozen=True)
class Bench:
    """What every measurement needs: the browser, a folder, seconds after which a step is given up."""

    browser: Any
    folder: Path
    limit: float

    @contextmanager
    def page(self):
        """A page that counts what reaches it."""
        page = self.browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(self.limit * 1e3)
        page.add_init_script(WATCH)
        sizes: list[float] = []
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        try:
            yield page, sizes
        finally:
            page.close()


def print_program(program: str, rows: dict[str, Figures]) -> None:
    """The table of one program."""
    ours, peers = rows["ours"], [row for row in rows.values() if row.tool != "ours"]
    print(f"\n{program}; {ours.versions}, {os.cpu_count()} cores")
    print(f"{'':<22}" + "".join(f"{title:>11}" for title in COLUMNS))
    for row in rows.values():
        print(f"{row.tool:<22}" + "".join(f"{shown(row.columns[title]):>11}" for title in COLUMNS))
    for row in peers:
        print(f"{row.tool + ' / ours':<22}" + "".join(f"{ratio(row, ours, title):>11}" for title in COLUMNS))
    for reason in dict.fromkeys(reason for row in rows.values() for reason in row.reasons):
        print(f"  {reason}")
    sys.stdout.flush()


def shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def ratio(row: Figures, ours: Figures, title: str) -> str:
    one, other = row.columns.get(title), ours.columns.get(title)
    return f"{one / other:,.1f} x" if isinstance(one, float) and isinstance(other, float) and other else "-"


def timed(row: Figures, title: str, measure: Callable[[], float], limit: float) -> bool:
    """Fill one column; False when the browser did not answer within the limit."""
    try:
        row.columns[title] = float(measure())
    except GivenUp:
        row.columns[title] = f"over {limit:.0f} s"
        return False
    except NotFoundError as error:
        row.columns[title] = "unknown"
        row.reasons.append(f"{row.tool}: {title}: {error}")
    except (Error, LookupError) as error:
        row.cannot(title, why=str(error).splitlines()[0][:160])
    row.keep()
    return True


def paint_s(page: Any) -> float:
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3


def frames_ms(page: Any, selector: str, kind: str, *, ctrl: bool = False) -> float:
    median = page.evaluate(FRAMES, [selector, kind, ctrl])
    if median is None:
        raise LookupError("the page has nothing to move")
    return median


# ---------------------------------------------------------------- ours


def of_ours(row: Figures, record: pi.CompileRecord, bench: Bench) -> None:
    """The exported inspector."""
    path = bench.folder / "ours.html"
    start = time.perf_counter()
    record.to_html(path)
    row.columns["build s"] = time.perf_counter() - start
    row.columns["kB"] = path.stat().st_size / 1e3
    with bench.page() as (page, _):
        page.goto(path.as_uri())
        page.wait_for_selector("[data-ready]")
        row.columns["ready s"] = page.evaluate("performance.getEntriesByName('pjit-ready')[0].startTime") / 1e3
        row.columns["paint s"] = paint_s(page)
        timed(row, "expand ms", lambda: our_expand(page), bench.limit)
        timed(row, "pan ms", lambda: page.evaluate(f"({OUR_FRAMES})({PAN})"), bench.limit)
        timed(row, "zoom ms", lambda: page.evaluate(f"({OUR_FRAMES})({ZOOM})"), bench.limit)


def our_expand(page: Any) -> float:
    milliseconds = page.evaluate(EXPAND)
    if milliseconds is None:
        raise LookupError(NO_GROUP)
    return milliseconds


# ---------------------------------------------------------------- Model Explorer


def of_model_explorer(row: Figures, record: pi.CompileRecord, bench: Bench, commands: Path) -> None:
    """Model Explorer's own server and page, given the program as its JSON."""
    assert record.hlo is not None
    path = bench.folder / "program.json"
    start = time.perf_counter()
    path.write_text(json.dumps([{"id": "program", "nodes": explorer_nodes(record.hlo)}]), encoding="utf-8")
    row.columns["build s"] = time.perf_counter() - start
    with served(commands, path) as address, bench.page() as (page, sizes):
        page.goto(address)
        if not timed(row, "ready s", lambda: explorer_ready_s(page), bench.limit):
            return
        row.columns["paint s"] = paint_s(page)
        row.columns["kB"] = sum(sizes) / 1e3
        timed(row, "expand ms", lambda: explorer_expand_ms(page), bench.limit)
        timed(row, "pan ms", lambda: frames_ms(page, "canvas.main", "drag"), bench.limit)
        timed(row, "zoom ms", lambda: frames_ms(page, "canvas.main", "wheel", ctrl=True), bench.limit)


def explorer_nodes(module: HloModule) -> list[dict[str, Any]]:
    """A node for each instruction."""
    spaces: dict[int, str] = {}
    computations = [module.computation(index) for index in range(len(module.computations.names))]
    return [explorer_node(instruction, spaces) for computation in computations for instruction in computation]


def explorer_node(instruction: Instruction, spaces: dict[int, str]) -> dict[str, Any]:
    sources = [*instruction.operands, *(computation.root for computation in instruction.called)]
    return {
        "id": instruction.name,
        "label": instruction.opcode,
        "namespace": group_of(instruction, spaces),
        "incomingEdges": [
            {"sourceNodeId": source.name, "sourceNodeOutputId": "0", "targetNodeInputId": str(place)}
            for place, source in enumerate(sources)
        ],
        "attrs": [{"key": "shape", "value": str(instruction.shape)}, {"key": "op_name", "value": instruction.op_name}],
    }


def group_of(instruction: Instruction, spaces: dict[int, str]) -> str:
    """The group an instruction stands in: its caller's, or that of its scope."""
    computation = instruction.computation
    if computation.callers:
        return body_of(computation, spaces)
    if instruction.opcode == "parameter":
        return "parameters"
    return "/".join(instruction.op_name.split("/")[:-1]) or "without a scope"


def body_of(computation: Computation, spaces: dict[int, str]) -> str:
    if computation.index not in spaces:
        caller = computation.callers[0]
        spaces[computation.index] = f"{group_of(caller, spaces)}/{caller.name}"
    return spaces[computation.index]


@contextmanager
def served(commands: Path, path: Path):
    """Model Explorer's server; the address of the program in it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [commands / "model-explorer", "--no_open_in_browser", "--skip_health_check", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://localhost:{port}/", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        given = urllib.parse.quote(json.dumps({"models": [{"url": str(path)}]}))
        yield f"http://localhost:{port}/?data={given}"
    finally:
        server.terminate()
        server.wait()


def explorer_ready_s(page: Any) -> float:
    page.wait_for_function("window.peer.ready")
    return page.evaluate("window.peer.ready") / 1e3


def explorer_expand_ms(page: Any) -> float:
    """Double-click the widest closed group, found by its colour, as the picture is WebGL; until its worker answered."""
    png = page.screenshot()
    swatch = page.evaluate(SWATCH)
    run, x, y = page.evaluate(GROUP_BOX, [base64.b64encode(png).decode(), swatch])
    if run < 8:
        raise NotFoundError("its picture is WebGL, and this script did not find a closed group in it to click")
    before = page.evaluate("window.peer.messages")
    page.mouse.move(x, y)
    start = time.perf_counter()
    page.mouse.dblclick(x, y)
    page.wait_for_function(f"window.peer.messages > {before}")
    page.evaluate(f"({TWO_FRAMES})()")
    return (time.perf_counter() - start) * 1e3


# ---------------------------------------------------------------- jaxviz


def of_jaxviz(row: Figures, path: Path, bench: Bench, commands: Path) -> None:
    """jaxviz' page of the optimized program's text."""
    page_file = bench.folder / "jaxviz.html"
    start = time.perf_counter()
    try:
        command = [commands / "python", "-c", JAXVIZ, path, page_file]
        nodes = subprocess.run(command, capture_output=True, text=True, check=True, timeout=bench.limit).stdout.strip()
    except subprocess.TimeoutExpired:
        row.columns["build s"] = f"over {bench.limit:.0f}"
        row.cannot(*COLUMNS[1:], why=f"its page was not written after {bench.limit:.0f} s")
        return
    row.columns["build s"] = time.perf_counter() - start
    row.columns["kB"] = page_file.stat().st_size / 1e3
    row.reasons.append(f"jaxviz: its page has {int(nodes):,} nodes, which Graphviz lays out in the browser")
    row.keep()
    with bench.page() as (page, _):
        page.goto(page_file.as_uri(), wait_until="commit")
        if not timed(row, "ready s", lambda: jaxviz_ready_s(page), bench.limit):
            return
        row.columns["paint s"] = paint_s(page)
        timed(row, "expand ms", lambda: jaxviz_expand_ms(page), bench.limit)
        timed(row, "pan ms", lambda: frames_ms(page, "svg", "drag"), bench.limit)
        timed(row, "zoom ms", lambda: frames_ms(page, "svg", "wheel"), bench.limit)


def jaxviz_ready_s(page: Any) -> float:
    page.wait_for_function("window.peer.nodes")
    return page.evaluate("window.peer.nodes") / 1e3


def jaxviz_expand_ms(page: Any) -> float:
    """Click the first expand button; until the picture has more nodes."""
    if not page.evaluate("document.querySelectorAll('svg g.node circle').length"):
        raise LookupError(NO_GROUP)
    before = page.evaluate("document.querySelectorAll('svg g.node').length")
    start = time.perf_counter()
    page.evaluate(JAXVIZ_EXPAND)
    page.wait_for_function(f"document.querySelectorAll('svg g.node').length > {before}")
    page.evaluate(f"({TWO_FRAMES})()")
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
