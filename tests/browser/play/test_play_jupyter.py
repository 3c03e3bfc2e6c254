"""The playground in a real JupyterLab: a control, the counted numbers, the kernel meanwhile; saved and opened again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_page import IDLE, open_and_run, skip_without
from jupyter_server import running_server

SETUP = """\
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import pjit_inspect as pi
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
place = lambda x, *spec: jax.device_put(x, NamedSharding(mesh, P(*spec)))
x, w1 = place(jnp.ones((16, 32)), "data"), place(jnp.ones((32, 64)), None, "model")
w2 = place(jnp.ones((64, 32)), "model")

@jax.jit
def mlp(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2

play = pi.inspect(mlp, x, w1, w2).playground()
_ = play.wait()
"""
CELLS = (SETUP, "play", "0")
RUN = """async (source) => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = 2;
  panel.content.activeCell.model.sharedModel.setSource(source);
  await window.jupyterapp.commands.execute("notebook:run-cell");
}"""
OTHER = """() => { const now = window.jupyterapp.shell.currentWidget;
  return now.context?.path === "other.ipynb" && now.node.querySelector(".jp-OutputArea img"); }"""
SHOWN = """() => { const { node } = window.jupyterapp.shell.currentWidget;
  return [node.innerText, node.querySelectorAll("[data-pjit-play]").length]; }"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A folder with `run.ipynb`."""
    folder = tmp_path / "work"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "run.ipynb")
    return folder


def big(widget: Any, number: int) -> str:
    return widget.locator(".number .big").nth(number).inner_text()


def test_a_control_is_answered_and_all_is_there_when_the_notebook_is_opened_again(
    chromium: Any, notebook: Path, tmp_path: Path
):
    skip_without("lab")
    home = tmp_path / "home"
    home.mkdir()
    with running_server("lab", notebook, home) as address:
        found = open_and_run(chromium, address)
        page = found.page
        widget = page.locator(".playground")
        widget.wait_for(timeout=30_000)
        assert big(widget, 0).startswith("1.50 KiB")
        still = page.locator("[class^=pjit-play-k]")
        assert still.count() == 1
        assert not still.is_visible()

        # A control: the mesh on the page, the counted bytes from XLA.
        widget.locator("[data-key='more:data']").click()
        page.wait_for_function(
            "() => [...document.querySelectorAll('*')].some((one) => one.shadowRoot?.querySelector("
            "'.playground .big')?.innerText.startsWith('768 B'))",
            timeout=20_000,
        )
        assert widget.locator(".history tbody tr").count() == 2
        # The kernel is free for other cells, and knows of it.
        page.evaluate(RUN, "print('now', play.variant.number, dict(play.controls.mesh), play.widget.sent_bytes)")
        page.wait_for_function("document.querySelector('.jp-Notebook').innerText.includes('now 1')", timeout=20_000)
        assert "now 1 {'data': 4, 'model': 4} 768" in page.locator(".jp-Notebook").inner_text()
        # What a cell sets is drawn.
        page.evaluate(RUN, "play.widget.mesh = {'data': 4, 'model': 2}; _ = play.wait(); print('four by two')")
        widget.locator(".history tbody tr").nth(2).wait_for(timeout=20_000)
        assert widget.locator("[data-key='axis:model']").input_value() == "2"

        page.wait_for_timeout(1500)
        page.screenshot(path=tmp_path / "lab.png")
        page.evaluate(SAVE)
        page.wait_for_timeout(1000)
        page.close()
        assert found.elsewhere == []
        assert found.errors == []

        # Opened by somebody else: the outputs are not trusted, and no kernel has run them.
        file = notebook / "run.ipynb"
        saved = json.loads(file.read_text(encoding="utf-8"))
        saved["metadata"].pop("widgets", None)
        for cell in saved["cells"]:
            cell["metadata"].pop("trusted", None)
        saved["cells"][0]["source"] = "# another notebook"
        other = notebook / "other.ipynb"
        other.write_text(json.dumps(saved), encoding="utf-8")
        page = chromium.new_page(viewport={"width": 1400, "height": 1200})
        page.goto(address.replace("run.ipynb", "other.ipynb"))
        page.wait_for_function(IDLE, timeout=60_000)
        page.wait_for_function(OTHER, timeout=60_000)
        page.screenshot(path=tmp_path / "untrusted.png")
        words, live = page.evaluate(SHOWN)
        assert "mlp playground, last state" in words
        assert "mesh data=4 x model=2" in words
        assert live == 0
        page.close()
