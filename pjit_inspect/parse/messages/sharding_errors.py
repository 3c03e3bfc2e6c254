"""The messages of JAX's that are known as facts: those of calls, traced functions and types.

Each message has its pattern; the versions that write it stand beside it. What does not match in full is not known, and
None comes back: an explanation of half a message would be a guess. Not its job: the user's names and lines
(`observe.errors.scene`), messages that the table of `analyze.errors` has.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pjit_inspect.model.report.explained_error import ErrorFacts
from pjit_inspect.parse.messages.call_errors import CALL_READERS
from pjit_inspect.parse.messages.function_errors import FUNCTION_READERS
from pjit_inspect.parse.messages.typed_errors import TYPED_READERS

_LONGEST = 20_000
"""A longer message is cut; JAX's messages about shardings have a few hundred characters."""

_READERS: tuple[Callable[[str], ErrorFacts | None], ...] = (*CALL_READERS, *TYPED_READERS, *FUNCTION_READERS)


def parse_sharding_error(message: str) -> ErrorFacts | None:
    """What a message of JAX's says; None when it is none that is known. Raises nothing."""
    text = message[:_LONGEST]
    for reader in _READERS:
        with suppress(ValueError, KeyError, IndexError, OverflowError):
            facts = reader(text)
            if facts is not None:
                return facts
    return None
