"""A comparison as one page: the still display in a document that follows light and dark, and loads nothing.

Not its job: what is in it (`view.diff.diff`).
"""

from __future__ import annotations

from html import escape

from pjit_inspect.model.diff.diff import DiffData
from pjit_inspect.view.document.printable import printable

__all__ = ["diff_page"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:16px auto;max-width:1100px;padding:0 16px;font-family:system-ui,-apple-system,"Segoe UI",sans-serif}}
main{{overflow-x:auto}}
</style>
</head>
<body>
<main>{still}</main>
</body>
</html>
"""


def diff_page(data: DiffData, still: str) -> str:
    """The whole page; `still` is the display as HTML."""
    title = printable(f"{data.after.name}: what changed")
    return _PAGE.format(title=escape(title), still=still)
