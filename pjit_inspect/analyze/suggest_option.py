"""A change that may be tried, before anybody knows what it costs.

Not its job: finding changes (`analyze.suggest_arguments`, `analyze.suggest_constraints`) or costing them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.suggestion import Edit

__all__ = ["Option"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One change of a program.

    Attributes:
      lever: what it turns: of several options with one lever, one is enough.
      title: the change, short, as an order.
      words: the same in full.
      edits: what it changes.
      stake: bytes of the needs it could do away with (modelled); options with more at stake are tried first.
    """

    lever: tuple[str, ...]
    title: str
    words: str
    edits: tuple[Edit, ...]
    stake: int
