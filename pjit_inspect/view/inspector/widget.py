"""The inspector as a live widget: the selection on the page is the selection in the kernel, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.inspector.blob import deflated, json_text
from pjit_inspect.view.inspector.page import bundle_text
from pjit_inspect.view.inspector.payload import InspectorPayload


def widget_words(report: RecordReport) -> str:
    """The widget in one line, the same on every run."""
    name = shorten(printable(report.data.name), 60)
    number = "unknown collectives" if report.collectives is None else plural(len(report.collectives), "collective")
    return f"<pjit_inspect widget: {name}, {number}>"


def inspector_widget(
    payload: InspectorPayload, *, words: str, still: str, asked: Callable[[Any, dict[str, Any]], None] | None = None
) -> Any:
    """An anywidget. `selection` is the name of the selected thing; setting it selects.

    A name is an HLO instruction ("all-reduce.125"), the path of an array ("params['w1']"), a line of source
    ("train.py:41"), or "alive:" and the instruction that makes a value in memory; "" for no selection. At first it is
    the collective that sends most. An unknown name changes nothing. `words` is the text form, without id or time;
    `still` the HTML for a notebook without a kernel. `asked` is called with the widget and a message of its page:
    `{"type": "drawn"}` after drawing; `{"type": "memory"}` to ask for the store of the memory pane, which goes to
    `_memory`, deflated; `{"type": "suggest"}` for suggestions; `{"type": "check", "number": 0}` to compile one.
    `_findings` and `_suggestions` take newer results as JSON (`view.inspector.findings`).
    """
    import anywidget
    import traitlets

    class Inspector(anywidget.AnyWidget):
        _esm = bundle_text()
        _first = traitlets.Unicode().tag(sync=True)
        _blob = traitlets.Bytes().tag(sync=True)
        _memory = traitlets.Bytes().tag(sync=True)
        _findings = traitlets.Unicode("").tag(sync=True)
        _suggestions = traitlets.Unicode("").tag(sync=True)
        selection = traitlets.Unicode("", help="The name of what is selected.").tag(sync=True)

        def __repr__(self) -> str:
            return words

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            found = super()._repr_mimebundle_(**kwargs)
            if found is None:
                return None
            bundle, metadata = found if isinstance(found, tuple) else (found, {})
            return {**bundle, "text/plain": words, "text/html": still}, metadata

    widget = Inspector(
        _first=json_text({**payload.first, "has_memory": True}),
        _blob=deflated(payload.blob),
        selection=payload.selection,
    )
    if asked is not None:
        widget.on_msg(lambda own, message, _: asked(own, message))
    return widget
