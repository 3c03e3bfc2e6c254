"""Tab completion on `%pjit` lines: subcommands, options, views, record names, and the variable a line begins with.

Not its job: the rest of the Python in the line, which IPython completes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from pjit_inspect import api
from pjit_inspect.ipython.command import OPTIONS, SUBCOMMANDS

Names = Callable[[], Iterable[str]]
"""Gives the names that exist now."""

_LINE = re.compile(r"(?:^|=)\s*(?P<magic>%%?)pjit\s+(?P<rest>.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The completions at the cursor.

    Attributes:
      words: candidates that begin with the typed fragment.
      fragment: the word the cursor is in.
      only: True when nothing else is valid there, so that Python names are left out.
    """

    words: tuple[str, ...] = ()
    fragment: str = ""
    only: bool = False


def offer(line: str, records: Names, variables: Names = tuple) -> Offer:
    """Completions at the end of `line`; `records` and `variables` give the known names."""
    match = _LINE.search(line)
    if match is None:
        return Offer()
    *before, fragment = re.split(r"\s+", match["rest"])
    words = _without_options(before)
    for option in _with_values():
        if before[-1:] == [option]:
            return _offer(_values(option), fragment, only=True)
        if fragment.startswith(f"{option}="):
            return _offer([f"{option}={value}" for value in _values(option)], fragment, only=True)
    subcommand = SUBCOMMANDS.get(words[0]) if words and match["magic"] == "%" else None
    if subcommand is not None and subcommand.options and fragment.startswith("-"):
        return _offer(subcommand.options, fragment, only=True)
    if subcommand is not None and subcommand.operands and len(words) == 1:
        return _offer(records(), fragment, only=True)
    if words:
        return Offer()
    if match["magic"] == "%%" or fragment.startswith("-"):
        return _offer(OPTIONS, fragment, only=True)
    # With jedi, IPython offers no variables for the first word after a magic.
    mine = variables() if fragment.isidentifier() else ()
    return _offer([*SUBCOMMANDS, *OPTIONS, *mine], fragment, only=False)


def _offer(candidates: Iterable[str], fragment: str, *, only: bool) -> Offer:
    words = tuple(word for word in candidates if word.startswith(fragment))
    return Offer(words=words, fragment=fragment, only=only)


def _without_options(words: list[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("--"):
        del rest[: 2 if rest[0] in _with_values() else 1]
    return rest


def _with_values() -> list[str]:
    return [name for name, option in OPTIONS.items() if option.values is not None]


def _values(option: str) -> Iterable[str]:
    return api.target_names() if option == "--target" else OPTIONS[option].values or ()


def make_matcher(records: Names, variables: Names) -> Any:
    """A matcher for `shell.Completer.custom_matchers`; it looks up names when tab is pressed."""

    def pjit_matcher(context: CompletionContext) -> SimpleMatcherResult:
        offered = offer(context.text_until_cursor, records, variables)
        # IPython replaces its own token, which may be only the end of our word (`<la` has the token `la`).
        typed = len(offered.fragment) - len(context.token)
        completions = [SimpleCompletion(text=word[max(typed, 0) :], type="magic") for word in offered.words]
        return {"completions": completions, "suppress": offered.only and bool(completions)}

    mark: Any = context_matcher(identifier="pjit_inspect")
    return mark(pjit_matcher)
