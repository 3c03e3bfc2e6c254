"""A piece of source as a sentence shows it: on one line, and short enough.

Not its job: which piece it is (`analyze.sharding.written_ops`).
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence

from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import Span

_LONGEST = 60
Piece = tuple[str, str]
"""A token, and the space before it."""
_DOTS: Piece = (" ", "...")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_OPERATORS = frozenset(("+", "-", "*", "/", "//", "%", "@", "**", "==", "!=", "<", ">", "<=", ">=", "|", "&"))
_NO_TEXT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT))


def text_of(source: SourceText, line: int, span: Span | None) -> str:
    """The text of a span, or of a whole line where no span is known, on one line and shortened at a token."""
    last = line if span is None else max(line, span.end_line)
    lines = [(source.line(number) or "").encode() for number in range(line, last + 1)]
    if span is not None:
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
    return _shortened([part.decode(errors="replace") for part in lines])


def _shortened(lines: Sequence[str]) -> str:
    """A text without what is inside its brackets, where it is too long: what is outside says what its value is."""
    pieces = _tokens("\n".join(lines).strip())
    while len(text := "".join(space + token for space, token in pieces)) > _LONGEST:
        shorter = _without_an_argument(pieces)
        if shorter is None:
            return _cut(pieces, text)
        pieces = shorter
    return text


def _without_an_argument(pieces: list[Piece]) -> list[Piece] | None:
    """The text with one argument less: the last of the longest list of several, else all of the innermost list."""
    several, single = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for begin, commas, end in _lists(pieces):
        last = commas[-1] + 1 if commas else begin + 1
        # What was cut before goes with the argument before it.
        if pieces[last : last + 1] == [_DOTS] and commas:
            commas = commas[:-1]
            last = commas[-1] + 1 if commas else begin + 1
        if commas and _length(pieces[last:end]) > _length([_DOTS]):
            several.append((begin, last, end))
        elif _length(pieces[begin + 1 : end]) > _length([_DOTS]):
            single.append((begin, begin + 1, end))
    if several:
        _, last, end = max(several, key=lambda own: own[2] - own[0])
        return [*pieces[:last], _DOTS, *pieces[end:]]
    if single:
        begin, _, end = min(single, key=lambda own: own[2] - own[0])
        return [*pieces[: begin + 1], ("", "..."), *pieces[end:]]
    return None


def _length(pieces: Sequence[Piece]) -> int:
    return sum(len(space + token) for space, token in pieces)


def _lists(pieces: list[Piece]) -> list[tuple[int, list[int], int]]:
    """Where each pair of brackets begins, where the commas right inside are, and where it ends."""
    found, opened = list[tuple[int, list[int], int]](), list[tuple[int, list[int]]]()
    for place, (_, token) in enumerate(pieces):
        if token in _BRACKETS:
            opened.append((place, []))
        elif token in _BRACKETS.values() and opened:
            found.append((*opened.pop(), place))
        elif token == "," and opened:
            opened[-1][1].append(place)
    return found


def _cut(pieces: list[Piece], text: str) -> str:
    """The beginning of a text that is too long outside of brackets, up to an operator."""
    best, shown, depth = f"{text[: _LONGEST - 3].rstrip()}...", "", 0
    for space, token in pieces:
        shown += space + token
        depth += (token in _BRACKETS) - (token in _BRACKETS.values())
        if token in _OPERATORS and space and not depth and len(shown) + 4 <= _LONGEST:
            best = f"{shown} ..."
    return best


def _tokens(text: str) -> list[Piece]:
    """The tokens of a text that may be a part of a statement, each with the space before it."""
    found, end, is_broken = list[Piece](), (1, 0), False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _NO_TEXT or not token.string:
                continue
            is_broken = token.start[0] != end[0]
            space = " " * (token.start[1] - end[1]) if not is_broken else " "
            if is_broken and found and found[-1][1] in _BRACKETS:
                space = ""
            if is_broken and found and token.string in _BRACKETS.values():
                space = ""
                if found[-1][1] == "," and ("", ",") in found[:-1]:
                    found.pop()
            found.append((space, token.string))
            end = token.end
    except (tokenize.TokenError, SyntaxError):
        # Brackets that a line leaves open end the tokens with an error, behind the last of them.
        return found or [("", " ".join(text.split()))]
    return found
