"""Finding one's way in HLO text: brackets, commas, quoted strings, comments.

Every function takes time linear in what it reads, whatever stands there. Not its job: what the pieces mean.

*Source*: `xla/hlo/parser/hlo_lexer.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A string or a comment that is never closed reaches to the end, so that what follows is not read again and again.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\*?\Z)"
BLANK = rf"(?:\s++|{_COMMENT})*+"
"""Blanks and comments, as part of a pattern that has `re.S`."""
PIECE = re.compile(rf'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|\'[^\'\n]*+(?:\'|\n|\Z)|[()\[\]{{}},]|{_COMMENT}', flags=re.S)
"""A string, a bracket, a comma, or a comment."""
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")

_DEEPEST = 100
"""XLA nests brackets a few levels deep; a protocol buffer holds no more than this."""

_KEY = re.compile(r"\s*([A-Za-z_][\w.\-]*)=")

_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", flags=re.S)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

_INTEGERS = re.compile(r"\s*(?:-?\d{1,19}\s*(?:,\s*-?\d{1,19}\s*)*+)?")


def find_close(text: str, start: int, end: int | None = None) -> int:
    """The position after the bracket that closes the one at `start`, looked for before `end`.

    Raises `ValueError` when there is none, or when brackets are nested too deeply to make sense.
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
    """What stands in the brackets that enclose the whole text. Raises `ValueError` when none do."""
    text = text.strip()
    if not text.startswith(opening) or find_close(text, 0) != len(text):
        raise ValueError(f"there are no brackets {opening} around it")
    return text[1:-1]


def split_commas(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """The parts of `text[start:end]` between commas that stand in no bracket and no string, without spaces around."""
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

    Raises `ValueError` where something else stands.
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
    """Where the value that begins at `start` ends: a string, something in brackets, or a word."""
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
    """What a string in quotes stands for, its escapes resolved. Raises `ValueError` when it is not one."""
    if len(text) < 2 or text[0] not in "\"'" or text[-1] != text[0]:
        raise ValueError("this is no string")
    content = text[1:-1].encode("utf-8")
    return _ESCAPE.sub(_resolved, content) if b"\\" in content else content


def _resolved(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = escape.groups()
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    return bytes((int(hexadecimal, 16),)) if hexadecimal is not None else _LETTERS.get(letter, letter)


def without_comments(text: str) -> str:
    """The text without its comments, `/* ... */` and those that end with their line; strings stay as they are."""
    if "/*" not in text and "//" not in text:
        return text
    return PIECE.sub(lambda piece: " " if piece[0].startswith("/") else piece[0], text)


def integers(text: str) -> list[int]:
    """The numbers of a text such as `1, -2,3`. Raises `ValueError` when it is no such text."""
    if not _INTEGERS.fullmatch(text):
        raise ValueError("this is no list of integers")
    return [int(part) for part in text.split(",")] if text.strip() else []
