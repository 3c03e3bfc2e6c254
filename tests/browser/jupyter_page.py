"""A notebook in a real JupyterLab or Notebook 7: opened and run, and what went wrong on its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlparse

import pytest

__all__ = ["NotebookPage", "open_and_run", "skip_without"]

IDLE = "window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
DONE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = [...panel.content.model.cells].filter((cell) => cell.type === "code");
  return cells.every((cell) => cell.executionCount !== null)
    && panel.sessionContext.session?.kernel?.status === "idle";
}"""

FAILED = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter((cell) => cell.type === "code")
  .flatMap((cell) => cell.outputs.toJSON().filter((one) => one.output_type === "error").map((one) => one.evalue))"""


@dataclass  # playwright keeps its own attributes on it
class NotebookPage:
    """A notebook's page.

    Attributes:
      page: playwright's page.
      elsewhere: addresses on other machines that it asked for; each was refused.
      errors: exceptions and console errors that are not of Jupyter's own scripts.
    """

    page: Any
    elsewhere: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def gate(self, route: Any, request: Any) -> None:
        """Let nothing leave this machine."""
        at = urlparse(request.url)
        if at.scheme in ("data", "blob", "about") or at.hostname == "127.0.0.1":
            route.continue_()
        else:
            self.elsewhere.append(request.url)
            route.abort()

    def console(self, message: Any) -> None:
        """Jupyter's own scripts, from its /static/ folder and its server, are not ours to judge."""
        if message.type == "error" and "127.0.0.1" not in message.location.get("url", ""):
            self.errors.append(f"{message.text} at {message.location}")

    def exception(self, error: Any) -> None:
        """Likewise; the widget's script comes from a blob, the frame's stands in the output."""
        if "/static/" not in (error.stack or ""):
            self.errors.append(f"{error}\n{error.stack}")


def skip_without(app: str) -> None:
    """Skip a test that needs an application that is not installed."""
    if find_spec("jupyterlab" if app == "lab" else "notebook") is None:
        pytest.skip("needs JupyterLab and Notebook 7: pip install 'pjit-inspect[test]'")


def open_and_run(chromium: Any, address: str) -> NotebookPage:
    """The notebook after every cell has run without an error."""
    # Playwright's own choice of a colour scheme would win over the notebook's theme inside of frames.
    page = chromium.new_page(viewport={"width": 1400, "height": 1000}, color_scheme="null")
    found = NotebookPage(page)
    page.route("**/*", found.gate)
    page.on("pageerror", found.exception)
    page.on("console", found.console)
    page.goto(address)
    page.wait_for_function(IDLE, timeout=90_000)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.wait_for_function(DONE, timeout=300_000)
    assert page.evaluate(FAILED) == []
    return found
