"""Lets a `%%pjit` cell run as a plain cell does.

An ordinary cell magic gets its cell as one string and has to run it itself, which costs `await`, line numbers and clean
tracebacks. So the first line alone is translated, into a call that records the rest of the cell; the cell's own lines
stay as they are, and IPython runs them. Not its job: recording (`ipython.magics`).
"""

from __future__ import annotations

import re

from IPython.core.inputtransformer2 import cell_magic

__all__ = ["translate_first_line"]

_FIRST_LINE = re.compile(r"%%pjit(?P<options>[ \t][^\n]*)?\r?\n")


def translate_first_line(lines: list[str]) -> list[str]:
    """The lines of a cell, with `%%pjit OPTIONS` on top turned into a call; other cells unchanged.

    One line stays one line. A cell with nothing below `%%pjit` is left for IPython to refuse.
    """
    match = _FIRST_LINE.fullmatch(lines[0]) if lines else None
    if match is None or not "".join(lines[1:]).strip():
        return lines
    argument = f"--cell {(match['options'] or '').strip()}".rstrip()
    # What follows may be a cell magic of its own (`%%time`): it is no longer on the cell's first line.
    return [f"get_ipython().run_line_magic('pjit', {argument!r})\n", *cell_magic(translate_first_line(lines[1:]))]


# IPython leaves such a transformer out when it asks whether typed text is a whole cell. It must: only text that begins
# with `%%` is taken for a cell magic, whose end is a blank line.
translate_first_line.has_side_effects = True  # type: ignore[attr-defined]
