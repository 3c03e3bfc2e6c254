"""Source places that are the same for an edited cell and a moved line.

A place is the text of a line, its function, and the number of equal lines above it in that function: no line number, no
file name. Not its job: reading source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.diff.names import skeleton
from pjit_inspect.analyze.diff.sequence import common_subsequence
from pjit_inspect.model.diff.diff import SourceChange
from pjit_inspect.model.program.source import Frame, SourceText

Place = tuple[str, str, int]
"""A function, the text of a line, and the number of equal lines above it in that function."""

_DEF = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)")
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Places:
    """The places of one program.

    Attributes:
      sources: the user's source texts, as far as they are known.
      outside: frames that all stacks end in: who called the function that was compiled.
    """

    sources: Sequence[SourceText]
    outside: frozenset[Frame] = frozenset()
    _texts: dict[str, SourceText] = field(init=False)
    _known: dict[tuple[str, int, bool], Place | None] = field(init=False, default_factory=dict)
    _stacks: dict[tuple[int, bool], tuple[Place | None, ...]] = field(init=False, default_factory=dict)
    _kept: list[tuple[Frame, ...]] = field(init=False, default_factory=list)
    _numbered: dict[tuple[str, bool], list[Place]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._texts = {source.file: source for source in self.sources}

    def stack(self, frames: tuple[Frame, ...], *, is_loose: bool = False) -> tuple[Place | None, ...]:
        """The places of some frames, innermost first, without who called the function that was compiled.

        With `is_loose` names of variables do not count.
        """
        key = (id(frames), is_loose)
        if key not in self._stacks:
            self._kept.append(frames)  # so that no other tuple gets its id
            own = [frame for number, frame in enumerate(frames) if not number or frame not in self.outside]
            self._stacks[key] = tuple(self.place(frame, is_loose=is_loose) for frame in own)
        return self._stacks[key]

    def place(self, frame: Frame, *, is_loose: bool = False) -> Place | None:
        """The place of a frame; None when its text is not known."""
        key = (frame.file, frame.line, is_loose)
        if key not in self._known:
            lines = self._lines(frame.file, is_loose)
            inside = 1 <= frame.line <= len(lines)
            self._known[key] = lines[frame.line - 1] if inside else None
        return self._known[key]

    def _lines(self, file: str, is_loose: bool) -> list[Place]:
        """The places of all lines of a file."""
        key = (file, is_loose)
        if key not in self._numbered:
            source = self._texts.get(file)
            self._numbered[key] = _line_places(source.lines, is_loose) if source is not None else []
        return self._numbered[key]

    def functions(self, stacks: Iterable[tuple[Frame, ...]]) -> dict[str, list[tuple[Frame, str]]]:
        """Function -> its lines of code, for every function that some stacks are in, without who called them."""
        frames = dict.fromkeys(f for own in stacks for n, f in enumerate(own) if not n or f not in self.outside)
        cells = {frame.file: frame.cell for frame in frames}
        wanted = {(frame.file, place[0]) for frame in frames if (place := self.place(frame)) is not None}
        found: dict[str, list[tuple[Frame, str]]] = {}
        for file, function in sorted(own for own in wanted if own[1]):
            source = self._texts[file]
            for number, place in enumerate(self._lines(file, is_loose=False), start=1):
                if place[0] == function and place[1]:
                    frame = Frame(file=file, line=number, function=function, cell=cells.get(file))
                    found.setdefault(function, []).append((frame, source.lines[number - 1].strip()))
        return found


def _line_places(lines: Sequence[str], is_loose: bool) -> list[Place]:
    open_functions: list[tuple[int, str]] = []
    seen: Counter[tuple[str, str]] = Counter()
    places = []
    for line in lines:
        text = skeleton(line) if is_loose else _plain(line)
        indent = len(line) - len(line.lstrip())
        if text and not text.startswith((")", "]", "}")):
            while open_functions and open_functions[-1][0] >= indent:
                open_functions.pop()
        function = open_functions[-1][1] if open_functions else ""
        places.append((function, text, seen[function, text]))
        seen[function, text] += 1
        if opened := _DEF.match(line):
            open_functions.append((indent, opened[1]))
    return places


def _plain(line: str) -> str:
    """A line without comments and with its spaces alike."""
    code = line
    if "#" in line:
        head = line.partition("#")[0]
        # A "#" in a string is no comment: then the line is unchanged.
        code = head if head.count('"') % 2 == 0 and head.count("'") % 2 == 0 else line
    return _SPACE.sub(" ", code).strip()


def source_changes(
    before: dict[str, list[tuple[Frame, str]]], after: dict[str, list[tuple[Frame, str]]]
) -> tuple[SourceChange, ...]:
    """The lines that only one of two programs has, in order, except in functions that only one of them has."""
    changes: list[SourceChange] = []
    for function in [name for name in before if name in after]:
        old, new = before[function], after[function]
        pairs = common_subsequence([_plain(text) for _, text in old], [_plain(text) for _, text in new])
        kept_old, kept_new = ({pair[side] for pair in pairs} for side in (0, 1))
        gone = [(frame, text) for n, (frame, text) in enumerate(old) if n not in kept_old]
        fresh = [(frame, text) for n, (frame, text) in enumerate(new) if n not in kept_new]
        # A line that only moved within the function is neither gone nor new.
        texts = Counter(_plain(text) for _, text in gone) & Counter(_plain(text) for _, text in fresh)
        changes += [SourceChange(before=f, after=None, text=t) for f, t in _without(gone, texts)]
        changes += [SourceChange(before=None, after=f, text=t) for f, t in _without(fresh, texts)]
    return tuple(changes)


def _without(lines: Sequence[tuple[Frame, str]], texts: Counter[str]) -> list[tuple[Frame, str]]:
    left, kept = Counter(texts), []
    for frame, text in lines:
        if left[_plain(text)] > 0:
            left[_plain(text)] -= 1
        else:
            kept.append((frame, text))
    return kept
