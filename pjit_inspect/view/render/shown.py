"""A drawn view as an object: rich in a notebook, text in a terminal."""

from __future__ import annotations

from typing import Any

from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text


def drawn(document: Document) -> dict[str, str]:
    """A document in the form that a notebook takes: MIME type -> text."""
    return {"text/plain": to_text(document), "text/html": to_html(document)}


FOLDED = "<!-- pjit_inspect: run this cell to see the display. -->\n"
"""The first line of HTML in a notebook: JupyterLab shows it in place of an output that is folded."""


class Shown:
    """A drawn view: rich in a notebook, text in a terminal; `print` and `repr` give the text."""

    __slots__ = ("_bundle",)

    def __init__(self, bundle: dict[str, str]) -> None:
        self._bundle = bundle

    def __repr__(self) -> str:
        return self._bundle["text/plain"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        html = self._bundle.get("text/html")
        return {**self._bundle, "text/html": FOLDED + html} if html else self._bundle
