"""What a planted fault is, and what must be found of it: written down before any of these programs ran.

Not its job: the programs (`faults`, `clean`), or the score (`score`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Built", "Fault", "fault"]

Built = tuple[Callable[..., Any], tuple[Any, ...]]
Line = Literal["here", "call", "definition"]
Saves = Literal["sent", "held", "temporary", "copies", "arguments"]

_TAG = re.compile(r"#\s*@here\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One program with one fault.

    Attributes:
      name: unique.
      build: makes the function and its arguments; `fixed=True` makes the program with the remedy in its code.
      kind: the finding's.
      line: where it must point: at the line marked `# @here`, at the call, or where the function is defined.
      says: what its sentence must contain, each.
      remedy: what its remedy must contain, each.
      saves: what the remedy saves in the compiled program: bytes sent, bytes of arguments held, bytes that arguments,
        results and temporaries take beyond what they share, arguments copied on each call, or the memory that XLA says
        all arguments take.
      tried: whether the remedy must have been given to XLA's partitioner.
      is_called: whether it must be called, as what is wrong is what it is given.
      is_kept: whether its records were compiled before and are read from files (`on_tpu`).
      revised: what had been written down before it ran, and why that was wrong; "" when it held.
    """

    name: str
    build: Callable[..., Built]
    kind: str
    line: Line
    says: tuple[str, ...]
    remedy: tuple[str, ...]
    saves: Saves
    tried: bool
    is_called: bool = False
    is_kept: bool = False
    revised: str = ""

    @property
    def place(self) -> int:
        """The number of the marked line."""
        text, first = inspect.getsourcelines(self.build)
        return next(first + number for number, line in enumerate(text) if _TAG.search(line))


def fault(
    faults: list[Fault],
    kind: str,
    *,
    line: Line = "here",
    says: tuple[str, ...],
    remedy: tuple[str, ...],
    saves: Saves = "sent",
    tried: bool = True,
    is_called: bool = False,
    is_kept: bool = False,
    revised: str = "",
) -> Callable[[Callable[..., Built]], Callable[..., Built]]:
    """Append the decorated builder to `faults`; the fault is named after it."""

    def add(build: Callable[..., Built]) -> Callable[..., Built]:
        found = Fault(
            name=build.__name__,
            build=build,
            kind=kind,
            line=line,
            says=says,
            remedy=remedy,
            saves=saves,
            tried=tried,
            is_called=is_called,
            is_kept=is_kept,
            revised=revised,
        )
        faults.append(found)
        return build

    return add
