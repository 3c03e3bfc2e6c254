"""A change that may be tried, before its cost is known, and the result of trying it.

Not its job: finding changes (`analyze.suggest.arguments`, `analyze.suggest.constraints`) or costing them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.analyze.suggest.turns import Parts
from pjit_inspect.model.report.suggestion import Checked, Edit

_VISIBLE_WORK = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One change to a program.

    Attributes:
      exclusive_with: options with the same value are alternatives: one is enough.
      title: the change as a short instruction.
      words: the full instruction.
      edits: the changes it makes.
      stake: bytes of the needs it could remove (modelled); options with more at stake are tried first.
    """

    exclusive_with: tuple[str, ...]
    title: str
    words: str
    edits: tuple[Edit, ...]
    stake: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An option and its effect, for one device and call.

    Attributes:
      option: the option.
      forward_bytes, backward_bytes: additional bytes sent.
      removes: instruction names of the collectives it removes.
      held_bytes: additional bytes of arguments held.
      work: multiplications relative to before (1: as many): the least and the most, depending on loops of unknown
        length.
      parts: bytes sent before and after, outside loops of unknown length and in one turn of each; the other figures
        include one turn of each.
      counted: the counts from XLA's partitioner for both programs; None if modelled.
    """

    option: Option
    forward_bytes: int
    backward_bytes: int
    removes: tuple[str, ...]
    held_bytes: int
    work: tuple[float, float]
    parts: Parts
    counted: Checked | None = None

    @property
    def is_priced(self) -> bool:
        """True if devices hold or multiply visibly more for it."""
        return self.held_bytes > 0 or self.work[1] > 1 + _VISIBLE_WORK

    @property
    def bytes(self) -> int:
        """Bytes sent more."""
        return self.forward_bytes + self.backward_bytes
