"""The places of operations in StableHLO text: `loc(#loc12)` and the table they point to."""

from __future__ import annotations

import re

from pjit_inspect.model.program.source import Frame

_ALIAS = re.compile(r"^#(loc\d*) = loc\((.*)\)$")
_AT_END = re.compile(r" loc\((#loc\d*|\"(?:[^\"\\]|\\.)*\"(?:\(#loc\d*\))?|unknown)\)(?=$|[ ,){])")
_NAMED = re.compile(r'^"((?:[^"\\]|\\.)*)"\((.*)\)$')
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):\d+')
_CALLSITE = re.compile(r"^callsite\((.*) at (.*)\)$")
_MOST_HOPS = 64


class MlirLocations:
    """The table of locations of one text."""

    def __init__(self, source: str) -> None:
        self._table = {
            found[1]: found[2]
            for line in source.split("\n")
            if line.startswith("#loc") and (found := _ALIAS.match(line))
        }
        self._known: dict[str, tuple[str, tuple[Frame, ...]]] = {}

    def split(self, line: str) -> tuple[str, str, tuple[Frame, ...]]:
        """A line without its marks, the name of its operation, and its frames, innermost first."""
        if " loc(" not in line:
            return line, "", ()
        marks = _AT_END.findall(line)
        name, frames = self.resolve(marks[-1]) if marks else ("", ())
        return _AT_END.sub("", line), name, frames

    def resolve(self, mark: str) -> tuple[str, tuple[Frame, ...]]:
        """The name and the frames of a location."""
        if mark not in self._known:
            name = ""
            text = self._text(mark)
            if found := _NAMED.match(text):
                name, text = found[1], self._text(found[2])
            self._known[mark] = name, self._frames(text)
        return self._known[mark]

    def _text(self, mark: str) -> str:
        for _ in range(_MOST_HOPS):
            if not mark.startswith("#"):
                return mark
            mark = self._table.get(mark[1:], "unknown")
        return mark

    def _frames(self, text: str) -> tuple[Frame, ...]:
        """Frames of nested call sites; a callee's are further in."""
        frames: list[Frame] = []
        todo = [text]
        for _ in range(_MOST_HOPS):
            if not todo:
                break
            text = self._text(todo.pop())
            if found := _CALLSITE.match(text):
                todo += [found[2], found[1]]
            elif (named := _NAMED.match(text)) is not None:
                todo.append(named[2])
            elif found := _FILE.match(text):
                frames.append(Frame(file=found[1], line=min(int(found[2][:9]), 2**31 - 1)))
        return tuple(frames)
