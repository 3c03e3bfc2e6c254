"""Renews the playground's pictures and its film in docs/images: a real one, in a headless JupyterLab.

    python scripts/play_pictures.py      needs playwright, JupyterLab, chromium (or CHROMIUM=/path), img2webp

The program is the training step of `benchmarks/transformer.py`, wide enough that its numbers are those of a real one.
The film: the mesh is stepped, a preset is chosen, then specs; figures pale until XLA has answered. Not its job: what
the page looks like (`pjit_inspect/view/front/src/play`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

import nbformat  # noqa: E402
from jupyter_page import open_and_run  # noqa: E402
from jupyter_server import running_server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

IMAGES = ROOT / "docs" / "images"
THEMES = {"playground_light": "JupyterLab Light", "playground_dark": "JupyterLab Dark"}
HEIGHT, FILM_HEIGHT = 1420, 620
STILL_MS = 100
SETUP = f"""\
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "benchmarks")!r}]
import jax, numpy as np
from jax.sharding import Mesh
from transformer import train_step
import pjit_inspect as pi
step, arguments = train_step(Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model")), 4, 1024)
play = pi.playground(step, *arguments)
_ = play.wait()
"""
VARIANTS = """\
for mesh in ({"data": 4, "model": 2}, {"data": 4, "model": 16}):
    play.set(mesh=mesh)
    play.wait()
play.go_back(0)
play.apply("FSDP")
play.wait()
play.go_back(0)
play.apply("Megatron")
_ = play.wait()
"""


def main() -> None:
    """Write both pictures and the film."""
    film = shutil.which("img2webp") or sys.exit("error: there is no img2webp (Debian: apt install webp)")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, theme in THEMES.items():
            with opened(browser, theme, [SETUP, VARIANTS, "play"]) as page:
                page.get_by_text("Being compared").wait_for(state="hidden", timeout=120_000)
                page.wait_for_timeout(1000)
                box = page.locator(".playground").bounding_box()
                page.screenshot(path=IMAGES / f"{name}.png", clip={**box, "height": min(box["height"], HEIGHT)})
        with (
            opened(browser, THEMES["playground_light"], [SETUP, "play"]) as page,
            tempfile.TemporaryDirectory() as folder,
        ):
            frames = list(filmed(page, Path(folder)))
            subprocess.run(
                [film, "-loop", "0", "-lossy", "-q", "60", *frames, "-o", IMAGES / "playground.webp"], check=True
            )
        browser.close()


@contextmanager
def opened(browser: Any, theme: str, cells: list[str]) -> Iterator[Any]:
    """The page of a notebook of these cells, run, with the playground on it."""
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        made = [nbformat.v4.new_code_cell(source) for source in cells]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), work / "run.ipynb")
        with running_server("lab", work, home, theme) as address:
            page = open_and_run(browser, address).page
            page.set_viewport_size({"width": 1700, "height": 2400})
            page.locator(".playground .answer").wait_for(timeout=60_000)
            page.wait_for_timeout(2000)
            yield page
            page.close()


def filmed(page: Any, folder: Path) -> Iterator[str]:
    """Options of `img2webp`: frames and their times, while the controls are used."""
    number = 0

    def shot(milliseconds: int) -> list[str]:
        nonlocal number
        number += 1
        path = folder / f"{number:03}.png"
        box = page.locator(".playground").bounding_box()
        page.screenshot(path=path, clip={**box, "height": FILM_HEIGHT})
        return ["-d", str(milliseconds), str(path)]

    yield from shot(1500)
    for act in (
        lambda: page.locator('[data-key="axis:data"]').press("ArrowUp"),
        lambda: page.locator('[data-key="axis:model"]').press("ArrowDown"),
        lambda: page.get_by_role("button", name="Megatron", exact=True).click(),
        lambda: choose(page, "specs:state['params']['head']:1", 0),
        lambda: page.get_by_role("button", name="FSDP", exact=True).click(),
    ):
        act()
        for _ in range(60):
            yield from shot(STILL_MS)
            if not page.locator(".playground .old").count():
                break
        yield from shot(1800)


def choose(page: Any, key: str, option: int) -> None:
    """Open the chooser of a dimension and take one of its options."""
    page.locator(f'[data-key="{key}"]').click()
    page.locator(".chooser [role=option]").nth(option).click()


if __name__ == "__main__":
    main()
