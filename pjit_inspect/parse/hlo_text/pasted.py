"""Pasted text: removes what logs, issues and editors put before each line.

Only if every line that looks like HLO has the same kind of beginning, so that nothing is guessed. Not its job: HLO
(`parse.hlo_text.sections`), whose reader keeps lines outside the program.
"""

from __future__ import annotations

import re

_PREFIXES = tuple(
    re.compile(pattern, flags=re.M)
    for pattern in (
        r"^[IWEF]\d{4} [\d:.]+ +\d+ [^\s\]]{1,200}\] ?",  # absl: I1128 15:00:00.1 77 x.cc:1]
        r"^\d{4}-\d\d-\d\d [\d:.,]+:? [A-Z]\w* [^\s\]]{1,200}\] ?",  # TensorFlow: 2026-01-01 12:00:00.1: I x.cc:1]
        r"^\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]? ",  # a time
        r"^[ \t]*\d{1,7}[:|\t] ?",  # grep -n, cat -n
        r"^>[ \t]?",  # quoted in a mail or an issue
        r"^\+",  # added in a diff
    )
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", flags=re.M)
_PART = re.compile(r"[ \t]*(?:HloModule|ENTRY|ROOT|%?[A-Za-z_][\w.\-]*\s*=\s+\(?[a-z]\w*\[)")


def without_line_beginnings(text: str) -> str:
    """The text without fences, and without the line beginnings of one tool."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    for prefix in _PREFIXES:
        first = prefix.search(text, 0, 1 << 16)
        if first is not None and _is_before_every_part(prefix, text):
            return prefix.sub("", text)
    return text


def _is_before_every_part(prefix: re.Pattern[str], text: str) -> bool:
    """True if parts of a program follow it, and never begin a line without it."""
    behind = sum(_PART.match(text, match.end()) is not None for match in prefix.finditer(text))
    plain = re.search(rf"^{_PART.pattern}", text, flags=re.M)
    return behind > 0 and plain is None
