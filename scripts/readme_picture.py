"""Renews the README's picture: docs/images/train_step_light.png and train_step_dark.png.

    python scripts/readme_picture.py      needs playwright and Debian's chromium (or CHROMIUM=/path)

A train step of a two-layer network on eight fake CPU devices, as `CompileRecord.to_html` writes it.
"""

from __future__ import annotations

import os
import pathlib
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from playwright.sync_api import sync_playwright

import pjit_inspect as pi

IMAGES = pathlib.Path(__file__).parents[1] / "docs" / "images"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def record_of_train_step() -> pi.CompileRecord:
    """A step of gradient descent, the batch over `data` and the hidden layer over `model`."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))

    def place(shape: tuple[int, ...], *spec: str | None) -> jax.Array:
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    def loss(params, x, target):
        return jnp.mean((jax.nn.relu(x @ params["W1"]) @ params["W2"] - target) ** 2)

    @jax.jit(donate_argnums=0)
    def train_step(params, x, target):
        gradients = jax.grad(loss)(params, x, target)
        return jax.tree.map(lambda value, gradient: value - 1e-3 * gradient, params, gradients)

    params = {"W1": place((1024, 4096), None, "model"), "W2": place((4096, 1024), "model", None)}
    x = place((512, 1024), "data", None)
    with pi.capture() as log:
        train_step(params, x, x)
    return log["train_step"]


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = pathlib.Path(folder, "train_step.html")
        record_of_train_step().to_html(page_file)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1000, "height": 532}, color_scheme=scheme, device_scale_factor=1.5
            )
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"train_step_{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
