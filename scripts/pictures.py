"""Renews the pictures of docs/images: the inspector of a training step, light and dark, its panes, and narrow.

    python scripts/pictures.py      needs playwright and Debian's chromium (or CHROMIUM=/path)

The step is that of the benchmarks, on eight fake CPU devices; the page is what `CompileRecord.to_html` writes.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import jax  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from transformer import train_step  # noqa: E402

import pjit_inspect as pi  # noqa: E402

IMAGES = ROOT / "docs" / "images"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
LAYERS = 4

# Name of the picture -> colours, width and height, what the page shows (its deep link).
PICTURES: dict[str, tuple[str, int, int, str]] = {
    "inspector_light": ("light", 1360, 880, "view=graph"),
    "inspector_dark": ("dark", 1360, 880, "view=graph"),
    "inspector_traffic": ("light", 1360, 880, "view=traffic"),
    "inspector_narrow": ("light", 420, 800, "view=graph&pane=centre"),
    "inspector_900": ("light", 900, 720, "view=graph"),
    "inspector_900_dark": ("dark", 900, 720, "view=graph"),
}


def main() -> None:
    """Write every picture."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
    step, arguments = train_step(mesh, LAYERS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = pathlib.Path(folder, "train_step.html")
        pi.inspect(jax.jit(step), *arguments).to_html(page_file)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for name, (scheme, width, height, link) in PICTURES.items():
            size: Any = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1)
            page.goto(f"{page_file.as_uri()}#{link}")
            page.locator("[data-ready=true]").wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
