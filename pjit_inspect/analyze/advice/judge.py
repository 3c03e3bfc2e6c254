"""Judges a change: its savings of all that a device sends, multiplies, makes and holds, and whether they are worth it.

Not its job: asking XLA, or the order of the questions (`climb`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.stakes import Counted
from pjit_inspect.model.report.edit import Edit

NOTICEABLE = 0.05
"""Less than this share of anything is not worth a line."""
_MORE_PRODUCTS, _MORE_MADE, _MORE_HELD = 1.1, 1.25, 0.02
"""Limits on what is multiplied and made, relative to before, and the share held more; above is a trade of costs."""
_NO_MORE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Shares of what a device sends, multiplies, makes and holds before any change; negative for more.

    Attributes:
      sent, products, made, held: the shares.
      is_trade: whether something else is paid for what is saved, for some number of turns of loops of unknown length.
    """

    sent: float
    products: float
    made: float
    held: float
    is_trade: bool = False

    @property
    def worth(self) -> float:
        """The saved share of what counts; 0 for less than a noticeable part, and for a trade."""
        if self.is_trade:
            return 0.0
        if self.sent >= NOTICEABLE:
            return self.sent + max(0.0, self.products) / 2
        less = max(self.products, self.held)
        return less / 2 if self.sent >= -_NO_MORE and less >= NOTICEABLE else 0.0


def find_saved(first: Counted, before: Counted, answer: Counted, edits: Sequence[Edit]) -> Saved | None:
    """The savings of `answer` over `before` as shares of `first`; None where loops of the two cannot be paired."""
    start, base, after = first.counts, before.counts, answer.counts
    compared = base.compared(after)
    if compared is None:
        return None
    # What is returned in smaller pieces must be gathered by whoever takes it, where nobody asked for that.
    asked = {edit.index for edit in edits if edit.kind == "result"}
    results = enumerate(zip(base.results, after.results, strict=False))
    debt = sum(max(0, one - two) for index, (one, two) in results if index not in asked)
    held = base.held_bytes + sum(base.results) - after.held_bytes - sum(after.results) - debt
    held_share = held / max(1, start.held_bytes + sum(start.results))
    is_dearer = compared.products.may_grow(_MORE_PRODUCTS) or compared.made.may_grow(_MORE_MADE)
    return Saved(
        sent=(base.bytes - after.bytes - debt) / max(1, start.bytes),
        products=(base.products - after.products) / max(1, start.products),
        made=(base.made_bytes - after.made_bytes) / max(1, start.made_bytes),
        held=held_share,
        is_trade=is_dearer or held_share < -_MORE_HELD or (after.bytes < base.bytes and compared.sent.may_grow()),
    )
