"""The lines to change to turn the program into a variant, and their proof.

Not its job: writing the lines (`analyze.play.code`), or proving them (`handles.play`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a function and the options of its `jax.jit`, both as Python code.

    Attributes:
      arguments: the arguments of the call in order, by parameter name ("x", "kind=kind", "*rest").
      options: options of `jax.jit` that keep the compile the same ("donate_argnames=('params',)").
      is_in_mesh: whether it was called in a mesh context, such as `jax.set_mesh`.
    """

    arguments: tuple[str, ...]
    options: tuple[str, ...] = ()
    is_in_mesh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLine:
    """One line to write.

    Attributes:
      text: the line, indented.
      is_changed: whether it differs from the base.
      was: the line in the base; "" for a line that is the same or new.
    """

    text: str
    is_changed: bool = False
    was: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The result of tracing the function with the written shardings.

    Attributes:
      outcome: "equal" if XLA makes the variant's collectives, "different" if it makes others, or "untried".
      sentence: the outcome in words, with the difference or the reason.
      wanted, found: collectives by kind, of the variant and of the retraced function; () if untried.
    """

    outcome: Literal["equal", "different", "untried"]
    sentence: str
    wanted: tuple[tuple[str, int], ...] = ()
    found: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Code to write for a variant.

    Attributes:
      number: the variant's number.
      lines: the lines, ready to copy.
      notes: remarks that the lines cannot express, such as constraints in a library's code.
      proof: the proof that they give the variant's collectives.
    """

    number: int
    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...] = ()
    proof: Proof | None = None

    @property
    def text(self) -> str:
        """All lines; a line that differs from the base is marked with the base's line."""
        return "".join(f"{_marked(line)}\n" for line in self.lines)

    @property
    def plain(self) -> str:
        """All lines without marks, as they can be run."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def __str__(self) -> str:
        return self.text


def _marked(line: CodeLine) -> str:
    if not line.is_changed:
        return line.text
    return f"{line.text}  # was {line.was}" if line.was else f"{line.text}  # new"
