"""The inspector as one page that loads nothing (a file, or the frame in a notebook's display), and as a live widget.

The page's policy lets only its script run, by its hash, and one that inflates it; it lets nothing be fetched. Data, and
the deflated script, are in script elements that no browser runs. The selection on a widget's page is the selection in
the kernel, both ways.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.payload import InspectorPayload

BUNDLE = Path(__file__).parents[1] / "front" / "inspector.js"
"""The JavaScript, bundled from `front/src` (`npm run build` in `front`)."""

FRAME_HEIGHT = 720
QUIET_HEIGHT = 560
"""Pixels of the frame, and of the frame of a program without collectives, which shows less."""

_POLICY = "default-src 'none'; {script}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>{head}
</head>
<body>
{body}
</body>
</html>
"""

_SCRIPTED = """<main id="pjit-inspector" class="page">{still}</main>
<script type="application/json" id="pjit-first">{first}</script>
{stores}
<script type="module">{loader}</script>"""

_STORE = '<script type="text/plain" id="{id}">{store}</script>'

_FRAME = (
    # The style acts inside this element only: another output that lost its frame keeps its still display. The page
    # inside cannot see the notebook, but a browser passes it the `color-scheme` of its frame as the preferred one.
    # JupyterLab and Notebook 7 name their theme on the body. The second rule is for marimo, which wraps each frame.
    "<div><style>.pjit-inspect-live~.pjit-inspect-still{{display:none}}"
    "div:has(.pjit-inspect-live)>.pjit-inspect-still{{display:none}}"
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
"""The script of the page around the frame: sets the height that the frame asks for, and remembers the reader's choice.

The page in the frame cannot set its height. The script takes numbers from this frame alone, and runs nothing.
"""


FRAME_KEY = "data-pjit-advice"
"""The attribute of a frame with the key of its advice."""

# Advice that arrives after the inspector was drawn is a small output under it. Replacing the frame would lose the
# reader's selection: the script sends them to it, and hides the text for readers without scripts.
_DELIVERY = """<div>{still}</div><script>(() => {{
const advice = {advice}, box = document.currentScript && document.currentScript.previousElementSibling;
let left = 40;
const send = (frame) => frame.contentWindow && frame.contentWindow.postMessage({{pjitAdvice: advice}}, "*");
const find = () => {{
  const frames = document.querySelectorAll('iframe[{attribute}="{key}"]');
  frames.forEach(send);
  if (frames.length && box) box.hidden = true;
  if (!frames.length && left-- > 0) setTimeout(find, 250);
}};
addEventListener("message", ({{ source, data }}) => data?.pjitInspect?.isListening && document.querySelectorAll(
  'iframe[{attribute}="{key}"]').forEach((frame) => frame.contentWindow === source && send(frame)));
find();
}})()</script>"""


@functools.cache
def bundle_text() -> str:
    """The JavaScript for pages and widgets."""
    return BUNDLE.read_text(encoding="utf-8")


@functools.cache
def _loader() -> str:
    return BUNDLE.with_name("loader.js").read_text(encoding="utf-8")


def inspector_page(payload: InspectorPayload, *, still: str = "") -> str:
    """The whole page. `still` is HTML shown until the script runs, and stays where none may run."""
    more = {"pjit-memory": payload.memory} if payload.memory else {}
    first = {**payload.first, "has_memory": bool(more or payload.no_memory), "no_memory": payload.no_memory}
    return scripted_page(payload.title, first, payload.blob, script=bundle_text(), still=still, more=more)


def scripted_page(
    title: str, first: dict[str, Any], blob: bytes, *, script: str, still: str, more: Mapping[str, bytes] | None = None
) -> str:
    """A page with a title, data for the first paint, a store as `pack_blob` writes it, and the one script that may run.

    `more` are further stores, by the ids of their elements; each is decoded only on request.
    """
    stores = {"pjit-blob": blob, **(more or {})}
    packed = {id: _packed(one) for id, one in stores.items()} | {"pjit-script": _packed_script(script)}
    body = _SCRIPTED.format(
        still=still,
        first=json_text(first),
        stores="\n".join(_STORE.format(id=id, store=store) for id, store in packed.items()),
        loader=(loader := _loader()),
    )
    digests = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (loader, script))
    allowed = " ".join(f"'sha256-{one}'" for one in digests)
    return _page(title, body, script=f"script-src {allowed}; ")


def _packed(store: bytes) -> str:
    return base64.b64encode(deflated(store)).decode()


@functools.cache
def _packed_script(script: str) -> str:
    return _packed(script.encode())


def _page(title: str, body: str, *, script: str = "", head: str = "") -> str:
    return _PAGE.format(policy=_POLICY.format(script=script), title=escape(title), head=head, body=body)


def plain_page(title: str, body: str, *, head: str = "") -> str:
    """A page without scripts."""
    return _page(printable(title), body, head=head)


def still_page(title: str, still: str, *, why: str) -> str:
    """The page of a record whose inspector failed: its still display, and the reason."""
    words = f"This is the still display: the interactive inspector of this record could not be made ({printable(why)})."
    return plain_page(title, f"{still}\n<p>{escape(words)}</p>")


def inspector_frame(payload: InspectorPayload, still: str, *, key: str = "") -> str:
    """A fragment for a notebook's output: a sandboxed page where scripts may run, the still HTML elsewhere.

    An untrusted notebook drops the style and the frame, and shows the HTML that the style would hide. Under a policy
    without inline scripts, the frame keeps its first content, which is the still display too. With `key`, the frame can
    be sent advice later (`delivery_html`).
    """
    height = FRAME_HEIGHT if payload.first["collectives"] else QUIET_HEIGHT
    return page_frame(inspector_page(payload, still=still), payload.title, still, height=height, key=key)


def page_frame(page: str, title: str, still: str, *, height: int = FRAME_HEIGHT, key: str = "") -> str:
    """A page in a sandboxed frame, `height` pixels high at first."""
    # In single quotes, of which a page has few: double quotes need no escape.
    page = escape(page, quote=False).replace("'", "&#x27;")
    taker = f' {FRAME_KEY}="{escape(key, quote=True)}"' if key else ""
    return _FRAME.format(
        title=escape(title, quote=True), height=height, page=page, still=still, script=_HEIGHT_SCRIPT, key=taker
    )


def delivery_html(advice: dict[str, Any] | None, *, key: str, still: str) -> str:
    """A fragment for a notebook's output: `still`, and a script that sends `advice` to the frames with this key."""
    return _DELIVERY.format(still=still, advice=json_text(advice), attribute=FRAME_KEY, key=escape(key, quote=True))


# ---------------------------------------------------------------- the widget


def widget_words(report: RecordReport) -> str:
    """The widget in one line, the same on every run."""
    name = shorten(printable(report.data.name), 60)
    number = "unknown collectives" if report.collectives is None else plural(len(report.collectives), "collective")
    return f"<pjit_inspect widget: {name}, {number}>"


def with_still(found: Any, words: str, still: str) -> Any:
    """A widget's own forms with a text and a still twin beside them; None where it has none, as outside a notebook."""
    if found is None:
        return None
    bundle, metadata = found if isinstance(found, tuple) else (found, {})
    return {**bundle, "text/plain": words, "text/html": still}, metadata


def inspector_widget(
    payload: InspectorPayload, *, words: str, still: str, asked: Callable[[Any, dict[str, Any]], None] | None = None
) -> Any:
    """An anywidget. `selection` is the name of the selected thing; setting it selects.

    A name is an HLO instruction ("all-reduce.125"), the path of an array ("params['w1']"), a line of source
    ("train.py:41"), or "alive:" and the instruction that makes a value in memory; "" for no selection. At first it is
    the collective that sends most. An unknown name changes nothing. `words` is the text form, without id or time;
    `still` the HTML for a notebook without a kernel. `asked` is called with the widget and a message of its page:
    `{"type": "drawn"}` after drawing; `{"type": "memory"}` to ask for the store of the memory pane, which goes to
    `_memory`, deflated; `{"type": "check", "number": 0}` to compile the program with a row of advice. `_advice` takes
    newer advice as JSON (`view.inspector.advice`).
    """
    import anywidget
    import traitlets

    class Inspector(anywidget.AnyWidget):
        _esm = bundle_text()
        _first = traitlets.Unicode().tag(sync=True)
        _blob = traitlets.Bytes().tag(sync=True)
        _memory = traitlets.Bytes().tag(sync=True)
        _advice = traitlets.Unicode("").tag(sync=True)
        selection = traitlets.Unicode("", help="The name of what is selected.").tag(sync=True)

        def __repr__(self) -> str:
            return words

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            return with_still(super()._repr_mimebundle_(**kwargs), words, still)

    widget = Inspector(
        _first=json_text({**payload.first, "has_memory": True}),
        _blob=deflated(payload.blob),
        selection=payload.selection,
    )
    if asked is not None:
        widget.on_msg(lambda own, message, _: asked(own, message))
    return widget
