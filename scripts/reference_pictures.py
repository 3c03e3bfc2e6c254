"""Sheets of the inspector to be looked at: twelve programs, each at five widths, light and dark.

    python scripts/reference_pictures.py --out out/reference [NAME ...]     needs playwright and a Chromium
    python scripts/reference_pictures.py [NAME ...]                         renews those that are kept

What is wrong there no test says: look at them after a change of `view/front`, side by side with those that are kept in
`docs/images/reference`. The page is what `CompileRecord.to_html` writes; the frame of a notebook has the same content.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

ROOT = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "scripts")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from corpus.arrays import grid, one  # noqa: E402
from corpus.programs import PROGRAMS as CORPUS  # noqa: E402
from data.hlo_fixtures import HERE  # noqa: E402
from findings import faults  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from pictures import CHROMIUM, OPTIONS  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

import pjit_inspect as pi  # noqa: E402

WIDTHS = {420: 900, 700: 900, 900: 760, 1280: 800, 1600: 900}
SCHEMES = ("light", "dark")


def two_products() -> Any:
    """A Megatron MLP, drawn as a flow."""
    mesh = grid(data=2, model=4)
    weights = one(mesh, (64, 256), None, "model"), one(mesh, (256, 64), "model", None)
    return pi.inspect(jax.jit(lambda w1, w2, x: jax.nn.gelu(x @ w1) @ w2), *weights, one(mesh, (16, 64), "data", None))


def attention() -> Any:
    """One attention block by heads."""
    mesh = grid(data=2, tp=4)
    p = faults.transformer(mesh, None, "tp", 1)["layers"][0]
    x = one(mesh, (16, 64, 64), "data", None, None)
    return pi.inspect(jax.jit(lambda p, x: faults.widen(faults.attend(x, p), p)), p, x)


def fsdp_and_tp_step() -> Any:
    """A training step whose batch loses its axis, with the advice on it."""
    function, arguments = faults.fsdp_tp_step()
    record = pi.inspect(function, *arguments)
    _ = record.advice
    return record


def measured_and_compiled_again() -> Any:
    """A step that ran with the profiler on, after it had been compiled for another batch."""
    mesh = grid(data=2, model=4)

    @jax.jit
    def step(params, x, y):
        grads = jax.grad(lambda p: ((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def put(shape: tuple[int, ...], *spec: Any) -> Any:
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    params = {"w1": put((64, 256), None, "model"), "w2": put((256, 64), "model", None)}
    with pi.capture(measure=True) as log:
        for batch in (16, 32):
            for _ in range(3):
                params = step(params, put((batch, 64), "data", None), put((batch, 64), "data", None))
    return log.user_records()[-1]


def for_a_tpu() -> Any:
    """Four layers compiled for a TPU, from XLA's text: asynchronous collectives, no sources."""
    return pi.open(HERE / "transformer_step.v5e_2x4.hlo.gz", mesh={"data": 2, "model": 4})


def sixteen_layers() -> Any:
    """85,912 instructions."""
    return pi.open(HERE / "train_step_16_layers.cpu_8.hlo.gz", mesh={"data": 2, "model": 4})


def ring() -> Any:
    """A ring of permutes in a loop of a shard_map."""
    mesh = grid(data=8)

    def turns(x: Any) -> Any:
        def turn(_: int, pair: Any) -> Any:
            total, piece = pair
            piece = jax.lax.ppermute(piece, "data", [(i, (i + 1) % 8) for i in range(8)])
            return total + piece, piece

        return jax.lax.fori_loop(0, 7, turn, (x, x))[0]

    shifted = jax.shard_map(turns, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    return pi.inspect(jax.jit(shifted), one(mesh, (512, 64), "data", None))


def one_device() -> Any:
    """A plain jit on one device: no mesh, no collectives."""
    return pi.inspect(
        jax.jit(lambda w, x: jax.nn.softmax(jnp.tanh(x @ w), axis=-1)), np.ones((64, 64)), np.ones((8, 64))
    )


def of_the_corpus(name: str) -> Callable[[], Any]:
    """A program of the gallery."""
    build = {program.name: program.build for program in CORPUS}[name]

    def made() -> Any:
        function, arguments = build()
        return pi.inspect(function, *arguments)

    made.__name__ = name
    return made


PROGRAMS: tuple[Callable[[], Any], ...] = (
    two_products,
    attention,
    fsdp_and_tp_step,
    measured_and_compiled_again,
    for_a_tpu,
    sixteen_layers,
    ring,
    one_device,
    of_the_corpus("fsdp_gpt_scan"),
    of_the_corpus("tp_decoder"),
    of_the_corpus("moe_by_einsum_dispatch"),
    of_the_corpus("pipeline_by_ppermute"),
)

_SHEET = (
    "<body style='margin:8px;background:#888;display:flex;gap:8px;align-items:flex-start;width:max-content'>{}</body>"
)


def draw(browser: Any, program: Callable[[], Any], folder: pathlib.Path) -> None:
    """A sheet of one program for each theme, at half its size."""
    name = program.__name__
    with tempfile.TemporaryDirectory() as temporary:
        file = pathlib.Path(temporary, f"{name}.html")
        program().to_html(file)
        for scheme in SCHEMES:
            for width, height in WIDTHS.items():
                size: Any = {"width": width, "height": height}
                page = browser.new_page(viewport=size, color_scheme=scheme)
                page.goto(file.as_uri())
                page.locator("[data-ready=true]").wait_for()
                page.wait_for_timeout(400)
                page.screenshot(path=file.with_name(f"{width}.png"))
                page.close()
            sheet = file.with_name("sheet.html")
            shots = "".join(f"<img src='{width}.png' width='{width // 2}'>" for width in WIDTHS)
            sheet.write_text(_SHEET.format(shots), encoding="utf-8")
            page = browser.new_page(viewport={"width": sum(WIDTHS) // 2 + 56, "height": 470}, device_scale_factor=1.4)
            page.goto(sheet.as_uri())
            page.screenshot(path=folder / f"{name}_{scheme}.jpg", type="jpeg", quality=55)
            page.close()
    print(f"{name}: {folder / name}_light.jpg, {name}_dark.jpg")


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", help=", ".join(program.__name__ for program in PROGRAMS))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "images" / "reference")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for program in PROGRAMS:
            if not options.names or program.__name__ in options.names:
                draw(browser, program, options.out)
        browser.close()


if __name__ == "__main__":
    main()
