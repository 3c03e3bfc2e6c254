"""How far a search is, and what it has to say of itself when it ends.

Not its job: searching (`handles.play.search`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.play.variant import Goal
from pjit_inspect.model.words.byte_words import ONE_TURN, bytes_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgress:
    """How far a search is.

    Attributes:
      asked: settings that XLA has answered.
      waiting: settings that are thought of, and not asked about.
      seconds: since it began (measured).
      budget_s: how long it may take.
      latest: the number of the variant that was answered last; None before the first.
      best: the number of the best so far; None while there is none.
    """

    asked: int
    waiting: int
    seconds: float
    budget_s: float
    latest: int | None
    best: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """What a search did.

    Attributes:
      goal: what it made small.
      asked: settings that XLA was asked about.
      refused: of these, those that XLA or JAX refused.
      skipped: settings that were not asked about: their arguments do not fit, each device would do too much of the
        work, or many others looked better.
      waiting: settings that there was no time for.
      seconds: how long it took (measured).
      is_stopped: whether somebody stopped it.
      most_work: products on each device against an equal share, at most.
      most_memory: bytes of arguments and results on a device, at most; None for no limit.
      correlation: rank correlation (Spearman) of its estimates with what XLA's answers send; None for too few.
      best: the number of the best variant; None where none keeps to the rules.
      start: the number of the variant it began with.
      runs_once: whether variants were compared as if what is in loops of unknown length ran once.
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
    correlation: float | None
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
        tried = f"{asked}; not asked about: {self.skipped:,} by its rules and its estimate{left}{end}"
        memory = "" if self.most_memory is None else f", at most {bytes_in_words(self.most_memory)} held"
        rules = f"rules: each device does at most {self.most_work:g} times its share of the products{memory}"
        how = (
            "its estimate could not be compared with XLA"
            if self.correlation is None
            else f"its estimate ranks settings as XLA does with a correlation of {self.correlation:.2f} (Spearman)"
        )
        best = "no setting keeps to the rules" if self.best is None else f"best: variant {self.best}"
        once = f" {ONE_TURN}" if self.runs_once and self.goal != "memory" else ""
        return (f"{best}, by {self.goal}{once}", tried, rules, how)
