"""Pages for the tests: the exported file, the notebook's output and the widget of one report."""

from __future__ import annotations

import base64
import json
from typing import Any

import view_reports

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.page import bundle_text, inspector_frame, inspector_page
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.render.html import to_html

__all__ = ["REPORTS", "frame_of", "page_of", "widget_of"]

REPORTS = view_reports.every_report()

_WIDGET = """<!DOCTYPE html><body><div id="el"></div><script type="module">
const source = {source};
const {{ default: widget }} = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
const bytes = Uint8Array.from(atob({blob}), (c) => c.charCodeAt(0));
const values = {{ _first: {first}, _blob: new DataView(bytes.buffer), selection: {selection} }};
Object.assign(values, {{ _advice: "", _memory: null }});
const heard = {{}};
globalThis.saved = [];
globalThis.asked = [];
globalThis.model = {{
  get: (key) => values[key],
  set: (key, value) => {{ values[key] = value; }},
  save_changes: () => globalThis.saved.push(values.selection),
  on: (event, run) => {{ heard[event] = run; }},
  send: (message) => globalThis.asked.push(message),
  off: (event) => {{ delete heard[event]; }},
}};
globalThis.fromKernel = (name) => {{ values.selection = name; heard["change:selection"](); }};
globalThis.fromKernelAdvice = (words) => {{ values._advice = words; heard["change:_advice"](); }};
globalThis.end = widget.render({{ model: globalThis.model, el: document.getElementById("el") }});
globalThis.listening = () => Object.keys(heard).length;
</script></body>"""


def page_of(report: str | RecordReport, **texts: Any) -> str:
    """The exported file."""
    return inspector_page(inspector_payload(InspectorInput(report=_report(report), **texts)))


def frame_of(report: str | RecordReport, *, key: str = "", **texts: Any) -> str:
    """A page with the notebook's output in it."""
    found = _report(report)
    payload = inspector_payload(InspectorInput(report=found, **texts))
    output = inspector_frame(payload, to_html(record_view(found)), key=key)
    return f'<!DOCTYPE html><meta charset="utf-8"><body>{output}</body>'


def widget_of(report: str | RecordReport, **texts: Any) -> str:
    """A page with the widget in it, and a model of its own in place of the kernel."""
    payload = inspector_payload(InspectorInput(report=_report(report), **texts))
    blob = base64.b64encode(deflated(payload.blob)).decode()
    first = {**payload.first, "has_memory": True}
    words = {"source": bundle_text(), "blob": blob, "first": json_text(first), "selection": payload.selection}
    return _WIDGET.format(**{key: json.dumps(value).replace("</", "<\\/") for key, value in words.items()})


def _report(report: str | RecordReport) -> RecordReport:
    return REPORTS[report] if isinstance(report, str) else report
