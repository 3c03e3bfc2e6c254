"""A change that may be tried, before anybody knows what it costs, and what came of trying it.

Not its job: finding changes (`analyze.suggest.arguments`, `analyze.suggest.constraints`) or costing them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.analyze.suggest.turns import Parts
from pjit_inspect.model.report.suggestion import Checked, Edit

_VISIBLE_WORK = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One change of a program.

    Attributes:
      exclusive_with: options that share it are alternatives: one of them is enough.
      title: the change, short, as an order.
      words: the same in full.
      edits: what it changes.
      stake: bytes of the needs it could do away with (modelled); options with more at stake are tried first.
    """

    exclusive_with: tuple[str, ...]
    title: str
    words: str
    edits: tuple[Edit, ...]
    stake: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An option and what it changes, for one device and call.

    Attributes:
      option: the option.
      forward_bytes, backward_bytes: bytes sent more.
      removes: names of the instructions of the collectives that it does away with.
      held_bytes: bytes more of arguments held.
      work: multiplications, 1 for as many as before: the least and the most, as loops of unknown length are short or
        long.
      parts: bytes sent before and after, outside of loops of unknown length and in a turn of each of them; the other
        figures have one turn of each.
      counted: what XLA's partitioner makes of both programs; None where it is modelled.
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
        """Whether devices hold or multiply visibly more for it."""
        return self.held_bytes > 0 or self.work[1] > 1 + _VISIBLE_WORK

    @property
    def bytes(self) -> int:
        """Bytes sent more."""
        return self.forward_bytes + self.backward_bytes
