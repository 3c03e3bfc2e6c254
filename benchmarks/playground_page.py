"""From a click on a control of the playground to new counted numbers on its page, in a headless JupyterLab.

    python benchmarks/playground_page.py            # a few minutes
    python benchmarks/playground_page.py --quick    # a smoke test: 8 devices, one repeat

A training step of four layers in a loop. Measured in this one run, warm, for settings that XLA was not asked about
before: the mesh is set in the kernel, then a chooser's option is clicked on the page; milliseconds until the bytes that
are sent stand there, no longer pale. Needs playwright, a Chromium (or its path in CHROMIUM) and JupyterLab.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

import nbformat  # noqa: E402
from jupyter_page import open_and_run  # noqa: E402
from jupyter_server import running_server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

MESHES = {8: {"data": 2, "model": 4}, 256: {"data": 16, "model": 16}, 2048: {"data": 32, "model": 64}}
SETUP = f"""\
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "benchmarks")!r}]
import jax, numpy as np
from jax.sharding import Mesh
from what_if import train_step
import pjit_inspect as pi
step, arguments = train_step(Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model")))
play = pi.inspect(step, *arguments).playground()
_ = play.wait()
"""
RUN = """async (source) => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = 2;
  panel.content.activeCell.model.sharedModel.setSource(source);
  const start = performance.now();
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return performance.now() - start;
}"""
CLICK = """([key, at]) => new Promise((done) => {
  const all = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter((one) => one);
  const root = all.find((one) => one.querySelector(".playground"));
  const number = root.querySelector(".answer").innerText.split(" ")[0];
  const start = performance.now();
  root.querySelector(`[data-key="${key}"]`).click();
  const option = root.querySelectorAll(".chooser [role=option]")[at];
  if (!option || option.ariaSelected === "true" || option.ariaDisabled === "true") return done(NaN);
  option.click();
  const look = () => {
    const first = root.querySelector(".number");
    const isNew = root.querySelector(".answer").innerText.split(" ")[0] !== number;
    if (isNew && !first.classList.contains("old")) done(performance.now() - start);
    else if (performance.now() - start > 60000) done(NaN);
    else requestAnimationFrame(look);
  };
  look();
})"""
KEYS = ("params['head']", "params['table']")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 devices, one repeat")
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, "play", "0")]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), work / "run.ipynb")
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        with running_server("lab", work, home) as address:
            page = open_and_run(browser, address).page
            page.locator(".playground").wait_for(timeout=60_000)
            for devices in (8,) if options.quick else MESHES:
                measure(page, devices, 1 if options.quick else 3)
        browser.close()


def measure(page: Any, devices: int, rounds: int) -> None:
    """Print what one size takes."""
    page.evaluate(RUN, f"play.go_back(0); play.set(mesh={MESHES[devices]!r}); play.wait()")
    page.wait_for_timeout(3000)
    # The first option is no axis; each click is a setting that was not asked about on this mesh.
    clicks = [(label, dimension) for dimension in (0, 1) for label in KEYS][: 2 * rounds]
    times = []
    for label, dimension in clicks:
        key = f"specs:{label}:{dimension}"
        if page.locator(f'[data-key="{key}"]').count():
            times.append(page.evaluate(CLICK, [key, 0]))
            page.wait_for_timeout(1500)
    known = [one for one in times if one == one]
    if known:
        print(f"scan {devices:5}: click to counted bytes {statistics.median(known):6.0f} ms, of {len(known)}")


if __name__ == "__main__":
    main()
