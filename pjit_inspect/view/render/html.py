"""Lowers a view tree to HTML: a fragment that survives an untrusted notebook.

JupyterLab's sanitizer drops style, script, inline svg and iframe, and every inline declaration that is not on its list;
so pictures are images, folds are `details`, and styles are few and inline. No element has an id. All escaping happens
here (and in `view.svg.svg` for pictures). Not its job: choosing the contents.
"""

from __future__ import annotations

from functools import partial

from pjit_inspect.guard import Guard
from pjit_inspect.view.document.colors import Palette
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.html_blocks import block_html

_FAILED = "<p>This part could not be drawn.</p>"


def to_html(document: Document) -> str:
    """The document as an HTML fragment for a notebook's output, trusted or not, light or dark."""
    palette, guard = Palette(document.axes), Guard()
    parts = (
        guard.run("a part of a display", partial(block_html, block, palette), _FAILED) for block in document.blocks
    )
    body = "\n".join(parts)
    return f'<div style="font-size:13px;line-height:1.4;max-width:1000px;word-wrap:break-word">\n{body}\n</div>'
