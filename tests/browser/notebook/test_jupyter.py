"""The default display and the widget in real JupyterLab and Notebook 7: run, click, select from the kernel and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_page import open_and_run, skip_without
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


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_inspector_runs_in_a_real_notebook(chromium: Any, notebook: Path, tmp_path: Path, app: str):
    skip_without(app)
    home = tmp_path / "home"
    home.mkdir()
    with running_server(app, notebook, home) as address:
        notebook_page = open_and_run(chromium, address)
        page = notebook_page.page
        frame = page.frame_locator("iframe.pjit-inspect-live")
        frame.locator("[data-ready]").wait_for(timeout=30_000)
        assert not page.locator(".pjit-inspect-still").first.is_visible()
        frame.locator(".row").first.click()
        assert "all-reduce over model" in frame.locator(".details h2").inner_text()
        assert "2 groups" in frame.locator(".meshwords").inner_text()
        frame.locator("[data-tab=text]").click()
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
    assert notebook_page.elsewhere == []
    assert notebook_page.errors == []
