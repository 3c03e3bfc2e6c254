"""The outputs of a playground in a notebook: the widget, and its still twin, which is rewritten.

Not its job: the twin's contents (`view.play.still`), or when they change (`handles.play.live`).
"""

from __future__ import annotations

import sys
from typing import Any

from pjit_inspect.view.render.shown import Shown


def is_in_notebook() -> bool:
    """True if a notebook draws the outputs of this process; does not import IPython."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


class Twin:
    """Two outputs of one cell: the twin, and the widget that hides it where it is drawn."""

    def __init__(self, widget: Any, bundle: dict[str, str]) -> None:
        """Shows both; `bundle` is the twin, MIME type -> text."""
        from IPython.display import display

        self._handle = display(Shown(bundle), display_id=True)
        display(widget)

    def write(self, bundle: dict[str, str]) -> None:
        """Replaces the twin, in the saved notebook too."""
        if self._handle is not None:
            self._handle.update(Shown(bundle))
