"""The playground's page and widget with the variants of `play_samples`, and a kernel that only keeps what it is asked.

Not its job: expectations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import play_samples

from pjit_inspect.view.play.history import history_data
from pjit_inspect.view.play.page import play_page, play_script
from pjit_inspect.view.play.payload import play_data, state_data, variant_data

__all__ = ["page_of", "widget_of"]

_WIDGET = """<!DOCTYPE html><meta charset="utf-8"><body><div id="el"></div><script type="module">
const source = {source};
const {{ default: widget }} = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
const values = {values};
const heard = {{}};
globalThis.asked = [];
globalThis.model = {{
  get: (key) => values[key],
  set: (key, value) => {{ values[key] = value; }},
  on: (event, run) => {{ heard[event] = run; }},
  off: (event) => {{ delete heard[event]; }},
  send: (message) => globalThis.asked.push(message),
}};
globalThis.fromKernel = (state) => {{ values._state = JSON.stringify(state); heard["change:_state"](); }};
globalThis.pageFromKernel = (page) => heard["msg:custom"]({{ type: "page", title: "an inspector", page }});
globalThis.kernelGoes = () => {{
  globalThis.model.send = () => {{ throw new Error("Cannot send"); }};
  heard["comm_live_update"]();
}};
globalThis.end = widget.render({{ model: globalThis.model, el: document.getElementById("el") }});
globalThis.listening = () => Object.keys(heard).length;
</script></body>"""


def page_of(chosen: int = 4, kept: Iterable[int] = range(8)) -> str:
    """The page, which holds these variants in full."""
    given = play_samples.given(chosen)
    others = [variant_data(play_samples.given(number)) for number in kept]
    return play_page("train_step", state_data(given), others, still="<p>still</p>")


def widget_of(chosen: int = 4, **more: Any) -> str:
    given = play_samples.given(chosen, **more)
    values = {"_key": "k1", "_state": json.dumps(play_data(given)), "_history": json.dumps(history_data(given.history))}
    words = {"source": json.dumps(play_script()), "values": json.dumps(values)}
    return _WIDGET.format(**{key: value.replace("</", "<\\/") for key, value in words.items()})
