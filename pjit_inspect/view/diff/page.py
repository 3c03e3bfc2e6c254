"""A comparison as one page that loads nothing: lists and graph of both programs, or the still display.

Not its job: the contents (`view.diff.diff` for the still display, `view.diff.payload` for the other).
"""

from __future__ import annotations

import functools
from html import escape
from pathlib import Path

from pjit_inspect.model.diff.diff import DiffData
from pjit_inspect.view.diff.payload import DiffPayload
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.inspector.page import page_frame, scripted_page

COMPARE_BUNDLE = Path(__file__).parents[1] / "front" / "compare.js"
"""The JavaScript, bundled from `front/src/compare` (`npm run build` in `front`)."""

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


@functools.cache
def _script() -> str:
    return COMPARE_BUNDLE.read_text(encoding="utf-8")


def compare_page(payload: DiffPayload, *, still: str = "") -> str:
    """The page with both programs; `still` is shown until its script runs, and stays where none may run."""
    return scripted_page(payload.title, payload.first, payload.blob, script=_script(), still=still)


def compare_frame(payload: DiffPayload, still: str) -> str:
    """The same for a notebook's output: a sandboxed page where scripts may run, the still HTML elsewhere."""
    return page_frame(compare_page(payload, still=still), payload.title, still)
