"""The tutorial in real JupyterLab and Notebook 7: run, click, search, export, in both themes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_page import open_and_run, skip_without
from jupyter_server import running_server

TUTORIAL = Path(__file__).parents[3] / "notebooks" / "07_a_transformer.ipynb"
EXPORT = """import os
record = pi.inspect(train_step, both, x)
record.to_html("export.html")
os.path.getsize("export.html")"""
PIXELS = "(canvas) => canvas.toDataURL()"
BACKGROUND = "(e) => getComputedStyle(e).backgroundColor"


@pytest.fixture
def tutorial(tmp_path: Path) -> Path:
    """A folder with the tutorial as `run.ipynb`, without its outputs, and a cell more that exports a record."""
    folder = tmp_path / "work"
    folder.mkdir()
    notebook = nbformat.read(TUTORIAL, 4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells.append(nbformat.v4.new_code_cell(EXPORT))
    nbformat.write(notebook, folder / "run.ipynb")
    return folder


@pytest.mark.parametrize(
    ("app", "theme", "background"),
    [("lab", "JupyterLab Dark", "rgb(22, 24, 28)"), ("notebook", "JupyterLab Light", "rgb(255, 255, 255)")],
)
def test_the_tutorial_runs_and_its_inspectors_answer(
    chromium: Any, visit, tutorial: Path, tmp_path: Path, app: str, theme: str, background: str
):
    skip_without(app)
    home = tmp_path / "home"
    home.mkdir()
    with running_server(app, tutorial, home, theme) as address:
        opened = open_and_run(chromium, address)
        page = opened.page
        assert page.locator("iframe.pjit-inspect-live").count() >= 3
        frame = training_step(page)
        assert frame.locator(".pjit-inspector").evaluate(BACKGROUND) == background
        click_a_collective(page, frame)
        search(frame)
        keep_picture(page, app)
        page.close()
    assert opened.elsewhere == []
    assert opened.errors == []
    exported = visit((tutorial / "export.html").read_text(encoding="utf-8"))
    assert "all-reduce" in exported.select(".details h2").inner_text()


def training_step(page: Any) -> Any:
    """The inspector of the training step, which sends over both axes."""
    frames = page.locator("iframe.pjit-inspect-live[title^=train_step]")
    frames.first.scroll_into_view_if_needed()
    frame = page.frame_locator("iframe.pjit-inspect-live[title^=train_step]").first
    frame.locator("[data-ready]").wait_for(timeout=30_000)
    return frame


def click_a_collective(page: Any, frame: Any) -> None:
    """Its groups light on the mesh, and its line of source is marked."""
    canvas = frame.locator(".meshbox canvas")
    frame.locator("[data-tab=mesh]:visible").click()
    frame.locator(".row").nth(0).click()
    page.wait_for_timeout(200)
    before = canvas.evaluate(PIXELS)
    frame.locator(".row").last.click()
    page.wait_for_timeout(200)
    assert canvas.evaluate(PIXELS) != before
    assert "group" in frame.locator(".meshwords").inner_text()
    frame.locator("[data-tab=text]:visible").click()
    source = frame.locator(".textpane").first
    assert source.locator(".ln.is").count() >= 1
    assert "@" in "".join(source.locator(".ln.is").all_inner_texts())  # both sum over a matrix product


def search(frame: Any) -> None:
    every = frame.locator(".row").count()
    frame.locator(".filter:not(.textsearch)").fill("backward")
    assert 0 < frame.locator(".row").count() < every
    frame.locator(".filter:not(.textsearch)").fill("")
    assert frame.locator(".row").count() == every


def keep_picture(page: Any, app: str) -> None:
    """A picture for people, where PJIT_INSPECT_PICTURES names a folder."""
    folder = os.environ.get("PJIT_INSPECT_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"tutorial_{app}.png")
