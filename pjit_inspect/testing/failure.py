"""The message of a failed check: one sentence, then what was expected, found, because of what, and what to change.

Not its job: checking.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Iterable, Sequence

from pjit_inspect.errors import CheckFailedError

_WIDTH = 96
_MOST_LINES = 26
_LABEL = 11


def failure(
    sentence: str, *sections: tuple[str, Sequence[str]], kind: type[CheckFailedError] = CheckFailedError
) -> CheckFailedError:
    """The error of a failed check; what does not fit on a screen is written to a file, which it names.

    Args:
      sentence: what failed, with its number.
      sections: a label and its lines each; one without lines is left out.
      kind: the class of the error.
    """
    body = [line for label, lines in sections if lines for line in section_lines(label, lines)]
    whole = [*textwrap.wrap(sentence, _WIDTH, break_long_words=False, break_on_hyphens=False), "", *body]
    if len(whole) > _MOST_LINES:
        with tempfile.NamedTemporaryFile(
            "w", prefix="pjit_inspect-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write("\n".join(whole) + "\n")
        kept = whole[: _MOST_LINES - 1]
        whole = [*kept, f"  and {len(whole) - len(kept)} more lines in {file.name}"]
    said = {label: tuple(lines) for label, lines in sections}
    because, remove = said.get("because", ()), said.get("remove", ())
    return kind("\n".join(whole).rstrip(), sentence=sentence, because=because, remove=remove)


def section_lines(label: str, lines: Iterable[str]) -> Iterable[str]:
    """The lines of one section, wrapped, the label before the first."""
    first = f"  {label:<{_LABEL}}"
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(
            line.strip(),
            _WIDTH,
            initial_indent=first + indent,
            subsequent_indent=" " * (_LABEL + 4) + indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
        first = " " * (_LABEL + 2)
