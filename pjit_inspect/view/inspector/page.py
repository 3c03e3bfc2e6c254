"""The inspector as one page that loads nothing: a file of its own, and the frame in the notebook's default display.

The page's policy lets only this script run, by its hash, and nothing be fetched. Data stand in script elements that no
browser runs. Not its job: the data (`view.inspector.payload`), what is drawn (`view/front`).
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.payload import InspectorPayload

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
<main id="pjit-inspector" class="page">{still}</main>
<script type="application/json" id="pjit-first">{first}</script>
{stores}
<script type="module">{script}</script>
</body>
</html>
"""

_STORE = '<script type="text/plain" id="{id}">{store}</script>'

_STILL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
{still}
<p>This is the still display: the interactive inspector of this record could not be made ({why}).</p>
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
    '<iframe class="pjit-inspect-live"{key} sandbox="allow-scripts allow-downloads" title="{title}" '
    "style=\"width:100%;height:{height}px;border:0;display:block\" srcdoc='{page}'></iframe>"
    '<div class="pjit-inspect-still">\n{still}\n</div>'
    "<script>{script}</script></div>"
)

_HEIGHT_SCRIPT = """(() => {
const frame = document.currentScript?.parentNode.querySelector("iframe"), key = "pjit_inspect.height";
const remembered = () => { try { return Number(localStorage.getItem(key)) || window.pjitInspectHeight || 0 } \
catch { return window.pjitInspectHeight || 0 } };
frame && addEventListener("message", ({ source, data }) => {
const words = source && source === frame.contentWindow && data?.pjitInspect;
if (words?.isOpen) source.postMessage({ pjitInspect: { remembered: remembered() } }, "*");
if (!(words?.height >= 200 && words.height <= 1600)) return;
frame.style.height = words.height + "px";
if (words.isChosen) { window.pjitInspectHeight = words.height; \
try { localStorage.setItem(key, String(words.height)) } catch {} }
}) })()"""
"""What the page around the frame does for it, where it runs scripts: gives it the height it asks for, which the page in
the frame cannot, and remembers the one the reader chose. It takes numbers from this frame alone, and runs nothing."""


FRAME_KEY = "data-pjit-findings"
"""The attribute of a frame that says which findings are for it."""

# Findings that come after the inspector was drawn are a small output under it. Replacing the frame would lose what the
# reader has chosen: the script sends them to it, and hides what can be read where no script runs.
_DELIVERY = """<div>{still}</div><script>(() => {{
const findings = {findings}, box = document.currentScript && document.currentScript.previousElementSibling;
let left = 40;
const send = (frame) => frame.contentWindow && frame.contentWindow.postMessage({{pjitFindings: findings}}, "*");
const find = () => {{
  const frames = document.querySelectorAll('iframe[{attribute}="{key}"]');
  frames.forEach((frame) => {{ send(frame); frame.addEventListener("load", () => send(frame)); }});
  if (frames.length && box) box.hidden = true;
  if (!frames.length && left-- > 0) setTimeout(find, 250);
}};
find();
}})()</script>"""


@functools.cache
def bundle_text() -> str:
    """The JavaScript as it stands in pages and widgets."""
    return BUNDLE.read_text(encoding="utf-8")


def inspector_page(payload: InspectorPayload, *, still: str = "") -> str:
    """The whole page. `still` is HTML that stands there until the script runs, and stays where none may run."""
    more = {"pjit-memory": payload.memory} if payload.memory else {}
    first = {**payload.first, "has_memory": bool(more or payload.no_memory), "no_memory": payload.no_memory}
    return scripted_page(payload.title, first, payload.blob, script=bundle_text(), still=still, more=more)


def scripted_page(
    title: str, first: dict[str, Any], blob: bytes, *, script: str, still: str, more: Mapping[str, bytes] | None = None
) -> str:
    """A page of a title, what is painted first, a store as `pack_blob` writes it, and the one script that may run.

    `more` are further stores, by the ids of the elements they stand in; nobody decodes them before they are asked for.
    """
    stores = {"pjit-blob": blob, **(more or {})}
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.format(
        policy=_POLICY.format(hash=digest),
        title=escape(title),
        still=still,
        first=json_text(first),
        stores="\n".join(_STORE.format(id=id, store=_packed(one)) for id, one in stores.items()),
        script=script,
    )


def _packed(blob: bytes) -> str:
    return base64.b64encode(deflated(blob)).decode()


def still_page(title: str, still: str, *, why: str) -> str:
    """The page of a record whose inspector cannot be made: its still display, and why there is no more."""
    return _STILL.format(title=escape(printable(title)), still=still, why=escape(printable(why)))


def inspector_frame(payload: InspectorPayload, still: str, *, key: str = "") -> str:
    """A fragment for a notebook's output: the page in a sandbox where scripts may run, the still HTML where not.

    An untrusted notebook drops the style and the frame, and shows what the style would hide. Where the page around it
    has a policy that lets no inline script run, the frame keeps its first content, which is the still display too. With
    `key`, findings can be handed to it later (`delivery_html`).
    """
    height = FRAME_HEIGHT if payload.first["collectives"] else QUIET_HEIGHT
    return page_frame(inspector_page(payload, still=still), payload.title, still, height=height, key=key)


def page_frame(page: str, title: str, still: str, *, height: int = FRAME_HEIGHT, key: str = "") -> str:
    """A page in such a frame, `height` pixels high at first."""
    # Between single quotes, of which a page has few: a double quote stands for itself.
    page = escape(page, quote=False).replace("'", "&#x27;")
    taker = f' {FRAME_KEY}="{escape(key, quote=True)}"' if key else ""
    return _FRAME.format(
        title=escape(title, quote=True), height=height, page=page, still=still, script=_HEIGHT_SCRIPT, key=taker
    )


def delivery_html(findings: dict[str, Any], *, key: str, still: str) -> str:
    """A fragment for a notebook's output: `still`, and a script that hands `findings` to the frames with this key."""
    return _DELIVERY.format(still=still, findings=json_text(findings), attribute=FRAME_KEY, key=escape(key, quote=True))
