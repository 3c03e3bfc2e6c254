"""The playground as one page that loads nothing: its last state, and every selected variant.

Not its job: the data (`view.play.payload`), drawing (`view/front/src/play`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.page import scripted_page
from pjit_inspect.view.play.shared import shared

_LACKS = (
    "this page keeps {count} in full, and of the dim rows the figures. Where the playground lives, play.go_back(number)"
    " and then play.to_html(path) write a page that has it."
)
PLAY_BUNDLE = Path(__file__).parents[1] / "front" / "play.js"
"""The JavaScript, bundled from `front/src/play` (`npm run build` in `front`)."""


@functools.cache
def play_script() -> str:
    """The JavaScript for the page and the widget."""
    return PLAY_BUNDLE.read_text(encoding="utf-8")


def play_page(name: str, state: dict[str, Any], variants: Sequence[dict[str, Any]], *, still: str = "") -> str:
    """The page: the state it opens with, and the data of every other kept variant (`variant_data`).

    A row of the history whose variant is not kept says so. `still` is HTML shown until the script runs, and stays where
    none may run.
    """
    numbers = {one["number"] for one in variants}
    rows = [{**row, "kept": row["number"] in numbers} for row in state["history"]["rows"]]
    lacks = _LACKS.format(count=plural(len(numbers), "variant")) if len(numbers) < len(rows) else ""
    state = {**state, "history": {**state["history"], "rows": rows, "lacks": lacks}}
    blob = pack_blob({"variants": shared(variants)}, {}, {})
    return scripted_page(printable(f"{name}: playground"), state, blob, script=play_script(), still=still)
