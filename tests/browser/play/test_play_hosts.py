"""The playground in Notebook 7, and in a narrow JupyterLab: a newcomer's function, a control, a number changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_page import open_and_run, skip_without
from jupyter_server import running_server

CELLS = (
    """\
import jax, jax.numpy as jnp
import pjit_inspect as pi

def mlp(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2

play = pi.playground(mlp, jnp.ones((16, 32)), jnp.ones((32, 64)), jnp.ones((64, 32)))
_ = play.wait()""",
    "play",
)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A folder with `run.ipynb`."""
    folder = tmp_path / "work"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "run.ipynb")
    return folder


@pytest.mark.parametrize(
    ("app", "width", "theme"),
    [("notebook", 1400, "Light"), ("notebook", 780, "Dark"), ("lab", 780, "Light")],
    ids=["notebook", "notebook-780-dark", "lab-780"],
)
def test_a_control_is_answered(chromium: Any, notebook: Path, tmp_path: Path, app: str, width: int, theme: str):
    skip_without(app)
    home = tmp_path / "home"
    home.mkdir()
    with running_server(app, notebook, home, f"JupyterLab {theme}") as address:
        found = open_and_run(chromium, address)
        page = found.page
        page.set_viewport_size({"width": width, "height": 1200})
        widget = page.locator(".playground")
        widget.wait_for(timeout=30_000)
        widget.scroll_into_view_if_needed()
        assert "captured without a mesh" in widget.inner_text()
        big = widget.locator(".number .big")
        assert big.nth(0).inner_text().startswith("0 B")
        page.screenshot(path=tmp_path / "before.png")
        widget.locator("[data-key='specs:w2:0']").click()
        page.screenshot(path=tmp_path / "open.png")
        widget.get_by_role("option", name="devices").click()
        page.wait_for_function(
            "() => [...document.querySelectorAll('*')].some((one) => one.shadowRoot?.querySelectorAll("
            "'.playground .history tbody tr').length === 2)",
            timeout=20_000,
        )
        page.wait_for_timeout(1500)
        assert not big.nth(0).inner_text().startswith("0 B")
        page.screenshot(path=tmp_path / "after.png", full_page=True)
        # Notebook 7 scrolls a tall output in a box of its own: it has to be large enough to work in.
        assert page.locator(".jp-OutputArea:has(.playground)").evaluate("(one) => one.clientHeight") > 1000
        width_of = "() => { const one = document.documentElement; return one.scrollWidth - one.clientWidth; }"
        assert page.evaluate(width_of) <= 0
        page.close()
        assert found.elsewhere == []
        assert found.errors == []
