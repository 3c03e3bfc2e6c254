"""The text a function is defined in: a file, or a notebook's cell, in the version that stands there now.

Two versions of a text are what tells an edited function from two functions of one name. Not its job: the function
(`observe.key.definitions`).
"""

from __future__ import annotations

import hashlib
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pjit_inspect.observe.live.frames import source_lines

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
    """A text that was looked through: its lines, a hash of them, and how often it defines each qualified name."""

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
        known = _known[file] = _Read(given, lines, version, Counter(defined_names(text)))
    return known


def _twins(read: _Read, name: str) -> int | None:
    return None if name.rsplit(".", 1)[-1] == "<lambda>" else read.defined[name]


_TOKENS = re.compile(
    r"""
      \#[^\n]*
    | \"{3} (?: [^"\\] | \\. | "(?!"") )* \"{3}
    | '{3} (?: [^'\\] | \\. | '(?!'') )* '{3}
    | " (?: [^"\\\n] | \\. )* "
    | ' (?: [^'\\\n] | \\. )* '
    | ^ (?P<indent> [ \t]* ) (?: (?:async[ \t]+)? (?P<kind> def | class ) [ \t]+ (?P<name> \w+ ) | (?= [\w@] ) )
    """,
    flags=re.MULTILINE | re.DOTALL | re.VERBOSE,
)
"""Comments, strings, and where a line begins with a word: what a `def` may stand in, and what ends a block."""


def defined_names(text: str) -> Iterator[str]:
    """The qualified name of every function that a text defines, in order.

    By indentation: parsing takes forty times as long, half a second for a file of 12,000 lines, and this is done within
    the first compile of a function of that file. A cell with magics, which is no Python, has names as well.
    """
    blocks: list[tuple[int, str]] = []
    for token in _TOKENS.finditer(text):
        if token["indent"] is None:
            continue
        indent = len(token["indent"].expandtabs())
        while blocks and blocks[-1][0] >= indent:
            blocks.pop()
        prefix = blocks[-1][1] if blocks else ""
        if token["kind"] == "def":
            yield prefix + token["name"]
            blocks.append((indent, f"{prefix}{token['name']}.<locals>."))
        elif token["kind"] == "class":
            blocks.append((indent, f"{prefix}{token['name']}."))
