"""Scanning HLO text: brackets, commas, quoted strings, comments.

Every function takes time linear in the text it reads, whatever the text. Not its job: the meaning of the pieces.

*Source*: `xla/hlo/parser/hlo_lexer.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# An unclosed string or comment reaches to the end, so that the rest is not read again and again.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\*?\Z)"
BLANK = rf"(?:\s++|{_COMMENT})*+"
"""Blanks and comments, as part of a pattern that has `re.S`."""
PIECE = re.compile(rf'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|\'[^\'\n]*+(?:\'|\n|\Z)|[()\[\]{{}},]|{_COMMENT}', flags=re.S)
"""A string, a bracket, a comma, or a comment."""
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")

_DEEPEST = 100
"""The deepest nesting of brackets: XLA uses a few levels, and a protocol buffer holds no more than this."""

_KEY = re.compile(r"\s*([A-Za-z_][\w.\-]*)=")

_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", flags=re.S)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

_INTEGERS = re.compile(r"\s*(?:-?\d{1,19}\s*(?:,\s*-?\d{1,19}\s*)*+)?")


def find_close(text: str, start: int, end: int | None = None) -> int:
    """The position after the bracket that closes the one at `start`, before `end`.

    Raises `ValueError` if there is none, or if brackets are nested too deeply.
    """
    depth = 0
    for piece in PIECE.finditer(text, start, len(text) if end is None else end):
        kind = piece[0]
        if kind in _OPENING:
            depth += 1
            if depth > _DEEPEST:
                break
        elif kind in _CLOSING:
            depth -= 1
            if depth <= 0:
                if kind != _OPENING[text[start]]:
                    break
                return piece.end()
    raise ValueError("a bracket is not closed")


def inside(text: str, opening: str) -> str:
    """The text in the brackets that enclose all of it. Raises `ValueError` without such brackets."""
    text = text.strip()
    if not text.startswith(opening) or find_close(text, 0) != len(text):
        raise ValueError(f"there are no brackets {opening} around it")
    return text[1:-1]


def split_commas(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """The parts of `text[start:end]` between commas outside brackets and strings, without surrounding spaces."""
    end = len(text) if end is None else end
    parts, depth, begin = [], 0, start
    for piece in PIECE.finditer(text, start, end):
        kind = piece[0]
        if kind in _OPENING:
            depth += 1
        elif kind in _CLOSING:
            depth -= 1
        elif kind == "," and not depth:
            parts.append(text[begin : piece.start()].strip())
            begin = piece.end()
    last = text[begin:end].strip()
    return [*parts, last] if parts or last else []


def split_pairs(text: str) -> Iterator[tuple[str, str]]:
    """The `key=value` pairs of a text such as `op_name="a b" stack_frame_id=3`, split by commas or spaces.

    Raises `ValueError` for anything else.
    """
    position = 0
    while position < len(text):
        match = _KEY.match(text, position)
        if match is None:
            if text[position:].strip(" ,"):
                raise ValueError("this is no list of attributes")
            return
        end = _value_end(text, match.end())
        yield match[1], text[match.end() : end]
        position = end
        while position < len(text) and text[position] in ", \n":
            position += 1


def _value_end(text: str, start: int) -> int:
    """The end of the value that begins at `start`: a string, a bracketed text, or a word."""
    if text[start : start + 1] in ("{", "(", "["):
        return find_close(text, start)
    piece = PIECE.match(text, start)
    if piece is not None and piece[0][0] in "\"'":
        return piece.end()
    position = start
    while position < len(text) and text[position] not in ", \n":
        position += 1
    return position


def unquote(text: str) -> bytes:
    """The content of a quoted string, with escapes resolved. Raises `ValueError` for other text."""
    if len(text) < 2 or text[0] not in "\"'" or text[-1] != text[0]:
        raise ValueError("this is no string")
    content = text[1:-1].encode("utf-8")
    return _ESCAPE.sub(_resolved, content) if b"\\" in content else content


def unquote_text(text: str) -> str:
    """The content as text; bytes that are not UTF-8 are replaced. Raises `ValueError` as `unquote`."""
    return unquote(text).decode("utf-8", "replace")


def _resolved(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = escape.groups()
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    return bytes((int(hexadecimal, 16),)) if hexadecimal is not None else _LETTERS.get(letter, letter)


def without_comments(text: str) -> str:
    """The text without comments (`/* ... */`, and `//` to the end of a line); strings are unchanged."""
    if "/*" not in text and "//" not in text:
        return text
    return PIECE.sub(lambda piece: " " if piece[0].startswith("/") else piece[0], text)


def integers(text: str) -> list[int]:
    """The numbers of a text such as `1, -2,3`. Raises `ValueError` for other text."""
    if not _INTEGERS.fullmatch(text):
        raise ValueError("this is no list of integers")
    return [int(part) for part in text.split(",")] if text.strip() else []
