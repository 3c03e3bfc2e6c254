"""The outputs of a playground in a notebook: the widget, and under it its still twin, which is written anew.

Not its job: what the twin says (`view.play.still`), or when it is new (`handles.play.live`).
"""

from __future__ import annotations

import sys
from typing import Any

from pjit_inspect.view.render.shown import Shown


def is_in_notebook() -> bool:
    """Whether outputs of this process are drawn by a notebook; IPython is not imported for it."""
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
        """Put another twin in the place of the one that is there, in the saved notebook too."""
        if self._handle is not None:
            self._handle.update(Shown(bundle))
