"""The lines a user has to change so that the program becomes a variant, and whether they were proved.

Not its job: writing them (`analyze.play.code`), or proving them (`handles.play`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How a function is called, and what `jax.jit` was told of its arguments, as Python writes both.

    Attributes:
      arguments: what stands in the call, in order, by the names of the parameters ("x", "kind=kind", "*rest").
      options: of `jax.jit`, so that it is compiled the same again ("donate_argnames=('params',)").
      is_in_mesh: whether it was called in the context of a mesh, as `jax.set_mesh` makes one.
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
      was: what stands there in the base; "" for a line that is the same or new.
    """

    text: str
    is_changed: bool = False
    was: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of tracing the function with the written shardings.

    Attributes:
      outcome: whether XLA makes the variant's collectives of it, others, or why it was not tried.
      sentence: the same in words, with the difference.
      wanted, found: collectives by kind, of the variant and of the function traced anew; () where it was not tried.
    """

    outcome: Literal["equal", "different", "untried"]
    sentence: str
    wanted: tuple[tuple[str, int], ...] = ()
    found: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What to write for a variant.

    Attributes:
      number: the variant's.
      lines: the lines, to be copied as they are.
      notes: what the lines cannot say: places of constraints that are in code of others, and the like.
      proof: whether they give the variant's collectives.
    """

    number: int
    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...] = ()
    proof: Proof | None = None

    @property
    def text(self) -> str:
        """All lines, those that differ from the base marked with what was there."""
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
