"""The default display and the widget in real JupyterLab and Notebook 7: run, click, select from the kernel and back."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from jupyter_server import running_server

SETUP = """\
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import pjit_inspect as pi
%load_ext pjit_inspect
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
place = lambda x, *spec: jax.device_put(x, NamedSharding(mesh, P(*spec)))
x, w1 = place(jnp.ones((16, 32)), "data"), place(jnp.ones((32, 64)), None, "model")
w2 = place(jnp.ones((64, 32)), "model")

@jax.jit
def mlp(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2
"""
CELLS = (
    SETUP,
    "%pjit --no-times mlp(x, w1, w2).shape",
    "inspector = pi.inspect(mlp, x, w1, w2).show(view='widget')\ninspector",
    "inspector.selection = 'w1'",
)
IDLE = "window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
DONE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = [...panel.content.model.cells].filter((cell) => cell.type === "code");
  return cells.every((cell) => cell.executionCount !== null)
    && panel.sessionContext.session?.kernel?.status === "idle";
}"""

SELECTED = """() => [...document.querySelectorAll("*")].some(
  (one) => one.shadowRoot?.querySelector(".details h2")?.innerText.trim() === "w1")"""
ASK = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = 3;
  panel.content.activeCell.model.sharedModel.setSource("print('selected', inspector.selection)");
  await window.jupyterapp.commands.execute("notebook:run-cell");
}"""
ANSWERED = "document.querySelector('.jp-Notebook').innerText.includes('selected all-reduce')"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A folder with `run.ipynb`."""
    folder = tmp_path / "work"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "run.ipynb")
    return folder


def open_page(chromium: Any, address: str) -> tuple[Any, list[str], list[str]]:
    """The page, the addresses elsewhere that it asked for, and what it complained of."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    elsewhere: list[str] = []
    errors: list[str] = []

    def gate(route: Any, request: Any) -> None:
        at = urlparse(request.url)
        if at.scheme in ("data", "blob", "about") or at.hostname == "127.0.0.1":
            route.continue_()
        else:
            elsewhere.append(request.url)
            route.abort()

    page.route("**/*", gate)
    # Jupyter's own scripts, from its /static/ folder, are not ours to judge; the widget's come from a blob.
    page.on("pageerror", lambda e: None if "/static/" in (e.stack or "") else errors.append(f"{e}\n{e.stack}"))
    page.goto(address)
    page.wait_for_function(IDLE, timeout=90_000)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.wait_for_function(DONE, timeout=180_000)
    return page, elsewhere, errors


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_inspector_runs_in_a_real_notebook(chromium: Any, notebook: Path, tmp_path: Path, app: str):
    if find_spec("jupyterlab" if app == "lab" else "notebook") is None:
        pytest.skip("needs JupyterLab and Notebook 7")
    home = tmp_path / "home"
    home.mkdir()
    with running_server(app, notebook, home) as address:
        page, elsewhere, errors = open_page(chromium, address)
        frame = page.frame_locator("iframe.pjit-inspect-live")
        frame.locator("[data-ready]").wait_for(timeout=30_000)
        assert not page.locator(".pjit-inspect-still").first.is_visible()
        frame.locator(".row").first.click()
        assert "all-reduce over model" in frame.locator(".details h2").inner_text()
        assert "2 groups" in frame.locator(".meshwords").inner_text()
        assert frame.locator(".ln.is").count() >= 1

        widget = page.locator(".pjit-inspector[data-ready]")
        widget.wait_for(timeout=30_000)
        # The last cell selected the array from the kernel ...
        page.wait_for_function(SELECTED)
        # ... and a click here is heard there.
        widget.locator(".answer").click()  # Jupyter makes the cell the active one, and may scroll, on a first click
        page.wait_for_timeout(500)
        widget.locator("[data-tab=collectives]").click()
        widget.locator(".row").first.click()
        page.evaluate(ASK)
        page.wait_for_function(ANSWERED, timeout=20_000)
        page.screenshot(path=tmp_path / f"{app}.png")
        page.close()
    assert elsewhere == []
    assert errors == []
