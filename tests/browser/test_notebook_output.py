"""The two ways into a notebook: the frame beside the still display, and the widget with a model of its own."""

from __future__ import annotations

import base64
import json

import view_reports

from pjit_inspect.view.html import to_html
from pjit_inspect.view.inspector_blob import json_text
from pjit_inspect.view.inspector_page import bundle_text, inspector_frame
from pjit_inspect.view.inspector_payload import InspectorInput, inspector_payload
from pjit_inspect.view.record_view import record_view

REPORTS = view_reports.every_report()


def output_of(name: str) -> str:
    report = REPORTS[name]
    return inspector_frame(inspector_payload(InspectorInput(report=report)), to_html(record_view(report)))


def test_a_trusted_notebook_shows_the_inspector_and_hides_the_still_display(visit):
    opened = visit(f"<!DOCTYPE html><body>{output_of('train_step')}</body>", ready=False)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert frame.locator(".row").count() > 5
    assert not opened.page.locator(".pjit-inspect-still").is_visible()


def test_without_the_frame_the_still_display_stays(visit):
    """What JupyterLab's sanitizer leaves of an output: no style, no frame."""
    html = output_of("hostile")
    still = html[html.index('<div class="pjit-inspect-still">') :]
    opened = visit(f"<!DOCTYPE html><body>{output_of('train_step')}<hr>{still}</body>", ready=False)
    assert opened.page.locator(".pjit-inspect-still").count() == 2
    # A trusted output's style must not hide another one's still display.
    assert opened.page.locator(".pjit-inspect-still").last.evaluate("(e) => getComputedStyle(e).display") != "none"


def test_the_frame_reads_nothing_of_the_notebook(visit):
    opened = visit(f"<!DOCTYPE html><body>{output_of('hostile')}</body>", ready=False)
    opened.page.frame_locator("iframe").locator("[data-ready]").wait_for()
    frame = opened.page.frames[1]
    assert frame.evaluate("try { parent.document; 'open' } catch { 'closed' }") == "closed"
    assert opened.page.evaluate("typeof globalThis.hacked") == "undefined"


WIDGET = """<!DOCTYPE html><body><div id="el"></div><script type="module">
const source = {source};
const {{ default: widget }} = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
const bytes = Uint8Array.from(atob({blob}), (c) => c.charCodeAt(0));
const values = {{ _first: {first}, _blob: new DataView(bytes.buffer), selection: {selection} }};
const heard = {{}};
globalThis.saved = [];
globalThis.model = {{
  get: (key) => values[key],
  set: (key, value) => {{ values[key] = value; }},
  save_changes: () => globalThis.saved.push(values.selection),
  on: (event, run) => {{ heard[event] = run; }},
  off: (event) => {{ delete heard[event]; }},
}};
globalThis.fromKernel = (name) => {{ values.selection = name; heard["change:selection"](); }};
globalThis.end = widget.render({{ model: globalThis.model, el: document.getElementById("el") }});
globalThis.listening = () => Object.keys(heard).length;
</script></body>"""


def widget_page(name: str) -> str:
    payload = inspector_payload(InspectorInput(report=REPORTS[name]))
    source = json.dumps(bundle_text()).replace("</", "<\\/")
    blob = json.dumps(base64.b64encode(payload.blob).decode())
    selection = json.dumps(payload.selection)
    return WIDGET.format(
        selection=selection, source=source, blob=blob, first=json.dumps(json_text(payload.first)).replace("</", "<\\/")
    )


def test_a_selection_in_the_widget_is_told_to_the_kernel_and_back(visit):
    opened = visit(widget_page("explained"), ready=False)
    opened.page.wait_for_selector("[data-ready]")
    assert opened.page.evaluate("globalThis.saved") == []
    opened.page.locator(".row").nth(1).click()
    told = opened.page.evaluate("globalThis.saved")
    assert len(told) == 1
    opened.page.evaluate("globalThis.fromKernel(\"params['w1']\")")
    path = opened.page.locator(".details h2").first.inner_text()
    assert path == "params['w1']" or "over" in path
    assert opened.page.evaluate("globalThis.saved") == told


def test_a_widget_that_is_closed_listens_no_more(visit):
    opened = visit(widget_page("train_step"), ready=False)
    opened.page.wait_for_selector("[data-ready]")
    opened.page.evaluate("globalThis.end()")
    assert opened.page.evaluate("globalThis.listening()") == 0
