"""The text a function is defined in: a file, or a notebook's cell, in the version that stands there now.

Two versions of a text are what tells an edited function from two functions of one name. Not its job: the function
(`observe.key.definitions`).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["NO_TEXT", "DefiningText", "defining_text"]

_MAX_LINES = 20_000


@dataclass(frozen=True, slots=True)
class DefiningText:
    """A text as far as it tells of one function.

    Attributes:
      lines: without line ends; () when there is no text.
      version: a hash of them; None when there is no text.
      twins: how many functions of the qualified name it defines; None when that is not known.
    """

    lines: tuple[str, ...] = ()
    version: str | None = None
    twins: int | None = None

    def without_lines(self) -> DefiningText:
        """The same without the lines, to be kept for long."""
        return replace(self, lines=())


NO_TEXT = DefiningText()
"""What is known of a function whose text nobody has."""


def defining_text(file: str, name: str) -> DefiningText:
    """The text of a file or cell as it stands now, and how often it defines a function of this qualified name."""
    if not file.startswith("<"):
        # A module that was edited and reloaded is still cached as it was.
        linecache.checkcache(file)
    lines = tuple(line.rstrip("\r\n") for line in linecache.getlines(file))
    if not lines or len(lines) > _MAX_LINES:
        return NO_TEXT
    text = "\n".join(lines)
    version = hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
    return DefiningText(lines, version, _twins(text, version, name))


def _twins(text: str, version: str, name: str) -> int | None:
    own = name.rsplit(".", 1)[-1]
    if own == "<lambda>":
        return None
    if len(re.findall(rf"\bdef {re.escape(own)}\b", text)) == 1:
        # Cheaper than parsing, and true of most functions.
        return 1
    counts = _definitions_of(text, version)
    return None if counts is None else counts.get(name, 0)


@functools.lru_cache(maxsize=8)
def _parsed(version: str) -> list[Counter[str] | None]:
    """A place for the count of one version: texts themselves are not kept."""
    return []


def _definitions_of(text: str, version: str) -> Counter[str] | None:
    """How often each qualified name is defined in a text; None for one that is no Python, as cells may be."""
    kept = _parsed(version)
    if not kept:
        try:
            kept.append(Counter(_names(ast.parse(text))))
        except (SyntaxError, ValueError, RecursionError):
            kept.append(None)
    return kept[0]


def _names(tree: ast.AST) -> Iterator[str]:
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, prefix = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name
            prefix += f"{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            prefix += f"{node.name}."
        elif isinstance(node, ast.Lambda):
            prefix += "<lambda>.<locals>."
        stack += [(child, prefix) for child in ast.iter_child_nodes(node)]
