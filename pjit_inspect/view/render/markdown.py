"""Names and sentences as Markdown, for comments on pull requests.

Not its job: tables of rows, which copy themselves (`model.program.table`).
"""

from __future__ import annotations

import re

from pjit_inspect.view.document.printable import printable

_MARKUP = re.compile(r"([*\[\]])")


def code_in_markdown(name: str) -> str:
    """A name as code."""
    plain = printable(name).replace("`", "'")
    return f"`{plain}`"


def in_markdown(text: str) -> str:
    """Text whose backticks hold code: nothing else of it is markup, and it stays in its cell of a table."""
    parts = printable(" ".join(text.split())).split("`")
    if len(parts) % 2 == 0:
        parts = ["".join(parts)]
    return "`".join(part if i % 2 else _plain(part) for i, part in enumerate(parts)).replace("|", r"\|")


def lines_in_markdown(lines: list[str], language: str) -> str:
    """Lines of code as a block."""
    shown = "\n".join(map(printable, lines)).replace("```", "'''")
    return f"```{language}\n{shown}\n```"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
