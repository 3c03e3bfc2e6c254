"""The playground as one page that loads nothing: its last state, and every variant that was looked at.

Not its job: the data (`view.play.payload`), what is drawn (`view/front/src/play`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.page import scripted_page

__all__ = ["PLAY_BUNDLE", "play_page", "play_script"]

PLAY_BUNDLE = Path(__file__).parents[1] / "front" / "play.js"
"""The JavaScript, bundled from `front/src/play` (`npm run build` in `front`)."""


@functools.cache
def play_script() -> str:
    """The JavaScript as it stands in the page and the widget."""
    return PLAY_BUNDLE.read_text(encoding="utf-8")


def play_page(name: str, state: dict[str, Any], variants: Sequence[dict[str, Any]], *, still: str = "") -> str:
    """The page: the state it opens with, and what belongs to each other variant (`variant_data`).

    `still` is HTML that stands there until the script runs, and stays where none may run.
    """
    blob = pack_blob({"variants": list(variants)}, {}, {})
    return scripted_page(printable(f"{name}: playground"), state, blob, script=play_script(), still=still)
