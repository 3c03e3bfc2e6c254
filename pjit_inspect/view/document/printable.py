"""The safe form of a foreign string: control characters made visible, long strings shortened.

Names come from users, files and other people's programs; they may hold newlines, terminal escapes, right-to-left
overrides or a hundred thousand characters. Not its job: HTML escaping (`view.render.html`, `view.svg.svg`).
"""

from __future__ import annotations

from pjit_inspect.standard import load_standard

_unicode = load_standard("unicodedata")

_MAX = 2_000  # a name longer than this is cut before anything looks at each of its characters
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text with an escape for every character that has no shape or changes its neighbours'."""
    text = _cut(text, _MAX)
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    code = ord(char)
    if _unicode.category(char) not in _HIDDEN:
        return char if _unicode.category(char) != "Zs" else " "
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cell_width(text: str) -> int:
    """The text's width in terminal columns: two for East Asian wide characters, one for all others."""
    if text.isascii():
        return len(text)
    return sum(2 if _unicode.east_asian_width(char) in "WF" else 1 for char in text)


def shorten(text: str, width: int) -> str:
    """The text in at most `width` columns, shortened in the middle: `params...kernel`."""
    if cell_width(text) <= width:
        return text
    if width <= 3:
        return "..."[:width]
    head = (width - 3) // 2
    return _head(text, head) + "..." + _tail(text, width - 3 - head)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text padded with spaces to `width` columns; on the left when `right` is True."""
    fill = " " * max(0, width - cell_width(text))
    return fill + text if right else text + fill


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    half = (length - 3) // 2
    return text[:half] + "..." + text[-half:]


def _head(text: str, width: int) -> str:
    end = used = 0
    for end, char in enumerate(text):
        used += cell_width(char)
        if used > width:
            return text[:end]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], width)[::-1]
