"""Progress of a search, and its report at the end.

Not its job: searching (`handles.play.search`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.play.variant import Goal
from pjit_inspect.model.words.sentence import ONE_TURN, bytes_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgress:
    """Progress of a search.

    Attributes:
      asked: number of settings that XLA has answered.
      waiting: number of settings found but not asked about yet.
      seconds: seconds since it began (measured).
      budget_s: its time limit.
      latest: the number of the latest answered variant; None before the first.
      best: the number of the best variant so far; None for none.
    """

    asked: int
    waiting: int
    seconds: float
    budget_s: float
    latest: int | None
    best: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """Report of a search.

    Attributes:
      goal: the quantity it minimised.
      asked: number of settings that XLA was asked about.
      refused: number of these that XLA or JAX refused.
      skipped: number of settings not asked about, as their arguments do not fit.
      waiting: number of settings left when time ran out.
      seconds: its duration (measured).
      is_stopped: whether it was stopped.
      most_work: limit of products on each device, relative to an equal share.
      most_memory: limit of bytes of arguments and results on a device; None for no limit.
      best: the number of the best variant; None if none keeps within the limits.
      start: the number of the first variant.
      runs_once: whether variants were compared as if loops of unknown length ran once.
    """

    goal: Goal
    asked: int
    refused: int
    skipped: int
    waiting: int
    seconds: float
    is_stopped: bool
    most_work: float
    most_memory: int | None
    best: int | None
    start: int
    runs_once: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The same in words."""
        end = "; stopped" if self.is_stopped else ""
        left = f", {self.waiting:,} for want of time" if self.waiting else ""
        refused = f", {self.refused:,} of them refused" if self.refused else ""
        asked = f"{self.asked:,} settings asked about in {self.seconds:.0f} s{refused}"
        tried = f"{asked}; not asked about: {self.skipped:,} by its rules{left}{end}"
        memory = "" if self.most_memory is None else f", at most {bytes_in_words(self.most_memory)} held"
        rules = f"rules: each device does at most {self.most_work:g} times its share of the products{memory}"
        best = "no setting keeps to the rules" if self.best is None else f"best: variant {self.best}"
        once = f" {ONE_TURN}" if self.runs_once and self.goal != "memory" else ""
        return (f"{best}, by {self.goal}{once}", tried, rules)
