"""What other people's bytes say, as text that can be printed: control and bidirectional characters become escapes.

A name in a file may move a terminal's cursor, ring its bell or turn the line around. Every reader of foreign text
passes through here, so that whatever is printed of a program later needs no thought. Not its job: characters that are
merely wide or unusual (`view.document.printable`), HTML (`view.render.html`).
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.standard import load_standard

_unicode = load_standard("unicodedata")

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_PIECE = 1 << 20


def clean_line(text: str) -> str:
    """A name or a sentence: characters without a shape of their own are escapes, newlines and tabs too."""
    return text if text.isprintable() else _escaped(text, "")


def clean_text(text: str) -> str:
    """A text of many lines: newlines and tabs stay, and a line may end in the way of Windows."""
    # A single character is found much faster than two.
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    # Programs have hundreds of megabytes, nearly always clean: told at once, and of few lines at a time.
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return text if all(map(_is_clean, pieces)) else _escaped(text, "\n\t")


def _is_clean(piece: str) -> bool:
    if piece.isascii():
        # Many times faster than asking whether the rest can be printed.
        codes = np.frombuffer(piece.encode("ascii"), np.uint8)
        kept = sum(np.count_nonzero(codes == ord(char)) for char in "\n\t")
        return np.count_nonzero(codes < ord(" ")) == kept and "\x7f" not in piece
    return piece.replace("\n", "").replace("\t", "").isprintable()


def _escaped(text: str, kept: str) -> str:
    table = {ord(char): _escape(char) for char in set(text) if _unicode.category(char) in _HIDDEN}
    for char in kept:
        table.pop(ord(char), None)
    return text.translate(table) if table else text


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
