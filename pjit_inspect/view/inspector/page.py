"""The inspector as one page that loads nothing: a file of its own, and the frame in the notebook's default display.

The page's policy lets only this script run, by its hash, and nothing be fetched. Data stand in script elements that no
browser runs. Not its job: the data (`view.inspector.payload`), what is drawn (`view/front`).
"""

from __future__ import annotations

import base64
import functools
import hashlib
import zlib
from html import escape
from pathlib import Path

from pjit_inspect.view.inspector.blob import json_text
from pjit_inspect.view.inspector.payload import InspectorPayload

__all__ = ["BUNDLE", "bundle_text", "inspector_frame", "inspector_page"]

BUNDLE = Path(__file__).parents[1] / "front" / "inspector.js"
"""The JavaScript, bundled from `front/src` (`npm run build` in `front`)."""

FRAME_HEIGHT = 720
QUIET_HEIGHT = 560
"""Pixels of the frame, and of that of a program without collectives, which has less to show."""

_POLICY = (
    "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
<div id="pjit-inspector" class="page"></div>
<noscript>{fallback}</noscript>
<script type="application/json" id="pjit-first">{first}</script>
<script type="text/plain" id="pjit-blob">{blob}</script>
<script type="module">{script}</script>
</body>
</html>
"""

_FRAME = (
    # The style acts inside this element only: another output that lost its frame keeps its still display.
    # The page inside cannot see the notebook, but a browser hands it the `color-scheme` of its frame as the preferred
    # one: JupyterLab and Notebook 7 say on the body which theme they show.
    "<div><style>.pjit-inspect-live~.pjit-inspect-still{{display:none}}"
    '[data-jp-theme-light="true"] .pjit-inspect-live{{color-scheme:light}}'
    '[data-jp-theme-light="false"] .pjit-inspect-live{{color-scheme:dark}}</style>'
    '<iframe class="pjit-inspect-live" sandbox="allow-scripts" title="{title}" '
    'style="width:100%;height:{height}px;border:0;display:block" srcdoc="{page}"></iframe>'
    '<div class="pjit-inspect-still">\n{still}\n</div></div>'
)


@functools.cache
def bundle_text() -> str:
    """The JavaScript as it stands in pages and widgets."""
    return BUNDLE.read_text(encoding="utf-8")


def inspector_page(payload: InspectorPayload, *, fallback: str = "") -> str:
    """The whole page. `fallback` is HTML for browsers that run no scripts."""
    script = bundle_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.format(
        policy=_POLICY.format(hash=digest),
        title=escape(payload.title),
        fallback=fallback,
        first=json_text(payload.first),
        blob=base64.b64encode(zlib.compress(payload.blob, 5)).decode(),
        script=script,
    )


def inspector_frame(payload: InspectorPayload, still: str) -> str:
    """A fragment for a notebook's output: the page in a sandbox where scripts may run, the still HTML where not.

    An untrusted notebook drops the style and the frame, and shows what the style would hide.
    """
    page = escape(inspector_page(payload), quote=True)
    height = FRAME_HEIGHT if payload.first["collectives"] else QUIET_HEIGHT
    return _FRAME.format(title=escape(payload.title, quote=True), height=height, page=page, still=still)
