"""Lower a view tree to HTML: a fragment that survives an untrusted notebook, and a page that stands alone.

JupyterLab's sanitizer drops style, script, inline svg and iframe, and every inline declaration that is not on its
list; so pictures are images, folds are `details`, and styles are few and inline. No element has an id. All escaping
happens here (and in `view.svg` for pictures). Not its job: what to say.
"""

from __future__ import annotations

from html import escape

from pjit_inspect.view.colors import Palette
from pjit_inspect.view.html_blocks import block_html
from pjit_inspect.view.printable import printable
from pjit_inspect.view.tree import Document

__all__ = ["to_html", "to_page", "to_pre"]

_LONGEST_TEXT = 400_000  # characters of a program's text that a page shows

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 16px 20px; background: #fff; color: #1f2328; font-family: system-ui, sans-serif; }}
code {{ font-family: ui-monospace, "DejaVu Sans Mono", monospace; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #16181c; color: #e6e8eb; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def to_html(document: Document) -> str:
    """The document as an HTML fragment for a notebook's output, trusted or not, light or dark."""
    palette = Palette(document.axes)
    body = "\n".join(block_html(block, palette) for block in document.blocks)
    return f'<div style="font-size:13px;line-height:1.4;max-width:1000px;word-wrap:break-word">\n{body}\n</div>'


def to_page(document: Document, *, title: str) -> str:
    """The document as a whole page that loads nothing from anywhere and follows the reader's colour scheme."""
    return _PAGE.format(title=escape(printable(title)), body=to_html(document))


def to_pre(text: str, *, longest: int = _LONGEST_TEXT) -> str:
    """A program's text in a box that scrolls; what is over `longest` characters is left out and counted."""
    shown = "\n".join(escape(printable(line)) for line in text[:longest].split("\n"))
    left_out = f"\n... {len(text) - longest:,} characters more" if len(text) > longest else ""
    style = "font-size:12px;line-height:1.35;max-height:480px;overflow:auto;white-space:pre;margin:0"
    return f'<pre style="{style}">{shown}{left_out}</pre>'
