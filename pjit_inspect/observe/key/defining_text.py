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

from pjit_inspect.observe.live.frames import source_lines

__all__ = ["NO_TEXT", "DefiningText", "defining_text"]

_MAX_LINES = 20_000
_MAX_TEXTS = 64


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
    lines = linecache.getlines(file)
    if not lines or len(lines) > _MAX_LINES:
        return NO_TEXT
    read = _read(file, lines)
    return DefiningText(read.lines, read.version, _twins(read, name))


@dataclass(frozen=True, slots=True)
class _Read:
    """A text that was looked through: its lines, a hash of them, and how often `def` stands before each name."""

    given: list[str]
    lines: tuple[str, ...]
    version: str
    defined: Counter[str]


_known: dict[str, _Read] = {}


def _read(file: str, given: list[str]) -> _Read:
    """The same for all functions of a text: `linecache` makes a new list when that changes."""
    known = _known.get(file)
    if known is None or known.given is not given:
        lines = source_lines(file, given)
        text = "\n".join(lines)
        version = hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]
        if len(_known) >= _MAX_TEXTS:
            _known.clear()
        known = _known[file] = _Read(given, lines, version, Counter(re.findall(r"\bdef (\w+)", text)))
    return known


def _twins(read: _Read, name: str) -> int | None:
    own = name.rsplit(".", 1)[-1]
    if own == "<lambda>":
        return None
    if read.defined[own] == 1:
        # Cheaper than parsing, and true of most functions.
        return 1
    counts = _definitions_of(read)
    return None if counts is None else counts.get(name, 0)


@functools.lru_cache(maxsize=8)
def _parsed(version: str) -> list[Counter[str] | None]:
    """A place for the count of one version: texts themselves are not kept."""
    return []


def _definitions_of(read: _Read) -> Counter[str] | None:
    """How often each qualified name is defined in a text; None for one that is no Python, as cells may be."""
    kept = _parsed(read.version)
    if not kept:
        try:
            kept.append(Counter(_names(ast.parse("\n".join(read.lines)))))
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
