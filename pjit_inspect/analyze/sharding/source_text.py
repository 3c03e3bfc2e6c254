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
_COST = 24
"""How many characters a cut must show more of for each bracket more that it stands in."""
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
    pieces = _tokens("\n".join(lines).strip())
    text = "".join(space + token for space, token in pieces)
    if len(text) <= _LONGEST:
        return text
    best, most, shown, closing = f"{text[: _LONGEST - 3].rstrip()}...", -len(text), "", ""
    for space, token in pieces:
        is_cut = token in _BRACKETS or token == "," or (token in _OPERATORS and bool(space))
        shown += space + token
        if token in _BRACKETS:
            closing = _BRACKETS[token] + closing
        elif closing and token == closing[0]:
            closing = closing[1:]
        if is_cut:
            cut = f"{shown}{'' if token in _BRACKETS else ' '}...{closing}"
            if len(cut) <= _LONGEST and len(shown) - _COST * len(closing) >= most:
                best, most = cut, len(shown) - _COST * len(closing)
    return best


def _tokens(text: str) -> list[tuple[str, str]]:
    """The tokens of a text that may be a part of a statement, each with the space before it."""
    found, end, is_broken = list[tuple[str, str]](), (1, 0), False
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
