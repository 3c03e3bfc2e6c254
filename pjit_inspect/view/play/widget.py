"""The playground as a live widget: changes on the page go to XLA in the kernel, and its answers are drawn.

It is a `DOMWidget` of ipywidgets, so that it fits into a `VBox` beside a user's widgets, and its traits can be observed
and linked. Not its job: the data (`view.play.payload`), the questions (`handles.play`), drawing (`view/front`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pjit_inspect.view.inspector.blob import json_text
from pjit_inspect.view.inspector.page import with_still
from pjit_inspect.view.play.page import play_script

STATE, HISTORY = "_state", "_history"
"""The traits that hold, as JSON, the data to draw (`play_data`), and the rows of the history (`history_data`)."""


def play_widget(
    state: dict[str, Any],
    history: dict[str, Any],
    public: dict[str, Any],
    *,
    words: str,
    key: str,
    still: Callable[[], str],
    asked: Callable[[Any, dict[str, Any]], None],
) -> Any:
    """An anywidget.

    Traits that can be set: `mesh` (axis -> size), `target`, `specs` (label of a group -> one list of axes per
    dimension), `variant` (the selected number). Traits with the results, None while unknown: `stage`, `sent_bytes`,
    `memory_bytes`.

    Args:
      state: the data drawn first.
      history: its variants.
      public: the first values of these traits.
      words: its text form, without ids and figures.
      key: one word by which its still twin on the page finds it.
      still: the HTML for a notebook without a kernel, where no twin is under it.
      asked: called with the widget and a message of its page; `{"type": "drawn"}` after drawing.
    """
    import anywidget
    import traitlets

    class Playground(anywidget.AnyWidget):
        _esm = play_script()
        _state = traitlets.Unicode().tag(sync=True)
        _history = traitlets.Unicode().tag(sync=True)
        _key = traitlets.Unicode().tag(sync=True)
        mesh = traitlets.Dict(help="Axis -> size, outermost first.").tag(sync=True)
        target = traitlets.Unicode(help="The machine.").tag(sync=True)
        specs = traitlets.Dict(help="Label of a group -> for each dimension its axes.").tag(sync=True)
        variant = traitlets.Int(help="The number of the variant that is looked at.").tag(sync=True)
        stage = traitlets.Unicode(help="How far it is known.").tag(sync=True)
        sent_bytes = traitlets.Int(None, allow_none=True, help="Bytes each device sends per call.").tag(sync=True)
        memory_bytes = traitlets.Int(None, allow_none=True, help="What is known of its memory.").tag(sync=True)

        def __repr__(self) -> str:
            return words

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            return with_still(super()._repr_mimebundle_(**kwargs), words, still())

    widget = Playground(_state=json_text(state), _history=json_text(history), _key=key, **public)
    widget.on_msg(lambda own, message, _: asked(own, message))
    return widget
